"""The runtime that executes actions in a sandbox on this machine."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable
from pathlib import Path
from typing import Any

import msgspec

from ..errors import OpenHandsError, SandboxUnavailable
from ..events import (
    Action,
    BrowseInteractiveAction,
    BrowseURLAction,
    CmdOutputObservation,
    CmdRunAction,
    ErrorObservation,
    IPythonOutputObservation,
    IPythonRunCellAction,
    IsolationObservation,
    Observation,
)
from .backends import Isolation
from .base import OutputCallback, Runtime
from .bringing import bring
from .browser import Driving
from .channel import SandboxDied
from .commands import Commands
from .docker.settings import DockerSettings
from .egress import Network
from .environment import EnvironmentSettings
from .file_requests import FileAction, run_file_action
from .gateway.settings import GatewaySettings
from .kernel_host import KernelHost
from .kernel_slot import KernelSlot
from .limits import Limits
from .pages import browse
from .rest import Rest
from .sandbox import Sandbox
from .trouble import PATIENCE, died
from .watch import Watch, printed_at_end, with_remarks
from .workspace import check_unchanged, identity

STOP_TIMEOUT = 0.9
ASK_AGAIN = 0.2
LOOK_TIMEOUT = 10.0
"""Seconds that agentd has for saying what runs."""

SANDBOX_NEWS = (
    "[The sandbox had ended and is a new one: processes, variables and what was outside the "
    "workspace are gone.]\n"
)


class _Processes(msgspec.Struct):
    running: list[str]


class _Running:
    """The action that runs: asked to stop, over, and what it did to the disk, if too much."""

    def __init__(self) -> None:
        self.stopping = asyncio.Event()
        self.ended = asyncio.Event()
        self.over_disk_limit = ""


class SandboxRuntime(Runtime):
    """Executes actions in a sandbox that it starts when needed, and again when it died.

    Parameters
    ----------
    workspace
        The folder to work in; see `check_workspace`.
    isolation
        What actions run in; ``none`` where the person chose to have no sandbox.
    timeout
        Seconds that a command or a cell may take if the action does not say.
    network
        See the attribute.
    limits
        What the programs in the sandbox may use; None for the usual.
    docker
        The image of a container, and how many there may be; None for the defaults.
    environment
        The Python of the shell and the kernels; None for the server's.
    gateway
        Which remote server, and which of its kernels; None for the defaults.
    kernel_host
        Where the kernel is shown to the person; None for nowhere.
    asking
        What the kernel is asked after each cell, for `told`; see `CellKernel.run`.

    Attributes
    ----------
    network
        The way out for the programs in the sandbox; None for none at all. Another one counts from
        the next sandbox on.
    """

    def __init__(
        self,
        workspace: Path,
        isolation: Isolation = "auto",
        timeout: float = 120.0,
        network: Network | None = None,
        limits: Limits | None = None,
        docker: DockerSettings | None = None,
        environment: EnvironmentSettings | None = None,
        gateway: GatewaySettings | None = None,
        kernel_host: KernelHost | None = None,
        asking: str = "",
    ) -> None:
        self.workspace = workspace
        self.network = network
        self._isolation: Isolation = isolation
        self._timeout = timeout
        self._limits = limits or Limits()
        self._docker = docker
        self._environment = environment
        self._gateway = gateway
        self._sandbox: Sandbox | None = None
        self._watch: Watch | None = None
        self._rest: Rest | None = None
        self._stopping_for_disk: asyncio.Task[None] | None = None
        self._starting = asyncio.Lock()
        self._kernel_host = kernel_host
        self._kernel = KernelSlot(kernel_host, asking)
        self._running = _Running()
        self._running.ended.set()
        self._commands = Commands(timeout)
        self._driving = Driving()
        self._news_of_end = ""
        self._workspace_is: tuple[int, int] | None = None
        self._used = False

    @property
    def used(self) -> bool:
        """Whether the sandbox that runs has executed something; see `Runtime.used`."""
        return self._used

    async def start(self) -> IsolationObservation:
        """Start the sandbox, unless it runs; see `Runtime.start`."""
        async with self._starting:
            self._end_if_replaced()
            if self._sandbox is not None and not self._sandbox.alive:
                self._commands.news = self._kernel.news = self._news_of_end + SANDBOX_NEWS
                self._news_of_end = ""
                await self._discard()
            if self._sandbox is not None and self._sandbox.environment.outdated:
                await self._replace("The person changed which secrets the sandbox has.")
            sandbox = self._sandbox or await self._started()
            assert sandbox.isolation_in_force is not None
            return sandbox.isolation_in_force

    async def _started(self) -> Sandbox:
        await asyncio.to_thread(check_unchanged, self.workspace)
        self._workspace_is = identity(self.workspace)
        sandbox = Sandbox(
            self.workspace,
            self._isolation,
            self.network,
            self._limits,
            self._docker,
            self._environment,
            self._gateway,
        )
        await sandbox.start()
        self._sandbox = sandbox
        self._watch = self._watch_over(sandbox)
        self._rest = Rest(sandbox, self._docker.pause_after if self._docker else 0)
        return sandbox

    async def prewarm(self) -> None:
        """Start the sandbox and, in the background, the first cell's kernel."""
        if self._isolation == "gateway":
            # What others provide is not taken before it is needed.
            return
        await self.start()
        assert self._sandbox is not None
        await self._kernel.start(self._sandbox)
        if self._rest is not None:
            self._rest.begin()

    async def prepare(self, action: Action) -> Action | Observation:
        """Say where something is to be done in the browser; see `Runtime.prepare`."""
        if isinstance(action, BrowseInteractiveAction):
            if self._sandbox is None or not self._sandbox.alive:
                self._driving.forget()
            return self._driving.prepare(action)
        return action

    async def run_action(self, action: Action, on_output: OutputCallback) -> Observation:
        """Execute one action; see `Runtime.run_action`."""
        running = self._running = _Running()
        try:
            if self.network is not None:
                self.network.on_action(action)
            if not await _done_before(running.stopping, self.start()):
                message = "It was stopped while the sandbox was starting, and has not begun."
                return ErrorObservation(code="stopped", message=message)
            await self.wake()
            self._used = True
            watch, sandbox = self._watch, self._sandbox
            if watch is not None:
                await watch.begin()
            observation = self._with_reason(await self._dispatch(action, on_output))
            remarks = []
            if sandbox is not None:
                remarks += await sandbox.troubles(PATIENCE if died(observation) else 0)
            if watch is not None:
                remarks += await watch.remarks(printed_at_end(observation))
            observation = with_remarks(observation, remarks)
            await self._clear_away(observation)
            return observation
        except msgspec.ValidationError:
            # What is inside can take over agentd; it gets no further than this.
            if self._sandbox is not None:
                self._sandbox.kill()
            message = "The sandbox gave an answer that makes no sense, and was ended."
            return ErrorObservation(code="sandbox_died", message=message)
        except OpenHandsError as error:
            if isinstance(error, SandboxUnavailable):
                raise
            return ErrorObservation(code=error.code, message=error.message, hint=error.hint)
        except asyncio.CancelledError:
            # Nothing may go on of an action that nobody waits for.
            if self._sandbox is not None:
                self._sandbox.kill()
            raise
        finally:
            running.ended.set()
            if self._rest is not None:
                self._rest.begin()

    async def wake(self) -> None:
        """Let the sandbox go on, if it was paused, as somebody is about to use it."""
        if self._rest is not None:
            await self._rest.end()

    async def interrupt(self) -> None:
        """Stop the action that runs; see `Runtime.interrupt`."""
        # By the time that it has stopped, another action may be running.
        running = self._running
        running.stopping.set()
        try:
            async with asyncio.timeout(STOP_TIMEOUT):
                await self._ask_to_stop(running)
        except (TimeoutError, OpenHandsError):
            # What is inside may have taken over agentd, and it must not be the one to decide.
            if self._sandbox is not None:
                self._sandbox.kill()
            await running.ended.wait()

    @property
    def outdated(self) -> str:
        """Why the sandbox should be another one; see `Runtime.outdated`."""
        if self._sandbox is not None and self._sandbox.lacks(self.network):
            return "The settings of the network were changed, which takes another sandbox."
        return ""

    async def at_rest(self) -> bool:
        """Whether nothing runs in the sandbox; see `Runtime.at_rest`."""
        sandbox = self._sandbox
        if sandbox is None or not sandbox.alive:
            return True
        if not self._running.ended.is_set() or (self._kernel_host and self._kernel_host.busy):
            return False
        return await self.programs() == []

    async def programs(self) -> list[str] | None:
        """What runs in the sandbox; see `Runtime.programs`."""
        sandbox = self._sandbox
        if sandbox is None or not sandbox.alive:
            return []
        try:
            async with asyncio.timeout(LOOK_TIMEOUT):
                answer = await sandbox.request("processes", {})
            return msgspec.convert(answer, _Processes).running
        except (SandboxDied, TimeoutError, OpenHandsError, msgspec.ValidationError):
            # It is not for a look from aside to judge what is wrong.
            return None

    async def renew(self, reason: str) -> None:
        """End the sandbox, and have the next one say why; see `Runtime.renew`."""
        async with self._starting:
            if self._sandbox is not None:
                await self._replace(reason)

    async def _replace(self, reason: str) -> None:
        if self._used:
            self._commands.news = self._kernel.news = f"[{reason}]\n{SANDBOX_NEWS}"
        await self._discard()

    async def close(self) -> None:
        """End the sandbox; see `Runtime.close`."""
        async with self._starting:
            await self._discard()

    async def _ask_to_stop(self, running: _Running) -> None:
        # More than once, because the first may come before the command does. At least once,
        # because a command may have been left running.
        while True:
            if self._sandbox is not None:
                with contextlib.suppress(SandboxDied):
                    # At once, because elsewhere an answer takes its time.
                    stops = [
                        self._sandbox.request(f"{what}.stop", {})
                        for what in ("shell", "search", "web", "helper")
                    ]
                    await asyncio.gather(*stops)
            if running.ended.is_set():
                return
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(running.ended.wait(), ASK_AGAIN)

    def _watch_over(self, sandbox: Sandbox) -> Watch | None:
        if self._isolation == "none" or sandbox.elsewhere or sandbox.run_directory is None:
            return None
        folders = [self.workspace, sandbox.run_directory.scratch]
        if sandbox.environment.packages is not None:
            folders.append(sandbox.environment.packages.path)
        return Watch(
            self.workspace, folders, self._limits, sandbox.cgroup, self._stop_for_disk_limit
        )

    def _stop_for_disk_limit(self, reason: str) -> None:
        if not self._running.ended.is_set():
            self._running.over_disk_limit = reason
            self._stopping_for_disk = asyncio.ensure_future(self.interrupt())
        elif self._sandbox is not None:
            # What an earlier action left running, which nothing else stops.
            self._sandbox.kill()
            self._news_of_end = f"[The sandbox was ended for what was left running. {reason}]\n"

    def _with_reason(self, observation: Observation) -> Observation:
        reason = self._running.over_disk_limit
        if not reason or not isinstance(
            observation, CmdOutputObservation | IPythonOutputObservation
        ):
            return observation
        stopped = msgspec.structs.replace(observation, interrupted="disk_limit")
        return with_remarks(stopped, [f"Stopped. {reason}"])

    def _end_if_replaced(self) -> None:
        """End a sandbox that has a folder which is not the workspace any more."""
        if self._sandbox is None or not self._sandbox.alive or self._sandbox.elsewhere:
            return
        # Here, as the guard on the disk looks at this folder anyway: a thread takes much longer.
        if identity(self.workspace) != self._workspace_is:
            self._sandbox.kill()
            self._news_of_end = "[The workspace was removed, or another folder took its place.]\n"

    async def bring(self, name: str, content: bytes) -> str:
        """Write a file beside the workspace, where it lasts as long as the sandbox.

        Parameters
        ----------
        name
            What it is called.
        content
            What it holds.

        Returns
        -------
        str
            Its path inside.

        Raises
        ------
        OpenHandsError
            When it cannot be written.
        """
        await self.start()
        await self.wake()
        self._used = True
        assert self._sandbox is not None
        try:
            return await bring(self._sandbox, name, content, self._timeout)
        finally:
            if self._rest is not None:
                self._rest.begin()

    @property
    def told(self) -> str | None:
        """What the kernel told after its last cell; empty before that, None if it did not tell."""
        return self._kernel.told

    async def restart_kernel(self, what: str) -> None:
        """Restart the kernel of the cells, should one run.

        Parameters
        ----------
        what
            What the next cell is told of it, as a phrase.
        """
        await self._kernel.restart(what)

    async def _discard(self) -> None:
        if self._rest is not None:
            await self._rest.close()
            self._rest = None
        if self._watch is not None:
            await self._watch.close()
            self._watch = None
        await self._kernel.discard()
        self._driving.forget()
        if self._sandbox is not None:
            await self._sandbox.close()
            self._sandbox = None
        self._used = False

    async def _clear_away(self, told: Observation) -> None:
        """Remove what died, so far as this observation tells of it."""
        if self._sandbox is not None and not self._sandbox.alive:
            await self._discard()
        elif isinstance(told, IPythonOutputObservation):
            await self._kernel.clear_away()

    async def _dispatch(self, action: Action, on_output: OutputCallback) -> Observation:
        assert self._sandbox is not None
        sandbox, stopping = self._sandbox, self._running.stopping
        match action:
            case CmdRunAction():
                return await self._commands.run(sandbox, action, on_output, stopping)
            case IPythonRunCellAction():
                seconds = self._timeout if action.timeout is None else action.timeout
                return await self._kernel.run(sandbox, action.code, seconds, on_output, stopping)
            case BrowseURLAction():
                return await browse(sandbox, action, stopping)
            case BrowseInteractiveAction():
                return await self._driving.act(sandbox, action, stopping)
            case _ if isinstance(action, FileAction):
                return await run_file_action(sandbox, action, self._timeout, stopping)
            case _:
                raise TypeError(f"{type(action).__name__} is not for the sandbox")


async def _done_before(stopping: asyncio.Event, work: Awaitable[Any]) -> bool:
    """Wait for this unless a stop comes first, which ends it; whether it was done."""
    task, stopped = asyncio.ensure_future(work), asyncio.ensure_future(stopping.wait())
    try:
        await asyncio.wait({task, stopped}, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            await task
        return task.done()
    finally:
        stopped.cancel()
        if not task.done():
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
