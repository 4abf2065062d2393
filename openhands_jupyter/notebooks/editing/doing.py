"""Each operation of an edit, done to a draft of the notebook."""

from __future__ import annotations

from functools import singledispatch
from itertools import pairwise

from ...errors import Invalid
from .drafts import Draft, check_length
from .operations import (
    ClearOutputs,
    Delete,
    Insert,
    Merge,
    Move,
    Operation,
    Patch,
    Replace,
    SetType,
    Split,
    Tag,
)
from .patching import patched

KNOWN_TYPES = ("code", "markdown", "raw")


@singledispatch
def do(operation: Operation, draft: Draft) -> None:
    """Do one operation.

    Raises
    ------
    NotFound, Invalid, Conflict
        When it cannot be done.
    """
    raise NotImplementedError(type(operation))


@do.register
def _(operation: Replace, draft: Draft) -> None:
    draft.write(draft.name(operation.id), operation.source)


@do.register
def _(operation: Patch, draft: Draft) -> None:
    id = draft.name(operation.id)
    draft.write(id, patched(draft.source(id), operation.old, operation.new, operation.all))


@do.register
def _(operation: Insert, draft: Draft) -> None:
    check_length(operation.source)
    cell = draft.new_cell(operation.type, operation.source)
    draft.insert_beside(cell, operation.after, operation.before)


@do.register
def _(operation: Move, draft: Draft) -> None:
    draft.move_beside(draft.name(operation.id), operation.after, operation.before)


@do.register
def _(operation: Delete, draft: Draft) -> None:
    draft.delete(draft.name(operation.id))


@do.register
def _(operation: SetType, draft: Draft) -> None:
    id = draft.name(operation.id)
    _check_known_type(draft, id)
    if operation.type == "code":
        _check_no_attachments(draft, id, "become a code cell")
    draft.set_type(id, operation.type)


@do.register
def _(operation: Split, draft: Draft) -> None:
    id = draft.name(operation.id)
    _check_known_type(draft, id)
    parts = _parts(draft.source(id), operation.lines)
    cells = [draft.part_of(id, source) for source in parts[1:]]
    draft.write(id, parts[0])
    draft.hand_outputs(id, cells[-1])
    after = id
    for cell in cells:
        draft.insert(cell, after)
        after = cell["id"]


@do.register
def _(operation: Merge, draft: Draft) -> None:
    ids = [draft.name(cell.id) for cell in operation.cells]
    if len(ids) < 2:
        raise Invalid("merge_too_few", "Fewer than two cells are to be merged.", "Name them all.")
    first = draft.order.index(ids[0])
    if draft.order[first : first + len(ids)] != ids:
        raise Invalid(
            "merge_apart",
            "The cells to merge do not follow each other in this order.",
            "Move them together first.",
        )
    for id in ids:
        _check_known_type(draft, id)
    for id in ids[1:]:
        _check_no_attachments(draft, id, "be merged into another one")
    draft.write(ids[0], "\n\n".join(map(draft.source, ids)))
    draft.clear_outputs(ids[0])
    for id in ids[1:]:
        draft.delete(id)


@do.register
def _(operation: ClearOutputs, draft: Draft) -> None:
    id = draft.name(operation.id)
    if draft.cell_type(id) != "code":
        raise Invalid("no_outputs", f"Cell {id} is no code cell.", "Only code cells have outputs.")
    draft.clear_outputs(id)


@do.register
def _(operation: Tag, draft: Draft) -> None:
    id = draft.name(operation.id)
    for tag in operation.add:
        if not tag.strip() or "," in tag:
            raise Invalid("bad_tag", f"{tag!r} is no tag.", "A tag is a word without commas.")
    tags = dict.fromkeys([*draft.tags(id), *operation.add])
    draft.set_tags(id, [tag for tag in tags if tag not in operation.remove])


def _check_known_type(draft: Draft, id: str) -> None:
    if draft.cell_type(id) not in KNOWN_TYPES:
        raise Invalid(
            "unknown_cell_type",
            f"Cell {id} is of the type {draft.cell_type(id)!r}, which is not known here.",
            "Leave it as it is, or edit its source only.",
        )


def _check_no_attachments(draft: Draft, id: str, what: str) -> None:
    if draft.cell(id).get("attachments"):
        raise Invalid(
            "has_attachments",
            f"Cell {id} has attachments, which would be lost.",
            f"A cell with attachments cannot {what}.",
        )


def _parts(source: str, starts: list[int]) -> list[str]:
    """The source cut before each of these lines, counted from 1."""
    lines = source.split("\n")
    bounds = [0, *(start - 1 for start in starts), len(lines)]
    if not starts or any(start >= end for start, end in pairwise(bounds)):
        raise Invalid(
            "bad_split",
            f"The cell cannot be split at lines {starts}: it has {len(lines)}.",
            "Give the first line of each new cell, rising, from 2 on.",
        )
    return ["\n".join(lines[start:end]) for start, end in pairwise(bounds)]
