"""What a runtime is to the controller: it turns one action into one observation."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path

from ..events import Action, IsolationObservation, Observation

OutputCallback = Callable[[str], None]


class Runtime(ABC):
    """Executes actions. One per session; one action at a time.

    ``run_action`` never raises for what an action does (that is an observation) and never returns
    without having stopped what it started, except for a command that is said to still run, and
    for processes that a command left in the background on purpose.
    """

    workspace: Path

    @abstractmethod
    async def start(self) -> IsolationObservation:
        """Start the sandbox, unless it runs, and say what it enforces.

        Raises
        ------
        SandboxUnavailable
            When it cannot be started.
        """

    async def prewarm(self) -> None:
        """Start the sandbox, and in the background what the first action will need.

        Raises
        ------
        SandboxUnavailable
            When the sandbox cannot be started.
        """
        await self.start()

    @property
    def used(self) -> bool:
        """Whether the sandbox that runs may have executed something; that is lost with it."""
        return True

    async def prepare(self, action: Action) -> Action | Observation:
        """Find out what an action would do, before the gate and the person judge it.

        Returns
        -------
        Action or Observation
            The action, with what was found out; or its answer, where it cannot be done, which
            then is told without asking anybody.
        """
        return action

    @abstractmethod
    async def run_action(self, action: Action, on_output: OutputCallback) -> Observation:
        """Execute one runnable action.

        Parameters
        ----------
        action
            The action, already on the log (its ``id`` is given).
        on_output
            Called on the event loop with text as it is printed.

        Returns
        -------
        Observation
            What came of it; ``cause`` and ``source`` are set by the caller. After ``interrupt``
            it holds the partial output and ``interrupted="stopped"``.

        Raises
        ------
        SandboxUnavailable
            When the sandbox had to be started for it and could not be.
        """

    @abstractmethod
    async def interrupt(self) -> None:
        """Stop the action that runs, within a second, and what was left running in the shell.

        Does nothing if nothing runs. Background jobs are left alone.
        """

    @property
    def left_running(self) -> bool:
        """Whether something was left running elsewhere than in the shell."""
        return False

    async def end_left_running(self) -> None:
        """End, soon, what was left running in the shell or elsewhere."""
        await self.interrupt()

    @property
    def outdated(self) -> str:
        """Why the sandbox should be another one at its next rest, as a sentence; empty if not."""
        return ""

    async def at_rest(self) -> bool:
        """Whether nothing runs in the sandbox that would be cut off with it."""
        return True

    async def programs(self) -> list[str] | None:
        """Names of what runs in the sandbox beside its shell and kernel; None if it is silent."""
        return []

    async def renew(self, reason: str) -> None:
        """End the sandbox, so that the next action starts another.

        Parameters
        ----------
        reason
            Why, as a sentence for the agent.
        """
        await self.close()

    @abstractmethod
    async def close(self) -> None:
        """End the sandbox and everything in it. May be called twice."""
