"""A task and the verbs without a page: the kernel goes to the server of this machine itself."""

from __future__ import annotations

import json
import sys
import time
from typing import TYPE_CHECKING, Any

from ..errors import Conflict, OpenHandsError
from ..local_server import LocalServer, Refused
from .turn import Turn

if TYPE_CHECKING:
    from .conversation import Conversation
    from .options import Options
    from .task import Task

QUICK = 0.1
SLOW = 1.0
"""Seconds between two looks at the log: the longer nothing happens, the longer."""

PAGE = 200

NOBODY_TO_ASK = "Nobody can be asked here: the task was given without a page."
HOW_TO_APPROVE = (
    "      Refused, because nobody can be asked here. Run the cell in JupyterLab or Notebook to "
    "approve steps, or add --mode auto to let this task act without asking."
)


class TaskFailed(OpenHandsError):
    """The agent ended with an error."""

    def __init__(self, reason: str) -> None:
        super().__init__("task_failed", f"The agent ended with an error: {reason or 'no reason.'}")


class Direct:
    """What a person may ask for, carried out over the server's REST API."""

    def __init__(self, server: LocalServer) -> None:
        self._server = server

    def run(self, task: Task, options: Options, conversation: Conversation) -> None:
        """Do a task, print each step, and come back when it has ended.

        Raises
        ------
        TaskFailed
            When the agent ended with an error.
        Refused
            When the server does not do it.
        """
        session = self._session(options, conversation)
        conversation.session = session
        message = self._server.request(
            "POST", f"sessions/{session}/messages", {"content": task.prompt}
        )["id"]
        task.update(session=session, message=message, state="running")
        try:
            turn = self._follow(session, message)
        except KeyboardInterrupt:
            self.stop(session)
            task.update(state="stopped")
            raise KeyboardInterrupt from None
        task.update(state=turn.state, answer=turn.answer, reason=turn.reason, events=turn.events)
        if turn.state == "error":
            raise TaskFailed(turn.reason)

    def status(self, session: str) -> Any:
        """How a session is."""
        return self._server.request("GET", f"sessions/{session}")

    def list(self) -> Any:
        """All sessions."""
        return self._server.request("GET", "sessions")["sessions"]

    def stop(self, session: str) -> bool:
        """Stop the agent; False where there was nothing to stop."""
        try:
            self._server.request("POST", f"sessions/{session}/state", {"command": "stop"})
        except Refused as error:
            if error.status == 409:
                return False
            raise
        return True

    def undo(self, session: str) -> Any:
        """Take back the last turn; what came of it, as an event."""
        action = self._server.request("POST", f"sessions/{session}/undo", {})["id"]
        while True:
            for event in self._events(session, action):
                if event.get("cause") == action and event["type"] in _UNDONE:
                    return event
            time.sleep(QUICK)

    def models(self) -> Any:
        """The models there are."""
        return self._server.request("GET", "models")["models"]

    def config(self) -> Any:
        """The settings."""
        return self._server.request("GET", "settings")["settings"]

    def log(self, session: str, limit: int) -> Any:
        """The last events."""
        route = f"sessions/{session}/events"
        newest = self._server.request("GET", route, order="desc", limit=limit)["events"]
        return newest[::-1]

    def inject(self, session: str, content: str) -> int:
        """Say something to the agent while it works; the event's id."""
        if self.status(session)["state"] not in AT_WORK:
            raise Conflict(
                "not_at_work", "The agent is not at work.", "Give it a task with %%openhands."
            )
        body = {"content": content}
        id: int = self._server.request("POST", f"sessions/{session}/messages", body)["id"]
        return id

    def _session(self, options: Options, conversation: Conversation) -> str:
        """The session to do a task in, with the options of the task."""
        known = options.session or (None if options.new else conversation.session)
        model = options.model or conversation.model
        if known:
            try:
                return self._continue(known, options.mode, model)
            except Refused as error:
                if error.status != 404 or options.session:
                    raise
        body = {"mode": options.mode, "model": model, "workspace": options.workspace}
        given = {name: value for name, value in body.items() if value is not None}
        id: str = self._server.request("POST", "sessions", given)["id"]
        return id

    def _continue(self, session: str, mode: str | None, model: str | None) -> str:
        info = self.status(session)
        if mode is None and info["mode"] == "auto":
            # It was chosen for another cell.
            mode = "agent"
        changes = {"mode": mode, "model": model}
        wanted = {name: value for name, value in changes.items() if value not in (None, info[name])}
        if wanted:
            self._server.request("PATCH", f"sessions/{session}", wanted)
        return session

    def _follow(self, session: str, message: int) -> Turn:
        from ..cli.terminal import Terminal
        from ..cli.timeline import Timeline
        from ..events.codec import decode

        # In a notebook that nobody looks at, each flush would make an output of its own.
        terminal = Terminal(sys.stdin, sys.stdout, flush=False)
        timeline = Timeline(terminal)
        turn, pause, last = Turn(message), QUICK, message - 1
        while not turn.ended:
            events = self._events(session, last)
            for event in events:
                last = event["id"]
                timeline.show(decode(json.dumps(event).encode()))
                turn.apply(event)
                if _waits(event) and self._reject(session, event["cause"]):
                    terminal.print(HOW_TO_APPROVE, "yellow")
            sys.stdout.flush()
            pause = QUICK if events else min(SLOW, pause * 1.5)
            if not events:
                time.sleep(pause)
        return turn

    def _events(self, session: str, after: int) -> Any:
        route = f"sessions/{session}/events"
        return self._server.request("GET", route, after=after, limit=PAGE)["events"]

    def _reject(self, session: str, action: int) -> bool:
        """Say no to an action that waits; False where somebody else has decided."""
        body = {"decision": "reject", "reason": NOBODY_TO_ASK}
        try:
            self._server.request("POST", f"sessions/{session}/confirmations/{action}", body)
        except Refused as error:
            if error.status == 409:
                return False
            raise
        return True


AT_WORK = ("running", "rate_limited")
_UNDONE = ("FilesRestoredObservation", "ErrorObservation")


def _waits(event: dict[str, Any]) -> bool:
    return (
        event["type"] == "AgentStateChangedObservation"
        and event["state"] == "awaiting_user_confirmation"
        and event.get("cause") is not None
    )
