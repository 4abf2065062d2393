"""From what an agent asks for to the change that is delivered, and what the agent is told of it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

import msgspec

from ...errors import Conflict, Invalid, OpenHandsError
from ...events import CellEdit
from ...events.blobs import cut
from ..addresses import SHORTEST_PREFIX, Addresses
from ..cells import Cell, source_of
from ..changes import CellMismatch, Change, InsertCell, SetCell, Step
from ..lines import unified_diff
from ..revisions import cell_rev, notebook_rev, rev_of, rev_of_revs
from .doing import do
from .drafts import Draft, PlannedOutcome
from .operations import (
    ClearOutputs,
    Insert,
    Merge,
    Move,
    Operation,
    Tag,
    operation_name,
    resolved,
)

TOLD = 16_000
"""Characters of what is told of one edit."""


class CellsChanged(Conflict):
    """Cells are not as the agent has read them, so nothing of its edit is done.

    Attributes
    ----------
    cells
        Each of them, as it is now.
    """

    def __init__(self, cells: list[CellMismatch]) -> None:
        gone = [cell.id for cell in cells if cell.reason == "gone"]
        ran = [cell.id for cell in cells if cell.reason == "outputs"]
        changed = [f"{cell.id} (now {cell.rev})" for cell in cells if cell.id not in {*gone, *ran}]
        said = [f"changed since you read them: {', '.join(changed)}"] if changed else []
        said += [f"run since you asked for this, with new outputs: {', '.join(ran)}"] if ran else []
        said += [f"gone: {', '.join(gone)}"] if gone else []
        super().__init__(
            "cells_changed",
            f"Nothing was changed, because cells are {'; '.join(said)}.",
            "Somebody else edits this notebook too. Read the cells again, keep what the other one "
            "wrote, and use the new revisions.",
        )
        self.cells = cells


class PlannedCell(msgspec.Struct, frozen=True, kw_only=True):
    """A cell that an edit names, as it will be.

    Attributes
    ----------
    what
        What becomes of it; ``unchanged`` where it was so already.
    rev, position, previous, next
        Its revision, its place from 0, and the ids of its neighbours; None where it is deleted or
        has no such neighbour.
    cell_type, before, after
        Its type, afterwards if it is still there, and its sources; None where there is none.
    notes
        What else changes, as phrases.
    group
        Cells of one group are named by the same operations.
    """

    id: str
    what: PlannedOutcome
    cell_type: str
    before: str | None
    after: str | None
    rev: str | None = None
    position: int | None = None
    previous: str | None = None
    next: str | None = None
    notes: list[str] = []
    group: int = 0

    @property
    def diff(self) -> str:
        """The hunks of a unified diff of its source; empty for a new cell."""
        return "" if self.before is None else unified_diff(self.before, self.after or "")


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """One operation of an edit.

    Attributes
    ----------
    operation
        With ids in place of addresses.
    made
        Ids of the cells that it makes.
    group
        Parts of one group name the same cells, so that they are done together or not at all.
    """

    operation: Operation
    made: list[str]
    group: int


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """A change, and what can be told of it before it is made.

    Attributes
    ----------
    change
        What is to be delivered; it has no steps where everything is as asked for already.
    nb_rev
        Revision of the notebook afterwards, if nobody else changes it meanwhile.
    cells
        The cells that the operations name, those that stay in their order, then the deleted ones.
    parts
        The operations.
    """

    change: Change
    nb_rev: str
    cells: list[PlannedCell]
    parts: list[Part]

    def told(self) -> str:
        """What the agent is told when the change was made."""
        done = len(self.edits())
        head = f"{done} {'cell' if done == 1 else 'cells'} edited; nb_rev {self.nb_rev}."
        return cut("\n".join([head, *map(_told, self.cells)]), TOLD)

    @property
    def from_code(self) -> dict[str, int]:
        """The cells that come from code that ran in the sandbox: id to the event of that."""
        return {
            id: part.operation.from_code
            for part in self.parts
            if isinstance(part.operation, Insert) and part.operation.from_code is not None
            for id in part.made
        }

    def edits(self) -> list[CellEdit]:
        """What becomes of the cells that do not stay as they are, for the person and the log."""
        from_code = self.from_code
        return [
            CellEdit(
                id=cell.id,
                what=cell.what,
                cell_type=cell.cell_type,
                before=cell.before,
                after=cell.after,
                position=cell.position,
                notes=cell.notes,
                group=cell.group,
                from_code=from_code.get(cell.id),
            )
            for cell in self.cells
            if cell.what != "unchanged"
        ]

    def without(self, cells: Collection[str]) -> list[Part]:
        """The parts that are left where some cells are to stay as they are.

        Parameters
        ----------
        cells
            Their ids; what is done together with one of them is left out too.
        """
        groups = {cell.group for cell in self.cells if cell.id in cells}
        return [part for part in self.parts if part.group not in groups]

    def with_sources(self, sources: Mapping[str, str]) -> Plan:
        """The plan with other texts for cells that there are afterwards, by id."""
        if not sources:
            return self
        cells = [_with_source(cell, sources) for cell in self.cells]
        steps = [_step_with_source(step, sources) for step in self.change.steps]
        written = {step.id for step in self.change.steps if isinstance(step, SetCell)}
        steps += [
            SetCell(id=cell.id, rev=rev_of(cell.cell_type, cell.before), source=cell.after)
            for cell in cells
            if cell.id in sources and cell.before is not None and cell.id not in written
        ]
        return msgspec.structs.replace(
            self, cells=cells, change=msgspec.structs.replace(self.change, steps=steps)
        )


def _with_source(cell: PlannedCell, sources: Mapping[str, str]) -> PlannedCell:
    if cell.id not in sources:
        return cell
    source = sources[cell.id]
    return msgspec.structs.replace(
        cell,
        what="changed" if cell.what == "unchanged" else cell.what,
        after=source,
        rev=rev_of(cell.cell_type, source),
    )


def _step_with_source(step: Step, sources: Mapping[str, str]) -> Step:
    match step:
        case InsertCell(cell=cell) if cell["id"] in sources:
            return msgspec.structs.replace(step, cell={**cell, "source": sources[cell["id"]]})
        case SetCell(id=id) if id in sources:
            return msgspec.structs.replace(step, source=sources[id])
    return step


def plan(
    cells: Sequence[Cell],
    operations: Sequence[Operation],
    read: Mapping[str, str],
    *,
    expect_nb_rev: str | None = None,
    made: Sequence[Sequence[str]] = (),
    outputs: Mapping[str, str] = {},
) -> Plan:
    """Plan an edit of a notebook. Nothing is changed yet.

    Parameters
    ----------
    cells
        The notebook's cells as they are, each with an id of its own (see `addresses.with_ids`).
    operations
        What is to be done, in this order, all or nothing.
    read
        Which cells the agent has read: id to the revision that it saw, or wrote, last.
    expect_nb_rev
        The revision that the whole notebook must have, where its order matters.
    made
        Ids for the cells that each of the operations makes, as an earlier plan gave them.
    outputs
        Revisions of outputs by id: those of these cells are only removed if they still have them.

    Raises
    ------
    NotFound, Invalid
        An operation that cannot be done; the message says which one and why.
    Conflict
        ``cells_changed`` (as `CellsChanged`), ``notebook_changed``, ``cells_not_read`` or
        ``wrong_revision``.
    """
    if not operations:
        raise Invalid("no_operations", "The list of operations is empty.", "Say what to do.")
    if expect_nb_rev is not None and expect_nb_rev != notebook_rev(cells):
        raise Conflict(
            "notebook_changed",
            f"The notebook changed since you read it: its revision is {notebook_rev(cells)}.",
            "Get its outline again, and use the new revision.",
        )
    addresses = Addresses(cells)
    _check_revisions(cells, operations, read, addresses)
    draft = Draft(cells, addresses)
    parts: list[tuple[Operation, list[str], list[str]]] = []
    for number, operation in enumerate(operations, 1):
        draft.begin(made[number - 1] if made else ())
        try:
            do(operation, draft)
            known = resolved(operation, addresses.id)
        except OpenHandsError as error:
            raise _located(error, number, operation) from None
        parts.append((known, draft.made, list(draft.touched)))
    groups = _groups([touched for _, _, touched in parts])
    change = Change(steps=draft.steps(outputs), nb_rev=expect_nb_rev)
    order = draft.order
    nb_rev = rev_of_revs((id, draft.rev(id)) for id in order)
    return Plan(
        change=change,
        nb_rev=nb_rev,
        cells=_planned(draft, groups),
        parts=[
            Part(operation=operation, made=ids, group=groups[touched[0]])
            for operation, ids, touched in parts
        ],
    )


def _groups(touched: Sequence[Sequence[str]]) -> dict[str, int]:
    """A number for each cell, the same for those that are linked by operations."""
    groups: dict[str, int] = {}
    for number, ids in enumerate(touched):
        linked = {groups[id] for id in ids if id in groups}
        groups |= {id: number for id, group in groups.items() if group in linked}
        groups |= dict.fromkeys(ids, number)
    return groups


def _located(error: OpenHandsError, number: int, operation: Operation) -> OpenHandsError:
    message = f"Operation {number} ({operation_name(operation)}): {error.message}"
    return type(error)(error.code, message, error.hint)


def _check_revisions(
    cells: Sequence[Cell],
    operations: Sequence[Operation],
    read: Mapping[str, str],
    addresses: Addresses,
) -> None:
    """Refuse the whole list, naming every cell that was never read or is another one by now."""
    by_id = {cell["id"]: cell for cell in cells}
    revs: dict[str, str] = {}
    changed: dict[str, CellMismatch] = {}
    unread: dict[str, None] = {}
    misnamed: dict[str, str] = {}
    for number, operation in enumerate(operations, 1):
        for address, expected in _expected(operation):
            try:
                id = addresses.id(address)
            except OpenHandsError as error:
                if not (gone := _read_before(address, read)):
                    raise _located(error, number, operation) from None
                changed |= {id: CellMismatch(id=id, reason="gone") for id in gone}
                continue
            now = revs[id] if id in revs else cell_rev(by_id[id])
            revs[id] = now
            overwrites = not isinstance(operation, (ClearOutputs, Tag))
            if overwrites and id not in read:
                unread[id] = None
            elif now != expected and read.get(id) == now:
                misnamed[id] = now
            elif now != expected or (overwrites and read[id] != now):
                changed[id] = CellMismatch.changed(by_id[id], now)
    if unread:
        raise Conflict(
            "cells_not_read",
            f"You have not read these cells, so they cannot be overwritten: {', '.join(unread)}.",
            "Read them first.",
        )
    if changed:
        raise CellsChanged(list(changed.values()))
    if misnamed:
        revs_now = ", ".join(f"{id} is at {rev}" for id, rev in misnamed.items())
        raise Conflict(
            "wrong_revision",
            f"Nothing was changed, because you named another revision than you know: {revs_now}.",
            "Use these revisions, if you still mean it.",
        )


def _expected(operation: Operation) -> Iterator[tuple[str, str]]:
    """Address and revision of each cell whose content an operation replaces."""
    if isinstance(operation, Merge):
        yield from ((cell.id, cell.expect_rev) for cell in operation.cells)
    elif not isinstance(operation, (Insert, Move)):
        yield operation.id, operation.expect_rev


def _read_before(address: str, read: Mapping[str, str]) -> list[str]:
    """Which cells that were read once an address names that no cell has now."""
    if address in read:
        return [address]
    found = [id for id in read if len(address) >= SHORTEST_PREFIX and id.startswith(address)]
    return found if len(found) == 1 else []


def _planned(draft: Draft, groups: Mapping[str, int]) -> list[PlannedCell]:
    order = draft.order
    planned = []
    for position, id in enumerate(order):
        if id not in draft.named:
            continue
        planned.append(
            PlannedCell(
                id=id,
                what=draft.outcome(id),
                cell_type=draft.cell_type(id),
                before=None if id in draft.inserted else source_of(draft.before[id]),
                after=draft.source(id),
                rev=draft.rev(id),
                position=position,
                previous=order[position - 1] if position else None,
                next=order[position + 1] if position + 1 < len(order) else None,
                notes=draft.notes(id),
                group=groups[id],
            )
        )
    deleted = (id for id in draft.named if id in draft.deleted)
    return planned + [_deleted(draft.before[id], groups[id]) for id in deleted]


def _deleted(cell: Cell, group: int) -> PlannedCell:
    return PlannedCell(
        id=cell["id"],
        what="deleted",
        cell_type=cell["cell_type"],
        before=source_of(cell),
        after=None,
        group=group,
    )


def _told(cell: PlannedCell) -> str:
    if cell.position is None:
        head = f"{cell.id}: {cell.what}"
    else:
        where = f"after {cell.previous}" if cell.previous else "at the top"
        where += f", before {cell.next}" if cell.next else ", at the end"
        head = f"{cell.id}: {cell.what}; rev {cell.rev}; @{cell.position}, {where}"
    notes = f" ({'; '.join(cell.notes)})" if cell.notes else ""
    return f"{head}{notes}\n{cell.diff}".rstrip()
