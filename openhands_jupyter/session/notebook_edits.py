"""Edits of notebooks: planned for the person to see, and made as the person decided."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

import msgspec

from ..errors import Conflict, Invalid, OpenHandsError
from ..events import (
    Action,
    CellEdit,
    Delivery,
    Masker,
    NotebookEditAction,
    NotebookEditObservation,
    Observation,
    State,
)
from ..events.masking import MASK
from ..events.shown import as_data
from ..notebooks.addresses import Addresses
from ..notebooks.cells import Cell
from ..notebooks.changes import (
    Applied,
    CellMismatch,
    Change,
    SetCell,
    apply,
    without_outputs_revs,
)
from ..notebooks.delivery.document import Document, OutcomeUnknown, Snapshot
from ..notebooks.editing.conflicts import told_of_conflicts, wanted_sources
from ..notebooks.editing.operations import Operation, operations_from, whole_cells
from ..notebooks.editing.planning import CellsChanged, Part, Plan, plan
from ..notebooks.editing.readings import Readings
from ..notebooks.names.graph import NameGraph, is_python
from ..notebooks.provenance import Provenance, signed
from ..notebooks.showing.reading import page
from ..notebooks.undo.kept import KeptEdits
from .promoting import with_code

MOST_STALE = 30
"""Stale cells that are told of one edit."""

_WHERE: dict[Delivery, str] = {
    "tab": "Made in the notebook that the person has open; it is not saved yet.",
    "room": "Made in the notebook that people share.",
    "disk": "Written to the file.",
}


class _Planned(NamedTuple):
    """An edit that was planned, and what the gate and the person see of it.

    Attributes
    ----------
    outputs
        Revisions, by id, of the outputs that it may remove: newer ones stay.
    """

    plan: Plan
    cells: list[CellEdit]
    outputs: Mapping[str, str]


class _Decided(NamedTuple):
    """What is to be made of a plan.

    Attributes
    ----------
    parts
        What is left of it.
    rejected
        Ids of the cells that stay as they are.
    sources
        The person's own texts, by id.
    """

    parts: list[Part]
    rejected: list[str]
    sources: dict[str, str]


class NotebookEdits:
    """Plans and makes the edits of one session.

    Parameters
    ----------
    readings
        What the session has read; kept up to date with what it writes.
    state
        The session, for what the person decides.
    masker
        Knows the secrets.
    kept
        Where what edits did is kept.
    """

    def __init__(self, readings: Readings, state: State, masker: Masker, kept: KeptEdits) -> None:
        self._readings = readings
        self._state = state
        self._masker = masker
        self._kept = kept
        self._planned: _Planned | None = None

    async def prepare(
        self, action: NotebookEditAction, document: Document, may_tell: bool
    ) -> Action | Observation:
        """Find out what becomes of each cell; errors are those of `plan` and `require_known`.

        Parameters
        ----------
        may_tell
            Whether the agent may be told what cells hold before anybody was asked.

        Returns
        -------
        Action or Observation
            The action with its cells; the answer where there is nothing to be done.
        """
        operations = with_code(operations_from(action.operations), self._state.history)
        if MASK in str(operations):
            raise Invalid(
                "masked_text",
                f"The text holds {MASK}, which stands in the place of a secret.",
                "Patch what is around it: the secret itself then stays as it is.",
            )
        self._readings.require_known(document.path)
        made, snapshot = await self._plan(
            document, operations, action.expect_nb_rev, may_tell=may_tell
        )
        if not made.change.steps:
            return NotebookEditObservation(
                path=action.path,
                delivery=document.delivery,
                nb_rev=snapshot.nb_rev,
                content="Nothing was changed, because everything is so already.",
            )
        self._planned = _Planned(made, made.edits(), snapshot.outputs_revs)
        return msgspec.structs.replace(
            action,
            cells=self._planned.cells,
            delivery=document.delivery,
            is_python=is_python(snapshot.metadata),
        )

    async def make(
        self, action: NotebookEditAction, path: str, document: Document, provenance: Provenance
    ) -> Observation:
        """Make what was planned, as far as the person accepts it.

        It is planned anew, on the notebook as it is now, which is not changed where a cell is not
        as it was.

        Parameters
        ----------
        path
            Where the notebook is, absolute.

        Raises
        ------
        OpenHandsError
            When nothing was changed, or nobody knows.
        """
        planned, self._planned = self._planned, None
        if planned is None or planned.cells is not action.cells:
            raise Conflict("not_planned", "The edit was not planned.", "Ask for it again.")
        decided = self._decided(action, planned.plan)
        if not decided.parts:
            return NotebookEditObservation(
                path=action.path,
                delivery=document.delivery,
                nb_rev=(await document.read(())).nb_rev,
                rejected=decided.rejected,
                content="The person rejected every cell of it. Nothing was changed.",
            )
        operations = [part.operation for part in decided.parts]
        ids = [part.made for part in decided.parts]
        made, before = await self._plan(
            document, operations, action.expect_nb_rev, ids, planned.outputs
        )
        made = made.with_sources(decided.sources)
        change = signed(made.change, provenance, made.from_code)
        result = await self._deliver(action.id, path, document, before, change, operations)
        made = msgspec.structs.replace(made, nb_rev=result.nb_rev)
        self._note(document.path, made, result)
        told = await asyncio.to_thread(self._told, document, made, before, decided)
        return NotebookEditObservation(
            path=action.path,
            delivery=document.delivery,
            nb_rev=result.nb_rev,
            cells=made.edits(),
            rejected=decided.rejected,
            content=f"{told}\n{told_token(action.id)}",
        )

    async def _plan(
        self,
        document: Document,
        operations: Sequence[Operation],
        expect_nb_rev: str,
        made: Sequence[Sequence[str]] = (),
        outputs: Mapping[str, str] = {},
        *,
        may_tell: bool = True,
    ) -> tuple[Plan, Snapshot]:
        """A plan for the notebook as it is now, and how that is."""
        snapshot = await _read(document, operations)
        try:
            planned = await asyncio.to_thread(
                plan,
                snapshot.cells,
                operations,
                self._readings.revs(document.path),
                expect_nb_rev=expect_nb_rev or None,
                made=made,
                outputs=outputs,
            )
        except CellsChanged as error:
            if not may_tell:
                raise
            raise await self._conflict(document.path, error.cells, operations) from None
        if newer := _with_newer_outputs(planned, snapshot):
            raise await self._conflict(document.path, newer, operations)
        return planned, snapshot

    async def _deliver(
        self,
        event: int,
        path: str,
        document: Document,
        before: Snapshot,
        change: Change,
        operations: Sequence[Operation],
    ) -> Applied:
        try:
            result, _ = await self._kept.make(event, path, document, before.cells, change)
        except (OutcomeUnknown, asyncio.CancelledError):
            self._readings.forget(document.path)
            raise
        if isinstance(result, Applied):
            return result
        raise await self._conflict(document.path, result.cells, operations)

    async def _conflict(
        self, path: str, cells: Sequence[CellMismatch], operations: Sequence[Operation]
    ) -> Conflict:
        """What an agent is told where somebody else was faster."""
        if not cells:
            return Conflict(
                "notebook_changed",
                "The notebook changed meanwhile, so nothing was done.",
                "Get its outline again, and use the new revision.",
            )
        bases = self._readings.sources(path)

        def tell() -> str:
            wanted = wanted_sources(operations, bases)
            mask = self._masker.value
            return told_of_conflicts(mask(list(cells)), mask(bases), mask(wanted))

        error = CellsChanged(list(cells))
        told = as_data(await asyncio.to_thread(tell))
        return Conflict(error.code, f"{error.message}\n{told}".rstrip(), error.hint)

    def _decided(self, action: NotebookEditAction, planned: Plan) -> _Decided:
        decision = self._state.decisions.get(action.id)
        cells = (decision.cells if decision else None) or []
        refused = {cell.id for cell in cells if cell.decision == "reject"}
        parts = planned.without(refused)
        left = {part.group for part in parts}
        rejected = [cell.id for cell in action.cells if cell.group not in left]
        sources = {
            cell.id: cell.source
            for cell in cells
            if cell.source is not None and cell.id not in rejected
        }
        return _Decided(parts, rejected, sources)

    def _note(self, path: str, made: Plan, result: Applied) -> None:
        for cell in made.cells:
            rev = result.revs.get(cell.id, cell.rev or "")
            self._readings.note_edit(path, cell, rev, cell.after)

    def _told(self, document: Document, made: Plan, before: Snapshot, decided: _Decided) -> str:
        """What the agent is told of an edit that was made."""
        masked: Plan = self._masker.value(made)
        told = [told_way(document.delivery), as_data(masked.told()).rstrip()]
        if decided.rejected:
            rejected = ", ".join(decided.rejected)
            told.append(f"The person rejected these cells, which stay as they were: {rejected}.")
        for id, source in decided.sources.items():
            text = as_data(page(self._masker.text(source)).text).rstrip()
            told.append(f"The person gave cell {id} another text than you:\n{text}")
        if stale := _stale(made, before):
            told.append(f"Stale now, because they use what was changed: {stale}.")
        return "\n".join(told)


def told_way(delivery: Delivery) -> str:
    """What an agent is told of the way in which a notebook was changed."""
    return _WHERE[delivery]


def told_token(event: int) -> str:
    """By what an agent can take back what it did to a notebook with an action."""
    return f"Undo token: {event}."


def _with_newer_outputs(planned: Plan, snapshot: Snapshot) -> list[CellMismatch]:
    """The cells that got outputs since the edit was planned first, which would remove them."""
    newer = {
        step.id
        for step in planned.change.steps
        if isinstance(step, SetCell)
        and step.outputs_rev is not None
        and step.outputs_rev != snapshot.outputs_revs.get(step.id)
    }
    return [CellMismatch.outputs(cell) for cell in snapshot.cells if cell["id"] in newer]


async def _read(document: Document, operations: Sequence[Operation]) -> Snapshot:
    """The notebook, with those cells whole of which an edit may take more away than the source."""
    wanted = whole_cells(operations)
    snapshot = await document.read(wanted)
    find = Addresses(snapshot.cells).id
    ids = set()
    for address in wanted:
        # The plan says what is wrong with it.
        with suppress(OpenHandsError):
            ids.add(find(address))
    return snapshot if ids <= set(wanted) else await document.read(ids)


def _stale(made: Plan, before: Snapshot) -> str:
    """The cells that an edit makes stale, with the names that they take."""
    if not is_python(before.metadata):
        return ""
    after: list[Cell] = list(before.cells)
    apply(after, without_outputs_revs(made.change))
    found = [
        f"{cell.id} ({', '.join(cell.names[:5])})"
        for cell in NameGraph(after).stale_since(NameGraph(before.cells))
        if not cell.edited
    ]
    more = len(found) - MOST_STALE
    return ", ".join(found[:MOST_STALE]) + (f" and {more} more" if more > 0 else "")
