"""What is told of a session that takes too much, or gets nowhere."""

from __future__ import annotations

from typing import Literal

from .event import Observation

LimitKind = Literal["steps", "cost", "tokens", "time"]
LoopPattern = Literal["same_action", "same_error", "cycle", "monologue", "condensing"]


class LimitWarningObservation(Observation, frozen=True, kw_only=True, tag=True):
    """Most of what the session may take is used; told once for each limit that is set.

    Attributes
    ----------
    limit
        Which limit.
    used, allowed
        Steps, US dollars, tokens, or minutes of work.
    """

    limit: LimitKind
    used: float
    allowed: float


class StuckObservation(Observation, frozen=True, kw_only=True, tag=True):
    """The agent does the same again and again; it is told so, or stopped.

    Attributes
    ----------
    pattern
        ``same_action`` (with the same result), ``same_error``, ``cycle`` (of ``length`` steps),
        ``monologue`` (messages and thoughts, nothing done) or ``condensing`` (of a history that
        does not get shorter).
    first
        Id of the event that it began with.
    times
        How often it was done.
    length
        Steps in one round.
    stopped
        Whether the agent was stopped; else it was told, and goes on.
    """

    pattern: LoopPattern
    first: int
    times: int
    length: int = 1
    stopped: bool = False
