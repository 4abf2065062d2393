"""A session followed where there is no panel: until its agent rests."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from ..events import AgentState, AgentStateChangedObservation, Event
from .session import Session

_AT_REST: frozenset[AgentState] = frozenset(
    ("awaiting_user_input", "paused", "stopped", "finished", "rejected", "error")
)


async def until_rest(
    session: Session,
    after: int,
    decide: Callable[[int], Awaitable[bool]],
    show: Callable[[Event], None] = lambda event: None,
) -> AgentStateChangedObservation:
    """Follow a session until its agent does nothing more.

    Parameters
    ----------
    session
        The session.
    after
        The last event that is not looked at.
    decide
        Decides on the action of this id, which waits for approval; false to leave it waiting.
    show
        Hears each event.

    Returns
    -------
    AgentStateChangedObservation
        What it came to rest with, or the question that was left open.
    """
    async for event in session.stream.events(after=after):
        show(event)
        if not isinstance(event, AgentStateChangedObservation):
            continue
        if event.state == "awaiting_user_confirmation" and event.cause is not None:
            if not await decide(event.cause):
                return event
        elif event.state in _AT_REST:
            return event
    raise AssertionError("a session's log has no end while it is open")
