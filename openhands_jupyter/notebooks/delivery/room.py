"""Notebooks that several people share: the documents of jupyter-collaboration, on the server.

This is the only place that knows of it. Its server extension, ``jupyter_server_ydoc``, gives the
shared document of a path to others under its name in the server's settings; such a document is a
``YNotebook`` of ``jupyter_ydoc``, whose cells are maps of ``pycrdt``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping
from difflib import SequenceMatcher
from typing import Any

from ...errors import Conflict
from ..addresses import with_ids
from ..cells import Cell, joined
from ..changes import Applied, Change, Mismatch, apply
from .disk import MINOR_WITH_IDS, Files
from .document import (
    Document,
    OpenNotebook,
    Snapshot,
    is_trusted,
    not_saved,
    read_only,
    snapshot,
)

EXTENSION = "jupyter_server_ydoc"
ORIGIN = "openhands"
"""What our transactions call themselves, so that nobody takes them for a person's."""

SAVED_WITHIN = 30.0
"""Seconds that a room has to write its file; it begins about a second after a change."""

FOUND_WITHIN = 10.0
"""Seconds in which a room is found; one that is being made or ended lets everybody wait."""

_POLLED = 0.1


class Rooms:
    """The shared documents of a server.

    Parameters
    ----------
    settings
        The server's, in which extensions leave what they have for each other.
    found_within
        Seconds, see `FOUND_WITHIN`.
    """

    def __init__(self, settings: Mapping[str, Any], found_within: float = FOUND_WITHIN) -> None:
        self._settings = settings
        self._found_within = found_within

    async def find(self, path: str) -> Any:
        """The shared notebook at a path; None where nobody shares it, or nothing can be shared.

        Raises
        ------
        Conflict
            When it is shared, and cannot be had now.
        """
        extension = self._settings.get(EXTENSION)
        if extension is None:
            return None
        try:
            async with asyncio.timeout(self._found_within):
                return await extension.get_document(
                    path=path, content_type="notebook", file_format="json", copy=False
                )
        except TimeoutError as error:
            raise Conflict(
                "room_does_not_answer",
                f"What shares {path} between people does not answer.",
                "Try again later.",
            ) from error


class RoomDocument(Document):
    """A notebook as a room has it.

    Parameters
    ----------
    path
        As the contents API has it.
    shared
        The shared notebook.
    files
        Where its file is read.
    lock
        Held while it is changed, by whoever in this server changes it.
    """

    delivery = "room"

    def __init__(self, path: str, shared: Any, files: Files, lock: asyncio.Lock) -> None:
        super().__init__(path)
        self._shared = shared
        self._files = files
        self._lock = lock

    async def read(self, whole: Collection[str] | None = None) -> Snapshot:
        """The notebook as the room has it."""
        # The file tells whether it is there, and whether it can be written.
        writable = await self._files.is_writable(self.path)
        cells = self._cells()
        state = OpenNotebook(
            path=self.path,
            dirty=bool(self._shared.dirty),
            read_only=not writable,
            trusted=is_trusted(cells),
        )
        notebook = {**self._shared.get(deduplicate=False), "cells": []}
        return snapshot(self.delivery, notebook, cells, state, whole)

    async def _change(self, change: Change) -> Applied | Mismatch:
        async with self._lock:
            if not await self._files.is_writable(self.path):
                raise read_only(self.path)
            # Nothing is awaited from here on, so that what is checked is what is changed.
            before = self._cells()
            after = list(before)
            result = apply(after, change)
            if isinstance(result, Applied):
                with self._shared.ydoc.transaction(origin=ORIGIN):
                    _reconcile(self._shared, before, after)
                    _keep_ids(self._shared)
                    self._shared.dirty = True
            return result

    async def save(self) -> None:
        """Wait until the room has written its file.

        The file is not looked at meanwhile: Jupyter does not write it in one go, and takes one that
        is read half written for broken.
        """
        if not await self._files.is_writable(self.path):
            raise read_only(self.path)
        try:
            async with asyncio.timeout(SAVED_WITHIN):
                while True:
                    if not self._shared.dirty:
                        return
                    await asyncio.sleep(_POLLED)
        except TimeoutError as error:
            raise not_saved(self.path) from error

    def _cells(self) -> list[Cell]:
        ids = [ycell.get("id") for ycell in self._shared.ycells]
        # Of a notebook before 4.5 the shared document does not tell them.
        return with_ids(
            [{**self._shared.get_cell(index), "id": id} for index, id in enumerate(ids)]
        )


def _reconcile(shared: Any, before: list[Cell], after: list[Cell]) -> None:
    """Make the cells of a shared notebook others, touching only what differs."""
    old, new = ([cell["id"] for cell in cells] for cells in (before, after))
    # From the end, so that the positions before it stay what they are.
    for tag, i1, i2, j1, j2 in reversed(
        SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    ):
        if tag == "equal":
            for index, cell in enumerate(after[j1:j2], i1):
                if cell is not before[index]:
                    _update(shared, index, before[index], cell)
            continue
        if i2 > i1:
            del shared.ycells[i1:i2]
        for cell in reversed(after[j1:j2]):
            shared.ycells.insert(i1, shared.create_ycell(dict(cell)))


def _keep_ids(shared: Any) -> None:
    """Have the ids of the cells saved, which formats before 4.5 do not have."""
    meta = shared.ydoc["meta"]
    if meta["nbformat_minor"] < MINOR_WITH_IDS:
        meta["nbformat_minor"] = MINOR_WITH_IDS


def _update(shared: Any, index: int, before: Cell, after: Cell) -> None:
    if before["cell_type"] != after["cell_type"]:
        shared.set_cell(index, dict(after))
        return
    ycell = shared.ycells[index]
    if ycell.get("id") != after["id"]:
        ycell["id"] = after["id"]
    _rewrite(ycell["source"], before["source"], after["source"])
    for key in before["metadata"].keys() - after["metadata"].keys():
        del ycell["metadata"][key]
    for key, value in after["metadata"].items():
        if before["metadata"].get(key, ...) != value:
            ycell["metadata"][key] = value
    if after["cell_type"] == "code":
        if before["outputs"] != after["outputs"]:
            ycell["outputs"].clear()
            ycell["outputs"].extend([_shared_output(output) for output in after["outputs"]])
        if before["execution_count"] != after["execution_count"]:
            ycell["execution_count"] = after["execution_count"]


def _shared_output(output: dict[str, Any]) -> Any:
    # It comes with jupyter-collaboration.
    from pycrdt import Map, Text  # type: ignore[import-not-found, unused-ignore]

    if output["output_type"] == "stream":
        return Map({**output, "text": Text(joined(output["text"]))})
    return Map(output)


def _rewrite(text: Any, before: str, after: str) -> None:
    """Replace what is not the same at both ends; positions in a shared text are bytes of UTF-8."""
    head = _common(before, after)
    rest = before[head:], after[head:]
    tail = _common(*(part[::-1] for part in rest))
    gone, come = (part[: len(part) - tail] for part in rest)
    start = len(before[:head].encode())
    if gone:
        del text[start : start + len(gone.encode())]
    if come:
        text.insert(start, come)


def _common(one: str, other: str) -> int:
    """How many characters two texts have in common at their beginning."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((index for index, (a, b) in pairs if a != b), min(len(one), len(other)))
