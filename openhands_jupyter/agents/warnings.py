"""What a model is told when its session takes much, or when it gets nowhere."""

from __future__ import annotations

from ..events import (
    HookObservation,
    LimitKind,
    LimitWarningObservation,
    LoopPattern,
    StuckObservation,
)

_UNITS: dict[LimitKind, str] = {
    "steps": "{used:.0f} of its {allowed:.0f} steps",
    "cost": "${used:.2f} of its ${allowed:.2f}",
    "tokens": "{used:,.0f} of its {allowed:,.0f} tokens",
    "time": "{used:.0f} of its {allowed:g} minutes of work",
}
_SEEN: dict[LoopPattern, str] = {
    "same_action": "the same action had the same result {times} times",
    "same_error": "the same error came {times} times in a row",
    "cycle": "the same {length} steps were done {times} times in turn",
    "monologue": "{times} messages or thoughts followed each other, and nothing was done",
    "condensing": "the history was condensed {times} times and did not get shorter",
}


def note_of_limit(event: LimitWarningObservation) -> str:
    """That most of a limit is used; the session pauses when all is."""
    used = used_of_limit(event)
    return _from_environment(
        f"The session has used {used}. Come to a state in which the work can be left."
    )


def used_of_limit(event: LimitWarningObservation) -> str:
    """What is used of a limit, as a part of a sentence."""
    return _UNITS[event.limit].format(used=event.used, allowed=event.allowed)


KEPT_BACK = "[A message of the user, which a hook of theirs keeps from you.]"


def note_of_hook(event: HookObservation) -> str:
    """What a hook of the person's has to say."""
    about = f" after {event.tool}" if event.tool else ""
    before = "You are not done yet. " if event.event == "Stop" else ""
    return f"[{before}A program of the user's own says{about}:]\n{event.content}"


def note_of_loop(event: StuckObservation) -> str:
    """That the agent gets nowhere, and what else it can do."""
    seen = seen_in_loop(event)
    if event.stopped:
        return _from_environment(f"The agent was stopped, because {seen}.")
    return _from_environment(
        f"This looks like a loop: {seen}. Do not do it again. Find out why it does not help, try "
        "another way, or ask the user. To wait for something that runs, wait for it with an empty "
        "command or await_run."
    )


def seen_in_loop(event: StuckObservation) -> str:
    """What a loop looks like, as a part of a sentence."""
    return _SEEN[event.pattern].format(times=event.times, length=event.length)


def _from_environment(text: str) -> str:
    return f"[From the environment, not from the user: {text}]"
