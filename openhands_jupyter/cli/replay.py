"""A session once more: shown with its pauses, or done again."""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Iterable
from itertools import zip_longest
from pathlib import Path

from ..config import Config
from ..events import (
    Action,
    CheckpointObservation,
    CmdOutputObservation,
    ErrorObservation,
    Event,
    IPythonOutputObservation,
    NetworkRefusedObservation,
    Observation,
    UserRejectObservation,
)
from ..events.reading import read_log
from ..session import Session
from ..session.recording import read_recording
from .run import EXIT_DONE, EXIT_ERROR, TaskRun
from .terminal import Terminal
from .timeline import Timeline

LONGEST_PAUSE = 3.0
"""Seconds that nothing happens when a session is shown; people took coffee breaks meanwhile."""


async def replay(
    folder: Path, options: argparse.Namespace, config: Config, terminal: Terminal
) -> int:
    """Show the session, or do it once more; the exit code."""
    if not options.execute:
        return await _show(folder, options.speed, terminal)
    return await _Again(folder, config, terminal).run_recording()


async def _show(folder: Path, speed: float, terminal: Terminal) -> int:
    timeline, before = Timeline(terminal), None
    for event in read_log(folder):
        if before and event.time:
            pause = (event.time - before).total_seconds()
            await asyncio.sleep(min(max(pause, 0.0), LONGEST_PAUSE) / speed)
        before = event.time
        timeline.show(event)
    return EXIT_DONE


class _Again(TaskRun):
    """Sends the recorded messages, the next one whenever the session has come to rest."""

    def __init__(self, folder: Path, config: Config, terminal: Terminal) -> None:
        super().__init__(config, terminal)
        self._recording = read_recording(folder)
        self._then = _outcomes(read_log(folder))
        self._now: list[Event] = []
        self._next = 0

    async def run_recording(self) -> int:
        """The exit code."""
        if not self._recording.asked:
            self._terminal.print("Nothing was asked in this session.")
            return EXIT_DONE
        code = await self.run(self._message(), self._recording)
        return self._compared(code)

    def _message(self) -> str:
        asked = self._recording.asked[self._next]
        self._next += 1
        self._recording.begin(asked)
        return asked.message

    def _show(self, event: Event) -> None:
        super()._show(event)
        self._now.append(event)

    async def _answer(self, session: Session) -> int | None:
        return self._at_rest(session)

    def _at_rest(self, session: Session) -> int | None:
        if self._next == len(self._recording.asked):
            return EXIT_DONE
        session.send_message(self._message())
        return None

    def _compared(self, code: int) -> int:
        """Say which actions ended otherwise than they did then."""
        now = _outcomes(self._now)
        for number, (then, again) in enumerate(zip_longest(self._then, now), 1):
            if then != again:
                told = f"then: {then or 'nothing'}; now: {again or 'nothing'}"
                self._terminal.print(f"Action {number} differs; {told}", "yellow")
                code = code or EXIT_ERROR
        return code


def _outcomes(events: Iterable[Event]) -> list[str]:
    """For each action of the agent that was executed, or was to be: what it was, and its end."""
    actions: dict[int, str] = {}
    for event in events:
        if isinstance(event, Action) and event.runnable and event.source == "agent":
            actions[event.id] = f"a {type(event).__name__} without an answer"
        elif isinstance(event, Observation) and event.cause in actions and (end := _end(event)):
            kind = actions[event.cause].split()[1]
            actions[event.cause] = f"a {kind} that {end}"
    return list(actions.values())


def _end(event: Observation) -> str:
    match event:
        case IPythonOutputObservation(ok=False) | ErrorObservation():
            return "failed"
        case CmdOutputObservation(exit_code=int(status)) if status:
            return f"ended with {status}"
        case UserRejectObservation():
            return "was rejected"
        case CheckpointObservation() | NetworkRefusedObservation():
            # They answer nothing.
            return ""
    return "was done"
