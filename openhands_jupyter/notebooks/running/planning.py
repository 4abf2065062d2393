"""Which cells of a notebook are run, found out before any of them is."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

from ...errors import Conflict, Invalid
from ...events.notebook_runs import CellsMeant, PlannedRun
from ..addresses import Addresses
from ..cells import Cell, source_of
from ..delivery.document import Snapshot
from ..names.graph import NameGraph, is_python
from ..revisions import cell_rev

LONGEST = 1_000_000
"""Characters of code that are run at once: a person is to look through them."""

_STARTS_AGENT = re.compile(
    r"^[^\S\n]*%%?\s*openhands\b|run_(?:cell|line)_magic\(\s*['\"]openhands['\"]", re.MULTILINE
)


def plan_run(
    snapshot: Snapshot,
    which: CellsMeant,
    addresses: Sequence[str],
    known: Mapping[str, str],
    unrun: Collection[str] = (),
) -> list[PlannedRun]:
    """The cells that are run, in order. Takes time.

    Parameters
    ----------
    snapshot
        The notebook.
    which, addresses
        As the action has them.
    known
        Revisions of the cells that the agent has read, by id.
    unrun
        Ids of the cells that it has written and not run since.

    Raises
    ------
    NotFound, Invalid, Conflict
        When there is no such cell, nothing to be run, too much of it, or a cell is another one
        than the agent has read.
    """
    meant = _meant(snapshot, which, addresses, unrun)
    positions = {cell["id"]: position for position, cell in enumerate(snapshot.cells)}
    cells = [snapshot.cells[positions[id]] for id in meant]
    planned = [
        PlannedRun(
            id=cell["id"],
            rev=cell_rev(cell),
            source=source_of(cell),
            position=positions[cell["id"]],
            may_fail=may_fail(cell),
        )
        for cell in cells
    ]
    changed = [cell.id for cell in planned if known.get(cell.id, cell.rev) != cell.rev]
    if changed:
        raise Conflict(
            "cells_changed",
            f"Changed since you read them: {', '.join(changed[:10])}. Nothing was run.",
            "Read them again.",
        )
    for cell in planned:
        refuse_task(cell.id, cell.source)
    if sum(len(cell.source) for cell in planned) > LONGEST:
        raise Invalid(
            "too_much_to_run",
            f"The cells have more than {LONGEST:,} characters of code.",
            "Run fewer at once.",
        )
    return planned


def may_fail(cell: Cell) -> bool:
    """Whether an error of a cell is expected."""
    return "raises-exception" in (cell["metadata"].get("tags") or [])


def starts_agent(source: str) -> bool:
    """Whether code gives OpenHands a task, as far as it shows."""
    return _STARTS_AGENT.search(source) is not None


def refuse_task(id: str, source: str) -> None:
    """Refuse a cell that would start an agent.

    Raises
    ------
    Invalid
        When it gives OpenHands a task.
    """
    if starts_agent(source):
        raise Invalid(
            "cell_runs_agent",
            f"Cell {id} gives OpenHands a task, which only a person may do.",
            "Do what it says yourself, or ask the person to run it.",
        )


def stale_cells(snapshot: Snapshot, unrun: Collection[str]) -> list[str]:
    """Cells whose results are older than code or data that they come from, in order. Takes time.

    Those are the ones that the agent has written and not run since, those that ran before a cell
    that they take a name from, and those that ran and take a name from one of all these.

    Raises
    ------
    Invalid
        When the notebook is not in Python.
    """
    if not is_python(snapshot.metadata):
        raise Invalid(
            "not_python",
            "Which cells are stale is known of notebooks in Python only.",
            "Name the cells.",
        )
    graph = NameGraph(snapshot.cells)
    counts = {cell["id"]: cell.get("execution_count") for cell in snapshot.cells}
    stale = {cell.id for cell in graph.stale_by_runs()} | {id for id in unrun if id in counts}
    for id, sources in graph.sources.items():
        if counts[id] is not None and any(source in stale for source in sources.values()):
            stale.add(id)
    return [id for id in counts if id in stale]


def _meant(
    snapshot: Snapshot, which: CellsMeant, addresses: Sequence[str], unrun: Collection[str]
) -> list[str]:
    cells = snapshot.cells
    named = list(dict.fromkeys(map(Addresses(cells).id, addresses)))
    runnable = {c["id"] for c in cells if c["cell_type"] == "code" and source_of(c).strip()}
    match which:
        case "named":
            found = named
            if wrong := [id for id in named if id not in runnable]:
                raise Invalid("nothing_to_run", f"There is no code in: {', '.join(wrong[:10])}.")
        case "above":
            if len(named) != 1:
                raise Invalid("one_cell_wanted", "Name the one cell above which all are run.")
            ids = [cell["id"] for cell in cells]
            found = ids[: ids.index(named[0])]
        case "stale":
            found = stale_cells(snapshot, unrun)
        case "all":
            found = [cell["id"] for cell in cells]
    found = [id for id in found if id in runnable]
    if not found:
        what = "No cell is stale." if which == "stale" else "There is no cell with code to be run."
        raise Invalid("nothing_to_run", what, "Name the cells to be run.")
    return found
