"""Runs one hook, with a time limit, and ends all that it has begun."""

from __future__ import annotations

import asyncio
import contextlib
import os
import select
import threading
import time
from subprocess import PIPE, Popen
from typing import IO

import msgspec

from ..making import made_or_undone
from ..process_tree import program

LONGEST = 64 * 1024
"""Bytes of each output that are kept."""

KEPT = ("PATH", "HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "LC_CTYPE", "TMPDIR", "TZ", "SHELL")
"""The variables that a hook gets of the server's environment, in which keys may be."""

KILLED_WITHIN = 5.0
"""Seconds in which all of it has to be gone; else the rest is left alone."""

LAST_WORDS = 1.0
"""Seconds in which its outputs have to end once it has ended."""


class Ran(msgspec.Struct, frozen=True):
    """What came of a hook.

    Attributes
    ----------
    code
        Its exit code; below 0 the signal that ended it, None where it was given up.
    out, err
        What it printed.
    """

    code: int | None
    out: str = ""
    err: str = ""


async def run(command: str, given: bytes, seconds: float, environ: dict[str, str]) -> Ran:
    """Run a command with something on its standard input, in the person's home.

    Not in the workspace: there the agent could put what it would load.

    Parameters
    ----------
    command
        For ``/bin/sh``.
    given
        Its input.
    seconds
        After which it is ended.
    environ
        Its environment.

    Raises
    ------
    OSError
        When it cannot be started.
    """
    running = await made_or_undone(asyncio.to_thread(_Running, command, environ), _undo)
    attending = asyncio.create_task(asyncio.to_thread(running.attend, given, seconds))
    try:
        return await asyncio.shield(attending)
    except asyncio.CancelledError:
        running.end()
        await asyncio.wait([attending])
        raise


def environment(environ: dict[str, str], workspace: str) -> dict[str, str]:
    """What a hook gets of an environment, and where the session works."""
    kept = {name: environ[name] for name in KEPT if name in environ}
    return kept | {"OPENHANDS_PROJECT_DIR": workspace, "CLAUDE_PROJECT_DIR": workspace}


class _Running:
    """A hook that runs, below a program that ends all that came from it; used on threads."""

    def __init__(self, command: str, environ: dict[str, str]) -> None:
        theirs, self._lifeline = os.pipe()
        self._ending = threading.Lock()
        try:
            self._process = Popen(
                program("openhands_jupyter.process_tree", str(theirs), "/bin/sh", "-c", command),
                stdin=PIPE,
                stdout=PIPE,
                stderr=PIPE,
                cwd=environ.get("HOME", "/"),
                env=environ,
                pass_fds=[theirs],
                start_new_session=True,
            )
        except BaseException:
            os.close(self._lifeline)
            raise
        finally:
            os.close(theirs)

    def attend(self, given: bytes, seconds: float) -> Ran:
        """Stay with it until it has ended, or its time is over."""
        outputs = [bytearray(), bytearray()]
        process = self._process
        assert process.stdin and process.stdout and process.stderr
        threads = [
            threading.Thread(target=_give, args=(process.stdin, given), daemon=True),
            threading.Thread(target=_keep, args=(process.stdout, outputs[0]), daemon=True),
            threading.Thread(target=_keep, args=(process.stderr, outputs[1]), daemon=True),
        ]
        for thread in threads:
            thread.start()
        ended = _ends_within(process, seconds)
        self.end()
        if not _ends_within(process, KILLED_WITHIN):
            process.kill()
        code = process.wait()
        deadline = time.monotonic() + LAST_WORDS
        for thread in threads:
            thread.join(max(0.0, deadline - time.monotonic()))
        out, err = (bytes(output).decode(errors="replace") for output in outputs)
        return Ran(code if ended else None, out, err)

    def end(self) -> None:
        """Have it killed with all that came from it, if it still runs."""
        if self._ending.acquire(blocking=False):
            os.close(self._lifeline)


async def _undo(running: _Running) -> None:
    await asyncio.to_thread(running.attend, b"", 0.0)


def _ends_within(process: Popen[bytes], seconds: float) -> bool:
    """Whether it ends in this time; it is not reaped then."""
    fd = os.pidfd_open(process.pid)
    try:
        return bool(select.select([fd], [], [], seconds)[0])
    finally:
        os.close(fd)


def _give(stdin: IO[bytes], given: bytes) -> None:
    # It need not read what it is given.
    with contextlib.suppress(OSError):
        stdin.write(given)
    with contextlib.suppress(OSError):
        stdin.close()


def _keep(output: IO[bytes], kept: bytearray) -> None:
    with output:
        while piece := os.read(output.fileno(), LONGEST):
            kept += piece[: LONGEST - len(kept)]
