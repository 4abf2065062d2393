"""Delegates: what begins and ends their work. One loop asks whoever is at work."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import Literal

from ..errors import ModelError, OpenHandsError
from ..events import (
    Action,
    AgentDelegateAction,
    AgentDelegateObservation,
    AgentMessageAction,
    ErrorObservation,
    FinishAction,
    RejectAction,
)
from .log import Log

_log = logging.getLogger(__name__)


class Delegating:
    """Begins and ends the work of delegates, so that each task is answered once.

    Parameters
    ----------
    log
        Where the tasks are, and where their answers go.
    """

    def __init__(self, log: Log) -> None:
        self._log = log

    async def ask(self, ask: Callable[[], Awaitable[Action]]) -> Action | None:
        """The next action of whoever is at work; None where a delegate failed and was ended.

        Raises
        ------
        ModelError
            When the model cannot be asked: it is the same one for all.
        Exception
            Whatever the session's own agent fails with.
        """
        try:
            return await ask()
        except ModelError:
            raise
        except Exception as error:
            if not self._log.state.delegations:
                raise
            self._fail(error)
            return None

    def settle(self, action: Action) -> bool:
        """Begin or end a delegate's work, if `action` does; the turn then goes on.

        Parameters
        ----------
        action
            What the agent at work did last, as it is on the log.
        """
        delegations = self._log.state.delegations
        match action:
            case AgentDelegateAction():
                if not delegations or delegations[-1].action.id != action.id:
                    self._refuse(action)
                return True
            case _ if not delegations:
                return False
            case FinishAction():
                self._end(action.message)
            case RejectAction():
                self._end(action.message, "rejected")
            case AgentMessageAction(wait_for_response=True) if not _is_question(action):
                self._end(action.content)
            case _:
                return False
        return True

    def close(self, code: str, message: str) -> None:
        """End the work of all delegates, as it is."""
        for delegation in reversed(list(self._log.state.delegations)):
            self._log.answer(delegation.action, ErrorObservation(code=code, message=message))

    def _end(self, content: str, status: Literal["finished", "rejected"] = "finished") -> None:
        action = self._log.state.delegations[-1].action
        self._log.answer(
            action, AgentDelegateObservation(agent=action.agent, content=content, status=status)
        )

    def _refuse(self, action: AgentDelegateAction) -> None:
        message = "A delegate of a delegate cannot delegate further."
        hint = "Do this task yourself."
        self._log.answer(
            action, ErrorObservation(code="too_many_delegates", message=message, hint=hint)
        )

    def _fail(self, error: Exception) -> None:
        action = self._log.state.delegations[-1].action
        if not isinstance(error, OpenHandsError):
            _log.error(
                "The agent %s of session %s failed",
                action.agent,
                self._log.stream.session,
                exc_info=error,
            )
            reason = f"{type(error).__name__}: {error}"
            error = OpenHandsError("agent_failed", f"The agent {action.agent} failed ({reason}).")
        self._log.answer_error(action, error)


def _is_question(message: AgentMessageAction) -> bool:
    """Whether it was asked with a tool; what a model only says is its answer."""
    return message.llm is None or message.llm.tool_call_id is not None
