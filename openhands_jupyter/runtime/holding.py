"""Holding a process back until it is in its control group.

It must not start anything before: that would be outside of the group, with all that comes of it.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
from collections.abc import Iterator, Sequence

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
    """Holds bubblewrap back when it has built the sandbox and before it starts the program.

    By then it is two processes, one of them in the sandbox. Building and putting them into the
    group, which takes as long, go on at the same time. It goes on when the hold is closed, so it
    has to be killed before if it must not.

    Parameters
    ----------
    fds
        The descriptors that it is to be given, to which its own are added.
    """

    def __init__(self, fds: list[int]) -> None:
        self.stdin = subprocess.DEVNULL
        waits, self._says = os.pipe()
        self._hears, tells = os.pipe()
        self._open = [self._says, self._hears]
        fds += [waits, tells]
        self.options = ["--block-fd", str(waits), "--info-fd", str(tells)]

    def argv(self, command: Sequence[str]) -> list[str]:
        """The same command line: it has the options already."""
        return list(command)

    def held(self, pid: int) -> Iterator[int]:
        """bubblewrap itself, and its child when it tells of it, unless it fails before."""
        yield pid
        told = b""
        # All of it: bubblewrap would end with SIGPIPE if nobody read the rest.
        while b"}" not in told:
            piece = os.read(self._hears, 4096)
            if not piece:
                return
            told += piece
        yield json.loads(told)["child-pid"]
