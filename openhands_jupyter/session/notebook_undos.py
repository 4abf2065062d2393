"""The agent takes back edits of its own in a notebook."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence

import msgspec

from ..errors import Conflict, NotFound
from ..events import (
    Action,
    CellEdit,
    Masker,
    NotebookEditObservation,
    NotebookUndoAction,
    Observation,
    State,
)
from ..events.shown import as_data
from ..notebooks.changes import Applied
from ..notebooks.delivery.document import Document, OutcomeUnknown, Snapshot
from ..notebooks.editing.readings import Readings
from ..notebooks.undo.kept import KeptEdits
from ..notebooks.undo.records import CellRecord
from ..notebooks.undo.taking_back import touched
from ..notebooks.undo.undoing import UndoPlan, plan_undo
from .notebook_edits import told_token, told_way


class NotebookUndos:
    """Plans and makes what the agent takes back in one session.

    Parameters
    ----------
    readings
        What the session has read. A cell that is back has to be read again, since somebody's lines
        may be in it.
    state
        The session, for its turns.
    masker
        Knows the secrets.
    kept
        What the session's edits did.
    """

    def __init__(self, readings: Readings, state: State, masker: Masker, kept: KeptEdits) -> None:
        self._readings = readings
        self._state = state
        self._masker = masker
        self._kept = kept

    async def prepare(
        self, action: NotebookUndoAction, path: str, document: Document
    ) -> Action | Observation:
        """Find out what would become of each cell.

        Parameters
        ----------
        path
            Where the notebook is, absolute.

        Returns
        -------
        Action or Observation
            The action with its cells; the answer where there is nothing to be done.

        Raises
        ------
        NotFound
            When no such edit is kept, or it is not the agent's.
        """
        events = await asyncio.to_thread(self._events, action.token, path)
        snapshot, planned = await self._plan(events, path, document)
        if not planned.change.steps:
            left = "".join(f"\n{cell.id}: left as it is ({cell.reason})" for cell in planned.left)
            return NotebookEditObservation(
                path=action.path,
                delivery=document.delivery,
                nb_rev=snapshot.nb_rev,
                left=planned.left,
                content=f"There is nothing that can be taken back.{left}",
            )
        return msgspec.structs.replace(
            action,
            edits=events,
            cells=planned.cells,
            left=planned.left,
            delivery=document.delivery,
        )

    async def make(self, action: NotebookUndoAction, path: str, document: Document) -> Observation:
        """Take back what was planned, if it still comes to the same.

        Raises
        ------
        OpenHandsError
            When nothing was changed, or nobody knows.
        """
        snapshot, planned = await self._plan(action.edits, path, document)
        if not action.edits or _fates(planned.cells) != _fates(action.cells):
            raise _changed(action.path)
        change = msgspec.structs.replace(
            planned.change, session=action.session or None, event=action.id
        )
        try:
            result, _ = await self._kept.make(action.id, path, document, snapshot.cells, change)
        except (OutcomeUnknown, asyncio.CancelledError):
            self._readings.forget(document.path)
            raise
        if not isinstance(result, Applied):
            raise _changed(action.path)
        return NotebookEditObservation(
            path=action.path,
            delivery=document.delivery,
            nb_rev=result.nb_rev,
            cells=planned.cells,
            left=planned.left,
            content=await asyncio.to_thread(self._told, action, document, planned, result),
        )

    def _told(
        self, action: NotebookUndoAction, document: Document, planned: UndoPlan, result: Applied
    ) -> str:
        masked: UndoPlan = self._masker.value(planned)
        return "\n".join(
            [
                told_way(document.delivery),
                as_data(masked.told()).rstrip(),
                f"nb_rev {result.nb_rev}. Read a cell again before you change it.",
                told_token(action.id),
            ]
        )

    def _events(self, token: int, path: str) -> list[int]:
        """The agent's actions whose edits of a notebook are meant, the oldest first. Blocks."""
        files = self._state.files
        turns: Iterable[Sequence[int]] = [[token]]
        if not token:
            turns = (
                files.edits_of(turn.first)
                for turn in reversed(files.turns.values())
                if not turn.undone
            )
        for events in turns:
            mine = [event for event in events if not files.is_of_person(event)]
            if found := [event for event in mine if self._records([event], path)]:
                return found
        raise NotFound(
            "edit_not_found",
            "No such edit of yours in this notebook is kept.",
            "Name the token that the result of nb_edit gave, or none for your last edits.",
        )

    def _records(self, events: Sequence[int], path: str) -> list[list[CellRecord]]:
        kept = (edit for event in events for edit in self._kept.of(event))
        return [edit.records for edit in kept if edit.path == path]

    async def _plan(
        self, events: Sequence[int], path: str, document: Document
    ) -> tuple[Snapshot, UndoPlan]:
        edits = await asyncio.to_thread(self._records, events, path)
        snapshot = await document.read(touched(edits))
        return snapshot, await asyncio.to_thread(plan_undo, edits, snapshot.cells)


def _fates(cells: Sequence[CellEdit]) -> list[tuple[str, str, str | None]]:
    """What becomes of cells, wherever they stand."""
    return sorted((cell.id, cell.what, cell.after) for cell in cells)


def _changed(path: str) -> Conflict:
    return Conflict(
        "notebook_changed",
        f"{path} changed meanwhile, so that another thing would be taken back. Nothing was done.",
        "Try it again.",
    )
