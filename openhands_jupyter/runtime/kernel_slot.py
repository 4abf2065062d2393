"""The place for a session's kernel: empty, starting, running, or holding a dead one."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, cast

import msgspec

from ..events import IPythonOutputObservation, Output
from .base import OutputCallback
from .channel import SandboxDied
from .kernel_host import KernelHost
from .sandbox import Sandbox
from .trouble import how_it_died

if TYPE_CHECKING:
    from .cells import CellKernel
    from .kernel import Kernel

KERNEL_NEWS = "[The kernel had ended and is a new one: its variables are gone.]\n"
RESTARTED = "The person restarted the kernel"
SHUT_DOWN = "The person shut the kernel down"


class KernelSlot:
    """Holds at most one kernel, and what the next cell is to be told of the one before.

    Parameters
    ----------
    host
        Where the kernel is shown to the person; None for nowhere.
    asking
        What the kernel is asked after each cell; see `CellKernel.run`.

    Attributes
    ----------
    news
        What to put before the next cell's output.
    """

    def __init__(self, host: KernelHost | None = None, asking: str = "") -> None:
        self._asking = asking
        self._starting: asyncio.Task[CellKernel] | None = None
        self._host = host
        self._restarting = False
        self._sandbox: Sandbox | None = None
        self._waking: asyncio.Task[None] | None = None
        self._news_of_end = ""
        self.news = ""

    @property
    def alive(self) -> bool:
        """Whether there is a kernel that runs or is being restarted."""
        return self._restarting or self._running() is not None

    def wake(self) -> None:
        """Have the kernel go on; see `SharedKernel.wake`."""
        if self._sandbox is not None:
            self._waking = asyncio.create_task(self._sandbox.wake())

    async def interrupt(self) -> None:
        """Interrupt the kernel; see `SharedKernel.interrupt`."""
        if kernel := self._running():
            await kernel.interrupt()

    async def shut_down(self) -> None:
        """End the kernel; see `SharedKernel.shut_down`."""
        if kernel := self._running():
            await kernel.end_for_person(SHUT_DOWN)

    async def restart(self, what: str = RESTARTED) -> None:
        """Restart the kernel; see `SharedKernel.restart`.

        Parameters
        ----------
        what
            What the next cell is told of it, as a phrase.
        """
        if (kernel := self._running()) and self._sandbox is not None:
            self._restarting = True
            self._starting = asyncio.create_task(self._restarted(kernel, self._sandbox, what))
            await asyncio.shield(self._starting)

    async def start(self, sandbox: Sandbox) -> asyncio.Task[CellKernel]:
        """The kernel that runs or is being started; a fresh one if there is none."""
        if await self.clear_away():
            self.news = self._news_of_end
        if self._starting is None:
            self._sandbox = sandbox
            self._starting = asyncio.create_task(self._started(sandbox))
        return self._starting

    async def run(
        self,
        sandbox: Sandbox,
        code: str,
        seconds: float,
        on_output: OutputCallback,
        stopping: asyncio.Event,
    ) -> IPythonOutputObservation:
        """Run a cell in the kernel, which is started if need be.

        Parameters
        ----------
        sandbox
            Where.
        code
            What to run.
        seconds
            How long it may take.
        on_output
            Called with text as it is printed.
        stopping
            Set when somebody wants it to stop.
        """
        starting = await self.start(sandbox)
        stopped = asyncio.ensure_future(stopping.wait())
        await asyncio.wait({starting, stopped}, return_when=asyncio.FIRST_COMPLETED)
        stopped.cancel()
        if not starting.done():
            return IPythonOutputObservation(ok=False, interrupted="stopped")
        try:
            kernel = await starting
        except SandboxDied as error:
            interrupted = how_it_died(error, stopping.is_set())
            return IPythonOutputObservation(ok=False, interrupted=interrupted)
        answer = await kernel.run(code, seconds, on_output, stopping, self._asking)
        return self._with_news(answer)

    @property
    def told(self) -> str | None:
        """What the kernel told after its last cell; see `CellKernel.told`."""
        kernel = self._running()
        return kernel.told if kernel else ""

    async def clear_away(self) -> bool:
        """Remove a kernel that did not start or has ended; whether it had been running."""
        starting = self._starting
        if starting is None or not starting.done():
            return False
        if starting.cancelled() or starting.exception() is not None:
            self._starting = None
            return False
        kernel = starting.result()
        if kernel.alive:
            return False
        await kernel.close()
        self._starting = None
        self._news_of_end = _news(kernel)
        return True

    async def discard(self) -> None:
        """End the kernel, if there is one."""
        if self._starting is None:
            return
        self._starting.cancel()
        (kernel,) = await asyncio.gather(self._starting, return_exceptions=True)
        if not isinstance(kernel, BaseException):
            await kernel.close()
        self._starting = None

    def _with_news(self, observation: IPythonOutputObservation) -> IPythonOutputObservation:
        """The observation of a cell, with the news before it, which are none any more then."""
        if not self.news:
            return observation
        news = Output(kind="stream", name="stderr", text=self.news)
        self.news = ""
        return msgspec.structs.replace(observation, outputs=[news, *observation.outputs])

    def _running(self) -> CellKernel | None:
        starting = self._starting
        if starting is None or not starting.done() or starting.cancelled():
            return None
        if starting.exception() is not None or not starting.result().alive:
            return None
        return starting.result()

    async def _started(self, sandbox: Sandbox, before: CellKernel | None = None) -> CellKernel:
        place = sandbox.elsewhere
        if place:
            kernel = place.kernel
        else:
            made = await asyncio.to_thread(_kernel_class)
            kernel = made(sandbox, cast("Kernel | None", before))
        await kernel.start()
        connection = kernel.connection_info()
        if self._host is not None and connection is not None:
            self._host.show(self, connection)
            kernel.on_end(partial(self._hide, self._host))
        return kernel

    async def _restarted(self, before: CellKernel, sandbox: Sandbox, what: str) -> CellKernel:
        try:
            was_at_rest = before.at_rest.is_set()
            await before.end_for_person(what)
            # A cell that ran is told of it in its own observation.
            await before.at_rest.wait()
            await before.close()
            if was_at_rest:
                self.news = _news(before)
            return await self._started(sandbox, before)
        except BaseException:
            await before.close()
            if self._host is not None:
                self._host.hide()
            raise
        finally:
            self._restarting = False

    def _hide(self, host: KernelHost) -> None:
        if not self._restarting:
            host.hide()


def _news(ended: CellKernel) -> str:
    what = ended.ended_by_person
    return f"[{what}: its variables are gone.]\n" if what else KERNEL_NEWS


def _kernel_class() -> type[Kernel]:
    # Imports jupyter_client and pyzmq, which takes too long for the event loop.
    from .kernel import Kernel

    return Kernel
