"""Cells of notebooks that the agent has run, and what comes of them."""

from __future__ import annotations

from typing import ClassVar, Literal

import msgspec

from .effects import NameChanges, TouchedFiles
from .event import Action, Observation, ShownImage, Source
from .kernels import UserKernel
from .running import Output

WAIT_S = 20.0
"""Seconds after which an answer comes also of cells that still run."""

RunPlace = Literal["user", "sandbox"]
"""The notebook's own kernel, which is the person's; the session's kernel in the sandbox."""

CellsMeant = Literal["named", "above", "stale", "all"]

RunState = Literal[
    "queued",
    "running",
    "awaiting_input",
    "done",
    "error",
    "changed",
    "interrupted",
    "kernel_dead",
    "unknown",
]
"""`changed`: a cell was no more as the caller had read it, and was not run; `unknown`: nobody can
tell any more what became of it."""

GOING_ON: frozenset[RunState] = frozenset(("queued", "running", "awaiting_input"))
"""States of a run that has not ended."""

CellStatus = Literal[
    "queued",
    "waiting",
    "running",
    "done",
    "error",
    "interrupted",
    "skipped",
    "changed",
    "not_run",
    "unknown",
]
"""`waiting`: the kernel has it, and does something else; `skipped`: there is nothing to run in it;
`not_run`: the run ended before."""


class PlannedRun(msgspec.Struct, frozen=True, kw_only=True):
    """A cell that is to be run.

    Attributes
    ----------
    rev
        The revision that it has to have when its turn comes.
    position
        Its place in the notebook, from 0.
    may_fail
        Whether an error of its own does not end the run, because it is tagged so.
    """

    id: str
    rev: str
    source: str
    position: int
    may_fail: bool = False


class NotebookRunAction(Action, frozen=True, kw_only=True, tag=True):
    """Run cells of a notebook, in its own kernel or in the sandbox.

    Attributes
    ----------
    path
        Relative to the workspace, or absolute.
    which
        The cells that are named, those above the one that is named, the stale ones, or all.
    cells
        Ids, or beginnings of these, or ``@12``.
    kernel
        In the person's, the outputs go into the notebook; in the sandbox, nothing does.
    stop_on_error
        Whether a cell that fails is the last.
    wait_s
        Seconds after which the answer comes all the same; a run in the sandbox is waited for.
    why
        The purpose, for the person.
    planned
        What is run, in this order, found out before the person is asked.
    found
        The person's kernel, found out by that too, without an id where it has to be started; None
        for the sandbox.
    """

    runnable: ClassVar[bool] = True

    path: str
    which: CellsMeant = "named"
    cells: list[str] = []
    kernel: RunPlace = "user"
    stop_on_error: bool = True
    wait_s: float = WAIT_S
    why: str = ""
    planned: list[PlannedRun] = []
    found: UserKernel | None = None


class AwaitRunAction(Action, frozen=True, kw_only=True, tag=True):
    """See how far cells are that were left running, or wait for their end.

    Attributes
    ----------
    run
        Id of the run.
    wait_s
        Seconds to wait at most.
    """

    runnable: ClassVar[bool] = True

    run: str
    wait_s: float = WAIT_S


class StopRunAction(Action, frozen=True, kw_only=True, tag=True):
    """Interrupt cells that were left running."""

    runnable: ClassVar[bool] = True
    changes_files: ClassVar[bool] = False

    run: str


class DryRunAction(Action, frozen=True, kw_only=True, tag=True):
    """The person tries in the sandbox what waits for their approval, which is its ``cause``.

    Exactly one observation answers it. The model is told of neither.

    Attributes
    ----------
    path
        The notebook, as the agent called it.
    planned
        What is run, in this order.
    stop_on_error
        Whether a cell that fails is the last.
    """

    usual_source: ClassVar[Source] = "user"

    path: str
    planned: list[PlannedRun]
    stop_on_error: bool = True


class CellResult(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What came of a cell so far.

    Attributes
    ----------
    position
        Its place in the notebook when the run was planned, from 0.
    outputs
        Of a run in the sandbox; those of one in the person's kernel are in the notebook.
    """

    id: str
    rev: str
    position: int
    status: CellStatus
    execution_count: int | None = None
    seconds: float | None = None
    outputs: list[Output] = []


class NotebookRunObservation(Observation, frozen=True, kw_only=True, tag=True):
    """Where cells are that were run, or are running.

    Attributes
    ----------
    path
        The notebook, as the agent called it.
    run
        By which `AwaitRunAction` asks again; empty for a run in the sandbox.
    state
        Where the run is.
    kernel
        Whose kernel it is.
    kernel_name
        Name of the person's kernel.
    cells
        In the order in which they are run.
    problem
        What went wrong otherwise than in a cell.
    names
        What became of the kernel's names, once the run has ended; None where that is not known.
    files
        The same of the files of the workspace.
    content
        What the model is told, without the outputs of a run in the sandbox; empty for what the
        person has tried there.
    images
        The first of the images that the content tells of.
    """

    path: str
    state: RunState
    run: str = ""
    kernel: RunPlace = "user"
    kernel_name: str = ""
    cells: list[CellResult] = []
    problem: str = ""
    names: NameChanges | None = None
    files: TouchedFiles | None = None
    content: str = ""
    images: list[ShownImage] = []


NotebookRun = NotebookRunAction | AwaitRunAction | StopRunAction
