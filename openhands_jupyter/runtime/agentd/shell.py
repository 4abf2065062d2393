"""A persistent shell: commands share folder, variables and functions, one command at a time."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import tempfile
import threading
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from .bash import Bash, Status
from .errors import ActionError
from .jobs import parse_jobs, with_ended
from .keys import typed
from .processes import MARK
from .text import HeadAndTail

if TYPE_CHECKING:
    from collections.abc import Callable

    OnText = Callable[[str], None]

KEPT_CHARACTERS = 8_000_000
GRACE_AFTER_STOP = 0.4
GRACE_AFTER_TIMEOUT = 2.0
GRACE_AFTER_KILL = 0.25
LONGEST_STOP = 3.0

NEVER = float("inf")
LONGEST_NAME = 200

BEFORE = "[Printed in the background since the last command:]\n"
NOW = "[Printed by this command:]\n"
SHELL_ENDED = (
    "\n[The shell ended and the next command gets a new one: its variables and functions are gone. "
    "What still runs in its background cannot print here any more.]\n"
)

ENVIRONMENT = {
    "TERM": "dumb",
    "NO_COLOR": "1",
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "MANPAGER": "cat",
    "SYSTEMD_PAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",
    "DEBIAN_FRONTEND": "noninteractive",
    "PIP_NO_INPUT": "1",
    "PIP_PROGRESS_BAR": "off",
    "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    "UV_NO_PROGRESS": "1",
    "NPM_CONFIG_PROGRESS": "false",
    "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    "GH_PROMPT_DISABLED": "1",
    "APT_LISTCHANGES_FRONTEND": "none",
}
"""So that no program waits for a person or draws on a terminal that nobody sees."""


class _Limits(NamedTuple):
    """How long a command is waited for; see `Shell.run`."""

    timeout: float | None
    patience: float | None
    quiet: float | None


class _Output:
    """What one call tells: handed on as it comes, and kept within bounds."""

    def __init__(self, on_text: OnText) -> None:
        self._kept = HeadAndTail(KEPT_CHARACTERS)
        self._on_text = on_text

    def add(self, text: str) -> None:
        self._kept.add(text)
        self._on_text(text)

    def told(self) -> dict[str, Any]:
        """Its part of the answer."""
        return {"output": self._kept.text(), "printed": self._kept.size}


class Shell:
    """Runs commands in a bash that lives as long as the sandbox, or until a command ends it.

    Parameters
    ----------
    cwd
        Folder to start in.
    environ
        The shell's environment; `ENVIRONMENT` is added.
    scratch
        A folder in which it may keep files of its own.
    """

    def __init__(self, cwd: str, environ: Mapping[str, str], scratch: str) -> None:
        self._cwd = cwd
        self._environ: dict[str, str] = {**environ, **ENVIRONMENT}
        self._scratch = tempfile.mkdtemp(prefix=f"openhands-{environ.get(MARK, '')}", dir=scratch)
        self._bash: Bash | None = None
        self._left: str | None = None
        self._jobs: list[dict[str, Any]] = []
        self._busy = threading.Lock()
        self._stopping = threading.Event()

    def run(
        self,
        command: str,
        timeout: float | None,
        on_text: OnText,
        patience: float | None = None,
        quiet: float | None = None,
        is_input: bool = False,
    ) -> dict[str, Any]:
        """Run one command and wait for it, or go on with the one that was left running.

        Parameters
        ----------
        command
            Anything that bash understands, of any number of lines. Nothing to wait on.
        timeout
            Seconds after which it is interrupted; None for no limit.
        on_text
            Called with the output as it comes.
        patience
            Seconds after which it is left running; None for no limit.
        quiet
            Seconds without output after which it is left running; None for no limit.
        is_input
            Whether ``command`` is to be typed into the one that runs: a line, or a key of `KEYS`.

        Returns
        -------
        dict
            ``output`` (the first and last 4 million characters at most), ``printed`` (how many
            there were), ``exit_code`` (None when the command was stopped or left running),
            ``cwd``, ``interrupted`` (empty, ``timeout`` or ``stopped``), ``running`` (whether it
            was left running), ``jobs`` (see `parse_jobs`).

        Raises
        ------
        ActionError
            ``shell_busy`` when a command runs already; ``nothing_runs`` when there is none to go
            on with; ``shell_failed`` when bash does not start.
        """
        # A stop may still be ending what was left running.
        if not self._busy.acquire(timeout=LONGEST_STOP):
            raise ActionError("shell_busy", "Another command is still running in this shell.")
        try:
            self._stopping.clear()
            limits = _Limits(timeout, patience, quiet)
            output = _Output(on_text)
            if is_input or not command.strip():
                return self._go_on(command if is_input else "", limits, output)
            return self._run(command, limits, output)
        finally:
            self._busy.release()

    def stop(self) -> None:
        """Stop the command that runs, if any, also one that was left running."""
        self._stopping.set()
        bash = self._bash
        if bash is None:
            return
        bash.wake()
        # Where a call waits for the command, it is that call which ends it.
        if self._busy.acquire(blocking=False):
            try:
                if self._left is not None:
                    self._end_command(bash, GRACE_AFTER_STOP)
                    self._finish(bash, _Output(lambda text: None))
            finally:
                self._busy.release()

    def pids(self) -> list[int]:
        """The shell's own process, if there is one."""
        return [] if self._bash is None else [self._bash.pid]

    def left_running(self) -> list[str]:
        """The command that was left running and has not ended, also where bash itself is at it."""
        if self._bash is None or self._left is None or self._bash.idle:
            return []
        return [_named(self._left)]

    def close(self) -> None:
        """End the shell and every process of its session."""
        if self._bash is not None:
            self._bash.kill()
        shutil.rmtree(self._scratch, ignore_errors=True)

    def _run(self, command: str, limits: _Limits, output: _Output) -> dict[str, Any]:
        if self._left is not None and self._bash is not None:
            if not self._bash.idle:
                raise ActionError(
                    "shell_busy",
                    f"The command before still runs in this shell: {_named(self._left)}",
                    "Wait for it with an empty command, type into it with is_input, or end it "
                    "with the key C-c.",
                )
            self._tell_end_of_left(self._bash, output)
        if self._bash is not None and self._bash.ended:
            output.add(self._bash.take_between())
            self._finish(self._bash, output)
        bash = self._started_bash()
        between = bash.take_between()
        if between.strip():
            output.add(f"{BEFORE}{_whole_lines(between)}{NOW}")
        bash.begin(command, output.add)
        return self._follow(bash, command, limits, output)

    def _go_on(self, text: str, limits: _Limits, output: _Output) -> dict[str, Any]:
        bash, command = self._bash, self._left
        if bash is None or command is None:
            raise ActionError(
                "nothing_runs",
                "No command was left running in this shell.",
                "Run a command; input is for one that still runs.",
            )
        bash.attach(output.add)
        if not text:
            pass
        elif bash.idle:
            output.add("[The command had ended before the input came, which was not sent.]\n")
        else:
            try:
                bash.type(typed(text))
            except ActionError:
                bash.detach()
                raise
        return self._follow(bash, command, limits, output)

    def _follow(self, bash: Bash, command: str, limits: _Limits, output: _Output) -> dict[str, Any]:
        interrupted = self._wait(bash, limits)
        if interrupted is None:
            bash.detach()
            self._left = command
            return {
                **output.told(),
                "exit_code": None,
                "cwd": self._cwd,
                "interrupted": "",
                "running": True,
                "jobs": self._jobs,
            }
        status, jobs = self._finish(bash, output)
        return {
            **output.told(),
            "exit_code": None if interrupted else status.exit_code,
            "cwd": self._cwd,
            "interrupted": interrupted,
            "running": False,
            "jobs": jobs,
        }

    def _finish(self, bash: Bash, output: _Output) -> tuple[Status, list[dict[str, Any]]]:
        """Note how the command ended, and what is left in the background."""
        status = bash.finish()
        self._left = None
        if status.cwd:
            self._cwd = status.cwd
        jobs, self._jobs = with_ended(parse_jobs(status.jobs), self._jobs)
        if status.ended:
            self._bash, jobs, self._jobs = None, [], []
            output.add(SHELL_ENDED)
        return status, jobs

    def _tell_end_of_left(self, bash: Bash, output: _Output) -> None:
        command = _named(self._left or "")
        between = bash.take_between()
        status, _ = self._finish(bash, output)
        output.add(f"[The command that was left running ended with exit code {status.exit_code}: ")
        output.add(f"{command}]\n{_whole_lines(between)}{NOW}")

    def _wait(self, bash: Bash, limits: _Limits) -> str | None:
        """Why the command ended: empty if by itself; None if it is left running."""
        begun = time.monotonic()
        deadline = begun + (NEVER if limits.timeout is None else limits.timeout)
        patience = begun + (limits.patience or NEVER)
        while True:
            quiet = bash.heard_at + (limits.quiet or NEVER)
            limit = min(deadline, patience, quiet)
            if bash.wait(None if limit == NEVER else limit, self._stopping.is_set):
                return ""
            now = time.monotonic()
            if self._stopping.is_set() or now >= deadline:
                break
            if now >= patience or now >= bash.heard_at + (limits.quiet or NEVER):
                return None
        self._end_command(
            bash, GRACE_AFTER_STOP if self._stopping.is_set() else GRACE_AFTER_TIMEOUT
        )
        return "stopped" if self._stopping.is_set() else "timeout"

    def _end_command(self, bash: Bash, grace: float) -> None:
        stopped = self._stopping.is_set()
        bash.signal_foreground(signal.SIGINT)
        # A stop that comes during the grace period of a timeout shortens it.
        ended = bash.wait(time.monotonic() + grace, lambda: self._stopping.is_set() and not stopped)
        if not ended and not bash.is_deaf:
            bash.signal_foreground(signal.SIGKILL)
            ended = bash.wait(time.monotonic() + GRACE_AFTER_KILL)
        if not ended:
            bash.kill()
            bash.wait(time.monotonic() + GRACE_AFTER_KILL)

    def _started_bash(self) -> Bash:
        if self._bash is None:
            if not os.path.isdir(self._cwd):
                self._cwd = self._environ.get("HOME", "/")
            try:
                self._bash = Bash(self._cwd, self._environ, self._scratch)
            except OSError as error:
                raise ActionError("shell_failed", f"bash does not start: {error}.") from error
            if not self._bash.wait(time.monotonic() + 20.0):
                self._bash.kill()
                self._bash = None
                raise ActionError("shell_failed", "bash started but did not become ready.")
            with contextlib.suppress(OSError):
                self._bash.finish()
        return self._bash


def _named(command: str) -> str:
    line = " ".join(command.split())
    return line if len(line) <= LONGEST_NAME else line[: LONGEST_NAME - 1] + "…"


def _whole_lines(text: str) -> str:
    return text if not text or text.endswith("\n") else text + "\n"
