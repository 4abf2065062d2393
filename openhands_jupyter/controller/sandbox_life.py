"""The life of a session's sandbox: started before it is needed or when it is, let go, replaced."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable

from ..errors import OpenHandsError, SandboxUnavailable
from ..events import IsolationObservation, SandboxReleasedObservation
from ..runtime.base import Runtime
from .log import Log


class SandboxLife:
    """Starts and ends the sandbox of one session, one at a time, and tells of it on the log.

    Parameters
    ----------
    log
        Where it tells of it.
    runtime
        What has the sandbox.
    working
        Whether a turn runs, which nobody may take the sandbox away from.
    """

    def __init__(self, log: Log, runtime: Runtime, working: Callable[[], bool]) -> None:
        self._log = log
        self._runtime = runtime
        self._working = working
        self._one_at_a_time = asyncio.Lock()
        self._isolation: IsolationObservation | None = None

    @property
    def untouched(self) -> bool:
        """Whether nothing happens, and nothing would be lost with the sandbox."""
        return not self._working() and not self._runtime.used

    async def start(self) -> IsolationObservation:
        """Start the sandbox, unless it runs, and tell what a new one enforces.

        Raises
        ------
        SandboxUnavailable
            When it cannot be started, or isolates less than the one in whose place it is.
        """
        async with self._one_at_a_time:
            isolation = await self._runtime.start()
            before, self._isolation = self._isolation, isolation
            if isolation is not before:
                self._log.stream.append(isolation)
            if before and before.level != "red" and isolation.level == "red":
                raise SandboxUnavailable(
                    "The sandbox ended, and the one in its place does not isolate the agent.",
                    "Nothing was executed in it. Look at what its self-test found.",
                )
            return isolation

    async def warm(self) -> None:
        """Start the sandbox, so that the agent can be told what it enforces.

        A failure is met where it matters: when something is to be executed.
        """
        with contextlib.suppress(OpenHandsError):
            await self.start()

    async def prewarm(self) -> None:
        """Start the sandbox before it is needed; why that fails is met when it is."""
        with contextlib.suppress(OpenHandsError):
            async with self._one_at_a_time:
                await self._runtime.prewarm()

    async def cool(self) -> None:
        """End a sandbox that nothing was executed in; the next action starts one again."""
        async with self._one_at_a_time:
            if self.untouched:
                await self._runtime.close()

    async def renew(self, reason: str) -> bool:
        """End the sandbox unless the agent works; the next action starts another.

        Parameters
        ----------
        reason
            Why, as a sentence for the agent.

        Returns
        -------
        bool
            Whether it has ended.
        """
        async with self._one_at_a_time:
            if self._working():
                return False
            await self._runtime.renew(reason)
            return True

    async def release(self, reason: str) -> bool:
        """End the sandbox that nobody uses; the next action starts another, and is told why.

        Parameters
        ----------
        reason
            Why, as a sentence for the person and the agent.

        Returns
        -------
        bool
            Whether there is none any more; False where something runs or waits for approval.
        """
        if self._working() or self._log.state.pending_confirmation is not None:
            return False
        async with self._one_at_a_time:
            if not await self._runtime.at_rest() or self._working():
                return False
            await self._release(reason)
        return True

    async def release_outdated(self) -> None:
        """End a sandbox that settings ask another one for, unless something runs in it."""
        async with self._one_at_a_time:
            reason = self._runtime.outdated
            if reason and await self._runtime.at_rest():
                await self._release(reason)

    async def _release(self, reason: str) -> None:
        used = self._runtime.used
        await self._runtime.renew(reason)
        if used:
            self._log.stream.append(SandboxReleasedObservation(source="environment", reason=reason))

    async def close(self) -> None:
        """End the sandbox."""
        await self._runtime.close()
