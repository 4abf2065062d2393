"""Where an action is executed: those on notebooks by the server, all others in the sandbox."""

from __future__ import annotations

import asyncio

from ..events import Action, ErrorObservation, IsolationObservation, Observation
from ..events.notebooks import NotebookRead, NotebookWrite
from ..runtime.base import OutputCallback, Runtime
from .notebook_actions import NotebookActions


class RoutingRuntime(Runtime):
    """A sandbox, and notebooks beside it.

    Parameters
    ----------
    sandbox
        Executes all other actions.
    notebooks
        Executes those on notebooks.
    """

    def __init__(self, sandbox: Runtime, notebooks: NotebookActions) -> None:
        self.workspace = sandbox.workspace
        self._sandbox = sandbox
        self._notebooks = notebooks
        self._running: asyncio.Task[Observation] | None = None

    async def prepare(self, action: Action) -> Action | Observation:
        """Plan what can be planned; see `Runtime.prepare`."""
        if isinstance(action, NotebookRead | NotebookWrite):
            return await self._notebooks.prepare(action)
        return await self._sandbox.prepare(action)

    async def run_action(self, action: Action, on_output: OutputCallback) -> Observation:
        """Execute one action where it belongs; see `Runtime.run_action`."""
        if not isinstance(action, NotebookRead | NotebookWrite):
            return await self._sandbox.run_action(action, on_output)
        task = self._running = asyncio.create_task(self._notebooks.run(action))
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError:
            task.cancel()
            raise
        finally:
            self._running = None
        return _stopped(action) if task.cancelled() else task.result()

    async def interrupt(self) -> None:
        """Stop the action that runs; see `Runtime.interrupt`."""
        if self._running is not None:
            self._running.cancel()
        await self._sandbox.interrupt()

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
    if isinstance(action, NotebookRead):
        return ErrorObservation(code="stopped", message="It was stopped.")
    return ErrorObservation(
        code="stopped",
        message="It was stopped; whether the notebook was changed is not known.",
        hint="Read it again before anything else is changed.",
    )
