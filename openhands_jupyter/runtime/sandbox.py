"""A sandbox: one isolation boundary, with agentd in it, from start to end."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
from collections.abc import Awaitable
from pathlib import Path
from typing import Any

import msgspec

from ..errors import OpenHandsError, SandboxUnavailable
from ..events import IsolationObservation
from ..making import made_or_undone
from .agentd.relay import PORT
from .backends import BACKENDS, Backend, Isolation, Started, nothing_works, why_this
from .cgroups import Cgroup
from .channel import Channel, OnText, SandboxDied
from .docker.settings import DockerSettings
from .egress import EgressProxy, Network
from .environment import EnvironmentSettings, SandboxEnvironment
from .gateway import isolation as remote_isolation
from .gateway.settings import GatewaySettings
from .isolation import Canaries, verdict
from .launch import BackendUnavailable, Command, Elsewhere, Launch, keep_bytecode
from .limits import Limits, group_for
from .owner import Owner
from .process import GroupRefused
from .rundir import RunDirectory, clients_of
from .tunnel import Tunnel

START_TIMEOUT = 30.0


class KernelExit(msgspec.Struct, frozen=True):
    """How a kernel ended.

    Attributes
    ----------
    code
        Its exit code, negative for a signal.
    log
        What it wrote on its own standard output and error, beginning and end.
    sandbox_died
        Whether the whole sandbox ended with it.
    """

    code: int
    log: str = ""
    sandbox_died: bool = False


class _Hello(msgspec.Struct):
    python: str
    without_packages: str
    unconfined: list[str]


class Sandbox:
    """A sandbox that can be started once.

    Parameters
    ----------
    workspace
        The folder that is writable inside, at the same path.
    isolation
        What to run it in; ``auto`` for the best that works here, ``none`` for a plain child
        process.
    network
        The way out for the programs in it; None for none at all. Only bubblewrap and Docker have
        one that can be guarded: ``landlock`` has no network, and ``none`` all of it.
    limits
        What the programs in it may use; ``none`` has no limits.
    docker
        The image of a container, and how many there may be; None for the defaults.
    environment
        The Python of its kernels and shell; None for the server's.
    gateway
        Which remote server, and which of its kernels; None for the defaults.

    Attributes
    ----------
    run_directory
        Where its sockets are; None before the start and after the end.
    name
        The name of its run directory. That of one which has ended, set before the start, gives
        the new one the same paths.
    cgroup
        What holds its processes together; None where there is nothing that could.
    isolation_in_force
        What the self-test found; None before the start.
    environment
        The Python of its kernels and shell.
    """

    def __init__(
        self,
        workspace: Path,
        isolation: Isolation = "auto",
        network: Network | None = None,
        limits: Limits | None = None,
        docker: DockerSettings | None = None,
        environment: EnvironmentSettings | None = None,
        gateway: GatewaySettings | None = None,
    ) -> None:
        self.environment = SandboxEnvironment(environment or EnvironmentSettings(), workspace)
        self._gateway = gateway or GatewaySettings()
        self._docker = docker or DockerSettings()
        self._workspace = workspace
        self._limits = limits or Limits()
        self._isolation = isolation
        self._network = network
        self._channel = Channel(self._on_event, self._on_end)
        self._process: Started | None = None
        self._owner: Owner | None = None
        self._kernels: dict[str, asyncio.Future[KernelExit]] = {}
        self._backend: Backend | None = None
        self._proxy: EgressProxy | None = None
        self._tunnel: Tunnel | None = None
        self._network_lost = False
        self._alive = False
        self.run_directory: RunDirectory | None = None
        self.name: str | None = None
        self.cgroup: Cgroup | None = None
        self.isolation_in_force: IsolationObservation | None = None

    @property
    def alive(self) -> bool:
        """Whether it has started and not ended."""
        return self._alive

    async def start(self) -> IsolationObservation:
        """Start it and find out what it enforces.

        It has to be called on a thread that lives as long as the sandbox shall, which the thread
        of the event loop does: bubblewrap ends when the thread that started it ends.

        Raises
        ------
        SandboxUnavailable
            When it cannot be started.
        """
        try:
            return await self._start()
        except OSError as error:
            raise _not_prepared(error) from error

    async def _start(self) -> IsolationObservation:
        backends = BACKENDS[self._isolation]
        self._owner, why_root = await asyncio.to_thread(backends[0].owner_of, self._workspace)
        await self.environment.choose(self._owner)
        self.run_directory = RunDirectory.create(self._owner, self.name)
        self.name = self.run_directory.path.name
        refused: list[BackendUnavailable] = []
        try:
            if backends[0].grouped:
                await self._make_group(self.run_directory)
            for backend in backends:
                try:
                    found = await self._start_in(backend, self.run_directory)
                except BackendUnavailable as error:
                    refused.append(error)
                    await self._end()
                else:
                    notices = [found.notice, why_root, why_this(backend, refused)]
                    notices.append(self.environment.notice())
                    notices.append(backend.without_network if self._network else "")
                    notice = " ".join(filter(None, notices))
                    found = self.environment.describe(found)
                    self.isolation_in_force = msgspec.structs.replace(found, notice=notice)
                    self._backend = backend
                    self._alive = True
                    keep_bytecode()
                    return self.isolation_in_force
            raise nothing_works(refused)
        except BaseException:
            await self.close()
            raise

    @property
    def command(self) -> Command:
        """What it was started with."""
        assert self._process is not None
        return self._process.command

    @property
    def elsewhere(self) -> Elsewhere | None:
        """Where it is, if it is not on this machine."""
        return None if self._process is None else self._process.elsewhere

    def lacks(self, network: Network | None) -> bool:
        """Whether its programs would have this network in another sandbox, and have not here."""
        if network is None or self._backend is None or self._backend.without_network:
            return False
        return self._network is None or self._network.settings != network.settings

    async def troubles(self, patience: float) -> list[str]:
        """What became of it that the agent should know, told once; see `Started.troubles`."""
        return [] if self._process is None else await self._process.troubles(patience)

    async def request(
        self, method: str, params: dict[str, Any], on_text: OnText | None = None
    ) -> Any:
        """Ask agentd for something; see `Channel.request`."""
        await self.wake()
        return await self._channel.request(method, params, on_text)

    async def goings_on(self) -> Any:
        """What goes on in it while nobody asks for anything; see `agentd.goings_on`."""
        return await self.request("goings_on", {})

    def kernel_clients(self) -> int:
        """How many clients the kernel has that has the most; it reads what the system says."""
        if self.run_directory is None:
            return 0
        # A manager gives the first port to the channel of requests; see `SandboxProvisioner`.
        paths = [str(self.run_directory.sockets / f"{kernel}-1") for kernel in self._kernels]
        return max(map(clients_of, paths), default=0)

    @property
    def can_pause(self) -> bool:
        """Whether it can be paused."""
        return self._process is not None and self._process.can_pause

    async def pause(self) -> None:
        """Stop all that is in it until it is woken; it keeps its memory."""
        if self._process is not None and self._alive:
            await self._process.pause()

    async def wake(self) -> None:
        """Let all that is in it go on, if it was paused."""
        if self._process is not None and self._process.can_pause:
            await self._process.wake()

    async def start_kernel(self, kernel: str, command: list[str]) -> asyncio.Future[KernelExit]:
        """Start a kernel process.

        Parameters
        ----------
        kernel
            An id of the caller's choice.
        command
            The command line, with paths as they are inside.

        Returns
        -------
        asyncio.Future
            Done when the kernel has ended.

        Raises
        ------
        OpenHandsError
            When the program cannot be started.
        SandboxDied
            When the sandbox has ended.
        """
        ended = asyncio.get_running_loop().create_future()
        self._kernels[kernel] = ended
        try:
            params = {"kernel": kernel, "command": command}
            if self._tunnel is not None:
                params = await self._tunnel.kernel(kernel, command)
            await self.request("kernel.start", params)
        except BaseException:
            self._kernels.pop(kernel, None)
            raise
        return ended

    async def signal_kernel(self, kernel: str, signum: int) -> None:
        """Send a signal to a kernel and its child processes; nothing happens if it has ended."""
        with contextlib.suppress(SandboxDied):
            await self.request("kernel.signal", {"kernel": kernel, "signum": signum})

    def kill(self) -> None:
        """End it at once, whatever it does; `close` still has to be called."""
        self._alive = False
        if self._process is not None:
            self._process.kill()

    async def close(self) -> None:
        """End it and everything in it, and remove what it left. May be called twice."""
        await self._end()
        all_gone = True
        if self.cgroup is not None:
            all_gone = await asyncio.to_thread(self.cgroup.remove)
            self.cgroup = None
        self.environment.close()
        if self.run_directory is not None:
            (self.run_directory.remove if all_gone else self.run_directory.leave)()
            self.run_directory = None

    async def _end(self) -> str:
        """Hang up and end what was started; what the process wrote on its standard error."""
        stderr = ""
        if self._tunnel is not None:
            await self._tunnel.close()
            self._tunnel = None
        await self._channel.close()
        self._on_end()
        if self._process is not None:
            stderr = await self._process.end()
            self._process = None
        if self._proxy is not None:
            await self._proxy.close()
            self._proxy = None
        return stderr

    async def _start_in(
        self, backend: Backend, run_directory: RunDirectory
    ) -> IsolationObservation:
        if not backend.without_network:
            await self._start_proxy(run_directory)
        proxy = self._proxy
        self.environment.prepare(backend.places, self._docker.image, self._owner)
        command = await self._start_process(backend, run_directory)
        place = self.elsewhere
        parameters: dict[str, Any] = {
            "workspace": place.folder if place else str(self._workspace),
            "scratch": command.scratch,
        }
        path = str(run_directory.proxy)
        if command.folder:
            self._tunnel = Tunnel(self._channel.send, run_directory, command.folder)
            self._channel.on_tunnel = self._tunnel.receive
            parameters |= {"folder": command.folder, "files": command.files}
            path = f"{command.folder}/{run_directory.proxy.name}"
        parameters |= self.environment.parameters()
        parameters["relay"] = {"path": path, "port": PORT} if proxy else None
        canary = proxy.canary if proxy else None
        folders = [name for _, name in self.environment.python.folders()]
        with Canaries(run_directory, command, canary, folders) as canaries:
            attempts = {**canaries.parameters(), "only": remote_isolation.TRIED if place else None}
            answer, results = await self._expect(
                backend,
                self.request("hello", {**parameters, "selftest": attempts}),
                self.request("selftest", {}),
            )
        hello = msgspec.convert(answer, _Hello)
        self.environment.started(hello.python, hello.without_packages)
        if place:
            return remote_isolation.verdict(place, results)
        network = "network only to what is allowed" if proxy else "no network"
        as_root = os.geteuid() == 0 and self._owner is None
        limits = self._limits.missing(self._enforced(), as_root)
        missing = [
            *(limits if backend.name != "none" else []),
            *backend.missing,
            *command.missing,
            *map("a second layer ({})".format, hello.unconfined),
        ]
        packages = self.environment.packages is not None
        found = verdict(backend.name, results, network, missing, packages=packages)
        places = proxy.policy.places() if proxy else None
        return msgspec.structs.replace(found, network=places)

    async def _make_group(self, run_directory: RunDirectory) -> None:
        name = run_directory.path.name
        making = asyncio.to_thread(group_for, name, self._limits)
        self.cgroup = await made_or_undone(making, _remove_group)
        if self.cgroup is not None:
            run_directory.note_groups(self.cgroup.folders)

    def _enforced(self) -> frozenset[str]:
        return self.cgroup.enforced if self.cgroup else frozenset()

    async def _start_proxy(self, run_directory: RunDirectory) -> None:
        if self._network is not None:
            self._proxy = self._network.proxy
            await self._proxy.start(run_directory.proxy)
            run_directory.give_to_owner(run_directory.proxy)

    async def _start_process(self, backend: Backend, run_directory: RunDirectory) -> Command:
        launch = Launch(
            self._workspace,
            run_directory,
            python=self.environment.python,
            packages=self.environment.packages,
            layer=self.environment.layer,
            network=self._network.settings if self._network else None,
            owner=self._owner,
            limits=self._limits.of_each_process(self._enforced()),
            shared_limits=self._limits,
            cgroup=self.cgroup,
            docker=self._docker,
            gateway=self._gateway,
        )
        try:
            self._process = await backend.start(launch)
        except GroupRefused:
            assert self.cgroup is not None
            await asyncio.to_thread(self.cgroup.remove)
            self.cgroup = None
            return await self._start_process(backend, run_directory)
        self.cgroup = self._process.cgroup
        if self.cgroup is not None:
            run_directory.note_groups(self.cgroup.folders)
        self._channel = Channel(self._on_event, self._on_end)
        self._channel.open(*await self._process.open())
        return self._process.command

    async def _expect(self, backend: Backend, *requests: Awaitable[Any]) -> list[Any]:
        try:
            return await asyncio.wait_for(asyncio.gather(*requests), START_TIMEOUT)
        except (SandboxDied, TimeoutError, OpenHandsError) as error:
            self.kill()
            stderr = await self._end()
            if isinstance(error, SandboxDied):
                raise backend.explain(stderr) from error
            raise SandboxUnavailable(f"The sandbox did not start: {stderr or error}.") from error

    def _on_event(self, event: str, params: dict[str, Any]) -> None:
        if event == "relay_ended" and self._network is not None and not self._network_lost:
            self._network_lost = True
            self._network.on_lost()
        if event != "kernel_exited":
            return
        ended = self._kernels.pop(str(params.get("kernel")), None)
        if ended is not None and not ended.done():
            ended.set_result(msgspec.convert(params, KernelExit))

    def _on_end(self) -> None:
        self._alive = False
        for ended in self._kernels.values():
            if not ended.done():
                ended.set_result(KernelExit(-9, sandbox_died=True))
        self._kernels.clear()


async def _remove_group(group: Cgroup | None) -> None:
    if group is not None:
        await asyncio.to_thread(group.remove)


def _not_prepared(error: OSError) -> SandboxUnavailable:
    place = f" ({error.filename})" if error.filename else ""
    full = error.errno in (errno.ENOSPC, errno.EDQUOT)
    return SandboxUnavailable(
        f"The sandbox could not be prepared: {error.strerror or error}{place}.",
        "Free some space there, or set XDG_RUNTIME_DIR to a folder on another disk."
        if full
        else "",
    )
