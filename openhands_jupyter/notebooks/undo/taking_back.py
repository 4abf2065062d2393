"""Taking back what edits did to notebooks, in whatever way these are reached now."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import msgspec

from ...errors import Conflict, OpenHandsError
from ...events.notebooks import NotebookRestored
from ..cells import Cell
from ..changes import Applied, apply
from ..delivery.document import Document, Open, without_trust
from .kept import KeptEdit, KeptEdits
from .records import CellRecord
from .undoing import UndoPlan, plan_undo

ATTEMPTS = 3
"""Plans until one fits the notebook, which somebody may change at the same moment."""


class NotebookBack(NamedTuple):
    """A notebook in which edits can be taken back.

    Attributes
    ----------
    path
        Where it is, absolute.
    edits
        What was done to it, the oldest edit first.
    made
        Whether it was made by one of them.
    seen
        How it would be taken back now; empty where that cannot be.
    then
        The notebook's own metadata, and the cells that it would have; None where that cannot be.
    error
        Why it cannot be reached; None where it can.
    """

    path: str
    edits: Sequence[Sequence[CellRecord]]
    made: bool
    seen: NotebookRestored
    then: tuple[dict[str, Any], list[Cell]] | None = None
    error: OpenHandsError | None = None

    def is_empty_then(self) -> bool:
        """Whether it would have no cell."""
        return self.then is not None and not self.then[1]

    def is_then_like(self, text: str) -> bool:
        """Whether it would hold what a file of this text holds."""
        # Not at the top: it takes longer to load than all of the command line.
        import nbformat

        try:
            file = nbformat.reads(text, as_version=4)  # type: ignore[no-untyped-call]
        except Exception:
            # Whatever it is, it is no such notebook.
            return False
        return self.then == (file["metadata"], [without_trust(cell) for cell in file["cells"]])


class TakingBack:
    """Plans how edits of notebooks are taken back, and does it.

    Parameters
    ----------
    kept
        What the session's edits did.
    open
        Gives the notebook at an absolute path, in the way that leads to it now.
    opened
        Gives the absolute paths of the notebooks that somebody has open.
    shown
        Gives such a path as an agent writes it.
    session
        Its id.
    """

    def __init__(
        self,
        kept: KeptEdits,
        open: Open,
        opened: Callable[[], list[str]],
        shown: Callable[[str], str],
        session: str,
    ) -> None:
        self.kept = kept
        self.opened = opened
        self._open = open
        self._shown = shown
        self._session = session

    async def plan(self, events: Iterable[int]) -> list[NotebookBack]:
        """What would become of each notebook now, if edits were taken back.

        Parameters
        ----------
        events
            The actions that made them, the oldest first.
        """
        found: dict[str, list[KeptEdit]] = {}
        for event in events:
            for edit in await asyncio.to_thread(self.kept.of, event):
                found.setdefault(edit.path, []).append(edit)
        return [await self._plan(path, edits) for path, edits in found.items()]

    async def _plan(self, path: str, kept: Sequence[KeptEdit]) -> NotebookBack:
        edits = [edit.records for edit in kept]
        made = any(edit.made for edit in kept)
        try:
            document = await self._open(path)
            # With a file, all of it is compared.
            wanted = None if document.delivery == "disk" else touched(edits)
            snapshot = await document.read(wanted)
            planned = await asyncio.to_thread(plan_undo, edits, snapshot.cells)
        except OpenHandsError as error:
            return NotebookBack(path, edits, made, self._problem(path, error), error=error)
        then: list[Cell] = list(snapshot.cells)
        apply(then, planned.change)
        seen = self._restored(path, document, planned)
        return NotebookBack(path, edits, made, seen, (snapshot.metadata, then))

    async def take_back(
        self, notebooks: Sequence[NotebookBack], event: int
    ) -> list[NotebookRestored]:
        """Take edits back, as far as nothing of somebody else is lost by that.

        Parameters
        ----------
        notebooks
            As `plan` gave them; it is planned anew, on the notebooks as they are now.
        event
            The action that asks for it, with which it is kept, to be taken back itself.
        """
        kept: list[KeptEdit] = []
        restored = []
        for notebook in notebooks:
            told, kept = await self._take_back(notebook, event, kept)
            restored.append(told)
        return telling(restored)

    async def _take_back(
        self, notebook: NotebookBack, event: int, kept: list[KeptEdit]
    ) -> tuple[NotebookRestored, list[KeptEdit]]:
        path = notebook.path
        try:
            for _ in range(ATTEMPTS):
                document = await self._open(path)
                cells = (await document.read(touched(notebook.edits))).cells
                planned = await asyncio.to_thread(plan_undo, notebook.edits, cells)
                if not planned.change.steps:
                    return self._restored(path, document, planned), kept
                change = msgspec.structs.replace(planned.change, session=self._session, event=event)
                result, kept = await self.kept.make(event, path, document, cells, change, kept)
                if isinstance(result, Applied):
                    return self._restored(path, document, planned), kept
        except OpenHandsError as error:
            return self._problem(path, error), await asyncio.to_thread(self.kept.of, event)
        return self._problem(path, _busy()), kept

    def _restored(self, path: str, document: Document, planned: UndoPlan) -> NotebookRestored:
        return NotebookRestored(
            path=self._shown(path),
            delivery=document.delivery,
            cells=planned.cells,
            left=planned.left,
        )

    def _problem(self, path: str, error: OpenHandsError) -> NotebookRestored:
        return NotebookRestored(
            path=self._shown(path), problem=f"{error.message} {error.hint}".rstrip()
        )


def touched(edits: Iterable[Sequence[CellRecord]]) -> set[str]:
    """Ids of the cells that edits are of."""
    return {record.id for records in edits for record in records}


def telling(notebooks: Iterable[NotebookRestored]) -> list[NotebookRestored]:
    """Those of which there is something to be told."""
    return [one for one in notebooks if one.cells or one.left or one.problem]


def _busy() -> Conflict:
    return Conflict(
        "notebook_keeps_changing",
        "It was changed at the same moment, again and again.",
        "Try it once more.",
    )
