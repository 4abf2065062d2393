"""The tools that run cells of notebooks, in the user's kernel or in the sandbox."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from ..events import AwaitRunAction, NotebookRunAction, StopRunAction
from ..events.notebook_runs import WAIT_S, CellsMeant, RunPlace
from .notebook_tools import Notebook
from .tool_arguments import Gated, ToolArguments

Seconds = Annotated[
    float,
    Meta(ge=0, le=600, description="Seconds after which you get what there is so far."),
]
RunId = Annotated[str, Meta(description="As run_cells has told it.")]


class RunCells(Gated, kw_only=True):
    name = "run_cells"
    description = (
        "Run cells of a notebook, one after the other. kernel 'user': in the notebook's own "
        "kernel, always after the user's approval; the outputs go into the notebook, and a run "
        "that is not done after wait_s goes on (see await_run). kernel 'sandbox': in your own "
        "kernel, which has none of the notebook's variables; nothing goes into the notebook."
    )
    action_type = NotebookRunAction

    path: Notebook
    which: Annotated[
        CellsMeant,
        Meta(
            description="'named': those in cells; 'above': all above the one in cells; 'stale': "
            "those that you have changed and not run since, those with results older than what "
            "they come from, and what follows from these; 'all'."
        ),
    ] = "named"
    cells: Annotated[
        list[str], Meta(description="Ids, unique beginnings of ids (4+ characters), or '@12'.")
    ] = []
    kernel: RunPlace = "user"
    stop_on_error: bool = True
    wait_s: Seconds = WAIT_S
    why: Annotated[str, Meta(description="The purpose, in a sentence for the user.")] = ""


class AwaitRun(ToolArguments, kw_only=True, rename={"run": "run_id"}):
    name = "await_run"
    description = "Wait for cells that still run, and get their new outputs."
    action_type = AwaitRunAction

    run: RunId
    wait_s: Seconds = WAIT_S


class StopRun(ToolArguments, kw_only=True, rename={"run": "run_id"}):
    name = "stop_run"
    description = "Interrupt cells that still run. What the user runs is left alone."
    action_type = StopRunAction

    run: RunId


TOOLS: tuple[type[ToolArguments], ...] = (RunCells, AwaitRun, StopRun)
