"""What waits for approval, tried in the sandbox: which cells, and how they are run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from ..errors import Invalid
from ..events import (
    Action,
    CellDecision,
    DryRunAction,
    NotebookEditAction,
    NotebookRunAction,
    NotebookRunObservation,
    Observation,
)
from ..events.notebook_runs import PlannedRun
from ..notebooks.revisions import rev_of
from ..notebooks.running.planning import refuse_task
from ..runtime import SandboxRuntime
from ..runtime.base import OutputCallback
from .sandbox_runs import not_python, run_in_sandbox


def dry_run_of(action: Action | None, cells: Sequence[CellDecision]) -> DryRunAction:
    """What is run to try an edit of a notebook, or a run in the person's kernel.

    Parameters
    ----------
    action
        What waits for approval, unmasked.
    cells
        What the person has decided of single cells so far: the others are tried as the agent
        wrote them.

    Raises
    ------
    Invalid
        When it is neither of these, or there is no Python code in it.
    """
    match action:
        case NotebookEditAction():
            if not action.is_python:
                raise not_python()
            planned = list(_edited(action, cells))
            stops = True
        case NotebookRunAction(kernel="user", found=found):
            if found is not None and found.language != "python":
                raise not_python()
            planned, stops = action.planned, action.stop_on_error
        case _:
            raise Invalid(
                "cannot_be_tried",
                "Only edits of notebooks and runs in your own kernel can be tried.",
            )
    if not planned:
        raise Invalid("nothing_to_run", "It changes no code that could be tried.")
    for cell in planned:
        refuse_task(cell.id, cell.source)
    return DryRunAction(cause=action.id, path=action.path, planned=planned, stop_on_error=stops)


def _edited(action: NotebookEditAction, cells: Sequence[CellDecision]) -> Iterable[PlannedRun]:
    """The code that an edit changes or inserts, as far as it is not rejected, in order."""
    refused = {cell.id for cell in cells if cell.decision == "reject"}
    # They are done together or not at all.
    groups = {cell.group for cell in action.cells if cell.id in refused}
    own = {cell.id: cell.source for cell in cells if cell.source is not None}
    for cell in sorted(action.cells, key=lambda cell: cell.position or 0):
        if cell.cell_type != "code" or cell.after is None or cell.group in groups:
            continue
        source = own.get(cell.id, cell.after)
        if source != cell.before and source.strip():
            yield PlannedRun(
                id=cell.id,
                rev=rev_of("code", source),
                source=source,
                position=cell.position or 0,
            )


async def try_in_sandbox(
    action: DryRunAction, sandbox: SandboxRuntime, on_output: OutputCallback
) -> Observation:
    """Run its cells, one after the other; see `run_in_sandbox`."""
    tried = await run_in_sandbox(action, sandbox, on_output)
    if isinstance(tried, NotebookRunObservation):
        return msgspec.structs.replace(tried, content="")
    return tried
