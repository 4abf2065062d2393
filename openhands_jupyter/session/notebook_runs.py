"""Running cells of notebooks for the agent: in the person's kernel, or in the sandbox."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

import msgspec

from ..controller.log import error_observation
from ..errors import Conflict, NotFound, OpenHandsError, SandboxUnavailable
from ..events import (
    Action,
    AwaitRunAction,
    DryRunAction,
    Masker,
    NotebookEditObservation,
    NotebookRunAction,
    NotebookRunObservation,
    Observation,
    State,
    StopRunAction,
)
from ..events.blobs import BlobStore
from ..events.notebook_runs import NotebookRun
from ..notebooks.changes import Mismatch
from ..notebooks.names.graph import is_python
from ..notebooks.running.planning import plan_run
from ..notebooks.running.runs import REMEMBERED, CellToRun
from ..notebooks.running.telling import results_of, run_text
from ..notebooks.showing.pictures import keep_pictures
from ..runtime import SandboxRuntime
from ..runtime.base import OutputCallback
from .dry_runs import try_in_sandbox
from .notebook_actions import NotebookActions
from .sandbox_runs import not_python, run_in_sandbox

if TYPE_CHECKING:
    # It imports jupyter_server, which commands do without.
    from ..notebooks.running.driving import Runs
    from ..notebooks.running.runs import Run

STOPS_WITHIN = 0.5
"""Seconds that an interrupted cell has before its answer is given all the same."""

ENDS_WITHIN = 5.0
"""The same for one that the agent itself has stopped."""


class _Left:
    """A run, and what is known of it here.

    Attributes
    ----------
    action
        What has begun it.
    told
        Ids of the cells whose end the model was told.
    on_output
        Called with what is printed, while an action waits for the run.
    """

    def __init__(self, action: NotebookRunAction) -> None:
        self.action = action
        self.told: set[str] = set()
        self.on_output: OutputCallback | None = None
        self.run: Run

    def hear(self, text: str) -> None:
        if self.on_output:
            self.on_output(text)


class NotebookRuns:
    """Executes the actions of one session that run cells.

    Parameters
    ----------
    runs
        The runs of the server; None where there is no server.
    notebooks
        The session's actions on notebooks, for the way to them and what was read.
    sandbox
        Executes what is run in the sandbox.
    state
        The session, for what it has written and run.
    masker
        Knows the secrets.
    blobs
        Keeps the pictures that a model is shown.
    on_change
        Called when `running` may be another one.
    """

    def __init__(
        self,
        runs: Runs | None,
        notebooks: NotebookActions,
        sandbox: SandboxRuntime,
        state: State,
        masker: Masker,
        blobs: BlobStore,
        on_change: Callable[[], None],
    ) -> None:
        self._runs = runs
        self._notebooks = notebooks
        self._sandbox = sandbox
        self._state = state
        self._masker = masker
        self._blobs = blobs
        self._on_change = on_change
        self._left: dict[str, _Left] = {}
        self._written: dict[str, set[str]] = {}
        self._looked_at = 0

    @property
    def running(self) -> bool:
        """Whether cells that the session has begun with in the person's kernel still run."""
        return any(not left.run.ended for left in self._left.values())

    def stop(self) -> None:
        """Interrupt all of these; nothing else that the kernels do."""
        for left in self._left.values():
            if not left.run.ended:
                left.run.stop()

    def takes(self, action: Action) -> bool:
        """Whether an action is about cells that are run."""
        return isinstance(action, NotebookRun | DryRunAction)

    async def prepare(self, action: Action) -> Action | Observation:
        """Find out which cells would be run in which kernel; see `Runtime.prepare`."""
        try:
            match action:
                case NotebookRunAction():
                    return await self._plan(action)
                case AwaitRunAction(run=id) | StopRunAction(run=id):
                    self._get(id)
        except OpenHandsError as error:
            return error_observation(error)
        return action

    async def run(self, action: Action, on_output: OutputCallback) -> Observation:
        """Execute an action that was prepared; see `Runtime.run_action`."""
        try:
            match action:
                case DryRunAction():
                    await self._notebooks.require_in_workspace(action.path)
                    return await try_in_sandbox(action, self._sandbox, on_output)
                case NotebookRunAction(kernel="sandbox"):
                    return await run_in_sandbox(action, self._sandbox, on_output)
                case NotebookRunAction():
                    left = await self._start(action)
                    return await self._follow(left, action.wait_s, on_output)
                case AwaitRunAction():
                    left = self._get(action.run)
                    return await self._follow(left, action.wait_s, on_output, past_input=True)
                case StopRunAction():
                    left = self._get(action.run)
                    left.run.stop()
                    return await self._follow(left, ENDS_WITHIN, on_output, past_input=True)
        except SandboxUnavailable:
            raise
        except OpenHandsError as error:
            return error_observation(error)
        raise TypeError(f"{type(action).__name__} is not about cells that are run")

    async def _plan(self, action: NotebookRunAction) -> NotebookRunAction:
        if action.kernel == "sandbox":
            await self._notebooks.require_in_workspace(action.path)
        document = await self._notebooks.open(action.path)
        snapshot = await document.read(())
        if action.kernel == "sandbox" and not is_python(snapshot.metadata):
            raise not_python()
        planned = await asyncio.to_thread(
            plan_run,
            snapshot,
            action.which,
            action.cells,
            self._notebooks.readings.revs(document.path),
            self._unrun(document.path),
        )
        found = None
        if action.kernel == "user":
            found = await self._server_runs().kernel(snapshot)
        return msgspec.structs.replace(action, planned=planned, found=found)

    def _unrun(self, path: str) -> set[str]:
        """Cells that the session has written and not run since."""
        # Each event is looked at once, however often something is run.
        history = self._state.history
        for event in history[self._looked_at :]:
            if isinstance(event, NotebookEditObservation | NotebookRunObservation):
                self._note(event)
        self._looked_at = len(history)
        return self._written.get(path, set())

    def _note(self, event: NotebookEditObservation | NotebookRunObservation) -> None:
        unrun = self._written.setdefault(self._notebooks.contents_path(event.path) or "", set())
        if isinstance(event, NotebookEditObservation):
            unrun |= {cell.id for cell in event.cells if cell.before != cell.after}
        elif event.kernel == "user":
            unrun -= {cell.id for cell in event.cells if cell.status in ("done", "error")}

    async def _start(self, action: NotebookRunAction) -> _Left:
        assert action.found is not None
        document = await self._notebooks.open(action.path)
        left = _Left(action)
        wanted = [
            CellToRun(id=cell.id, rev=cell.rev, source=cell.source) for cell in action.planned
        ]
        run = await self._server_runs().start(
            document.path, wanted, action.stop_on_error, action.found, left.hear, self._on_change
        )
        if isinstance(run, Mismatch):
            changed = ", ".join(cell.id for cell in run.cells[:10])
            raise Conflict(
                "cells_changed",
                f"Changed or gone meanwhile: {changed}. Nothing was run.",
                "Read them again.",
            )
        left.run = run
        ended = [id for id, left in self._left.items() if left.run.ended]
        for id in ended[: max(len(ended) - REMEMBERED, 0)]:
            del self._left[id]
        self._left[run.id] = left
        self._on_change()
        return left

    async def _follow(
        self, left: _Left, seconds: float, on_output: OutputCallback, past_input: bool = False
    ) -> Observation:
        """Wait for a run, and say where it is then."""
        left.on_output = on_output
        try:
            await left.run.wait(seconds, past_input)
        except asyncio.CancelledError:
            left.run.stop()
            await left.run.wait(STOPS_WITHIN, past_input=True)
        finally:
            left.on_output = None
        return await self._observation(left)

    async def _observation(self, left: _Left) -> Observation:
        run, action = left.run, left.action
        results = results_of(run, {cell.id: cell.position for cell in action.planned})
        kernel = action.found.name if action.found else ""
        shown = await asyncio.to_thread(
            run_text, run, results, kernel, frozenset(left.told), self._masker
        )
        images = await asyncio.to_thread(keep_pictures, shown.pictures, self._blobs, self._masker)
        left.told |= {cell.id for cell in results if cell.status in ("done", "error")}
        return NotebookRunObservation(
            path=action.path,
            run=run.id,
            state=run.state,
            kernel_name=kernel,
            cells=results,
            problem=run.problem or "",
            names=run.names,
            content=shown.text,
            images=images,
        )

    def _get(self, id: str) -> _Left:
        """A run of this session."""
        if id not in self._left:
            raise NotFound(
                "run_not_found",
                f"There is no run {id[:40]!r} of this session.",
                "It ended long ago, or the server was started again. Its outputs are in the "
                "notebook: read that.",
            )
        return self._left[id]

    def _server_runs(self) -> Runs:
        if self._runs is None:
            raise Conflict(
                "no_kernels",
                "Without a Jupyter server notebooks have no kernels.",
                "Run the cells in the sandbox.",
            )
        return self._runs
