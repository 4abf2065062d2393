"""The kernel provisioners ``openhands-sandbox``, which takes the best sandbox that works, and
``openhands-bubblewrap``, ``-landlock`` and ``-docker``, which insist: a kernel in a sandbox.

See "Kernel Provisioning" in the documentation of jupyter_client. Everything that talks to kernels
through a KernelManager works with it: jupyter_client, JupyterLab, nbclient.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import signal
import sys
from pathlib import Path
from typing import Any

from jupyter_client import KernelConnectionInfo
from jupyter_client.provisioning.provisioner_base import KernelProvisionerBase
from traitlets import Unicode

from ..errors import Invalid, OpenHandsError
from .backends import Isolation
from .docker.settings import DockerSettings
from .sandbox import KernelExit, Sandbox
from .workspace import check_workspace

GIVEN_UP = 60.0
"""Seconds after the end of a kernel in which Jupyter restarts it, if it ever does."""


class KernelRefused(RuntimeError):
    """Why a kernel was not started, as Jupyter shows it to the person."""


class SandboxProvisioner(KernelProvisionerBase):
    """Starts a kernel in a sandbox, over ipc.

    Attributes
    ----------
    isolation
        What a sandbox of the kernel's own is run in.
    sandbox
        The sandbox to start it in. If nobody sets it, the kernel gets one of its own, with the
        kernel's working directory as the workspace.
    name
        What its sockets are named after; one is made up if there is none.
    ended
        How the kernel ended, once it did; None before it was started.
    """

    isolation: Isolation = "auto"
    sandbox: Sandbox | None = None
    ended: asyncio.Future[KernelExit] | None = None
    _owns_sandbox = False
    _clearing: asyncio.Future[None] | None = None
    name = ""

    def make_sandbox(self, workspace: Path) -> Sandbox:
        """A sandbox for this kernel alone."""
        return Sandbox(workspace, self.isolation)

    @property
    def has_process(self) -> bool:
        """Whether the kernel was started and has not ended."""
        return self.ended is not None and not self.ended.done()

    async def poll(self) -> int | None:
        """The exit code, None while the kernel runs."""
        if self.ended is None:
            return 0
        return self.ended.result().code if self.ended.done() else None

    async def wait(self) -> int | None:
        """Wait for the end of the kernel; its exit code."""
        return 0 if self.ended is None else (await asyncio.shield(self.ended)).code

    async def send_signal(self, signum: int) -> None:
        """Signal the kernel and its child processes."""
        if self.has_process and self.sandbox is not None:
            await self.sandbox.signal_kernel(self.name, signum)

    async def kill(self, restart: bool = False) -> None:
        """End the kernel at once."""
        await self.send_signal(signal.SIGKILL)

    async def terminate(self, restart: bool = False) -> None:
        """Ask the kernel to end."""
        await self.send_signal(signal.SIGTERM)

    async def pre_launch(self, **kwargs: Any) -> dict[str, Any]:
        """Start the sandbox if need be, and write the connection file.

        Raises
        ------
        KernelRefused
            When a sandbox of its own cannot be started, or the kernel's working directory may not
            be a workspace.
        """
        if self.sandbox is None or (self._owns_sandbox and not self.sandbox.alive):
            await self._start_own_sandbox(kwargs.get("cwd") or os.getcwd())
        assert self.sandbox is not None
        directory = self.sandbox.run_directory
        assert directory is not None
        manager = self.parent
        assert manager is not None
        self.name = self.name or secrets.token_hex(4)
        # Before the manager writes its connection file, or it would pick TCP ports.
        manager.transport = "ipc"
        manager.ip = str(directory.sockets / self.name)
        manager.connection_file = str(directory.connections / f"{self.name}.json")
        manager.write_connection_file()
        directory.give_to_owner(Path(manager.connection_file))
        self.connection_info = manager.get_connection_info()
        command = manager.format_kernel_cmd(extra_arguments=kwargs.pop("extra_arguments", []))
        if command[0] == sys.executable:
            environment = self.sandbox.environment
            if environment.python.problem is not None:
                raise environment.python.problem
            command[0] = environment.program
        return await super().pre_launch(cmd=command, **kwargs)

    async def launch_kernel(self, cmd: list[str], **kwargs: Any) -> KernelConnectionInfo:
        """Start the kernel; its environment is the sandbox's, not the one in ``kwargs``.

        Raises
        ------
        OpenHandsError
            When the program cannot be started.
        """
        assert self.sandbox is not None
        try:
            self.ended = await self.sandbox.start_kernel(self.name, cmd)
        except BaseException:
            # Nobody calls it for a kernel that never was.
            await self.cleanup()
            raise
        if self._owns_sandbox:
            self.ended.add_done_callback(self._clear_later)
        return self.connection_info

    async def cleanup(self, restart: bool = False) -> None:
        """End the sandbox if it was started for this kernel alone."""
        if self._owns_sandbox and not restart and self.sandbox is not None:
            sandbox, self.sandbox = self.sandbox, None
            await sandbox.close()

    async def _start_own_sandbox(self, folder: str) -> None:
        """Start one; in place of one that ended with its kernel, and at the same paths."""
        dead = self.sandbox
        await self.cleanup()
        try:
            workspace = await asyncio.to_thread(check_workspace, folder)
            sandbox = self.make_sandbox(workspace)
            sandbox.name = dead.name if dead is not None else None
            await sandbox.start()
        except Invalid as error:
            raise KernelRefused(
                f"A kernel in a sandbox may change everything in its notebook's folder. "
                f"{error.message} Move the notebook into a folder that holds just what belongs to "
                "it, and start the kernel again."
            ) from error
        except OpenHandsError as error:
            raise KernelRefused(f"{error.message} {error.hint}".strip()) from error
        self.sandbox = sandbox
        self._owns_sandbox = True

    def _clear_later(self, ended: asyncio.Future[KernelExit]) -> None:
        """End the sandbox of a kernel that died for good: Jupyter cleans up only what it ended."""

        def clear() -> None:
            if self.ended is ended and self.sandbox is not None:
                self._clearing = asyncio.ensure_future(self.cleanup())

        asyncio.get_running_loop().call_later(GIVEN_UP, clear)


class BubblewrapProvisioner(SandboxProvisioner):
    """A kernel under bubblewrap."""

    isolation = "bubblewrap"


class DockerProvisioner(SandboxProvisioner):
    """A kernel in a container."""

    isolation = "docker"
    image = Unicode(help="The image; if there is none, the default one.").tag(config=True)

    def make_sandbox(self, workspace: Path) -> Sandbox:
        """A sandbox for this kernel alone."""
        return Sandbox(workspace, "docker", docker=DockerSettings.of(self.image))


class LandlockProvisioner(SandboxProvisioner):
    """A kernel held by Landlock and seccomp, where there are no namespaces."""

    isolation = "landlock"
