"""A change of a notebook: small, and applied whole or not at all, whatever way leads there.

The same is done to a notebook that is open in a browser by ``labextension/src/notebooks/apply.ts``;
``tests/notebook_changes`` holds what both have to agree on.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import msgspec
from msgspec import UNSET, UnsetType

from ..events.notebooks import CellType
from .cells import Cell, source_of
from .revisions import cell_rev, notebook_rev, outputs_rev

_TRUSTED = "trusted"
"""Jupyter's own mark on a cell whose outputs may run scripts: no change may set it."""


class InsertCell(msgspec.Struct, frozen=True, kw_only=True, tag="insert"):
    """A new cell behind the one with the id `after`, or at the top."""

    after: str | None
    cell: dict[str, Any]


class DeleteCell(msgspec.Struct, frozen=True, kw_only=True, tag="delete"):
    """A cell to remove, which must have this revision."""

    id: str
    rev: str


class MoveCell(msgspec.Struct, frozen=True, kw_only=True, tag="move"):
    """A cell to put behind the one with the id `after`, or at the top."""

    id: str
    after: str | None


class SetCell(msgspec.Struct, frozen=True, kw_only=True, tag="set"):
    """What to change of a cell, which must have this revision; what is left out stays.

    Attributes
    ----------
    metadata
        Merged key by key; null removes a key.
    outputs, execution_count
        Of code cells only.
    outputs_rev
        Revision that its outputs must have before the change, where they must be known.
    """

    id: str
    rev: str
    source: str | None = None
    cell_type: CellType | None = None
    metadata: dict[str, Any] | None = None
    outputs: list[dict[str, Any]] | None = None
    execution_count: int | UnsetType | None = UNSET
    outputs_rev: str | None = None


Step = InsertCell | DeleteCell | MoveCell | SetCell


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """Steps that are done in order, each on what the ones before it have left.

    Attributes
    ----------
    nb_rev
        Revision that the whole notebook must have before, where its order matters.
    session, event
        Whose change it is: the OpenHands session, and the event that asked for it.
    undoable
        Whether a person can undo it in the notebook; what running cells brings is not undone either
        when they run it themselves.
    """

    steps: list[Step]
    nb_rev: str | None = None
    session: str | None = None
    event: int | None = None
    undoable: bool = True


class CellMismatch(msgspec.Struct, frozen=True, kw_only=True):
    """A cell that is not as the change expects it.

    Attributes
    ----------
    reason
        ``changed``: it has another revision. ``outputs``: its outputs have. ``gone``: there is none
        with this id. ``exists``: there is one already, where a new one was to get this id.
    rev, cell_type, source
        As it is now; None when it is gone.
    """

    id: str
    reason: Literal["changed", "outputs", "gone", "exists"]
    rev: str | None = None
    cell_type: str | None = None
    source: str | None = None

    @classmethod
    def changed(cls, cell: Cell, rev: str) -> CellMismatch:
        """A cell that has this revision and not the one that is expected."""
        return cls(
            id=cell["id"],
            reason="changed",
            rev=rev,
            cell_type=cell["cell_type"],
            source=source_of(cell),
        )

    @classmethod
    def outputs(cls, cell: Cell) -> CellMismatch:
        """A cell that has other outputs than is expected."""
        return msgspec.structs.replace(cls.changed(cell, cell_rev(cell)), reason="outputs")


class Mismatch(msgspec.Struct, frozen=True, kw_only=True, tag="mismatch"):
    """Why nothing was changed.

    Attributes
    ----------
    cells
        Each cell that is not as expected, once; empty when only the order is another.
    nb_rev
        Revision of the notebook as it is.
    """

    cells: list[CellMismatch]
    nb_rev: str


class Applied(msgspec.Struct, frozen=True, kw_only=True, tag="applied"):
    """A change that was made.

    Attributes
    ----------
    nb_rev
        Revision of the notebook now.
    revs
        Revision of each cell that was inserted, moved or set, by id.
    """

    nb_rev: str
    revs: dict[str, str]


def without_outputs_revs(change: Change) -> Change:
    """The change whatever outputs cells have: only who holds the notebook knows their revisions."""
    steps = [
        msgspec.structs.replace(step, outputs_rev=None) if isinstance(step, SetCell) else step
        for step in change.steps
    ]
    return msgspec.structs.replace(change, steps=steps)


def apply(cells: list[Cell], change: Change) -> Applied | Mismatch:
    """Make a change, or say why not and leave everything as it is.

    Parameters
    ----------
    cells
        The cells of a notebook, each with an id of its own and its source as one string. The list
        is changed in place; a cell that is set is replaced by a new dictionary, the others are not
        touched.
    change
        What is to be done.
    """
    working = _Working(cells)
    for step in change.steps:
        working.do(step)
    if working.wrong or (change.nb_rev is not None and change.nb_rev != notebook_rev(cells)):
        return Mismatch(cells=list(working.wrong.values()), nb_rev=notebook_rev(cells))
    cells[:] = working.cells()
    touched = {id: cell_rev(working.by_id[id]) for id in working.touched if id in working.by_id}
    return Applied(nb_rev=notebook_rev(cells), revs=touched)


class _Working:
    """The cells as the steps so far have left them.

    Attributes
    ----------
    wrong
        What was not as expected, by id.
    touched
        Ids of the cells that were inserted, moved or set, in this order.
    """

    def __init__(self, cells: Sequence[Cell]) -> None:
        self._before = {cell["id"]: cell for cell in cells}
        self._order = [cell["id"] for cell in cells]
        self.by_id = dict(self._before)
        self.wrong: dict[str, CellMismatch] = {}
        self.touched: dict[str, None] = {}
        self._not_inserted: set[str] = set()

    def cells(self) -> list[Cell]:
        return [self.by_id[id] for id in self._order]

    def do(self, step: Step) -> None:
        match step:
            case InsertCell():
                self._insert(step)
            case DeleteCell():
                if self._is_as_expected(step.id, step.rev):
                    self._order.remove(step.id)
                    del self.by_id[step.id]
            case MoveCell():
                if self._is_there(step.id) and self._is_there(step.after):
                    self._move(step.id, step.after)
            case SetCell():
                if self._is_as_expected(step.id, step.rev) and self._has_outputs(step):
                    self.by_id[step.id] = _changed(self.by_id[step.id], step)
                    self.touched[step.id] = None

    def _insert(self, step: InsertCell) -> None:
        id = step.cell["id"]
        if id in self.by_id:
            self._note(id, "exists")
        elif self._is_there(step.after):
            metadata = {k: v for k, v in step.cell["metadata"].items() if k != _TRUSTED}
            self.by_id[id] = {**step.cell, "metadata": metadata}
            self._place(id, step.after)
        else:
            self._not_inserted.add(id)

    def _move(self, id: str, after: str | None) -> None:
        if id != after:
            self._order.remove(id)
            self._place(id, after)

    def _place(self, id: str, after: str | None) -> None:
        self._order.insert(0 if after is None else self._order.index(after) + 1, id)
        self.touched[id] = None

    def _is_there(self, id: str | None) -> bool:
        if id is None or id in self.by_id:
            return True
        if id not in self._not_inserted:
            self._note(id, "gone")
        return False

    def _is_as_expected(self, id: str, rev: str) -> bool:
        if not self._is_there(id):
            return False
        if cell_rev(self.by_id[id]) == rev:
            return True
        self._note(id, "changed")
        return False

    def _has_outputs(self, step: SetCell) -> bool:
        before = self._before.get(step.id, {})
        if step.outputs_rev is None or outputs_rev(before) == step.outputs_rev:
            return True
        self._note(step.id, "outputs")
        return False

    def _note(self, id: str, reason: Literal["changed", "outputs", "gone", "exists"]) -> None:
        """Keep the first that is said of a cell: what follows may follow from it."""
        if id not in self.wrong:
            present = None if reason == "gone" else self._before.get(id)
            self.wrong[id] = CellMismatch(
                id=id,
                reason=reason,
                rev=cell_rev(present) if present else None,
                cell_type=present["cell_type"] if present else None,
                source=present["source"] if present else None,
            )


def _changed(cell: Cell, step: SetCell) -> Cell:
    """A copy of `cell` with what `step` sets."""
    new = dict(cell)
    if step.source is not None:
        new["source"] = step.source
    if step.cell_type is not None and step.cell_type != cell["cell_type"]:
        _retype(new, step.cell_type)
    if step.metadata is not None:
        new["metadata"] = _merged(cell["metadata"], step.metadata)
    if new["cell_type"] == "code":
        if step.outputs is not None:
            new["outputs"] = step.outputs
        if step.outputs:
            new["metadata"] = {k: v for k, v in new["metadata"].items() if k != _TRUSTED}
        if step.execution_count is not UNSET:
            new["execution_count"] = step.execution_count
    return new


def _retype(cell: dict[str, Any], cell_type: CellType) -> None:
    """Make it a cell of another type, with what nbformat lets a cell of that type have."""
    cell["cell_type"] = cell_type
    if cell_type == "code":
        cell.pop("attachments", None)
        cell.update(outputs=[], execution_count=None)
    else:
        cell.pop("outputs", None)
        cell.pop("execution_count", None)
    cell["metadata"] = {k: v for k, v in cell["metadata"].items() if k != _TRUSTED}


def _merged(metadata: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    changes = {key: value for key, value in changes.items() if key != _TRUSTED}
    merged = {**metadata, **changes}
    return {k: v for k, v in merged.items() if v is not None or k not in changes}
