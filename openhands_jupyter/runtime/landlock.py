"""The landlock backend, for places that deny namespaces: agentd as a child that confines itself.

The kernel then keeps it to the paths listed here, without network and without connections to other
programs. What it cannot keep from it is for the self-test to say.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from pathlib import Path

from .agentd.processes import MARK, number_of
from .launch import (
    AGENTD,
    BackendUnavailable,
    Command,
    Confinement,
    Launch,
    agentd_command,
    data_fd,
)
from .view import DEVICES, ETC, environment, python_folders

_SYSTEM = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/proc")
_ETC = ("bash.bashrc", "group", "hosts", "passwd")
"""What is made up where the sandbox has an ``/etc`` of its own."""

_JUPYTER_CONFIGURATION = "etc/jupyter"


def command(launch: Launch) -> Command:
    """Build the command line, and private folders for the home and for temporary files."""
    directory = launch.run_directory
    home, temporary = directory.scratch / "home", directory.scratch / "tmp"
    for folder in (home, temporary):
        folder.mkdir(mode=0o700, exist_ok=True)
        directory.give_to_owner(folder)
    env = environment(str(home), str(temporary))
    env[MARK] = directory.path.name
    confined = data_fd(_confinement(launch).encode())
    return Command(
        argv=agentd_command(AGENTD.parent, launch.channel, confined),
        env=env,
        fds=[confined],
        scratch=str(temporary),
        # For the supervisor, which then ends all the others.
        end_signal=signal.SIGTERM,
    )


def explain(stderr: str) -> BackendUnavailable:
    """Say why it did not start, from what agentd wrote."""
    last = stderr.strip().splitlines()[-1] if stderr.strip() else "it said nothing"
    return BackendUnavailable(
        f"Isolation by Landlock and seccomp does not work here ({last}).",
        "It takes Linux 5.13 or newer with Landlock switched on, on an x86-64 or ARM64 processor.",
    )


def _confinement(launch: Launch) -> Confinement:
    directory = launch.run_directory
    read = [
        *_SYSTEM,
        *_without_jupyters_configuration(Path("/usr")),
        *(f"/etc/{name}" for name in (*ETC, *_ETC)),
        str(AGENTD.parent),
        str(directory.connections),
    ]
    for folder, _ in (*python_folders(), *launch.python.folders()):
        read += _without_jupyters_configuration(Path(folder))
    write = [
        str(launch.workspace),
        str(directory.scratch),
        str(directory.sockets),
        *DEVICES,
    ]
    if launch.layer is not None:
        read.append(str(launch.layer.path))
    if launch.packages is not None:
        write.append(str(launch.packages.path))
    return Confinement(
        required=True,
        read=read,
        write=write,
        private_network=False,
        supervised=True,
        mark=number_of(directory.path.name),
        limits=launch.limits,
    )


def _without_jupyters_configuration(folder: Path) -> Iterator[str]:
    """A folder, or what is in it where Jupyter's configuration, with its passwords, is too."""
    hidden = [
        Path(prefix, _JUPYTER_CONFIGURATION)
        for prefix in ("/usr", "/usr/local", sys.prefix, folder)
        if Path(prefix, _JUPYTER_CONFIGURATION).exists()
    ]
    yield from _around(folder.resolve(), [path.resolve() for path in hidden])


def _around(folder: Path, hidden: list[Path]) -> Iterator[str]:
    if folder in hidden:
        return
    if not any(path.is_relative_to(folder) for path in hidden):
        yield str(folder)
        return
    for entry in folder.iterdir():
        yield from _around(entry, hidden)
