"""Ends commands of the person's with all that came from them, also what left its group.

Between us and such a command stands a program of our own, which imports the standard library only:
it adopts what the command orphans (prctl(2), PR_SET_CHILD_SUBREAPER), so nothing gets out of its
sight. Run as a program, this module is the one for a command that comes to an end by itself.
"""

from __future__ import annotations

import ctypes
import os
import select
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

REAP_TIMEOUT = 2.0
"""Seconds in which what is killed has to be gone."""

NOT_STARTED = 127

_SUBREAPER = 36
_DEATH_SIGNAL = 1
"""PR_SET_CHILD_SUBREAPER and PR_SET_PDEATHSIG, prctl(2)."""

_libc = ctypes.CDLL(None, use_errno=True)


def program(module: str, *arguments: str) -> list[str]:
    """The command line that runs the main function of a module of ours, and loads little else."""
    root = str(Path(__file__).parents[1])
    code = f"import sys; sys.path.append({root!r}); from {module} import main; main()"
    return [sys.executable, "-I", "-S", "-c", code, *arguments]


def adopt_orphans() -> None:
    """Become the parent of what a process below this one leaves behind."""
    _libc.prctl(_SUBREAPER, 1, 0, 0, 0)


def die_with_parent() -> None:
    """In a child: be killed when the thread that made it ends."""
    _libc.prctl(_DEATH_SIGNAL, int(signal.SIGKILL), 0, 0, 0)


def descendants() -> list[int]:
    """All processes that came from this one; orphans among them have become its children."""
    parents: dict[int, int] = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", "rb") as file:
                    state, parent = file.read().rpartition(b")")[2].split()[:2]
            except OSError:
                continue
            if state != b"Z":
                parents[int(name)] = int(parent)
    ours = {os.getpid()}
    while True:
        more = {pid for pid, parent in parents.items() if parent in ours} - ours
        if not more:
            return sorted(ours - {os.getpid()})
        ours |= more


def signal_descendants(number: int) -> None:
    """Send all of them a signal."""
    for pid in descendants():
        with suppress(OSError):
            os.kill(pid, number)


def kill_descendants() -> None:
    """Kill all of them; again until there are none, for they may start more meanwhile."""
    give_up = time.monotonic() + REAP_TIMEOUT
    while descendants() and time.monotonic() < give_up:
        signal_descendants(signal.SIGKILL)
        time.sleep(0.01)


def main() -> None:
    """Run a command, and end as it does: ``DESCRIPTOR COMMAND…``.

    When the other end of the descriptor, a pipe, is closed, it is killed. What it has left running
    is killed in any case.
    """
    adopt_orphans()
    threading.Thread(target=_watch, args=(int(sys.argv[1]),), daemon=True).start()
    try:
        command = subprocess.Popen(sys.argv[2:], start_new_session=True, preexec_fn=die_with_parent)
    except OSError as error:
        os.write(2, f"{sys.argv[2]} could not be started: {error.strerror}\n".encode())
        os._exit(NOT_STARTED)
    status = command.wait()
    kill_descendants()
    if status < 0:
        # Those that cannot be set need not be.
        with suppress(OSError):
            signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    os._exit(status)


def _watch(descriptor: int) -> None:
    poll = select.poll()
    poll.register(descriptor, 0)
    poll.poll()
    kill_descendants()
    os._exit(128 + signal.SIGKILL)
