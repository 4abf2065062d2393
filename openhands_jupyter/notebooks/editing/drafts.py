"""A notebook while an edit of it is planned, and the steps that lead there."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any, Literal

from ...errors import Conflict, Invalid
from ...events.notebooks import CellOutcome
from ..addresses import Addresses
from ..cells import Cell, new_cell, source_of
from ..changes import DeleteCell, InsertCell, MoveCell, SetCell, Step
from ..revisions import cell_rev, rev_of

PlannedOutcome = Literal[CellOutcome, "unchanged"]

LONGEST_SOURCE = 1_000_000
"""Characters of a source that an agent may write; one that was longer may stay so."""


class Draft:
    """The cells of a notebook, and what was done to them so far.

    Attributes
    ----------
    before
        The cells as they were, by id.
    order
        Ids of the cells that there are now.
    named
        Ids of the cells that were written, placed or deleted.
    inserted, deleted
        The cells that are new, by id, and the ids of those that are gone.
    touched, made
        Ids of the cells that the operation named so far, and of those that it made.
    """

    def __init__(self, cells: Sequence[Cell], addresses: Addresses) -> None:
        self.before: dict[str, Cell] = {cell["id"]: cell for cell in cells}
        self.order = list(addresses.ids)
        self.named: dict[str, None] = {}
        self.inserted: dict[str, dict[str, Any]] = {}
        self.deleted: set[str] = set()
        self.touched: dict[str, None] = {}
        self.made: list[str] = []
        self._given: list[str] = []
        self._addresses = addresses
        self._sets: dict[str, dict[str, Any]] = {}
        self._moved: set[str] = set()
        self._structure: list[Step] = []
        self._last_after: dict[str, str] = {}

    def steps(self, outputs: Mapping[str, str] = {}) -> list[Step]:
        """The steps of the change: where cells are, then what is in them.

        Parameters
        ----------
        outputs
            Revisions that outputs must have to be removed, by the cell's id.
        """
        sets: list[Step] = [
            SetCell(
                id=id,
                rev=cell_rev(self.before[id]),
                outputs_rev=outputs.get(id) if "outputs" in fields else None,
                **fields,
            )
            for id, fields in self._sets.items()
            if fields and id not in self.deleted
        ]
        return self._structure + sets

    def begin(self, ids: Sequence[str] = ()) -> None:
        """Begin an operation, whose new cells get these ids, as far as they are given."""
        self.touched, self.made, self._given = {}, [], list(ids)

    def present(self, address: str) -> str:
        """The id of a cell that is still there.

        Raises
        ------
        NotFound, Invalid
            As `Addresses.id`.
        Conflict
            ``cell_deleted_before``.
        """
        id = self._addresses.id(address)
        if id in self.deleted:
            raise Conflict(
                "cell_deleted_before",
                f"Cell {id} was deleted or merged by an operation before this one.",
                "Put this operation before that one, or name another cell.",
            )
        return id

    def name(self, address: str) -> str:
        """The id of a cell that is still there, and that an operation is about."""
        id = self.present(address)
        self._touch(id)
        return id

    def _touch(self, id: str) -> None:
        self.named[id] = self.touched[id] = None

    def cell(self, id: str) -> Cell:
        """A cell as it was, or as it was inserted."""
        return self.inserted[id] if id in self.inserted else self.before[id]

    def source(self, id: str) -> str:
        """The source of a cell now."""
        source: str | None = self._sets.get(id, {}).get("source")
        return source_of(self.cell(id)) if source is None else source

    def cell_type(self, id: str) -> str:
        """The type of a cell now."""
        return str(self._sets.get(id, {}).get("cell_type") or self.cell(id)["cell_type"])

    def tags(self, id: str) -> list[str]:
        """The tags of a cell now."""
        metadata = self._sets.get(id, {}).get("metadata") or self.cell(id).get("metadata", {})
        tags = metadata.get("tags")
        return list(tags) if isinstance(tags, list) else []

    def rev(self, id: str) -> str:
        """The revision of a cell now."""
        return rev_of(self.cell_type(id), self.source(id))

    def outcome(self, id: str) -> PlannedOutcome:
        """What became of a cell that is still there."""
        if id in self.inserted:
            return "inserted"
        if self._sets.get(id):
            return "changed"
        return "moved" if id in self._moved else "unchanged"

    def notes(self, id: str) -> list[str]:
        """What became of a cell besides its source, as phrases."""
        fields = self._sets.get(id, {})
        notes = []
        if "cell_type" in fields:
            notes.append(f"{self.before[id]['cell_type']} is now {fields['cell_type']}")
        if "outputs" in fields:
            notes.append("outputs cleared")
        if "metadata" in fields:
            notes.append(f"tags: {', '.join(self.tags(id)) or 'none'}")
        if fields and id in self._moved:
            notes.append("moved")
        return notes

    def write(self, id: str, source: str) -> None:
        """Give a cell another source."""
        before = source_of(self.cell(id))
        check_length(source, len(before))
        self._set(id, "source", source, before)

    def set_type(self, id: str, cell_type: str) -> None:
        """Make it a cell of another type."""
        self._set(id, "cell_type", cell_type, self.cell(id)["cell_type"])

    def set_tags(self, id: str, tags: list[str]) -> None:
        """Give a cell these tags."""
        before = self.cell(id).get("metadata", {}).get("tags") or []
        if tags == before:
            self._fields(id).pop("metadata", None)
        else:
            self._fields(id)["metadata"] = {"tags": tags or None}

    def clear_outputs(self, id: str) -> None:
        """Remove what a code cell has put out."""
        cell = self.cell(id)
        if cell["cell_type"] != "code":
            return
        if cell.get("outputs") or cell.get("execution_count") is not None:
            self._fields(id).update(outputs=[], execution_count=None)

    def delete(self, id: str) -> None:
        """Remove a cell."""
        self.deleted.add(id)
        self.order.remove(id)
        self._forget_place(id)
        self._structure.append(DeleteCell(id=id, rev=cell_rev(self.before[id])))

    def insert(self, cell: dict[str, Any], after: str | None) -> None:
        """Put a new cell behind the one with the id `after`, or at the top."""
        id = cell["id"]
        self.order.insert(0 if after is None else self.order.index(after) + 1, id)
        self.inserted[id] = cell
        self._touch(id)
        self._structure.append(InsertCell(after=after, cell=cell))

    def insert_beside(self, cell: dict[str, Any], after: str | None, before: str | None) -> None:
        """Put a new cell beside another one that is named by an address, or at the end."""
        anchor, beside = self._anchors(after, before)
        self.insert(cell, self._previous(anchor, beside))
        self._remember_place(cell["id"], anchor)

    def move_beside(self, id: str, after: str | None, before: str | None) -> None:
        """Put a cell that is there already beside another one, or at the end."""
        anchor, beside = self._anchors(after, before)
        if id in (anchor, beside):
            raise Invalid("same_cell", "A cell cannot stand beside itself.", "Name another one.")
        at = self.order.index(id)
        self.order.pop(at)
        self._forget_place(id)
        previous = self._previous(anchor, beside)
        new = 0 if previous is None else self.order.index(previous) + 1
        self.order.insert(new, id)
        self._remember_place(id, anchor)
        if new != at:
            self._moved.add(id)
            self._structure.append(MoveCell(id=id, after=previous))

    def new_cell(self, cell_type: str, source: str) -> dict[str, Any]:
        """A cell as nbformat 4.5 wants it, with an id that no other one has."""
        id = self._given.pop(0) if self._given else uuid.uuid4().hex[:8]
        while id in self.before or id in self.inserted:
            id = uuid.uuid4().hex[:8]
        self.made.append(id)
        return new_cell(id, cell_type, source)

    def part_of(self, id: str, source: str) -> dict[str, Any]:
        """A new cell for a part of another one, with its metadata and the attachments it shows."""
        cell = self.new_cell(self.cell_type(id), source)
        of = self.cell(id)
        cell["metadata"] = deepcopy(dict(of.get("metadata", {})))
        cell["metadata"].pop("tags", None)
        if tags := self.tags(id):
            cell["metadata"]["tags"] = tags
        shown = {
            name: deepcopy(content)
            for name, content in (of.get("attachments") or {}).items()
            if f"attachment:{name}" in source
        }
        return {**cell, "attachments": shown} if shown else cell

    def hand_outputs(self, id: str, cell: dict[str, Any]) -> None:
        """Give what a code cell has put out to a new one that is a part of it."""
        of = self.cell(id)
        was_code = of["cell_type"] == "code" == cell["cell_type"]
        if was_code and "outputs" not in self._sets.get(id, {}):
            cell["outputs"] = deepcopy(list(of.get("outputs", [])))
            cell["execution_count"] = of.get("execution_count")
        self.clear_outputs(id)

    def _fields(self, id: str) -> dict[str, Any]:
        return self._sets.setdefault(id, {})

    def _set(self, id: str, field: str, value: str, before: str) -> None:
        if value == before:
            self._fields(id).pop(field, None)
        else:
            self._fields(id)[field] = value

    def _anchors(self, after: str | None, before: str | None) -> tuple[str | None, str | None]:
        if after is not None and before is not None:
            raise Invalid(
                "two_places", "Both `after` and `before` are given.", "Give one of them, or none."
            )
        return (
            None if after is None else self.present(after),
            None if before is None else self.present(before),
        )

    def _previous(self, anchor: str | None, beside: str | None) -> str | None:
        """Id of the cell behind which one stands that is to be beside others, or at the end."""
        if anchor is not None:
            return self._last_after.get(anchor, anchor)
        at = len(self.order) if beside is None else self.order.index(beside)
        return self.order[at - 1] if at else None

    def _remember_place(self, id: str, anchor: str | None) -> None:
        if anchor is not None:
            self._last_after[anchor] = id

    def _forget_place(self, id: str) -> None:
        kept = {a: last for a, last in self._last_after.items() if id not in (a, last)}
        self._last_after = kept


def check_length(source: str, before: int = 0) -> None:
    """Refuse a source that is longer than it may be, and than the one `before` was.

    Raises
    ------
    Invalid
        ``source_too_long``.
    """
    if len(source) > max(LONGEST_SOURCE, before):
        raise Invalid(
            "source_too_long",
            f"The source would have {len(source):,} characters, the most is {LONGEST_SOURCE:,}.",
            "Put data into a file and have the cell read it.",
        )
