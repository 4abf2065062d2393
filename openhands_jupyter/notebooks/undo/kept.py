"""The records of edits, kept whole beside a session's log, which masks and cuts."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from ...errors import OpenHandsError
from ...events.blobs import sync_path
from ..cells import Cell
from ..changes import Applied, Change, Mismatch
from ..delivery.document import Document, OutcomeUnknown
from .records import CellRecord, Content, records

MOST_OF_AN_EDIT = 16 << 20
"""Bytes; outputs are left out of a longer one, then what its cells held."""

MOST_OF_ALL = 256 << 20
"""Bytes of all edits of a session; the oldest go first, the newest never does."""


class KeptEdit(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What one edit did to one notebook.

    Attributes
    ----------
    path
        Where the notebook was: absolute, as the agent wrote it, links not followed.
    records
        What `records.records` made of it.
    made
        Whether the edit made the notebook.
    """

    path: str
    records: list[CellRecord]
    made: bool = False


class KeptEdits:
    """The edits of one session, a file for each event that made some.

    An edit is kept before it is delivered, so that no crash leaves one that cannot be undone. One
    that was kept and not delivered does no harm: to take it back changes nothing.

    Parameters
    ----------
    folder
        Made when the first edit is kept.
    most_of_an_edit, most_of_all
        Bytes, see `MOST_OF_AN_EDIT` and `MOST_OF_ALL`.
    """

    def __init__(
        self,
        folder: Path,
        most_of_an_edit: int = MOST_OF_AN_EDIT,
        most_of_all: int = MOST_OF_ALL,
    ) -> None:
        self._folder = folder
        self._most_of_an_edit = most_of_an_edit
        self._most_of_all = most_of_all
        self._size: int | None = None

    async def make(
        self,
        event: int,
        path: str,
        document: Document,
        cells: Sequence[Cell],
        change: Change,
        others: Sequence[KeptEdit] = (),
    ) -> tuple[Applied | Mismatch, list[KeptEdit]]:
        """Make a change in a notebook, once it is kept what it does.

        Parameters
        ----------
        event
            The action that it is made for.
        path
            Where the notebook is, absolute.
        cells
            Those that the change was planned on.
        others
            What was made for the same action before.

        Returns
        -------
        tuple
            What came of it, and all that is kept of the action.

        Raises
        ------
        OpenHandsError
            As `Document.change`, or when it cannot be kept; nothing was changed then, except where
            it is an `OutcomeUnknown`, after which it is kept.
        """
        made = KeptEdit(path=path, records=await asyncio.to_thread(records, cells, change))
        await asyncio.to_thread(self.put, event, [*others, made])
        try:
            result = await document.change(change)
        except OutcomeUnknown:
            raise
        except OpenHandsError:
            await asyncio.to_thread(self.put, event, others)
            raise
        if isinstance(result, Applied):
            return result, [*others, made]
        await asyncio.to_thread(self.put, event, others)
        return result, list(others)

    def put(self, event: int, edits: Sequence[KeptEdit]) -> None:
        """Keep the edits of an event, in the place of those kept for it before. Blocks.

        Raises
        ------
        OpenHandsError
            When they cannot be written.
        """
        try:
            if self._size is None:
                self._size = sum(file.stat().st_size for file in self._files())
            if not edits:
                self._remove(self._file(event))
                return
            self._write(event, self._encoded(edits))
            while self._size > self._most_of_all and len(files := self._files()) > 1:
                self._remove(files[0])
        except OSError as error:
            raise OpenHandsError(
                "edit_not_kept",
                f"What would undo the edit could not be kept ({error.strerror}), so the notebook "
                "was not changed.",
                "See to it that the OpenHands home folder is writable and has room.",
            ) from error

    def has(self, event: int) -> bool:
        """Whether something is kept of an event."""
        return self._file(event).exists()

    def of(self, event: int) -> list[KeptEdit]:
        """What is kept of an event; nothing where none is, or it cannot be read. Blocks."""
        try:
            content = json.loads(self._file(event).read_bytes())
            return msgspec.convert(content, list[KeptEdit])
        except (OSError, ValueError):
            return []

    def _file(self, event: int) -> Path:
        return self._folder / f"{event}.json"

    def _files(self) -> list[Path]:
        return sorted(self._folder.glob("*.json"), key=lambda file: int(file.stem))

    def _encoded(self, edits: Sequence[KeptEdit]) -> bytes:
        for shorten in (_whole, _without_outputs, _without_content):
            content = _encode([shorten(edit) for edit in edits])
            if len(content) <= self._most_of_an_edit:
                break
        return content

    def _write(self, event: int, content: bytes) -> None:
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        file = self._file(event)
        partial = file.with_suffix(".partial")
        before = file.stat().st_size if file.exists() else 0
        descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with open(descriptor, "wb") as opened:
            opened.write(content)
            opened.flush()
            os.fsync(descriptor)
        os.replace(partial, file)
        sync_path(self._folder)
        self._size = (self._size or 0) + len(content) - before

    def _remove(self, file: Path) -> None:
        if file.exists():
            self._size = (self._size or 0) - file.stat().st_size
            file.unlink()


def _encode(edits: list[KeptEdit]) -> bytes:
    # Not by msgspec, which takes no half of a surrogate pair, as a notebook may have.
    return json.dumps(msgspec.to_builtins(edits)).encode()


def _whole(edit: KeptEdit) -> KeptEdit:
    return edit


def _without_outputs(edit: KeptEdit) -> KeptEdit:
    """The edit with nothing but digests of the outputs, by which undo knows what is missing."""

    def shortened(content: Content | None) -> Content | None:
        if content is None or content.outputs is None:
            return content
        outputs = msgspec.structs.replace(content.outputs, outputs=[], execution_count=None)
        return msgspec.structs.replace(content, outputs=outputs)

    return _with(edit, shortened)


def _without_content(edit: KeptEdit) -> KeptEdit:
    """The edit without what its cells held, which their digests tell to be not whole."""

    def shortened(content: Content | None) -> Content | None:
        return content and Content(cell_type=content.cell_type, source="")

    return _with(edit, shortened)


def _with(edit: KeptEdit, shortened: Any) -> KeptEdit:
    replace = msgspec.structs.replace
    records = [
        replace(record, before=shortened(record.before), after=shortened(record.after))
        for record in edit.records
    ]
    return replace(edit, records=records)
