"""Executing actions: one at a time, each answered once, and stopped within a second."""

from __future__ import annotations

import asyncio
import contextlib
import logging

from ..errors import OpenHandsError
from ..events import Action, ErrorObservation, Observation
from ..runtime.base import Runtime
from .checkpointing import Checkpointing, Stopped
from .log import Log, error_observation
from .sandbox_life import SandboxLife
from .touched import Touched

STOP_GRACE = 0.8
"""Seconds that an interrupted action has for its partial output; a stop may take one in all."""

NOT_BEGUN = "Stopped before it was executed."

_log = logging.getLogger(__name__)


class _Running:
    """The action that runs: which, asked to stop, and over."""

    def __init__(self, action: Action) -> None:
        self.action = action
        self.stopped = False
        self.over = asyncio.Event()


class Execution:
    """Executes the actions of one session.

    Parameters
    ----------
    log
        Where the actions are, and where their answers go.
    runtime
        What executes them.
    sandbox
        Its sandbox.
    checkpoints
        Keeps the files before each action; None where nothing is to be undone.
    """

    def __init__(
        self, log: Log, runtime: Runtime, sandbox: SandboxLife, checkpoints: Checkpointing | None
    ) -> None:
        self._log = log
        self._runtime = runtime
        self._sandbox = sandbox
        self._checkpoints = checkpoints
        self._touched = Touched(checkpoints) if checkpoints else None
        self._running: _Running | None = None

    @property
    def busy(self) -> bool:
        """Whether an action runs."""
        return self._running is not None

    @property
    def action(self) -> Action | None:
        """The action that runs; None if none does."""
        return self._running.action if self._running else None

    async def run(self, action: Action) -> Observation:
        """Run one action and put its one observation on the log, whatever happens.

        Parameters
        ----------
        action
            The action as `Log.append` gave it.

        Raises
        ------
        OpenHandsError
            When it cannot be executed at all, which its observation says too.
        """
        observation: Observation = ErrorObservation(
            code="interrupted",
            message="The action was given up; its effect is unknown.",
            hint="Look at what it changed before doing it again.",
        )
        running = self._running = _Running(action)
        try:
            observation = await self._run(action, running)
        except Stopped:
            observation = ErrorObservation(code="stopped", message=NOT_BEGUN)
        except OpenHandsError as error:
            observation = error_observation(error)
            raise
        finally:
            self._running = None
            try:
                await self._end(action, observation)
            finally:
                running.over.set()
        return observation

    async def _run(self, action: Action, running: _Running) -> Observation:
        live = self._log.stream.live
        await self._sandbox.start()
        before = await self._checkpoints.before(action) if self._checkpoints else None
        if running.stopped:
            # The runtime was told before it had anything to stop.
            raise Stopped
        observation = await self._runtime.run_action(
            action, lambda text: live.write("output", action.id, text)
        )
        if self._touched is not None and not running.stopped:
            observation = await self._touched.told(observation, before)
        # In a thread: masking and keeping what is large takes long.
        return await asyncio.to_thread(self._log.stream.prepare, observation)

    async def _end(self, action: Action, observation: Observation) -> None:
        self._log.answer(action, observation)
        self._log.stream.live.end(action.id)
        if self._checkpoints is not None and self._log.state.running_command is None:
            await self._checkpoints.after(action)

    async def stop(self) -> None:
        """Interrupt the action that runs, if any, and wait for its end as long as is decent."""
        running = self._running
        if running is None:
            return
        running.stopped = True
        if self._checkpoints is not None:
            self._checkpoints.stop()
        interrupting = asyncio.create_task(self._runtime.interrupt())
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(running.over.wait(), STOP_GRACE)
        interrupting.cancel()
        await asyncio.wait([interrupting])
        if not interrupting.cancelled() and (error := interrupting.exception()):
            _log.error("Session %s: interrupting failed: %r", self._log.stream.session, error)

    async def end_left_running(self) -> bool:
        """End what was left running, be it a command in the shell; whether there was something."""
        if self._log.state.running_command is None and not self._runtime.left_running:
            return False
        try:
            await self._runtime.end_left_running()
        except Exception:
            _log.exception(
                "Session %s: what was left running was not ended", self._log.stream.session
            )
        return True
