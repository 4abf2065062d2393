"""The part of a session's log that answers one message."""

from __future__ import annotations

from typing import Any

ENDED = frozenset(
    {"finished", "rejected", "awaiting_user_input", "paused", "stopped", "error", "answered"}
)
"""States of a task in which nothing more comes of it by itself."""

_AT_ONCE = frozenset({"paused", "stopped", "error"})
"""They end a turn also where the agent has not come to the message."""


_NOT_WELL = _AT_ONCE | {"rejected"}


class Turn:
    """A fold over the events after a message of the person.

    Parameters
    ----------
    message
        The id of the message's event.

    Attributes
    ----------
    events
        The events since, as JSON objects.
    state
        The agent's.
    answer
        What the agent said last to the person.
    reason
        Why the turn ended, where it did not end well.
    ended
        Whether the turn is over.
    """

    def __init__(self, message: int) -> None:
        self.message = message
        self.events: list[dict[str, Any]] = []
        self.state = "running"
        self.answer = ""
        self.reason = ""
        self.ended = False
        self._taken_up = False

    def apply(self, event: dict[str, Any]) -> None:
        """Take in the next event of the log."""
        if event["id"] <= self.message:
            return
        self.events.append(event)
        cause = event.get("cause")
        if event.get("source") == "agent" and cause is not None and cause >= self.message:
            # What the agent does has the last event as its cause that it has seen.
            self._taken_up = True
        match event["type"]:
            case "AgentMessageAction":
                self.answer = event["content"]
            case "FinishAction" | "RejectAction":
                self.answer = event.get("message") or event.get("thought") or ""
            case "AgentStateChangedObservation":
                self._change_state(event)

    def _change_state(self, event: dict[str, Any]) -> None:
        self.state = event["state"]
        told = f"{event.get('reason') or ''} {event.get('hint') or ''}".strip()
        self.reason = told if self.state in _NOT_WELL else ""
        over = self.state in ENDED
        self.ended = over and (self._taken_up or self.state in _AT_ONCE)
