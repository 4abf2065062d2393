"""What the parts of the controller put on the session's log."""

from __future__ import annotations

import logging

import msgspec

from ..errors import OpenHandsError
from ..events import (
    Action,
    AgentState,
    AgentStateChangedObservation,
    ErrorObservation,
    EventStream,
    Observation,
    State,
)

_log = logging.getLogger(__name__)


class Log:
    """Appends actions, their answers and changes of state.

    Parameters
    ----------
    stream
        The session's log.
    state
        The fold of it; kept current by the controller.
    """

    def __init__(self, stream: EventStream, state: State) -> None:
        self.stream = stream
        self.state = state

    def append(self, action: Action) -> Action:
        """Put an action on the log; the result is what will be executed, with its id.

        The log may hold a blob or a mask in place of some text, so it is not what is executed.
        """
        return msgspec.structs.replace(action, id=self.stream.append(action))

    def answer(self, action: Action, observation: Observation) -> None:
        """Put on the log what came of an action."""
        self.stream.append(
            msgspec.structs.replace(observation, cause=action.id, source="environment")
        )

    def answer_error(self, action: Action, error: OpenHandsError) -> None:
        """Put on the log why nothing came of an action."""
        self.answer(action, error_observation(error))

    def set_state(
        self,
        state: AgentState,
        reason: str = "",
        *,
        code: str = "",
        hint: str = "",
        cause: int | None = None,
    ) -> None:
        """Say where the session stands; not that it goes on running."""
        if state == self.state.agent_state == "running":
            return
        self.stream.append(
            AgentStateChangedObservation(
                state=state, reason=reason, code=code, hint=hint, cause=cause
            )
        )

    def fail(self, error: OpenHandsError) -> None:
        """Say that a turn failed, if the log can still be written."""
        try:
            self.set_state("error", error.message, code=error.code, hint=error.hint)
        except (OSError, OpenHandsError):
            _log.exception("Session %s cannot write its log", self.stream.session)


def error_observation(error: OpenHandsError) -> ErrorObservation:
    """An error as an event."""
    return ErrorObservation(code=error.code, message=error.message, hint=error.hint)
