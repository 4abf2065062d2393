"""Commands in the shell of a sandbox: how they are put to agentd, and what comes of them."""

from __future__ import annotations

import asyncio
from typing import Any, Literal

import msgspec

from ..errors import OpenHandsError
from ..events import BackgroundJob, CmdOutputObservation, CmdRunAction, Observation
from .agentd.text import HeadAndTail, cut
from .base import OutputCallback
from .channel import SandboxDied
from .sandbox import Sandbox
from .trouble import how_it_died
from .watch import output_remarks, with_remarks

SHOWN_CHARACTERS = 30_000
"""Of a command's output, in the observation itself."""

ANSWER_TIMEOUT = 10.0
"""Seconds that agentd gets beyond a command's own timeout before it is held to be stuck."""

NO_CHANGE_TIMEOUT = 30.0
"""Seconds without output after which a command is left running, if no timeout was asked for."""

NO_CHANGE_AFTER_INPUT = 3.0
"""The same after input, which most programs answer at once."""


class _Answer(msgspec.Struct):
    output: str
    printed: int
    exit_code: int | None
    cwd: str
    interrupted: Literal["", "timeout", "stopped"]
    running: bool
    jobs: list[BackgroundJob]


class Commands:
    """Runs the commands of one session.

    Parameters
    ----------
    timeout
        Seconds that a command may take if it does not say.

    Attributes
    ----------
    news
        What to put before the next command's output.
    """

    def __init__(self, timeout: float) -> None:
        self._timeout = timeout
        self.news = ""

    async def run(
        self,
        sandbox: Sandbox,
        action: CmdRunAction,
        on_output: OutputCallback,
        stopping: asyncio.Event,
    ) -> Observation:
        """Run a command, or go on with the one that was left running.

        Parameters
        ----------
        sandbox
            Where; it is killed if it does not answer in time.
        action
            What to run.
        on_output
            Called with text as it is printed.
        stopping
            Set when somebody wants it to stop, and agentd is told so.

        Raises
        ------
        OpenHandsError
            When the shell cannot do it, such as while another command runs in it.
        """
        if stopping.is_set():
            return CmdOutputObservation(content="", interrupted="stopped")
        partial = HeadAndTail(SHOWN_CHARACTERS)

        def on_text(text: str) -> None:
            partial.add(text)
            on_output(text)

        params, longest = self._request(action)
        try:
            async with asyncio.timeout(longest + ANSWER_TIMEOUT):
                answer = await sandbox.request("shell.run", params, on_text)
        except (SandboxDied, TimeoutError) as error:
            sandbox.kill()
            interrupted = how_it_died(error, stopping.is_set())
            return CmdOutputObservation(content=partial.text(), interrupted=interrupted)
        except OpenHandsError as error:
            if stopping.is_set() and error.code in ("nothing_runs", "shell_busy"):
                # The stop was first, and ends or has ended what was to be gone on with.
                return CmdOutputObservation(content="", interrupted="stopped")
            raise
        return self._observation(msgspec.convert(answer, _Answer))

    def _request(self, action: CmdRunAction) -> tuple[dict[str, Any], float]:
        """What to ask of the shell, and the seconds that it may take."""
        goes_on = action.is_input or not action.command.strip()
        longest = self._timeout if action.timeout is None else action.timeout
        # To wait for a command, or to type into it, must not end it unasked.
        left_running = goes_on and action.timeout is None
        quiet = NO_CHANGE_AFTER_INPUT if action.is_input else NO_CHANGE_TIMEOUT
        params = {
            "command": action.command,
            "is_input": action.is_input,
            "timeout": None if left_running else longest,
            "patience": longest if left_running else None,
            "quiet": quiet if action.is_input or action.timeout is None else None,
        }
        return params, longest

    def _observation(self, answer: _Answer) -> Observation:
        news, self.news = self.news, ""
        output = news + answer.output
        content = cut(output, SHOWN_CHARACTERS, len(news) + answer.printed)
        observation = CmdOutputObservation(
            content=content,
            exit_code=answer.exit_code,
            cwd=answer.cwd,
            interrupted=answer.interrupted,
            full_output=output if content != output else None,
            running=answer.running,
            jobs=answer.jobs,
        )
        return with_remarks(observation, output_remarks(answer.printed))
