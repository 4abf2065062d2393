"""Cells of a notebook run in the sandbox's kernel; the notebook stays as it is."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence

import msgspec

from ..errors import Invalid
from ..events import (
    CellResult,
    DryRunAction,
    ErrorObservation,
    Interruption,
    IPythonOutputObservation,
    IPythonRunCellAction,
    NameChanges,
    NotebookRunAction,
    NotebookRunObservation,
    Observation,
)
from ..events.notebook_runs import CellStatus, RunState
from ..events.shown import as_data
from ..notebooks.running.telling import cell_lines
from ..notebooks.showing.effects import names_text
from ..runtime import SandboxRuntime
from ..runtime.base import OutputCallback
from .sandbox_names import changes

_STATES: dict[Interruption, RunState] = {
    "kernel_died": "kernel_dead",
    "sandbox_died": "kernel_dead",
}
_PROBLEMS: dict[Interruption, str] = {
    "timeout": "It was stopped after its time limit.",
    "output_limit": "It was stopped, because it printed too much.",
    "disk_limit": "It was stopped, because it put too much on the disk.",
    "sandbox_died": "The sandbox died.",
}


def not_python() -> Invalid:
    """Why code of a notebook in another language is not run in the sandbox."""
    return Invalid("not_python", "The sandbox's kernel runs Python only.")


async def run_in_sandbox(
    action: NotebookRunAction | DryRunAction, sandbox: SandboxRuntime, on_output: OutputCallback
) -> Observation:
    """Run the planned cells, one after the other.

    Raises
    ------
    SandboxUnavailable
        When the sandbox had to be started and could not be.
    """
    cells = [
        CellResult(id=cell.id, rev=cell.rev, position=cell.position, status="not_run")
        for cell in action.planned
    ]
    state: RunState = "done"
    problem = ""
    before = sandbox.told
    for index, cell in enumerate(action.planned):
        began = time.monotonic()
        answer = await _run(sandbox, action, cell.source, on_output)
        if not isinstance(answer, IPythonOutputObservation):
            if not index:
                return answer
            state = "interrupted"
            problem = answer.message if isinstance(answer, ErrorObservation) else ""
            break
        cells[index] = _result(cells[index], answer, time.monotonic() - began)
        if answer.interrupted:
            state = _STATES.get(answer.interrupted, "interrupted")
            problem = _PROBLEMS.get(answer.interrupted, "")
            break
        if not (answer.ok or cell.may_fail):
            state = "error"
            if action.stop_on_error:
                break
    names = None if state == "interrupted" else changes(before, sandbox.told)
    return NotebookRunObservation(
        path=action.path,
        state=state,
        kernel="sandbox",
        cells=cells,
        problem=problem,
        names=names,
        content=_text(state, problem, cells, names),
    )


async def _run(
    sandbox: SandboxRuntime,
    action: NotebookRunAction | DryRunAction,
    source: str,
    on_output: OutputCallback,
) -> Observation:
    # It carries the id of the action, which is the one that is on the log.
    cell = IPythonRunCellAction(id=action.id, code=source)
    return await to_its_end(sandbox, cell, on_output)


async def to_its_end(
    sandbox: SandboxRuntime, cell: IPythonRunCellAction, on_output: OutputCallback
) -> Observation:
    """Run a cell; where that is cancelled, give what the interrupted cell has given."""
    running = asyncio.create_task(sandbox.run_action(cell, on_output))
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        # The sandbox is interrupted too, and then gives what there is.
        return await running


def _result(cell: CellResult, answer: IPythonOutputObservation, seconds: float) -> CellResult:
    status: CellStatus = "done" if answer.ok else "error"
    if answer.interrupted:
        status = "unknown" if answer.interrupted in _STATES else "interrupted"
    return msgspec.structs.replace(
        cell,
        status=status,
        execution_count=answer.execution_count,
        seconds=round(seconds, 2),
        outputs=answer.outputs,
    )


def _text(
    state: RunState, problem: str, cells: Sequence[CellResult], names: NameChanges | None
) -> str:
    head = f"In the sandbox's kernel: {state}. The notebook stays as it is."
    told = names_text(names)
    named = [f"Names of the kernel, at least:\n{as_data(told).rstrip()}"] if told else []
    return "\n".join([head, *cell_lines(cells), *named, *([problem] if problem else [])])
