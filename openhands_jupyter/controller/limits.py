"""What a session has used of what it may take."""

from __future__ import annotations

import math
from collections.abc import Iterator

import msgspec

from ..events import LimitKind, State

WARN_AT = 0.8
"""Part of a limit after which the person and the agent are told."""

ASSUMED_PRICE = 10.0
"""US dollars for a million tokens of a model whose price nobody knows: that of the dear ones."""

MORE_STEPS = 50


class LimitUse(msgspec.Struct, frozen=True, kw_only=True):
    """What is used of one thing that a session may take.

    Attributes
    ----------
    limit
        Of what.
    used, allowed
        Steps, US dollars, tokens, or minutes of work; ``allowed`` is 0 where there is no limit.
    extended
        The limit that an extension would set.
    assumed
        Tokens that are in ``used`` at a price that was assumed.
    """

    limit: LimitKind
    used: float
    allowed: float
    extended: float
    assumed: int = 0

    @property
    def reached(self) -> bool:
        """Whether all is used."""
        return self.used >= self.allowed if self.limit == "steps" else 0 < self.allowed <= self.used

    @property
    def nearly_reached(self) -> bool:
        """Whether most of it is used."""
        return not self.reached and 0 < self.allowed * WARN_AT <= self.used


def uses_of(state: State, worked: float) -> list[LimitUse]:
    """What the session has used of each limit.

    Parameters
    ----------
    state
        The session.
    worked
        Seconds of work in it so far.
    """
    limits, spent = state.limits, state.spent
    minutes = worked / 60
    cost = spent.cost + spent.unpriced_tokens * ASSUMED_PRICE / 1_000_000
    return [
        LimitUse(
            limit="steps",
            used=state.steps,
            allowed=limits.steps,
            extended=state.steps + MORE_STEPS,
        ),
        LimitUse(
            limit="cost",
            used=round(cost, 6),
            allowed=limits.cost,
            extended=math.ceil((cost + limits.cost / 2) * 100) / 100,
            assumed=spent.unpriced_tokens,
        ),
        LimitUse(
            limit="tokens",
            used=spent.tokens,
            allowed=limits.tokens,
            extended=math.ceil(spent.tokens + limits.tokens / 2),
        ),
        LimitUse(
            limit="time",
            used=minutes,
            allowed=limits.time,
            extended=math.ceil(minutes + limits.time / 2),
        ),
    ]


def to_warn_of(state: State, uses: list[LimitUse]) -> Iterator[LimitUse]:
    """The limits that are nearly reached, and that nobody was warned of yet."""
    for use in uses:
        if use.nearly_reached and state.limits.warned.get(use.limit) != use.allowed:
            yield use


def reason_to_pause(use: LimitUse) -> str:
    """That a limit is reached, as a sentence."""
    match use.limit:
        case "steps":
            return f"The agent has used its {use.allowed:.0f} steps."
        case "cost" if use.assumed:
            return (
                f"The agent has used its ${use.allowed:.2f}, where {use.assumed:,} tokens whose "
                f"price is not known count as ${ASSUMED_PRICE:.0f} a million."
            )
        case "cost":
            return f"The agent has used its ${use.allowed:.2f}."
        case "tokens":
            return f"The agent has used its {use.allowed:,.0f} tokens."
        case "time":
            return f"The agent has worked for its {use.allowed:g} minutes."


CODES: dict[LimitKind, str] = {
    "steps": "step_limit",
    "cost": "cost_limit",
    "tokens": "token_limit",
    "time": "time_limit",
}
"""What a pause at a limit is called; also the name of the setting."""

NAMES: dict[LimitKind, str] = {
    "steps": "step limit",
    "cost": "cost limit",
    "tokens": "token limit",
    "time": "time limit",
}
