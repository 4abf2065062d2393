"""Runs one stdio server and ends with it, and it with us: a program of its own.

It stands between the MCP client and the server, needs the standard library only, and sees to it
that

- the whole process tree of the server ends when the client is gone, however that came about;
- what is no message does not reach the client but counts as the server's error output;
- a message too long to be taken in is answered with an error, or ends the server;
- neither messages nor error output come faster than they can be looked at.
"""

from __future__ import annotations

import json
import os
import re
import select
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress

from ..process_tree import (
    adopt_orphans,
    die_with_parent,
    kill_descendants,
    signal_descendants,
)

LONGEST = 32 * 2**20
"""Bytes of a message."""

LINES_A_SECOND = 2000
ERROR_BYTES = 16 * 1024
ERROR_PAUSE = 0.01
"""Of the error output this much is passed on at once, the newest, with a pause in between."""

GRACE = 1.0
TERM_GRACE = 0.5
"""Seconds that the server has to end by itself, and after SIGTERM."""

_ID = re.compile(rb'\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(\d+|"[^"\\]*")\s*,')


class Keeper:
    """A server that runs, and the threads that pass on what it says and is told."""

    def __init__(self, command: list[str]) -> None:
        self._dead = threading.Event()
        self._ending = threading.Lock()
        self._server = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            preexec_fn=die_with_parent,
        )

    def run(self) -> int:
        """Stay until the server has ended; gives its exit status as a shell would."""
        signal.signal(signal.SIGTERM, lambda *_: self._begin_to_end())
        for work in (self._watch_client, self._pass_in):
            threading.Thread(target=work, daemon=True).start()
        passing = [
            threading.Thread(target=work, daemon=True) for work in (self._pass_out, self._errors)
        ]
        for thread in passing:
            thread.start()
        status = self._server.wait()
        self._dead.set()
        kill_descendants()
        for thread in passing:
            thread.join(1.0)
        how = f"signal {-status}" if status < 0 else f"exit status {status}"
        _complain(f"[The server ended with {how}.]")
        return 128 - status if status < 0 else status

    def _watch_client(self) -> None:
        """See that the client is gone, also while the server takes nothing in."""
        poll = select.poll()
        poll.register(0, 0)
        poll.poll()
        self._begin_to_end()

    def _begin_to_end(self) -> None:
        if self._ending.acquire(blocking=False):
            threading.Thread(target=self._end, daemon=True).start()

    def _end(self) -> None:
        for number, patience in ((0, GRACE), (signal.SIGTERM, TERM_GRACE)):
            if number:
                signal_descendants(number)
            if self._dead.wait(patience):
                return
        signal_descendants(signal.SIGKILL)

    def _pass_in(self) -> None:
        assert self._server.stdin
        stdin = self._server.stdin.fileno()
        with suppress(OSError):
            while data := os.read(0, 65536):
                _write(stdin, data)
        with suppress(OSError):
            self._server.stdin.close()

    def _pass_out(self) -> None:
        assert self._server.stdout
        lines = _Lines()
        second, count = time.monotonic(), 0
        while data := os.read(self._server.stdout.fileno(), 65536):
            for line in lines.feed(data):
                count += 1
                if count > LINES_A_SECOND:
                    time.sleep(max(0.0, second + 1 - time.monotonic()))
                if time.monotonic() - second >= 1:
                    second, count = time.monotonic(), 0
                if not self._pass_line(line):
                    return

    def _pass_line(self, line: bytes | _TooLong) -> bool:
        """Pass on a line; whether the server may go on."""
        if isinstance(line, _TooLong):
            match = _ID.match(line.head)
            _complain(f"[A message longer than {LONGEST // 2**20} MiB was dropped.]")
            if match is None:
                self._begin_to_end()
                return False
            line = _refusal(match[1])
        if line.lstrip()[:1] in (b"{", b"["):
            try:
                _write(1, line + b"\n")
            except OSError:
                return False
        elif line.strip():
            _complain(line[:1000].decode("utf-8", "replace"))
            # What comes fast is slowed down, for nobody reads it.
            time.sleep(ERROR_PAUSE / 10)
        return True

    def _errors(self) -> None:
        assert self._server.stderr
        while data := os.read(self._server.stderr.fileno(), 2**20):
            try:
                _write(2, data[-ERROR_BYTES:])
            except OSError:
                return
            if len(data) > ERROR_BYTES:
                time.sleep(ERROR_PAUSE)


class _TooLong:
    def __init__(self, head: bytes) -> None:
        self.head = head


class _Lines:
    """Cuts what was read into lines; of one that is too long only the beginning is kept."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._size = 0

    def feed(self, data: bytes) -> list[bytes | _TooLong]:
        *whole, rest = data.split(b"\n")
        found: list[bytes | _TooLong] = []
        for part in whole:
            self._add(part)
            joined = b"".join(self._parts)
            found.append(_TooLong(joined) if self._size > LONGEST else joined)
            self._parts, self._size = [], 0
        self._add(rest)
        return found

    def _add(self, part: bytes) -> None:
        self._size += len(part)
        if self._size <= LONGEST:
            if part:
                self._parts.append(part)
        elif self._parts:
            self._parts = [self._parts[0][:1000]]


def _refusal(number: bytes) -> bytes:
    message = f"The answer was longer than {LONGEST // 2**20} MiB and was dropped."
    error = json.dumps({"code": -32603, "message": message}).encode()
    return b'{"jsonrpc":"2.0","id":' + number + b',"error":' + error + b"}"


def _write(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def _complain(text: str) -> None:
    with suppress(OSError):
        _write(2, text.encode("utf-8", "replace") + b"\n")


def main() -> None:
    """Run the command that follows on the command line."""
    adopt_orphans()
    try:
        keeper = Keeper(sys.argv[1:])
    except OSError as error:
        _complain(f"{sys.argv[1]} could not be started: {error.strerror}")
        os._exit(127)
    # Not `sys.exit`: a thread may wait for input that never comes.
    os._exit(keeper.run())
