"""Taking back what edits did to the cells of a notebook, on the notebook as it is now."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from ...events import CellEdit
from ...events.blobs import cut
from ...events.notebooks import CellOutcome, LeftCell
from ..cells import Cell, source_of
from ..changes import Change, DeleteCell, InsertCell, MoveCell, SetCell, Step
from ..lines import unified_diff
from ..revisions import cell_rev
from .linking import linked
from .records import CellRecord
from .reverting import GONE, Blocked, reverted

TOLD = 16_000
"""Characters of what is told of one undo."""


class UndoPlan(msgspec.Struct, frozen=True, kw_only=True):
    """How edits are taken back. To show it is the preview, to deliver its change is the undo.

    Attributes
    ----------
    change
        Holds the revision of each cell that it overwrites or removes, so it is made whole or, where
        somebody was faster, not at all: then it is to be planned again. It has no steps where
        nothing is to be taken back.
    cells
        What it makes of each cell that it changes, in the order of the notebook, then the cells
        that are removed. One that comes back is ``inserted``, one that the edit had inserted is
        ``deleted``.
    left
        What it leaves alone. Nothing of the edits is undone in these cells.
    """

    change: Change
    cells: list[CellEdit]
    left: list[LeftCell]

    def told(self) -> str:
        """What a person or an agent is told in words."""
        return cut("\n".join([*map(_told, self.cells), *map(_told_left, self.left)]), TOLD)


def plan_undo(edits: Sequence[Sequence[CellRecord]], cells: Sequence[Cell]) -> UndoPlan:
    """Plan how to take back edits, such as those of a turn. Nothing is changed yet.

    The edits are taken back one by one, the last one first. What somebody changed in a cell
    meanwhile, also between the edits, is merged line by line with what the cell was before; where
    both changed the same lines, the cell is left alone. A cell that an edit inserted is removed
    only if nobody changed it. One that was deleted comes back between its neighbours. Cells that
    text went between are taken back together or not at all, so that no line is lost on the way
    (see `linking`). Whatever stands in the notebook that the edits did not bring is there
    afterwards too.

    Parameters
    ----------
    edits
        The records of each edit as `records.records` made them, the oldest edit first.
    cells
        The notebook's cells as they are, each with an id of its own.
    """
    return _Undoing(edits, cells).plan()


class _Undoing:
    """The notebook while edits are taken back.

    `wanted` has the cells as they will be, by id, and `order` their ids; `left` and `notes` what is
    to be told, `placed` the cells that were put somewhere, `new` those that there were not before
    all the edits.
    """

    def __init__(self, edits: Sequence[Sequence[CellRecord]], cells: Sequence[Cell]) -> None:
        self.edits = edits
        self.present: dict[str, Cell] = {
            cell["id"]: {**cell, "source": source_of(cell)} for cell in cells
        }
        self.wanted = dict(self.present)
        self.order = list(self.present)
        self.left: dict[str, LeftCell] = {}
        self.notes: dict[str, list[str]] = {}
        self.placed: set[str] = set()
        first: dict[str, CellRecord] = {}
        for record in (record for edit in edits for record in edit):
            first.setdefault(record.id, record)
        self.new = {id for id, record in first.items() if record.what == "inserted"}

    def plan(self) -> UndoPlan:
        for ids in linked(self.edits):
            self._revert(ids)
        for edit in reversed(self.edits):
            self._put_back([record for record in edit if record.id not in self.left])
        self.order = [id for id in self.order if id in self.wanted]
        return UndoPlan(
            change=Change(steps=list(self._steps())),
            cells=self._told(),
            left=list(self.left.values()),
        )

    def _revert(self, ids: frozenset[str]) -> None:
        """Take back what was done to the content of cells, in all of them or in none."""
        wanted: dict[str, Cell | None] = {}
        notes: dict[str, list[str]] = {}
        blocked: dict[str, Blocked] = {}
        gone: set[str] = set()
        for edit in reversed(self.edits):
            for record in edit:
                if record.id not in ids or record.id in blocked:
                    continue
                now = wanted.get(record.id, self.present.get(record.id))
                if now is None and record.what != "deleted" and record.id in self.new:
                    # It goes with all that was done to it, and holds nothing up.
                    gone |= {record.id} if record.what == "changed" else set()
                    continue
                try:
                    wanted[record.id] = reverted(record, now, notes.setdefault(record.id, []))
                except Blocked as error:
                    blocked[record.id] = error
        if blocked:
            self._leave(ids, blocked)
            return
        self._leave(gone, dict.fromkeys(gone, Blocked("gone", GONE)))
        self.notes |= notes
        for id, cell in wanted.items():
            if cell is None:
                self.wanted.pop(id, None)
            else:
                self.wanted[id] = cell

    def _leave(self, ids: Iterable[str], blocked: dict[str, Blocked]) -> None:
        names = ", ".join(blocked)
        for id in sorted(ids, key=lambda id: id not in blocked):
            why = blocked.get(id) or Blocked(
                "linked", f"Text went between it and {names}, which cannot be taken back."
            )
            now = self.present.get(id)
            self.left[id] = LeftCell(
                id=id,
                reason=why.reason,
                why=why.why,
                source=None if now is None else now["source"],
                both=why.both,
            )

    def _put_back(self, edit: list[CellRecord]) -> None:
        """Undo what one edit did to the order; what others put between cells stays there."""
        moved = [record for record in edit if self._can_be_moved_back(record, edit)]
        gone = {record.id for record in edit if record.what == "inserted"}
        away = gone | {record.id for record in moved}
        self.order = [id for id in self.order if id not in away]
        back = [r for r in edit if r.what == "deleted" and r.id not in self.order]
        for record in sorted(moved + back, key=_position_before):
            self.order.insert(self._index(record), record.id)
            self.placed.add(record.id)

    def _can_be_moved_back(self, record: CellRecord, edit: list[CellRecord]) -> bool:
        if record.was is None or record.now is None or record.id not in self.order:
            return False
        here = self.order.index(record.id)
        if record.now.previous in self.order[here:] or record.now.next in self.order[:here]:
            self.notes[record.id].append("stays where it is, as somebody moved it since")
            return False
        beside = {record.was.previous, record.was.next} - {None}
        known = {*self.order, *(other.id for other in edit if other.what == "deleted")}
        if beside and known.isdisjoint(beside):
            self.notes[record.id].append("stays where it is, as its neighbours are gone")
            return False
        return True

    def _index(self, record: CellRecord) -> int:
        """Where a cell is to be put; those that stood above it are back already."""
        was = record.was
        assert was is not None
        if was.previous in self.order:
            return self.order.index(was.previous) + 1
        if was.next in self.order:
            return self.order.index(was.next)
        return min(was.position, len(self.order)) if was.next else len(self.order)

    def _steps(self) -> Iterable[Step]:
        for id, cell in self.present.items():
            if id not in self.wanted:
                yield DeleteCell(id=id, rev=cell_rev(cell))
        moved = self._moved()
        previous = None
        for id in self.order:
            if id not in self.present:
                yield InsertCell(after=previous, cell=dict(self.wanted[id]))
            elif id in moved:
                yield MoveCell(id=id, after=previous)
            previous = id
        for id in self.order:
            if id in self.present and (fields := _fields(self.present[id], self.wanted[id])):
                yield SetCell(id=id, rev=cell_rev(self.present[id]), **fields)

    def _moved(self) -> set[str]:
        """The cells that stand elsewhere among those that stay."""
        stay = [id for id in self.present if id in self.wanted]
        if stay == [id for id in self.order if id in self.present]:
            return set()
        return self.placed & self.present.keys()

    def _told(self) -> list[CellEdit]:
        """What becomes of each cell; one that stays as it is goes to those that are left alone."""
        moved = self._moved()
        told = []
        for position, id in enumerate(self.order):
            now, then = self.present.get(id), self.wanted[id]
            what: CellOutcome = "moved"
            if now is None or _fields(now, then):
                what = "inserted" if now is None else "changed"
            notes = list(dict.fromkeys(self.notes.get(id, ())))
            if what != "moved" or id in moved:
                if what == "changed" and id in moved:
                    notes.append("is moved back")
                told.append(
                    CellEdit(
                        id=id,
                        what=what,
                        cell_type=then["cell_type"],
                        before=None if now is None else now["source"],
                        after=then["source"],
                        position=position,
                        notes=notes,
                    )
                )
            elif notes:
                why = f"It {'; it '.join(notes)}."
                self.left[id] = LeftCell(id=id, reason="changed", why=why, source=then["source"])
        return told + [
            CellEdit(id=id, what="deleted", cell_type=cell["cell_type"], before=cell["source"])
            for id, cell in self.present.items()
            if id not in self.wanted
        ]


def _position_before(record: CellRecord) -> int:
    assert record.was is not None
    return record.was.position


def _fields(now: Cell, then: Cell) -> dict[str, Any]:
    """What a step has to set of a cell, so that it becomes another one."""
    fields: dict[str, Any] = {
        key: then[key] for key in ("source", "cell_type") if then[key] != now[key]
    }
    if then["cell_type"] == "code":
        outputs, count = then.get("outputs"), then.get("execution_count")
        if "cell_type" in fields:
            differs = bool(outputs) or count is not None
        else:
            differs = (outputs, count) != (now.get("outputs"), now.get("execution_count"))
        if differs:
            fields |= {"outputs": outputs, "execution_count": count}
    old, new = now["metadata"], then["metadata"]
    if old != new:
        keys = {**old, **new}
        fields["metadata"] = {k: new.get(k) for k in keys if old.get(k) != new.get(k)}
    return fields


def _told(cell: CellEdit) -> str:
    words = {"inserted": "comes back", "deleted": "is removed", "changed": "as it was"}
    head = f"{cell.id}: {words.get(cell.what, 'is moved back')}"
    head += "" if cell.position is None else f"; @{cell.position}"
    notes = f" ({'; '.join(cell.notes)})" if cell.notes else ""
    diff = unified_diff(cell.before or "", cell.after or "") if cell.what == "changed" else ""
    return f"{head}{notes}\n{diff}".rstrip()


def _told_left(cell: LeftCell) -> str:
    return f"{cell.id}: left as it is. {cell.why}\n{cell.both}".rstrip()
