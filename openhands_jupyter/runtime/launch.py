"""How a sandbox is launched: what every backend has to say."""

from __future__ import annotations

import compileall
import functools
import json
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import SandboxUnavailable
from .cgroups import Cgroup
from .docker.settings import DockerSettings
from .egress import NetworkSettings
from .environment import KernelPython, PackagesFolder
from .gateway.settings import GatewaySettings
from .holding import Hold
from .limits import Limits
from .owner import Owner
from .rundir import RunDirectory

if TYPE_CHECKING:
    from .cells import CellKernel

AGENTD = Path(__file__).resolve().parent / "agentd"

_START = (
    # What is loaded is no garbage, and looking for some takes time.
    "import gc, sys; gc.set_threshold(20_000); sys.path.append(sys.argv[1]); "
    "from agentd.server import main; main(*map(int, sys.argv[2:]))"
)


class BackendUnavailable(SandboxUnavailable):
    """This way of isolation does not work here; another one may."""


@dataclass
class Launch:
    """A sandbox about to be started.

    Attributes
    ----------
    workspace
        The folder that the agent works in.
    run_directory
        The sandbox's own folder.
    channel
        The descriptor that agentd is to serve, if it is a process of this machine's own.
    python
        The Python of its kernels and shell, unless the backend brings its own.
    packages
        The folder that packages are installed to; None if they cannot be.
    layer
        The packages that were installed beforehand, which are only read; None for none.
    network
        What programs are told of the network that is behind the proxy; None without one.
    owner
        Who to run it as, if not the server's own user.
    limits
        ``file_size``, ``memory`` and ``processes`` that each process is to be held to, where set.
    shared_limits
        What all of them together are to be held to.
    cgroup
        What does that; None where nothing can, or the backend does it itself.
    docker
        The image of a container, and how many there may be.
    gateway
        Which remote server, and which of its kernels.
    """

    workspace: Path
    run_directory: RunDirectory
    channel: int = -1
    python: KernelPython = field(default_factory=KernelPython)
    packages: PackagesFolder | None = None
    layer: PackagesFolder | None = None
    network: NetworkSettings | None = None
    owner: Owner | None = None
    limits: dict[str, int] = field(default_factory=dict)
    shared_limits: Limits = field(default_factory=Limits)
    cgroup: Cgroup | None = None
    docker: DockerSettings = field(default_factory=DockerSettings)
    gateway: GatewaySettings = field(default_factory=GatewaySettings)


@dataclass
class Elsewhere:
    """Where a sandbox is that is not on this machine.

    Attributes
    ----------
    host
        The server that it was reached through.
    folder
        The folder there to work in.
    about
        Who it is run as and with what, for people.
    kernel
        What runs the cells: the kernel that came with it, instead of one that is started in it.
    """

    host: str
    folder: str
    about: str
    kernel: CellKernel


@dataclass
class Command:
    """What to execute for it.

    Attributes
    ----------
    argv
        The command line.
    env
        The whole environment.
    fds
        Descriptors to pass on, besides the channel; closed after the start.
    scratch
        A folder, as seen inside, that agentd may keep its files in.
    end_signal
        What ends everything: not the signal that the process cannot act on, where it has to.
    unlisted_folder
        A folder that is writable but for Landlock, for the self-test to try; None if there is none.
    missing
        What it does not enforce and the self-test cannot try, a phrase each.
    folder
        Where the sandbox shares no folder for sockets with the server: the private folder inside,
        still to be made, that stands for the run directory.
    files
        What is to be in that folder, by name.
    shared_namespaces
        The kinds of namespaces that it shares with the server by design, as other things keep it
        from what they would.
    hold
        Its own way to be held back until it is in its control group; None for the usual one.
    """

    argv: list[str]
    env: dict[str, str]
    fds: list[int] = field(default_factory=list)
    scratch: str = "/tmp"
    end_signal: signal.Signals = signal.SIGKILL
    unlisted_folder: str | None = None
    shared_namespaces: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    folder: str = ""
    files: dict[str, str] = field(default_factory=dict)
    hold: Hold | None = None

    @contextmanager
    def open_fds(self) -> Iterator[list[int]]:
        """The descriptors, until the process has been started."""
        try:
            yield self.fds
        finally:
            self.close_fds()

    def close_fds(self) -> None:
        """Let go of the descriptors, also where nothing is started. May be called twice."""
        while self.fds:
            os.close(self.fds.pop())


@dataclass
class Confinement:
    """What agentd does to itself before it starts anything; see `agentd.confine`.

    Attributes
    ----------
    required
        Whether it must not run where a layer is missing.
    read, write
        Paths that may be read, and those that may also be changed.
    private_network
        Whether it has a network of its own, in which sockets can do no harm.
    supervised
        Whether a supervisor has to end what it starts, as there is no process namespace.
    mark
        The number that its processes are found by, where there is no process namespace; else 0.
    limits
        ``file_size``, ``memory`` and ``processes``, where set.
    """

    required: bool = False
    read: list[str] = field(default_factory=list)
    write: list[str] = field(default_factory=list)
    private_network: bool = True
    supervised: bool = False
    mark: int = 0
    limits: dict[str, int] = field(default_factory=dict)

    def encode(self) -> bytes:
        """As agentd reads it."""
        network = dict.fromkeys(("inet", "connect", "tcp"), self.private_network)
        return json.dumps(
            {
                "required": self.required,
                "supervised": self.supervised,
                "mark": self.mark,
                "drop_capabilities": True,
                "read": self.read,
                "write": self.write,
                "limits": self.limits,
                **network,
            }
        ).encode()


def agentd_command(folder: Path, channel: int, confinement: int | None = None) -> list[str]:
    """The command line of agentd, without the site packages, which it must not need.

    Parameters
    ----------
    folder
        The folder that holds ``agentd``, as seen inside the sandbox.
    channel
        The descriptor to serve.
    confinement
        A descriptor to read the encoded `Confinement` from; None for none.
    """
    descriptors = [channel] if confinement is None else [channel, confinement]
    return [sys.executable, "-I", "-S", "-c", _START, str(folder), *map(str, descriptors)]


@functools.cache
def keep_bytecode(folder: Path = AGENTD) -> threading.Thread:
    """Compile agentd once, as it can only be read in a sandbox, and would be compiled each time.

    Some installers leave that to the first who imports it.

    Returns
    -------
    threading.Thread
        Does it. Where nobody may write there, nothing happens.
    """
    compiling = threading.Thread(
        target=compileall.compile_dir, args=(folder,), kwargs={"quiet": 2}, daemon=True
    )
    compiling.start()
    return compiling


def data_fd(content: bytes) -> int:
    """A descriptor that ``content`` can be read from."""
    fd = os.memfd_create("openhands")
    os.write(fd, content)
    os.lseek(fd, 0, os.SEEK_SET)
    return fd
