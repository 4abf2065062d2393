"""What an edit did to the cells of a notebook, kept so that it can be taken back days later."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from ...events.notebooks import CellOutcome
from ..cells import Cell, source_of
from ..changes import Applied, Change, MoveCell, apply, without_outputs_revs
from ..delivery.document import checked

_DIGITS = 16


class Place(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Where a cell stood: the ids of its neighbours, if it had them, and its place from 0."""

    position: int
    previous: str | None = None
    next: str | None = None


class KeptOutputs(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a code cell had put out; `digest` tells whether it is still what was kept."""

    outputs: list[dict[str, Any]] = []
    execution_count: int | None = None
    digest: str = ""

    @property
    def is_whole(self) -> bool:
        """Whether nothing was masked or cut since it was kept."""
        return self.digest == outputs_digest(self.outputs, self.execution_count)


class Content(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a cell held.

    Attributes
    ----------
    metadata
        All of it for a cell that was inserted or deleted. Else what the edit changed, key by key,
        where None stands for a key that there was not.
    attachments
        Of a cell that was inserted or deleted.
    outputs
        Of a code cell that was deleted or whose outputs the edit changed.
    """

    cell_type: str
    source: str
    metadata: dict[str, Any] = {}
    attachments: dict[str, Any] | None = None
    outputs: KeptOutputs | None = None


class CellRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What one edit did to one cell.

    It has to be kept as it is. Where it was masked or cut on the way to the log, `is_whole` says
    so, and `plan_undo` leaves the cell alone rather than write a mask into it.

    Attributes
    ----------
    before, after
        What the cell held; None where there was no such cell.
    was, now
        Its place before and after, where the edit inserted, deleted or moved it.
    digest
        Of all this but the outputs, which have one of their own.
    """

    id: str
    what: CellOutcome
    before: Content | None = None
    after: Content | None = None
    was: Place | None = None
    now: Place | None = None
    digest: str = ""

    @property
    def is_whole(self) -> bool:
        """Whether nothing but outputs was masked or cut since it was made."""
        return self.digest == _record_digest(self)


def records(cells: Sequence[Cell], change: Change) -> list[CellRecord]:
    """What a change does to each cell that it touches, to be kept with the event of the edit.

    It is to be called when the change is planned, with the cells that it was planned on, and what
    it gives is to be kept once the change was made (`Applied`)::

        before = (await document.read()).cells
        change = plan(before, operations, read).change
        made = records(before, change)
        if isinstance(await document.change(change), Applied):
            ...  # keep `made` whole, as one edit of the turn

    The edits of a turn, the oldest first, are what `undoing.plan_undo` takes. An undo is a change
    like others: its own records, made in the same way, are what redoes it.

    Parameters
    ----------
    cells
        The cells before, each with an id of its own.
    change
        What is made of them.

    Raises
    ------
    ValueError
        When the change was not planned on these cells.
    Invalid
        When the change has a cell that nbformat does not allow.
    """
    before: list[Cell] = [{**cell, "source": source_of(cell)} for cell in cells]
    after = list(before)
    if not isinstance(apply(after, without_outputs_revs(checked(change))), Applied):
        raise ValueError("The change does not fit these cells.")
    moved = {step.id for step in change.steps if isinstance(step, MoveCell)}
    old, new = _by_id(before), _by_id(after)
    was, now = _places(before), _places(after)
    found = []
    for id in old | new:
        one, other = old.get(id), new.get(id)
        if one is other and id not in moved:
            continue
        record = _record(id, one, other)
        if record.what in ("inserted", "deleted") or id in moved:
            record = msgspec.structs.replace(record, was=was.get(id), now=now.get(id))
        found.append(msgspec.structs.replace(record, digest=_record_digest(record)))
    return found


def outputs_digest(outputs: Any, execution_count: Any) -> str:
    """A short hash of what a cell has put out."""
    return _digest([outputs, execution_count])


def _record(id: str, before: Cell | None, after: Cell | None) -> CellRecord:
    if before is None or after is None:
        return CellRecord(
            id=id,
            what="inserted" if before is None else "deleted",
            before=None if before is None else _whole(before),
            # The outputs of a new cell do not tell whether somebody changed it since.
            after=None if after is None else _without_outputs(_whole(after)),
        )
    if before is after:
        return CellRecord(id=id, what="moved")
    old, new = before["metadata"], after["metadata"]
    keys = [key for key in {**old, **new} if old.get(key) != new.get(key)]
    outputs, later = _outputs(before), _outputs(after)
    if outputs == later:
        outputs = later = None
    return CellRecord(
        id=id,
        what="changed",
        before=_changed(before, keys, outputs),
        # Only whether they are still the same is asked of these.
        after=_changed(after, keys, later and KeptOutputs(digest=later.digest)),
    )


def _changed(cell: Cell, keys: Sequence[str], outputs: KeptOutputs | None) -> Content:
    return Content(
        cell_type=cell["cell_type"],
        source=cell["source"],
        metadata={key: cell["metadata"].get(key) for key in keys},
        outputs=outputs,
    )


def _whole(cell: Cell) -> Content:
    return Content(
        cell_type=cell["cell_type"],
        source=cell["source"],
        metadata=dict(cell["metadata"]),
        attachments=cell.get("attachments"),
        outputs=_outputs(cell),
    )


def _outputs(cell: Cell) -> KeptOutputs | None:
    if cell["cell_type"] != "code":
        return None
    outputs, count = list(cell.get("outputs") or []), cell.get("execution_count")
    return KeptOutputs(
        outputs=outputs, execution_count=count, digest=outputs_digest(outputs, count)
    )


def _by_id(cells: Sequence[Cell]) -> dict[str, Cell]:
    return {cell["id"]: cell for cell in cells}


def _places(cells: Sequence[Cell]) -> Mapping[str, Place]:
    ids = [None, *(cell["id"] for cell in cells), None]
    return {
        id: Place(position=at, previous=ids[at], next=ids[at + 2])
        for at, id in enumerate(ids[1:-1])
        if id is not None
    }


def _record_digest(record: CellRecord) -> str:
    bare = msgspec.structs.replace(
        record,
        digest="",
        before=_without_outputs(record.before),
        after=_without_outputs(record.after),
    )
    return _digest(msgspec.to_builtins(bare))


def _without_outputs(content: Content | None) -> Content | None:
    return content and msgspec.structs.replace(content, outputs=None)


def _digest(value: Any) -> str:
    # Escaped, so that half a surrogate pair is told from what stands for it on the log.
    text = json.dumps(value, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGITS]
