"""What the parts of the controller put on the session's log."""

from __future__ import annotations

import logging
import time

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
from ..events.limits import WORKING

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
        self._working_since: float | None = None

    def worked(self) -> float:
        """Seconds that the agent has worked in the session."""
        since = self._working_since
        now = 0.0 if since is None else time.monotonic() - since
        return self.state.limits.worked + now

    def append(self, action: Action) -> Action:
        """Put an action on the log; the result is what will be executed, with its id.

        The log may hold a blob or a mask in place of some text, so it is not what is executed.
        """
        action = msgspec.structs.replace(action, agent_path=self.state.agent_path)
        return msgspec.structs.replace(action, id=self.stream.append(action))

    def answer(self, action: Action, observation: Observation) -> None:
        """Put on the log what came of an action."""
        self.stream.append(
            msgspec.structs.replace(
                observation,
                cause=action.id,
                source="environment",
                agent_path=action.agent_path,
            )
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
        lost: float = 0.0,
        retry_in: float | None = None,
    ) -> None:
        """Say where the session stands; not that it goes on running.

        ``lost`` are seconds of work that an earlier process did not count.
        """
        if state == self.state.agent_state == "running":
            return
        worked = self.worked() + lost
        was_working = self._working_since is not None or lost > 0
        if state not in WORKING:
            self._working_since = None
        elif self._working_since is None:
            self._working_since = time.monotonic()
        self.stream.append(
            AgentStateChangedObservation(
                state=state,
                reason=reason,
                code=code,
                hint=hint,
                cause=cause,
                worked=round(worked, 3) if was_working and state not in WORKING else None,
                retry_in=retry_in,
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
