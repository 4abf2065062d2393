"""Pausing a sandbox in which nothing goes on, and waking it."""

from __future__ import annotations

import asyncio
import contextlib

import msgspec

from ..errors import OpenHandsError
from .channel import SandboxDied
from .launch import BackendUnavailable
from .sandbox import Sandbox

LOOK = 10.0
"""Seconds over which it is seen whether anything computes."""

_CALM = 0.02
"""Of one processor: what an idle kernel and shell need at most."""


class _GoingsOn(msgspec.Struct):
    processes: int
    cpu: float


class Rest:
    """Pauses one sandbox when nothing was asked of it for a time and nothing goes on in it.

    Parameters
    ----------
    sandbox
        The sandbox; started.
    seconds
        That time; 0 for never.
    """

    def __init__(self, sandbox: Sandbox, seconds: float) -> None:
        self._sandbox = sandbox
        self._seconds = seconds
        self._waiting: asyncio.Task[None] | None = None

    def begin(self) -> None:
        """Nothing is asked for any more, as far as is known."""
        if self._seconds and self._sandbox.can_pause and self._waiting is None:
            self._waiting = asyncio.create_task(self._rest())

    async def end(self) -> None:
        """Something is about to be asked for: have it awake when this returns."""
        waiting, self._waiting = self._waiting, None
        if waiting is not None:
            waiting.cancel()
            await asyncio.wait({waiting})
        await self._sandbox.wake()

    async def close(self) -> None:
        """Pause it no more."""
        if self._waiting is not None:
            self._waiting.cancel()
            await asyncio.wait({self._waiting})
            self._waiting = None

    async def _rest(self) -> None:
        with contextlib.suppress(SandboxDied, OpenHandsError, msgspec.ValidationError):
            while True:
                await asyncio.sleep(self._seconds)
                if await self._is_calm():
                    # On a busy machine the system may fail to; the next time it does not.
                    with contextlib.suppress(BackendUnavailable):
                        await self._sandbox.pause()
                        return

    async def _is_calm(self) -> bool:
        before = await self._goings_on()
        if before.processes:
            # A job in the background.
            return False
        await asyncio.sleep(LOOK)
        after = await self._goings_on()
        # More than one if a person is at the kernel.
        clients = await asyncio.to_thread(self._sandbox.kernel_clients)
        calm = after.cpu - before.cpu <= _CALM * LOOK
        return calm and after.processes == 0 and clients <= 1

    async def _goings_on(self) -> _GoingsOn:
        return msgspec.convert(await self._sandbox.goings_on(), _GoingsOn)
