"""Runs one hook: a process group of its own, with a time limit, that never outlives it."""

from __future__ import annotations

import asyncio
import contextlib
import os
import select
import signal
import threading
import time
from subprocess import PIPE, Popen
from typing import IO

import msgspec

from ..making import made_or_undone

LONGEST = 64 * 1024
"""Bytes of each output that are kept."""

KEPT = ("PATH", "HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "LC_CTYPE", "TMPDIR", "TZ", "SHELL")
"""The variables that a hook gets of the server's environment, in which keys may be."""

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
    process = await made_or_undone(asyncio.to_thread(_start, command, environ), _undo)
    attending = asyncio.create_task(asyncio.to_thread(_attend, process, given, seconds))
    try:
        return await asyncio.shield(attending)
    except asyncio.CancelledError:
        _kill(process)
        await asyncio.wait([attending])
        raise


def environment(environ: dict[str, str], workspace: str) -> dict[str, str]:
    """What a hook gets of an environment, and where the session works."""
    kept = {name: environ[name] for name in KEPT if name in environ}
    return kept | {"OPENHANDS_PROJECT_DIR": workspace, "CLAUDE_PROJECT_DIR": workspace}


def _start(command: str, environ: dict[str, str]) -> Popen[bytes]:
    return Popen(
        ["/bin/sh", "-c", command],
        stdin=PIPE,
        stdout=PIPE,
        stderr=PIPE,
        cwd=environ.get("HOME", "/"),
        env=environ,
        start_new_session=True,
    )


async def _undo(process: Popen[bytes]) -> None:
    await asyncio.to_thread(_attend, process, b"", 0.0)


def _attend(process: Popen[bytes], given: bytes, seconds: float) -> Ran:
    """Stay with it until it has ended, or its time is over; on a thread."""
    outputs = [bytearray(), bytearray()]
    assert process.stdin and process.stdout and process.stderr
    threads = [
        threading.Thread(target=_give, args=(process.stdin, given), daemon=True),
        threading.Thread(target=_keep, args=(process.stdout, outputs[0]), daemon=True),
        threading.Thread(target=_keep, args=(process.stderr, outputs[1]), daemon=True),
    ]
    for thread in threads:
        thread.start()
    ended = _ends_within(process, seconds)
    # Before it is reaped, so that its group has no other's number.
    _kill(process)
    code = process.wait()
    deadline = time.monotonic() + LAST_WORDS
    for thread in threads:
        thread.join(max(0.0, deadline - time.monotonic()))
    out, err = (bytes(output).decode(errors="replace") for output in outputs)
    return Ran(code if ended else None, out, err)


def _ends_within(process: Popen[bytes], seconds: float) -> bool:
    """Whether it ends in this time; it is not reaped then."""
    fd = os.pidfd_open(process.pid)
    try:
        return bool(select.select([fd], [], [], seconds)[0])
    finally:
        os.close(fd)


def _kill(process: Popen[bytes]) -> None:
    """Kill it with all that it has left running in its group."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


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
