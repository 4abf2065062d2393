"""Finding and ending processes through ``/proc``."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import time
from collections.abc import Iterator

from .seccomp import RLIMIT_LOCKS

MARK = "OPENHANDS_SANDBOX"
"""The environment variable that names the sandbox which a process belongs to."""

HELPER = "resource_tracker"
"""In the command line of what multiprocessing and joblib start to clean up after them."""

KILL_TIMEOUT = 2.0
KILL_INTERVAL = 0.005


def _pids() -> Iterator[int]:
    return (int(name) for name in os.listdir("/proc") if name.isdigit())


def running_besides(known: set[int]) -> list[str]:
    """The names of the processes of this sandbox that have work to do.

    Parameters
    ----------
    known
        Those that only wait to be used, such as the shell; this process and those that it came
        from are left out too.
    """
    mark = os.environ.get(MARK)
    left_out = known | set(_ancestors(os.getpid()))
    names = []
    for pid in _pids():
        with contextlib.suppress(OSError):
            if pid in left_out or _stat(pid)[0] == "Z" or (mark and not _is_marked(pid, mark)):
                continue
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                command = file.read().decode("utf-8", "replace")
            if HELPER not in command:
                names.append(command.split("\0")[0][:100])
    return names


def _ancestors(pid: int) -> Iterator[int]:
    while pid > 0:
        yield pid
        pid = int(_stat(pid)[1])


def _stat(pid: int) -> list[str]:
    """The state of a process, its parent, and so on."""
    with open(f"/proc/{pid}/stat", "rb") as file:
        return file.read().rpartition(b")")[2].decode("ascii").split()


def _is_marked(pid: int, mark: str) -> bool:
    with open(f"/proc/{pid}/environ", "rb") as file:
        return f"{MARK}={mark}".encode() in file.read().split(b"\0")


def started_with(name: str, value: str) -> Iterator[int]:
    """The processes that have this environment variable, so far as they can be seen."""
    variable = f"{name}={value}".encode()
    for pid in _pids():
        with contextlib.suppress(OSError):
            if _has_variable(pid, variable):
                yield pid


def kill_session(session: int) -> None:
    """Kill every process of a session, its leader first so that it starts nothing more."""
    for pid in (session, *_pids()):
        with contextlib.suppress(OSError):
            if os.getsid(pid) == session:
                os.kill(pid, signal.SIGKILL)


def number_of(name: str) -> int:
    """The number that marks the processes of a sandbox; no limit is as high by chance."""
    # Not at the top: agentd needs no number in most sandboxes, and this takes long to load.
    import hashlib

    return 1 << 56 | int.from_bytes(hashlib.sha256(name.encode()).digest()[:6], "big")


def kill_marked(name: str, value: str) -> None:
    """Kill every process of a sandbox, except this one.

    Without a process namespace this is what finds daemons that left their session: by the
    environment that they were started with, or by the limit that the sandbox was marked with,
    which nothing in it can change.

    Parameters
    ----------
    name, value
        The environment variable, and the sandbox's name.
    """
    mark = f"{name}={value}".encode()
    number = number_of(value)
    give_up = time.monotonic() + KILL_TIMEOUT
    # Twice, because a process shows no variables at the moment when it takes another program.
    found_none = 0
    while found_none < 2 and time.monotonic() < give_up:
        found_none = 0 if _kill_marked_once(mark, number) else found_none + 1
        time.sleep(KILL_INTERVAL)


def _kill_marked_once(mark: bytes, number: int) -> bool:
    """Kill those that are found in one look around; whether there were any."""
    found = False
    for pid in _pids():
        with contextlib.suppress(OSError):
            if pid != os.getpid() and (_has_limit(pid, number) or _has_variable(pid, mark)):
                os.kill(pid, signal.SIGKILL)
                found = True
    return found


def _has_limit(pid: int, number: int) -> bool:
    try:
        return resource.prlimit(pid, RLIMIT_LOCKS)[1] == number and _stat(pid)[0] != "Z"
    except OSError:  # Others' processes; in a sandbox all others.
        return False


def _has_variable(pid: int, mark: bytes) -> bool:
    with open(f"/proc/{pid}/environ", "rb") as file:
        return mark in file.read().split(b"\0")
