"""Holding a process back until it is in its control group.

It must not start anything before: that would be outside of the group, with all that comes of it.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from .agentd.supervise import descendants

LOOK_AGAIN = 0.001

_WAIT_AND_EXECUTE = ("/bin/sh", "-c", 'read -r _ && exec "$@" </dev/null', "sh")


class Hold:
    """A pipe on which a process waits for a word, before it executes the program at all.

    It gives up when the hold is closed.

    Attributes
    ----------
    stdin
        The standard input that the process is to have.
    options
        What the program is to be told, as part of its command line.
    """

    options: Sequence[str] = ()

    def __init__(self) -> None:
        waits, self._says = os.pipe()
        self.stdin = waits
        self._open = [waits, self._says]

    def argv(self, command: Sequence[str]) -> list[str]:
        """What is to be executed instead of a command line."""
        return [*_WAIT_AND_EXECUTE, *command]

    def held(self, pid: int) -> Iterator[int]:
        """What is to be put into the group, as it becomes known, from the process started on."""
        yield pid

    def release(self) -> None:
        """Let it go on; nothing happens if it has ended."""
        with contextlib.suppress(BrokenPipeError):
            os.write(self._says, b"\n")

    def close(self) -> None:
        """Let go of the pipes. May be called twice."""
        while self._open:
            os.close(self._open.pop())


class BubblewrapHold(Hold):
    """Lets bubblewrap build the sandbox, and agentd in it load, while they are put into the group.

    That takes about as long. Nothing is outside of the group then: agentd starts no process before
    its first request, which is only sent once all of them are in.

    Parameters
    ----------
    fds
        The descriptors that bubblewrap is to be given, to which its own are added.
    """

    def __init__(self, fds: list[int]) -> None:
        self.stdin = subprocess.DEVNULL
        self._hears, tells = os.pipe()
        self._open = [self._hears]
        fds.append(tells)
        self.options = ["--info-fd", str(tells)]

    def argv(self, command: Sequence[str]) -> list[str]:
        """The same command line: it has the options already."""
        return list(command)

    def held(self, pid: int) -> Iterator[int]:
        """bubblewrap itself, its child in the sandbox and agentd; fewer if one of them fails."""
        yield pid
        told = b""
        # All of it: bubblewrap would end with SIGPIPE if nobody read the rest.
        while b"}" not in told:
            piece = os.read(self._hears, 4096)
            if not piece:
                return
            told += piece
        child = json.loads(told)["child-pid"]
        yield child
        while os.path.exists(f"/proc/{pid}"):
            if agentd := children(child):
                yield from agentd
                return
            time.sleep(LOOK_AGAIN)

    def release(self) -> None:
        """Nothing: the first request does."""


def children(pid: int) -> list[int]:
    """The child processes of one, or what is below it where the system has no list of them."""
    try:
        return list(map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split()))
    except OSError:
        return list(descendants(pid))
