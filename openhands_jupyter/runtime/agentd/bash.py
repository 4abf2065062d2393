"""One bash process on a terminal of its own, with its status reported beside its output.

Bash runs interactively, because only then it survives an interrupt and gives each command a process
group of its own. Each command is put into a file that bash sources, and bash is told so through a
pipe: what is typed on the terminal reaches the programs that a command runs, and never bash itself.
Before each prompt, bash writes number, exit code, folder and jobs into a pipe, and a fence onto the
terminal: all output of the command stands before the fence.
"""

from __future__ import annotations

import codecs
import contextlib
import os
import select
import shlex
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping
from typing import NamedTuple

from .errors import ActionError
from .processes import kill_session
from .prompt import RC, START, StatusReader, split_fences
from .terminal import LONGEST_LINE, Terminal
from .text import HeadAndTail

FENCE_TIMEOUT = 1.0
STREAM_INTERVAL = 0.05
BETWEEN_COMMANDS = 1_000_000
TYPING_TIMEOUT = 2.0
TYPING_INTERVAL = 0.02
TAKING_TIMEOUT = 0.2


class Status(NamedTuple):
    """How a command ended.

    Attributes
    ----------
    exit_code
        Its exit code; None when that is not known.
    cwd
        The shell's folder afterwards; empty when that is not known.
    ended
        Whether the shell itself ended.
    jobs
        What bash lists of its background jobs.
    """

    exit_code: int | None
    cwd: str
    ended: bool
    jobs: str = ""


class Bash:
    """A started bash. `begin` a command, `wait` for it, `finish` it; or `detach` from it.

    Parameters
    ----------
    cwd, environ
        Where and with what it starts.
    scratch
        A private folder for its files.
    """

    def __init__(self, cwd: str, environ: Mapping[str, str], scratch: str) -> None:
        self._command_file = os.path.join(scratch, "command")
        rc = os.path.join(scratch, "rc")
        with open(rc, "w", encoding="utf-8") as file:
            file.write(RC)
        self._terminal = Terminal()
        self._wake_read, self._wake_write = os.pipe()
        self._status_read, status_write = os.pipe()
        commands_read, self._commands = os.pipe()
        pipes = (status_write, commands_read)
        start = [START, "bash", rc, self._terminal.name, *map(str, pipes)]
        self._process = subprocess.Popen(
            ["bash", "--noprofile", "--norc", "-c", *start],
            cwd=cwd,
            env=dict(environ),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            pass_fds=pipes,
        )
        for fd in pipes:
            os.close(fd)
        self._changed = threading.Condition()
        self._number = 0
        self._status: list[bytes] | None = None
        self._statuses = StatusReader()
        self._fenced = False
        self._killed = False
        self._handing_over = threading.Lock()
        self._on_text: Callable[[str], None] | None = None
        self._between = HeadAndTail(BETWEEN_COMMANDS)
        self.heard_at = time.monotonic()
        self.ended = False
        threading.Thread(target=self._wait_for_exit, daemon=True).start()
        threading.Thread(target=self._pump, daemon=True).start()

    @property
    def pid(self) -> int:
        """The process."""
        return self._process.pid

    @property
    def idle(self) -> bool:
        """Whether no command runs."""
        with self._changed:
            return self._is_over()

    def begin(self, command: str, on_text: Callable[[str], None]) -> None:
        """Start a command; see `take_between` for what was printed before it."""
        with open(self._command_file, "w", encoding="utf-8", errors="surrogateescape") as file:
            file.write(command + "\n")
        self.attach(on_text)
        with self._changed:
            if self.ended:
                return
            # What an earlier command was sent and did not read is not for this one.
            self._terminal.prepare()
            self._number += 1
            self._status = None
            self._fenced = False
            line = (
                f"__openhands_command={self._number}; . {shlex.quote(self._command_file)} "
                "</dev/tty; { __openhands_ready $?; } 2>/dev/null\n"
            )
            with contextlib.suppress(BrokenPipeError):
                os.write(self._commands, line.encode())

    def attach(self, on_text: Callable[[str], None]) -> None:
        """Hand over output from now on, after what was printed since `detach` or `finish`."""
        with self._handing_over:
            self.heard_at = time.monotonic()
            between, self._between = self._between.text(), HeadAndTail(BETWEEN_COMMANDS)
            if between:
                on_text(between)
            self._on_text = on_text

    def detach(self) -> None:
        """Keep output until it is taken, as the command goes on by itself."""
        with self._handing_over:
            self._on_text = None

    def take_between(self) -> str:
        """What was printed since `detach` or `finish`."""
        give_up = time.monotonic() + TAKING_TIMEOUT
        while True:
            with self._handing_over:
                # What was printed just now has yet to be read.
                if self.ended or not self._readable() or time.monotonic() > give_up:
                    between, self._between = self._between.text(), HeadAndTail(BETWEEN_COMMANDS)
                    return between
            time.sleep(0.001)

    def type(self, data: bytes) -> None:
        """Send to the command what is typed on its terminal.

        Raises
        ------
        ActionError
            When the terminal cannot take it.
        """
        deadline = time.monotonic() + TYPING_TIMEOUT
        with self._changed:
            if not self.ended and not self._terminal.takes(data):
                raise ActionError(
                    "input_too_long",
                    f"A terminal takes lines of at most {LONGEST_LINE - 1:,} bytes.",
                    "Put the text into a file and let the program read that.",
                )
            while data and not self.ended:
                with contextlib.suppress(BlockingIOError):
                    data = data[os.write(self._terminal.master, data) :]
                    continue
                if time.monotonic() > deadline:
                    self._terminal.drop_typed()
                    raise ActionError(
                        "input_not_read",
                        "The running command does not read its input, which was thrown away.",
                        "Wait on with an empty command, or end it with C-c.",
                    )
                self._changed.wait(TYPING_INTERVAL)

    def _readable(self) -> bool:
        with self._changed:
            return not self.ended and self._terminal.is_readable()

    def wait(self, deadline: float | None, given_up: Callable[[], bool] = lambda: False) -> bool:
        """Wait until the command ended.

        Returns
        -------
        bool
            False when ``deadline`` (of the monotonic clock) passed or ``given_up`` became true.
        """
        with self._changed:
            while not self._is_over():
                left = None if deadline is None else deadline - time.monotonic()
                if given_up() or (left is not None and left <= 0):
                    return False
                self._changed.wait(left)
            return True

    def wake(self) -> None:
        """Let `wait` look at ``given_up`` again."""
        with self._changed:
            self._changed.notify_all()

    def finish(self) -> Status:
        """Say how the command ended, after all of its output was handed over."""
        with self._changed:
            give_up = time.monotonic() + FENCE_TIMEOUT
            while not (self._fenced or self.ended) and time.monotonic() < give_up:
                self._changed.wait(give_up - time.monotonic())
        self.detach()
        with self._changed:
            if self.ended:
                code = self._process.returncode
                code = None if self._killed else 128 - code if code < 0 else code
                return Status(code, "", True)
            if self._status is None:
                return Status(None, "", False)
            _, code_text, cwd, jobs = self._status
            listing = jobs.decode("utf-8", "replace")
            return Status(int(code_text), os.fsdecode(cwd), False, listing)

    def signal_foreground(self, signum: int) -> None:
        """Signal the command's processes, and have bash abandon the rest of the command."""
        with self._changed, contextlib.suppress(OSError):
            if self.ended:
                return
            group = os.tcgetpgrp(self._terminal.master)
            if group <= 1:
                # None is in the foreground; these numbers would reach other processes.
                return
            if group != self._process.pid:
                os.kill(self._process.pid, signal.SIGINT)
            os.killpg(group, signum)

    @property
    def is_deaf(self) -> bool:
        """Whether bash itself ignores interrupts, so that it would go on after one."""
        with contextlib.suppress(OSError):
            with open(f"/proc/{self._process.pid}/status", encoding="ascii") as file:
                ignored = next(line for line in file if line.startswith("SigIgn:"))
            return bool(int(ignored.split()[1], 16) & (1 << (signal.SIGINT - 1)))
        return False

    def kill(self) -> None:
        """End bash and everything in its session at once."""
        self._killed = True
        kill_session(self._process.pid)

    def _is_over(self) -> bool:
        return self.ended or self._status is not None

    def _wait_for_exit(self) -> None:
        self._process.wait()
        os.write(self._wake_write, b"x")

    def _pump(self) -> None:
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        held, text = b"", ""
        handed_over = time.monotonic()
        drain_until = float("inf")
        while time.monotonic() < drain_until:
            exited = drain_until != float("inf")
            sources = [self._terminal.master, self._status_read, self._wake_read][
                : 1 if exited else 3
            ]
            patience = 0 if exited else STREAM_INTERVAL if text else None
            ready = select.select(sources, [], [], patience)[0]
            fences: list[bytes] = []
            if exited and not ready:
                break
            with self._handing_over:
                now = time.monotonic()
                if self._terminal.master in ready:
                    fences, output, held = split_fences(
                        held + os.read(self._terminal.master, 65536)
                    )
                    text += decoder.decode(output)
                    self.heard_at = now
                is_due = fences or self._on_text is None or now - handed_over >= STREAM_INTERVAL
                if text and is_due:
                    self._hand_over(text)
                    text, handed_over = "", now
            if self._status_read in ready:
                self._read_status()
            self._note_fences(fences)
            if self._wake_read in ready:
                drain_until = now + FENCE_TIMEOUT
        with self._handing_over:
            self._hand_over(text + decoder.decode(held, final=True))
        self._note_end()

    def _read_status(self) -> None:
        found = self._statuses.feed(os.read(self._status_read, 65536))
        with self._changed:
            for status in found:
                if status[0] == b"%d" % self._number:
                    self._status = status
            self._changed.notify_all()

    def _hand_over(self, text: str) -> None:
        if self._on_text is None:
            self._between.add(text)
        elif text:
            self._on_text(text)

    def _note_fences(self, fences: list[bytes]) -> None:
        if b"%d" % self._number in fences:
            with self._changed:
                self._fenced = True
                self._changed.notify_all()

    def _note_end(self) -> None:
        with self._changed:
            self.ended = True
            self._changed.notify_all()
            self._terminal.close()
            for fd in (
                self._status_read,
                self._commands,
                self._wake_read,
                self._wake_write,
            ):
                os.close(fd)
