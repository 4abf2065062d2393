"""Finds out, event by event, that an agent does the same again and again.

What is compared are *steps*: all that comes of one response of the model, with its results.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import NamedTuple

from ..events import (
    Action,
    AgentMessageAction,
    AgentStateChangedObservation,
    AgentThinkAction,
    CheckpointObservation,
    CondensationAction,
    ConfirmationAction,
    ErrorObservation,
    Event,
    HookObservation,
    InvalidToolCallAction,
    LoopPattern,
    ModelUsageObservation,
    NetworkRefusedObservation,
    NoCheckpointObservation,
    Observation,
    QuarantineAction,
    StuckObservation,
    SystemMessageAction,
)
from . import fingerprints
from .fingerprints import together

SAME_ACTION = 4
SAME_ERROR = 3
ROUNDS = 3
LONGEST_ROUND = 4
MONOLOGUE = 3
CONDENSATIONS = 3

NUDGE_COUNTS_FOR = 30
"""Steps after the agent was told of a loop within which another one stops it."""

SHORTER = 0.9
"""Part of its length that a history may have after a condensation that was worth it."""

_MOST_NUMBERS = 1000
"""Numbers of the results of one step after which no more are taken in."""

_NO_ANSWERS = (
    AgentStateChangedObservation,
    CheckpointObservation,
    HookObservation,
    ModelUsageObservation,
    NetworkRefusedObservation,
    NoCheckpointObservation,
)


@dataclass(slots=True)
class _Step:
    """What came of one response of the model.

    Attributes
    ----------
    first
        Id of its first event.
    response
        Id of the response; empty where an agent uses no model.
    does
        Fingerprint of its actions and their results.
    numbers
        Those in the results, which tell of progress where they grow or fall.
    fails
        Whether all of its actions failed.
    error
        Fingerprint of what a tool itself refused; empty where none did.
    talks
        Whether it only said or thought something.
    """

    first: int
    response: str
    does: bytes = b""
    numbers: tuple[float, ...] = ()
    fails: bool = True
    error: bytes = b""
    talks: bool = True


class Loop(NamedTuple):
    """Steps that were done again and again; see `StuckObservation`."""

    pattern: LoopPattern
    first: int
    times: int
    length: int = 1


class StuckDetector:
    """Watches the events of one session since the person did something.

    Work for an event, and what is kept, do not grow with the history.
    """

    def __init__(self) -> None:
        self._begin_anew()

    def _begin_anew(self) -> None:
        self._steps: deque[_Step] = deque(maxlen=ROUNDS * LONGEST_ROUND)
        self._open: dict[int, tuple[_Step, Action]] = {}
        self._condensed: list[int] = []
        self._condensed_last = False
        self._told: Loop | None = None
        self._since_told = 0

    def apply(self, event: Event) -> None:
        """Take in the next event of the log."""
        match event:
            case ConfirmationAction() | SystemMessageAction() | QuarantineAction():
                pass
            case CondensationAction():
                self._condense(event)
            case _ if event.source == "user":
                self._begin_anew()
            case Action():
                self._act(event)
            case Observation():
                self._answer(event)

    def check(self) -> StuckObservation | None:
        """What is to be told of a loop that has come about since the last check."""
        loop = self._found()
        if loop is None:
            return None
        told = self._told if self._since_told <= NUDGE_COUNTS_FOR else None
        self._steps.clear()
        self._condensed.clear()
        self._told, self._since_told = loop, 0
        return StuckObservation(
            pattern=loop.pattern,
            first=told.first if told else loop.first,
            times=loop.times,
            length=loop.length,
            stopped=told is not None,
        )

    # Taking in

    def _act(self, action: Action) -> None:
        self._condensed_last = False
        response = action.llm.response_id if action.llm else ""
        if not self._steps or not response or self._steps[-1].response != response:
            self._steps.append(_Step(first=action.id, response=response))
            self._since_told += 1
        step = self._steps[-1]
        step.does = together(step.does, fingerprints.of_action(action))
        if isinstance(action, InvalidToolCallAction):
            step.error = together(step.error, action.message.encode())
            step.talks = False
        else:
            step.talks &= isinstance(action, AgentThinkAction | AgentMessageAction)
            step.fails &= action.runnable
        if action.runnable:
            self._open[action.id] = step, action

    def _answer(self, result: Observation) -> None:
        if result.cause is None or isinstance(result, _NO_ANSWERS):
            return
        step, action = self._open.pop(result.cause, (None, None))
        if step is None or action is None:
            return
        fails = fingerprints.is_error(result)
        step.fails &= fails
        if fingerprints.only_waits(action) and not fails:
            # What was waited for goes on: that is no repetition.
            step.does = together(step.does, str(result.id).encode())
        else:
            alike, numbers = fingerprints.of_result(action, result)
            step.does = together(step.does, alike)
            if len(step.numbers) < _MOST_NUMBERS:
                step.numbers += numbers
        if isinstance(result, ErrorObservation):
            step.error = together(step.error, fingerprints.of_error(result))

    def _condense(self, event: CondensationAction) -> None:
        shorter = event.tokens_after <= SHORTER * event.tokens_before
        if shorter and not self._condensed_last:
            self._condensed.clear()
        self._condensed.append(event.id)
        del self._condensed[:-CONDENSATIONS]
        self._condensed_last = True

    # Finding

    def _found(self) -> Loop | None:
        if len(self._condensed) >= CONDENSATIONS:
            return Loop("condensing", self._condensed[0], CONDENSATIONS)
        steps = list(self._steps)
        talk = steps[-MONOLOGUE:]
        if len(talk) == MONOLOGUE and all(step.talks for step in talk):
            return Loop("monologue", talk[0].first, MONOLOGUE)
        failed = steps[-SAME_ERROR:]
        if len(failed) == SAME_ERROR and _fail_alike(failed):
            return Loop("same_error", failed[0].first, SAME_ERROR)
        for length in range(1, LONGEST_ROUND + 1):
            times = SAME_ACTION if length == 1 else ROUNDS
            last = steps[-length * times :]
            if len(last) == length * times and all(
                one.does == before.does for before, one in zip(last, last[length:], strict=False)
            ):
                if any(_progresses(last[offset::length]) for offset in range(length)):
                    continue
                pattern: LoopPattern = "same_action" if length == 1 else "cycle"
                return Loop(pattern, last[0].first, times, length)
        return None


def _progresses(steps: list[_Step]) -> bool:
    """Whether a number in what comes of the same step only grows, or only falls."""
    return any(
        values[0] != values[-1] and list(values) in (sorted(values), sorted(values, reverse=True))
        for values in zip(*(step.numbers for step in steps), strict=False)
    )


def _fail_alike(steps: list[_Step]) -> bool:
    """Whether all failed, and did the same, or met the same error of a tool itself."""
    if not all(step.fails for step in steps):
        return False
    first = steps[0]
    return all(step.does == first.does for step in steps) or (
        first.error != b"" and all(step.error == first.error for step in steps)
    )
