"""A Jupyter server with the extension in a process of its own, driven as a panel drives it."""

from __future__ import annotations

import os
import re
import statistics
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

from server_process import TOKEN, Server
from timed_model import TimedModel
from tornado.httpclient import HTTPRequest
from tornado.websocket import WebSocketClientConnection, websocket_connect
from waiting import wait_until

STATE = re.compile(rb'"type":"AgentStateChangedObservation".*?"state":"(\w+)"')
ENDS = (b"finished", b"error", b"paused", b"stopped", b"awaiting_user_confirmation")
SLOW_START = "sleep 5\n"
"""The person's .bashrc: what it takes must not matter."""


class Driven:
    """The server, over REST and sockets; `driven` starts it."""

    def __init__(self, server: Server, model: TimedModel) -> None:
        self._server = server
        self._model = model

    async def session(self) -> str:
        """A session without limits, which repeats itself as much as it likes."""
        made = await self._send("POST", "sessions", {"mode": "agent"})
        changes = {"step_limit": 100_000, "stuck_detection": False}
        await self._send("PATCH", f"sessions/{made['id']}", changes)
        return str(made["id"])

    async def connect(
        self, session: str, hear: Callable[[bytes], None] = lambda frame: None
    ) -> WebSocketClientConnection:
        """Watch a session; `hear` gets each frame as it comes."""
        address = self._server._address.replace("http", "ws", 1)
        request = HTTPRequest(
            f"{address}openhands/api/sessions/{session}/stream",
            headers={"Authorization": f"token {TOKEN}"},
        )

        def take(frame: str | bytes | None) -> None:
            if frame is not None:
                hear(frame.encode() if isinstance(frame, str) else frame)

        return await websocket_connect(request, on_message_callback=take)

    async def say(self, session: str, text: str) -> None:
        """Send a message."""
        await self._send("POST", f"sessions/{session}/messages", {"content": text})

    async def run(self, kind: str, steps: int, name: str) -> tuple[list[float], str]:
        """Do a task while one client watches; the gaps at the model server, and the session."""
        session = await self.session()
        states: list[bytes] = []
        client = await self.connect(session, lambda frame: states.extend(STATE.findall(frame)))
        await self.say(session, f"[{kind} {steps} {name}]")
        await wait_until(lambda: states and states[-1] in ENDS, 600)
        client.close()
        if states[-1] != b"finished":
            raise RuntimeError(f"the session ended as {states[-1]!r}; the log: {self._tail()}")
        return self._model.gaps(name), session

    async def took(self, session: str) -> list[float]:
        """Milliseconds from each action of a session to what answers it, by the log."""
        events: list[dict[str, Any]] = []
        while page := (await self._send("GET", _page(session, len(events) - 1)))["events"]:
            events += page
        asked = {
            e["id"]: e for e in events if e["type"] in ("CmdRunAction", "IPythonRunCellAction")
        }
        return [
            (_time(event) - _time(asked[event["cause"]])) * 1000
            for event in events
            if event.get("cause") in asked and event["type"].endswith("OutputObservation")
        ]

    async def _send(self, method: str, path: str, body: Any = None) -> Any:
        answer = await self._server.send(method, path, body)
        if answer.status >= 300:
            raise RuntimeError(f"{method} {path}: {answer.status} {answer.body}")
        return answer.body

    def _tail(self) -> str:
        return self._server.log.read_text()[-2000:]


def _page(session: str, after: int) -> str:
    return f"sessions/{session}/events?limit=1000&after={after}"


def _time(event: dict[str, Any]) -> float:
    return datetime.fromisoformat(event["time"]).timestamp()


@asynccontextmanager
async def driven(model: TimedModel) -> AsyncIterator[Driven]:
    """Start a server, and have it do one task, so that all that loads is loaded."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "home").mkdir()
        (folder / "home" / ".bashrc").write_text(SLOW_START)
        os.environ["HOME"] = str(folder / "home")
        server = Server(folder, model)  # type: ignore[arg-type]
        (server.root / "a.txt").write_text("hello\nworld\n")
        try:
            await server.start()
            ours = Driven(server, model)
            # No prompt of these tasks is too long.
            await ours._send("PUT", "settings", {"context_window": 100_000_000})
            await ours.run("mix", 6, "warm")
            yield ours
        finally:
            server.end()


def growth(gaps: list[float]) -> float:
    """Microseconds that a step takes longer than the one before, over a long task."""
    share = max(len(gaps) // 25, 1)
    early, late = gaps[share : 3 * share], gaps[-2 * share :]
    difference = statistics.median(late) - statistics.median(early)
    return difference * 1000 / (len(gaps) - 3 * share)
