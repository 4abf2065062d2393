"""One task without a browser."""

from __future__ import annotations

import asyncio
import signal

from ..config import Config
from ..errors import Conflict
from ..events import AgentMessageAction, AgentStateChangedObservation, Event
from ..session import Session, SessionManager
from .terminal import Terminal, inert
from .timeline import Timeline

EXIT_DONE = 0
EXIT_ERROR = 1
EXIT_LIMIT = 2
EXIT_NEEDS_ANSWER = 3
EXIT_INTERRUPTED = 130

NOBODY_TO_ASK = "Nobody can be asked: there is no terminal, and the mode does not allow it."


class TaskRun:
    """Runs one task in a new session, prints its events, asks on the terminal.

    Parameters
    ----------
    config
        The settings in force; its root is the workspace.
    terminal
        Where to print and to ask.
    """

    def __init__(self, config: Config, terminal: Terminal) -> None:
        self._config = config
        self._terminal = terminal
        self._timeline = Timeline(terminal)
        self._last_message: AgentMessageAction | None = None
        self._interrupted = False

    async def run(self, task: str) -> int:
        """Do the task.

        Returns
        -------
        int
            The exit code.

        Raises
        ------
        OpenHandsError
            When it cannot begin.
        """
        manager = SessionManager(self._config)
        try:
            session = await manager.create(workspace=".")
            following = asyncio.ensure_future(self._follow(session, task))
            asyncio.get_running_loop().add_signal_handler(
                signal.SIGINT, self._interrupt, session, following
            )
            return await following
        except asyncio.CancelledError:
            return EXIT_INTERRUPTED
        finally:
            asyncio.get_running_loop().remove_signal_handler(signal.SIGINT)
            await manager.close()

    def _interrupt(self, session: Session, following: asyncio.Future[int]) -> None:
        """The first Ctrl-C stops the agent; a second, or one when nothing runs, ends at once."""
        again, self._interrupted = self._interrupted, True
        self._terminal.give_up_asking()
        try:
            if again:
                following.cancel()
            else:
                session.command("stop")
        except Conflict:
            following.cancel()

    async def _follow(self, session: Session, task: str) -> int:
        first = session.send_message(task)
        async for event in session.stream.events(after=first - 1):
            self._timeline.show(event)
            code = await self._react(session, event)
            if code is not None:
                self._terminal.print(
                    f"      Log: {self._config.sessions_folder / session.id / 'events.jsonl'}",
                    "dim",
                )
                return code
        return EXIT_ERROR

    async def _react(self, session: Session, event: Event) -> int | None:
        """Do what an event asks of the person; the exit code when it was the last."""
        if isinstance(event, AgentMessageAction):
            self._last_message = event
        if not isinstance(event, AgentStateChangedObservation):
            return None
        match event.state:
            case "finished":
                return EXIT_DONE
            case "error" | "rejected":
                return EXIT_ERROR
            case "paused":
                return EXIT_LIMIT
            case "stopped":
                return EXIT_INTERRUPTED
            case "awaiting_user_confirmation" if event.cause is not None:
                await self._decide(session, event.cause)
            case "awaiting_user_input":
                return await self._answer(session)
        return None

    async def _decide(self, session: Session, action_id: int) -> None:
        for reason in self._reasons(session, action_id):
            self._terminal.print(f"      ! {inert(reason)}", "yellow")
        if not self._terminal.can_ask:
            session.confirm(action_id, "reject", NOBODY_TO_ASK)
            return
        answer = await self._terminal.ask("      Approve? [y/N, or why not]")
        if self._interrupted:
            return
        if answer.lower() in ("y", "yes"):
            session.confirm(action_id, "approve")
        else:
            reason = "" if answer.lower() in ("", "n", "no") else answer
            session.confirm(action_id, "reject", reason)

    def _reasons(self, session: Session, action_id: int) -> list[str]:
        action = session.controller.state.open_calls.get(action_id)
        return action.risk.reasons if action and action.risk else []

    async def _answer(self, session: Session) -> int | None:
        """Let the person answer the agent's question, or go on where it only said something."""
        message = self._last_message
        is_question = message is not None and message.llm and message.llm.tool_name is not None
        if not self._terminal.can_ask:
            return EXIT_NEEDS_ANSWER if is_question else EXIT_DONE
        answer = await self._terminal.ask("      Your answer (empty to end):")
        if not answer:
            return EXIT_INTERRUPTED if self._interrupted else EXIT_DONE
        session.send_message(answer)
        return None
