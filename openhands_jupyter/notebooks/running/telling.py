"""What a model is told of cells that run, or ran."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence

from ...events import Masker
from ...events.notebook_runs import CellResult, RunState
from ...events.shown import as_data
from ..showing.effects import names_text
from ..showing.outputs import Shown, show
from .runs import CellRun, Run

MOST_CELLS = 40
"""Cells that have a line of their own."""

_HINTS: dict[RunState, str] = {
    "queued": "It waits for another run of this notebook.",
    "kernel_dead": "The kernel died, or was restarted or shut down: its variables are gone. What "
    "was printed before is in the notebook.",
    "changed": "A cell was changed before its turn; it and what follows was not run. Read it.",
    "unknown": "Nobody can tell what became of it. Read the cells' outputs before you run anything "
    "again.",
}


def results_of(run: Run, positions: dict[str, int]) -> list[CellResult]:
    """Where the cells of a run are."""
    return [
        CellResult(
            id=cell.id,
            rev=cell.rev,
            position=positions.get(cell.id, 0),
            status=cell.status,
            execution_count=cell.execution_count,
            seconds=None if cell.seconds is None else round(cell.seconds, 2),
        )
        for cell in run.cells
    ]


def run_text(
    run: Run, results: Sequence[CellResult], kernel: str, told: Collection[str], masker: Masker
) -> Shown:
    """How far a run is, with the outputs so far. Takes time.

    Parameters
    ----------
    run
        The run.
    results
        Its cells.
    kernel
        Name of its kernel.
    told
        Ids of the cells whose end the model has been told before, with their outputs.
    masker
        Knows the secrets.
    """
    named = f" ({kernel})" if kernel else ""
    news = [result for result in results if result.id not in told]
    lines = [f"Run {run.id} in the person's kernel{named}: {run.state}.", *cell_lines(news)]
    lines += _hints(run, masker)
    if run.ended:
        lines += _names(run, masker)
    if run.problem:
        lines.append(masker.text(run.problem))
    fresh = [cell for cell in run.cells if cell.id not in told]
    shown = show([{"id": cell.id, "outputs": _outputs(cell)} for cell in fresh], masker)
    return Shown(text="\n".join([*lines, shown.text]).rstrip(), pictures=shown.pictures)


def cell_lines(results: Sequence[CellResult]) -> list[str]:
    """A line for each cell, the first ones; and how many more there are."""
    lines = [_line(result) for result in results[:MOST_CELLS]]
    if more := Counter(result.status for result in results[MOST_CELLS:]):
        lines.append("and more: " + ", ".join(f"{n} {status}" for status, n in more.items()))
    return lines


def _line(result: CellResult) -> str:
    count = "" if result.execution_count is None else f" [{result.execution_count}]"
    seconds = "" if result.seconds is None else f", {result.seconds:g} s"
    return f"@{result.position} {result.id}: {result.status}{count}{seconds}"


def _hints(run: Run, masker: Masker) -> Iterator[str]:
    waiting = any(cell.status == "waiting" for cell in run.cells)
    if run.state == "awaiting_input":
        asked = "" if run.prompt is None else f"\n{as_data(masker.text(run.prompt[:500])).rstrip()}"
        who = "only stop_run ends it" if run.prompt is not None else "the person sees the question"
        yield f"A cell asks for input; {who}.{asked}"
    elif run.stopping and not run.ended:
        yield "It is being interrupted."
    elif run.state == "running" and waiting:
        yield "The kernel is busy with something else; the cell waits for it."
    if run.state in _HINTS:
        yield _HINTS[run.state]
    if not run.ended:
        yield f"Go on with await_run or stop_run, run_id {run.id}."


def _names(run: Run, masker: Masker) -> Iterator[str]:
    """What became of the kernel's names, which the code has chosen."""
    if run.names is None:
        if run.names_problem:
            yield f"Which names of the kernel have changed is not known: {run.names_problem}."
        return
    told = names_text(run.names)
    if not told:
        yield "No name of the kernel was seen to change."
        return
    yield "Names of the kernel, at least (what an object holds may change unseen):"
    yield as_data(masker.text(told)).rstrip()


def _outputs(cell: CellRun) -> list[dict[str, object]]:
    return list(cell.outputs or [])
