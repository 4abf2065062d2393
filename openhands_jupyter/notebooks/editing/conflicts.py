"""What an agent is told when somebody else changed the cells that it wanted to edit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...errors import OpenHandsError
from ...events.blobs import cut
from ..addresses import Addresses
from ..changes import CellMismatch
from ..lines import unified_diff
from ..showing.reading import page
from .merging import merge
from .operations import Operation, Patch, Replace
from .patching import patched

LIMIT = 16_000
"""Characters of all that is told."""


def wanted_sources(operations: Sequence[Operation], bases: Mapping[str, str]) -> dict[str, str]:
    """The sources that an edit would have given to cells, by id, had they been as they were read.

    Parameters
    ----------
    operations
        The edit; only its `Replace` and `Patch` write sources that somebody else's can be merged
        with.
    bases
        The source of each cell as the agent has read it, by id.
    """
    addresses = Addresses([{"id": id} for id in bases])
    wanted: dict[str, str] = {}
    for operation in operations:
        if not isinstance(operation, (Replace, Patch)):
            continue
        try:
            id = addresses.id(operation.id)
            if isinstance(operation, Replace):
                wanted[id] = operation.source
            else:
                source = wanted.get(id, bases[id])
                wanted[id] = patched(source, operation.old, operation.new, operation.all)
        except OpenHandsError:
            # It says so by itself when the edit is tried again.
            continue
    return wanted


def told_of_conflicts(
    cells: Sequence[CellMismatch], bases: Mapping[str, str], wanted: Mapping[str, str]
) -> str:
    """How the cells are now, what became of them since they were read, and how edits fit together.

    Parameters
    ----------
    cells
        Those that are not as expected.
    bases, wanted
        Sources by id: as the agent has read them, and as it wanted them to be.
    """
    return cut("\n\n".join(_told(cell, bases, wanted) for cell in cells), LIMIT)


def _told(cell: CellMismatch, bases: Mapping[str, str], wanted: Mapping[str, str]) -> str:
    if cell.source is None:
        return f"Cell {cell.id} was deleted."
    base, ours = bases.get(cell.id), wanted.get(cell.id)
    if cell.reason == "outputs":
        return f"Cell {cell.id} has other outputs than when you asked for this."
    head = f"Cell {cell.id} is now at rev {cell.rev}."
    if base is None:
        return f"{head} It holds:\n{page(cell.source).text}"
    if base == cell.source:
        return f"{head} Its type was changed to {cell.cell_type}; its source is as you read it."
    told = f"{head} What was changed since you read it:\n{unified_diff(base, cell.source)}"
    if ours is None or ours == base:
        return told
    merged = merge(base, ours, cell.source)
    if merged.source is not None:
        return f"{told}\nYour edit and this one fit together as:\n{merged.source}"
    marked = merged.marked("your edit", "as you read it", "as it is now")
    return f"{told}\nYour edit touches the same lines:\n{marked}"
