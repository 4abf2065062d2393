"""Where an action is executed: some kinds by the server, all others in the sandbox."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Protocol

from ..events import Action, ErrorObservation, IsolationObservation, Observation
from ..runtime.base import OutputCallback, Runtime


class Executor(Protocol):
    """Executes some kinds of actions by means of the server."""

    def takes(self, action: Action) -> bool:
        """Whether an action is one of these."""

    async def prepare(self, action: Action) -> Action | Observation:
        """Find out what an action would do; see `Runtime.prepare`."""

    async def run(self, action: Action, on_output: OutputCallback) -> Observation:
        """Execute an action that was prepared; see `Runtime.run_action`.

        To stop it, it is cancelled; one that has something to tell then answers all the same,
        within a second.
        """


class LeftRunning(Protocol):
    """What goes on after the action that began it was answered."""

    @property
    def running(self) -> bool:
        """Whether there is something."""

    def stop(self) -> None:
        """End it, soon."""


class RoutingRuntime(Runtime):
    """A sandbox, and what the server executes beside it.

    Parameters
    ----------
    sandbox
        Executes what no executor takes.
    executors
        The first that takes an action executes it.
    left
        What executors leave running.
    """

    def __init__(self, sandbox: Runtime, executors: Sequence[Executor], left: LeftRunning) -> None:
        self.workspace = sandbox.workspace
        self._sandbox = sandbox
        self._executors = executors
        self._left = left
        self._running: asyncio.Task[Observation] | None = None

    async def prepare(self, action: Action) -> Action | Observation:
        """Plan what can be planned; see `Runtime.prepare`."""
        return await (self._executor(action) or self._sandbox).prepare(action)

    async def run_action(self, action: Action, on_output: OutputCallback) -> Observation:
        """Execute one action where it belongs; see `Runtime.run_action`."""
        executor = self._executor(action)
        if executor is None:
            return await self._sandbox.run_action(action, on_output)
        task = self._running = asyncio.create_task(executor.run(action, on_output))
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError:
            task.cancel()
            raise
        finally:
            self._running = None
        return _stopped(action) if task.cancelled() else task.result()

    def _executor(self, action: Action) -> Executor | None:
        return next((e for e in self._executors if e.takes(action)), None)

    async def interrupt(self) -> None:
        """Stop the action that runs; see `Runtime.interrupt`."""
        if self._running is not None:
            self._running.cancel()
        await self._sandbox.interrupt()

    @property
    def left_running(self) -> bool:
        """Whether executors have left something running; see `Runtime.left_running`."""
        return self._left.running

    async def end_left_running(self) -> None:
        """End what was left running; see `Runtime.end_left_running`."""
        self._left.stop()
        await self._sandbox.end_left_running()

    async def start(self) -> IsolationObservation:
        """Start the sandbox; see `Runtime.start`."""
        return await self._sandbox.start()

    async def prewarm(self) -> None:
        """Start the sandbox before it is needed; see `Runtime.prewarm`."""
        await self._sandbox.prewarm()

    @property
    def used(self) -> bool:
        """Whether the sandbox has executed something; see `Runtime.used`."""
        return self._sandbox.used

    @property
    def outdated(self) -> str:
        """Why the sandbox should be another one; see `Runtime.outdated`."""
        return self._sandbox.outdated

    async def at_rest(self) -> bool:
        """Whether nothing runs in the sandbox; see `Runtime.at_rest`."""
        return await self._sandbox.at_rest()

    async def renew(self, reason: str) -> None:
        """End the sandbox, and have the next one say why; see `Runtime.renew`."""
        await self._sandbox.renew(reason)

    async def close(self) -> None:
        """End the sandbox; see `Runtime.close`."""
        await self._sandbox.close()


def _stopped(action: Action) -> Observation:
    if not action.changes_files:
        return ErrorObservation(code="stopped", message="It was stopped.")
    return ErrorObservation(
        code="stopped",
        message="It was stopped; whether the notebook was changed is not known.",
        hint="Read it again before anything else is changed.",
    )
