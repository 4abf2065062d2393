"""What the person can do in which state of a session."""

from __future__ import annotations

from ..errors import Conflict, NotFound
from ..events import AgentState, Command, RewindAction, State, UndoAction

_COMMANDS: dict[Command, frozenset[AgentState]] = {
    "run": frozenset({"paused", "stopped", "error", "rate_limited"}),
    "pause": frozenset({"running", "rate_limited"}),
    "stop": frozenset({"running", "rate_limited", "awaiting_user_confirmation", "paused"}),
}
_UNDO: frozenset[AgentState] = frozenset(
    {"awaiting_user_input", "paused", "stopped", "finished", "rejected", "error"}
)


def require_waiting(state: State, action: int) -> None:
    """See to it that an action waits for the person's decision.

    Parameters
    ----------
    action
        Its id.

    Raises
    ------
    NotFound
        When there is no such event.
    Conflict
        When it does not wait.
    """
    if not 0 <= action <= state.last_id:
        raise NotFound("event_not_found", f"The session has no event {action}.")
    if action != state.pending_confirmation:
        raise Conflict(
            "confirmation_stale",
            f"Action {action} does not wait for a decision (any more).",
            "Look at the timeline: it was decided, stopped or overtaken by a message.",
        )


def require_command(state: State, command: Command, cells_running: bool) -> None:
    """See to it that the agent can be run, paused or stopped.

    Parameters
    ----------
    cells_running
        Whether cells that it has begun with run in a kernel of the person's.

    Raises
    ------
    Conflict
        When it is in no state for that.
    """
    left_running = state.running_command is not None or cells_running
    has_to_stop = command == "stop" and (left_running or bool(state.delegations))
    if not has_to_stop and state.agent_state not in _COMMANDS[command]:
        raise Conflict(
            "wrong_state",
            f"The session cannot {command} while it is {state.agent_state}.",
            "Send a message to give the agent something to do.",
        )


def require_undo(state: State) -> None:
    """See to it that a turn can be undone.

    Raises
    ------
    Conflict
        When the agent is at work, or something is being restored.
    """
    _require(state, "be undone", _UNDO)


def require_rewind(state: State) -> None:
    """See to it that one can go back; what runs is stopped for that.

    Raises
    ------
    Conflict
        When an action waits for approval, or something is being restored.
    """
    _require(state, "be rewound", _UNDO | {"running", "rate_limited"})


def _require(state: State, what: str, states: frozenset[AgentState]) -> None:
    restoring = any(
        isinstance(action, UndoAction | RewindAction) for action in state.open_calls.values()
    )
    if state.agent_state not in states or restoring:
        raise Conflict(
            "wrong_state",
            f"The session cannot {what} while it is {state.agent_state.replace('_', ' ')}.",
            "Stop the agent or decide on what waits for your approval, then try again.",
        )
