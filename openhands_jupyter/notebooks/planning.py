"""From what an agent asks for to the change that is delivered, and what the agent is told of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

import msgspec

from ..errors import Conflict, Invalid, OpenHandsError
from ..events.blobs import cut
from .addresses import SHORTEST_PREFIX, Addresses
from .cells import Cell, source_of
from .changes import CellMismatch, Change
from .doing import do
from .drafts import Draft
from .lines import unified_diff
from .operations import (
    ClearOutputs,
    Insert,
    Merge,
    Move,
    Operation,
    Tag,
    operation_name,
)
from .revisions import cell_rev, notebook_rev, rev_of_revs

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
        changed = [f"{cell.id} (now {cell.rev})" for cell in cells if cell.reason != "gone"]
        said = [f"changed since you read them: {', '.join(changed)}"] if changed else []
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
    diff
        The hunks of a unified diff of its source; empty for a new cell.
    notes
        What else changes, as phrases.
    """

    id: str
    what: Literal["inserted", "deleted", "changed", "moved", "unchanged"]
    rev: str | None = None
    position: int | None = None
    previous: str | None = None
    next: str | None = None
    diff: str = ""
    notes: list[str] = []


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
    """

    change: Change
    nb_rev: str
    cells: list[PlannedCell]

    def told(self) -> str:
        """What the agent is told when the change was made."""
        done = sum(cell.what != "unchanged" for cell in self.cells)
        head = f"{done} {'cell' if done == 1 else 'cells'} edited; nb_rev {self.nb_rev}."
        return cut("\n".join([head, *map(_told, self.cells)]), TOLD)


def plan(
    cells: Sequence[Cell],
    operations: Sequence[Operation],
    read: Mapping[str, str],
    *,
    expect_nb_rev: str | None = None,
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

    Raises
    ------
    NotFound, Invalid
        An operation that cannot be done; the message says which one and why.
    Conflict
        ``cells_changed`` (as `CellsChanged`), ``notebook_changed``, or ``cells_not_read``.
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
    for number, operation in enumerate(operations, 1):
        try:
            do(operation, draft)
        except OpenHandsError as error:
            raise _located(error, number, operation) from None
    change = Change(steps=draft.steps(), nb_rev=expect_nb_rev)
    order = draft.order
    nb_rev = rev_of_revs((id, draft.rev(id)) for id in order)
    return Plan(change=change, nb_rev=nb_rev, cells=_planned(draft))


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
            elif now != expected or (overwrites and read[id] != now):
                changed[id] = _changed(by_id[id], now)
    if unread:
        raise Conflict(
            "cells_not_read",
            f"You have not read these cells, so they cannot be overwritten: {', '.join(unread)}.",
            "Read them first.",
        )
    if changed:
        raise CellsChanged(list(changed.values()))


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


def _changed(cell: Cell, rev: str) -> CellMismatch:
    return CellMismatch(
        id=cell["id"],
        reason="changed",
        rev=rev,
        cell_type=cell["cell_type"],
        source=source_of(cell),
    )


def _planned(draft: Draft) -> list[PlannedCell]:
    order = draft.order
    planned = []
    for position, id in enumerate(order):
        if id not in draft.named:
            continue
        planned.append(
            PlannedCell(
                id=id,
                what=draft.outcome(id),
                rev=draft.rev(id),
                position=position,
                previous=order[position - 1] if position else None,
                next=order[position + 1] if position + 1 < len(order) else None,
                diff="" if id in draft.inserted else _diff(draft, id),
                notes=draft.notes(id),
            )
        )
    deleted = (id for id in draft.named if id in draft.deleted)
    return planned + [PlannedCell(id=id, what="deleted", diff=_diff(draft, id)) for id in deleted]


def _diff(draft: Draft, id: str) -> str:
    before = source_of(draft.before[id])
    return unified_diff(before, "" if id in draft.deleted else draft.source(id))


def _told(cell: PlannedCell) -> str:
    if cell.position is None:
        head = f"{cell.id}: {cell.what}"
    else:
        where = f"after {cell.previous}" if cell.previous else "at the top"
        where += f", before {cell.next}" if cell.next else ", at the end"
        head = f"{cell.id}: {cell.what}; rev {cell.rev}; @{cell.position}, {where}"
    notes = f" ({'; '.join(cell.notes)})" if cell.notes else ""
    return f"{head}{notes}\n{cell.diff}".rstrip()
