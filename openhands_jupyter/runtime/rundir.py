"""Run directories: where a running sandbox keeps its sockets, and the sweep of those left over."""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
import shutil
import stat
from pathlib import Path

from ..errors import SandboxUnavailable
from . import cgroups
from .agentd.processes import MARK, kill_marked
from .owner import Owner

LONGEST_SOCKET_PATH = 107
"""Bytes, a limit of the system; ZeroMQ adds a port such as ``-5`` to the path it is given."""

LOCK = "lock"
"""In each run directory: held by its owner."""

GROUPS = "groups"
"""In a run directory: the folders of its control groups, one a line."""

_LONGEST_NAME_IN_SANDBOX = len("/12345678/s/12345678-5")


class RunDirectory:
    """A private folder of one sandbox.

    Attributes
    ----------
    path
        The folder, mode 0700; only what is named below is visible inside the sandbox.
    sockets
        The kernels' sockets; writable inside the sandbox, so nothing in it can be trusted.
    connections
        The kernels' connection files; read-only inside the sandbox.
    egress, proxy
        Where the socket of the proxy is, if there is one, and the socket; read-only inside the
        sandbox.
    scratch
        For agentd's own files where the sandbox has no ``/tmp`` of its own.
    """

    def __init__(self, path: Path, lock: int, owner: Owner | None = None) -> None:
        self.path = path
        self._lock = lock
        self._owner = owner
        self.sockets = path / "s"
        self.connections = path / "c"
        self.egress = path / "e"
        self.proxy = self.egress / "proxy"
        self.scratch = path / "t"

    @classmethod
    def create(cls, owner: Owner | None = None, name: str | None = None) -> RunDirectory:
        """Make one, and remove those whose server is dead, with what still runs of them.

        Parameters
        ----------
        owner
            Who the sandbox is run as, if not the server's own user.
        name
            That of one which was removed, to have the same paths again; None for a new one.

        Raises
        ------
        SandboxUnavailable
            When there is no place for it that is private and whose path is short enough.
        OSError
            When it cannot be made there.
        """
        base = _base() if owner is None else _shared_base()
        sweep(base)
        path = base / (name or secrets.token_hex(4))
        path.mkdir(mode=0o700)
        try:
            directory = cls(path, _lock(path), owner)
        except OSError:
            shutil.rmtree(path)
            raise
        try:
            directory._fill()
        except OSError:
            directory.remove()
            raise
        return directory

    def _fill(self) -> None:
        for folder in (self.sockets, self.connections, self.egress, self.scratch):
            folder.mkdir(mode=0o700)
            self.give_to_owner(folder)
        if self._owner is not None:
            # The owner has to find the way to what is theirs, and can see nothing else.
            self.path.chmod(0o711)

    def give_to_owner(self, path: Path) -> None:
        """Let the sandbox's user have this file, which the server made."""
        if self._owner is not None:
            self._owner.take(path)

    def note_groups(self, folders: list[Path]) -> None:
        """Write down the control groups, so that a sweep finds them should the server die."""
        (self.path / GROUPS).write_text("".join(f"{folder}\n" for folder in folders))

    def remove(self) -> None:
        """Remove it with all it holds."""
        shutil.rmtree(self.path, ignore_errors=True)
        self.leave()

    def leave(self) -> None:
        """Leave it to the next sweep, where something of the sandbox could not be removed."""
        os.close(self._lock)


def clients_of(path: str) -> int:
    """How many clients of this network namespace are connected to a socket.

    The system counts what was accepted where the client is; see ``unix_stream_connect`` and
    ``unix_seq_show`` in the Linux kernel's ``net/unix/af_unix.c``.
    """
    lines = Path("/proc/net/unix").read_text("utf-8", "replace").split("\n")
    fields = [line.split(None, 7) for line in lines]
    return sum(line[7:] == [path] and line[5] == "03" for line in fields)


def sweep_all() -> int:
    """Sweep every place where this user's sandboxes are; how many were removed.

    Raises
    ------
    SandboxUnavailable
        When there is no such place.
    """
    bases = [_base(), *([_shared_base()] if os.getuid() == 0 else [])]
    return sum(map(sweep, bases))


def sweep(base: Path) -> int:
    """Remove the run directories of servers that were killed, with what still runs of them.

    Returns
    -------
    int
        How many there were.
    """
    removed = 0
    for folder in base.iterdir():
        with contextlib.suppress(OSError):
            lock = os.open(folder / LOCK, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                _end_left_over(folder)
                shutil.rmtree(folder, ignore_errors=True)
                removed += 1
            finally:
                os.close(lock)
    return removed


def _end_left_over(folder: Path) -> None:
    """End what still runs of a sandbox."""
    kill_marked(MARK, folder.name)
    with contextlib.suppress(FileNotFoundError):
        for group in map(Path, (folder / GROUPS).read_text().splitlines()):
            if cgroups.is_ours(group):
                cgroups.remove(group)


def _lock(folder: Path) -> int:
    """Hold a run directory until the descriptor is closed or the process ends.

    Unlike a process id, a lock means the same to servers in different process namespaces that
    share ``/tmp``. It gets its name once it is held, so that no sweep comes in between.
    """
    unnamed = folder / f"{LOCK}.new"
    lock = os.open(unnamed, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    fcntl.flock(lock, fcntl.LOCK_EX)
    unnamed.rename(folder / LOCK)
    return lock


def _base() -> Path:
    candidates = [_fallback()]
    runtime_dir = os.environ.get("XDG_RUNTIME_DIR")
    if runtime_dir:
        candidates.insert(0, f"{runtime_dir}/ohj")
    for candidate in map(Path, candidates):
        if len(os.fsencode(candidate)) + _LONGEST_NAME_IN_SANDBOX > LONGEST_SOCKET_PATH:
            continue
        with contextlib.suppress(OSError):
            candidate.mkdir(mode=0o700, exist_ok=True)
            if _is_private(candidate):
                return candidate
    raise SandboxUnavailable(
        f"There is no private folder for the sandbox's sockets: {' and '.join(candidates)} "
        "cannot be used.",
        "Set XDG_RUNTIME_DIR to a folder of your own with a short path, mode 0700.",
    )


def _fallback() -> str:
    return f"/tmp/ohj-{os.getuid()}"


def _shared_base() -> Path:
    """Where root keeps the run directories of sandboxes that other users run."""
    base = Path(f"{_fallback()}-owners")
    with contextlib.suppress(OSError):
        base.mkdir(mode=0o711, exist_ok=True)
        if _is_private(base, others=0o011):
            base.chmod(0o711)
            return base
    raise SandboxUnavailable(
        f"There is no place for the sandbox's sockets: {base} cannot be used.",
        "Remove it if nobody needs it.",
    )


def _is_private(folder: Path, others: int = 0) -> bool:
    """Whether a folder is ours, with no more than these permissions for others."""
    info = folder.lstat()
    return (
        stat.S_ISDIR(info.st_mode)
        and info.st_uid == os.getuid()
        and stat.S_IMODE(info.st_mode) & 0o077 & ~others == 0
        and os.access(folder, os.W_OK)
    )
