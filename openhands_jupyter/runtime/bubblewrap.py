"""The bubblewrap backend: the command line that builds the sandbox.

What is inside is an allow-list. A read-only view of the whole system would leave every secret
readable and every unix socket connectable.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from ..beneath import handle_without_links
from ..errors import SandboxUnavailable
from .agentd.relay import PORT
from .egress.settings import proxy_environment
from .holding import BubblewrapHold
from .launch import (
    AGENTD,
    BackendUnavailable,
    Command,
    Confinement,
    Launch,
    agentd_command,
    data_fd,
)
from .view import ETC, environment, protected_in, python_folders

HOME = "/home/agent"
INSIDE = Path("/run/openhands")
"""Where agentd is mounted."""

LAYER = INSIDE / "layer"
PACKAGES = INSIDE / "packages"
"""Where packages are installed to, beforehand and later, whatever that is called outside."""

_CERTIFICATES = INSIDE / "certificates.pem"
_UNLISTED = INSIDE / "unlisted"
"""A writable folder that Landlock has to keep the self-test from, if it is in force."""

_TMPFS = {"/tmp": 2048, "/dev/shm": 1024, HOME: 1024}
"""Private folders in memory, and their size in MiB."""

# What container runtimes hide or protect. For a server that runs as root the permissions of these
# files are no obstacle, and writing to some of them is a way out.
_PROC_READ_ONLY = ("bus", "fs", "irq", "sys", "sysrq-trigger")
_PROC_EMPTY_FILES = ("kcore", "keys", "kmsg", "latency_stats", "sched_debug", "timer_list")
_PROC_EMPTY_FOLDERS = ("acpi", "scsi")

_PASSWD = f"root:x:0:0::/root:/bin/sh\nagent:x:1000:1000::{HOME}:/bin/bash\n"
_GROUP = "root:x:0:\nagent:x:1000:\n"
_HOSTS = "127.0.0.1 localhost sandbox\n::1 localhost\n"


def command(launch: Launch) -> Command:
    """Build the command line.

    Raises
    ------
    BackendUnavailable
        When bubblewrap is not installed.
    SandboxUnavailable
        When the certificates for the network are not there, or the workspace is not.
    """
    bwrap = shutil.which("bwrap")
    if bwrap is None:
        raise BackendUnavailable(
            "bubblewrap, which isolates the agent, is not installed.",
            "Install it, with 'apt install bubblewrap' on Debian and Ubuntu.",
        )
    built = Command(argv=[], env=environment(HOME, "/tmp"), unlisted_folder=str(_UNLISTED))
    try:
        if launch.cgroup is not None and launch.cgroup.grows:
            built.hold = BubblewrapHold(built.fds)
        built.argv = [bwrap, *_arguments(launch, built)]
    except BaseException:
        built.close_fds()
        if built.hold is not None:
            built.hold.close()
        raise
    return built


def _arguments(launch: Launch, built: Command) -> list[str]:
    arguments = [
        *_isolation(),
        *(built.hold.options if built.hold else []),
        *_system(),
        *_identity(built.fds),
        *_memory_folders(),
        *_workspace(launch.workspace, built.fds),
        *_python(launch),
        *_masked(launch),
        *_packages(launch),
        *_run_directory(launch),
        *_network(launch, built),
        "--chdir",
        str(launch.workspace),
        *("--remount-ro", "/dev"),
        *("--remount-ro", "/"),
    ]
    listed = data_fd(b"".join(os.fsencode(argument) + b"\0" for argument in arguments))
    confined = data_fd(_second_layer(launch).encode())
    built.fds += [listed, confined]
    # As a file the arguments are not in the list of processes.
    return ["--args", str(listed), *agentd_command(INSIDE, launch.channel, confined)]


def explain(stderr: str) -> BackendUnavailable:
    """Say why bubblewrap did not start, from what it wrote."""
    last = stderr.strip().splitlines()[-1] if stderr.strip() else "it said nothing"
    if "Unknown option" in stderr:
        return BackendUnavailable(
            f"bubblewrap, which isolates the agent, is too old here ({last}).",
            "Install version 0.10 or newer, or the newest one of your distribution: it has to "
            "know the option --bind-fd.",
        )
    denied = ("namespace", "uid map", "Operation not permitted", "Permission denied", "mount proc")
    if any(word in stderr for word in denied):
        return BackendUnavailable(
            f"bubblewrap, which isolates the agent, is not allowed to work here ({last}).",
            "This system or container denies user namespaces. Allow them.",
        )
    return BackendUnavailable(
        f"bubblewrap, which isolates the agent, did not start ({last}).",
        "Run 'bwrap --ro-bind / / true' in a terminal to see whether it works at all.",
    )


def _isolation() -> list[str]:
    return [
        "--unshare-all",
        "--unshare-user",
        "--disable-userns",
        *("--uid", "1000", "--gid", "1000"),
        *("--hostname", "sandbox"),
        "--die-with-parent",
        "--new-session",
        *("--cap-drop", "ALL"),
    ]


def _system() -> Iterator[str]:
    yield from ("--ro-bind", "/usr", "/usr")
    for name in ("bin", "sbin", "lib", "lib32", "lib64", "libx32"):
        folder = Path("/", name)
        if folder.is_symlink():
            yield from ("--symlink", os.readlink(folder), str(folder))
        elif folder.is_dir():
            yield from ("--ro-bind", str(folder), str(folder))
    for name in ETC:
        yield from ("--ro-bind-try", f"/etc/{name}", f"/etc/{name}")
    yield from ("--proc", "/proc", "--dev", "/dev")
    for name in _PROC_READ_ONLY:
        if Path("/proc", name).exists():
            yield from ("--ro-bind", f"/proc/{name}", f"/proc/{name}")
    for name in _PROC_EMPTY_FILES:
        if Path("/proc", name).exists():
            yield from ("--ro-bind", "/dev/null", f"/proc/{name}")
    for name in _PROC_EMPTY_FOLDERS:
        if Path("/proc", name).is_dir():
            yield from ("--tmpfs", f"/proc/{name}", "--remount-ro", f"/proc/{name}")


def _identity(fds: list[int]) -> Iterator[str]:
    for path, content in (
        ("/etc/passwd", _PASSWD),
        ("/etc/group", _GROUP),
        ("/etc/hosts", _HOSTS),
    ):
        fds.append(data_fd(content.encode()))
        yield from ("--ro-bind-data", str(fds[-1]), path)


def _memory_folders() -> Iterator[str]:
    for folder, mebibytes in _TMPFS.items():
        yield from ("--size", str(mebibytes * 1024 * 1024), "--tmpfs", folder)


def _workspace(workspace: Path, fds: list[int]) -> Iterator[str]:
    """The workspace and what is protected in it.

    By handles: whoever works in the folder meanwhile could put a link in the place of a path.
    """
    try:
        fds.append(handle_without_links(workspace))
    except OSError as error:
        raise SandboxUnavailable(
            f"The workspace {workspace} is not the folder that it was: {error.strerror}.",
            "Put the folder back in its place.",
        ) from error
    top = fds[-1]
    yield from ("--bind-fd", str(top), str(workspace))
    for path, read_only in protected_in(workspace):
        # What is gone by now, or a link, is not mounted, as if it had not been found.
        with contextlib.suppress(OSError):
            fds.append(handle_without_links(path.relative_to(workspace), top))
            yield from ("--ro-bind-fd" if read_only else "--bind-fd", str(fds[-1]), str(path))


def _python(launch: Launch) -> Iterator[str]:
    for folder, name in (*python_folders(), *launch.python.folders()):
        # The system's own Python is there already.
        if not Path(name).is_relative_to("/usr"):
            yield from ("--ro-bind", folder, name)


def _packages(launch: Launch) -> Iterator[str]:
    if launch.packages is not None:
        yield from ("--bind", str(launch.packages.path), launch.packages.inside)
    if launch.layer is not None:
        yield from ("--ro-bind", str(launch.layer.path), launch.layer.inside)


def _masked(launch: Launch) -> Iterator[str]:
    """Jupyter's configuration beside the Python, which may hold passwords and tokens."""
    prefixes = {"/usr", "/usr/local", sys.prefix, *(name for _, name in launch.python.folders())}
    for folder in sorted(f"{prefix}/etc/jupyter" for prefix in prefixes):
        if Path(folder).is_dir():
            yield from ("--tmpfs", folder, "--remount-ro", folder)


def _run_directory(launch: Launch) -> list[str]:
    sockets, connections = launch.run_directory.sockets, launch.run_directory.connections
    return [
        *("--ro-bind", str(AGENTD), str(INSIDE / "agentd")),
        *("--size", "4096", "--tmpfs", str(_UNLISTED)),
        *("--bind", str(sockets), str(sockets)),
        *("--ro-bind", str(connections), str(connections)),
    ]


def _second_layer(launch: Launch) -> Confinement:
    """What the kernel enforces once more, should there be a hole in the mounts."""
    write = [str(launch.workspace), str(launch.run_directory.sockets), "/dev", *_TMPFS]
    if launch.packages is not None:
        write.append(launch.packages.inside)
    return Confinement(read=["/"], write=write, limits=launch.limits)


def _network(launch: Launch, built: Command) -> Iterator[str]:
    """The way to the proxy, and how programs find it."""
    if launch.network is None:
        return
    certificates = ""
    if launch.network.ca_bundle:
        certificates = str(_CERTIFICATES)
        built.fds.append(data_fd(launch.network.certificates().encode()))
        yield from ("--ro-bind-data", str(built.fds[-1]), certificates)
    built.env |= proxy_environment(PORT) | launch.network.environment(certificates)
    yield from ("--ro-bind", str(launch.run_directory.egress), str(launch.run_directory.egress))
