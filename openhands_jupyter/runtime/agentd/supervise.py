"""A process beside agentd that ends whatever agentd started, where no process namespace does.

It stands outside of agentd's confinement, so that nothing inside can signal it, and it is the one
to whom the system hands processes whose parent has ended: none can get away.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
import signal
import time
from collections.abc import Iterator

_SET_PARENT_DEATH_SIGNAL = 1
_SET_CHILD_SUBREAPER = 36
_ROUND = 0.005


def supervise(channel: int) -> None:
    """Go on in a child process, which ends when the parent does; the parent never returns.

    The parent waits until the child ends, the client hangs up or a SIGTERM comes. Then it kills
    everything below itself, and exits.

    Parameters
    ----------
    channel
        The socket whose other end the client holds; nothing is read from it here.
    """
    libc = ctypes.CDLL(None)
    libc.prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    supervisor = os.getpid()
    wake_read, wake_write = os.pipe()
    os.set_blocking(wake_read, False)
    os.set_blocking(wake_write, False)
    signals = (signal.SIGCHLD, signal.SIGTERM)
    previous = [signal.signal(number, lambda *_: None) for number in signals]
    signal.set_wakeup_fd(wake_write)
    child = os.fork()
    if child == 0:
        # Who is not supervised must not go on, however the supervisor came to its end.
        libc.prctl(_SET_PARENT_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != supervisor:
            os._exit(1)
        signal.set_wakeup_fd(-1)
        for number, handler in zip(signals, previous):  # noqa: B905
            signal.signal(number, handler)
        os.close(wake_read)
        os.close(wake_write)
        return
    _wait_for_end(child, channel, wake_read)
    _kill_all()
    os._exit(0)


def _wait_for_end(child: int, channel: int, wake: int) -> None:
    poller = select.poll()
    poller.register(channel, select.POLLRDHUP)
    poller.register(wake, select.POLLIN)
    while True:
        ready = {fd for fd, _ in poller.poll()}
        woken_by = os.read(wake, 4096) if wake in ready else b""
        if channel in ready or signal.SIGTERM in woken_by or child in _reaped():
            return


def _reaped() -> Iterator[int]:
    with contextlib.suppress(ChildProcessError):
        while True:
            pid, _ = os.waitpid(-1, os.WNOHANG)
            if not pid:
                return
            yield pid


def _kill_all() -> None:
    # Again and again, because they may start others meanwhile.
    while True:
        for pid in descendants(os.getpid()):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        list(_reaped())
        try:
            os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:
            return
        time.sleep(_ROUND)


def descendants(ancestor: int) -> Iterator[int]:
    """The processes below one, so far as they can be seen."""
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            with contextlib.suppress(OSError), open(f"/proc/{name}/stat", "rb") as file:
                # The name before it may hold spaces and brackets.
                parent = int(file.read().rpartition(b")")[2].split()[1])
                children.setdefault(parent, []).append(int(name))
    below = list(children.get(ancestor, []))
    for pid in below:
        below += children.get(pid, [])
    return iter(below)
