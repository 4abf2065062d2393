"""The sandbox's IPython kernel: cells in, outputs out."""

from __future__ import annotations

import asyncio
import signal
import sys
from typing import Any

import zmq
import zmq.asyncio
from jupyter_client.asynchronous.client import AsyncKernelClient
from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import AsyncKernelManager
from jupyter_client.session import Session

from ..errors import OpenHandsError
from .cells import LONGEST_MESSAGE, OUTPUT_TOO_LONG, CellKernel, KernelClient
from .environment import explain_failure
from .provisioner import SandboxProvisioner
from .readiness import until_answering, until_listening
from .sandbox import KernelExit, Sandbox

START_TIMEOUT = 60.0
RECOVER_TIMEOUT = 5.0

_ARGV = [
    sys.executable,
    *("-m", "ipykernel_launcher"),
    *("-f", "{connection_file}"),
    # Writing the history to a disk that is thrown away would only cost time.
    "--HistoryManager.enabled=False",
]


class _Manager(AsyncKernelManager):
    """A kernel manager whose kernel needs no installed kernelspec."""

    @property
    def kernel_spec(self) -> KernelSpec:
        """The kernel of the server's own Python."""
        return KernelSpec(argv=list(_ARGV), display_name="OpenHands sandbox", language="python")


class Kernel(CellKernel):
    """A kernel process in a sandbox on this machine.

    Parameters
    ----------
    sandbox
        The started sandbox to run it in.
    before
        A kernel of this sandbox that was closed, to have its sockets and its key, so that whoever
        was connected to it is connected to this one; None for new ones.
    """

    output_lost = OUTPUT_TOO_LONG

    def __init__(self, sandbox: Sandbox, before: Kernel | None = None) -> None:
        super().__init__()
        self._context = zmq.asyncio.Context()
        self._context.setsockopt(zmq.MAXMSGSIZE, LONGEST_MESSAGE)
        # A crash has to reach the agent, not be mended silently.
        self._manager = _Manager(context=self._context, autorestart=False)
        self._provisioner = SandboxProvisioner(
            kernel_id="openhands", kernel_spec=self._manager.kernel_spec, parent=self._manager
        )
        self._provisioner.sandbox = sandbox
        self._sandbox = sandbox
        self._manager.provisioner = self._provisioner
        if before is not None:
            self._provisioner.name = before._provisioner.name
            self._manager.load_connection_info(before._manager.get_connection_info())
        self._client: AsyncKernelClient | None = None

    @property
    def alive(self) -> bool:
        """Whether it runs."""
        return self._provisioner.has_process

    async def start(self) -> None:
        """Start it and wait until it is ready; see `CellKernel.start`."""
        try:
            await self._launch()
            ready = asyncio.ensure_future(self._ready(START_TIMEOUT))
            try:
                await self._until(ready)
                if not self._ended.done():
                    await ready
                    return
            finally:
                ready.cancel()
                await asyncio.gather(ready, return_exceptions=True)
            raise await self._not_started(self._ended.result().log)
        except RuntimeError as error:
            await self.close()
            raise await self._not_started(str(error)) from error
        except BaseException:
            await self.close()
            raise

    def connection_info(self) -> dict[str, Any]:
        """How others on this machine may connect to it."""
        return dict(self._manager.get_connection_info())

    async def close(self) -> None:
        """End it. May be called twice."""
        if self._client is not None:
            self._client.stop_channels()
            self._client = None
        await self._manager.shutdown_kernel(now=True)
        self._context.destroy(linger=0)

    async def _launch(self) -> None:
        try:
            await self._manager.start_kernel()
        except AssertionError as error:
            # jupyter_client takes for granted that a kernel lives on for a moment.
            if self._provisioner.ended is None or not self._ended.done():
                raise
            raise await self._not_started(self._ended.result().log) from error

    @property
    def _cell_client(self) -> KernelClient:
        assert self._client is not None
        return self._client

    @property
    def _ended(self) -> asyncio.Future[KernelExit]:
        assert self._provisioner.ended is not None
        return self._provisioner.ended

    async def _ready(self, within: float) -> None:
        """Connect to it and wait for its answer, which has to come within so many seconds."""
        try:
            async with asyncio.timeout(within):
                await until_listening(self._manager)
                self._client = self._connect()
                await until_answering(self._client)
        except TimeoutError as error:
            raise RuntimeError(f"it did not answer within {within:.0f} seconds") from error

    def _connect(self) -> AsyncKernelClient:
        # A session of its own: two clients with one identity would take each other's replies.
        client = self._manager.client(
            context=self._context, session=Session(key=self._manager.session.key)
        )
        client.start_channels(hb=False)
        return client

    async def _not_started(self, log: str) -> OpenHandsError:
        found = await self._sandbox.request("python.examine", {})
        message, hint = explain_failure(self._sandbox.environment.python, found, log)
        return OpenHandsError("kernel_failed", message, hint)

    async def _send_interrupt(self) -> None:
        await self._provisioner.send_signal(signal.SIGINT)

    async def _kill(self) -> None:
        await self._provisioner.kill()

    async def _recover(self) -> None:
        """Open new channels: ZeroMQ gives up one on which too long a message came."""
        if self._client is not None and self.alive:
            self._client.stop_channels()
            ready = asyncio.ensure_future(self._ready(RECOVER_TIMEOUT))
            await self._until(ready)
            if not ready.done() or ready.exception():
                ready.cancel()
                await self._provisioner.kill()
