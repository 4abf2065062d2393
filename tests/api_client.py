"""Clients of a running server's REST API and WebSocket, for tests."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from typing import Any, NamedTuple

from tornado.httpclient import HTTPResponse
from tornado.httputil import HTTPHeaders
from tornado.websocket import WebSocketClientConnection
from waiting import PATIENCE

from openhands_jupyter.events import AgentThinkAction


class Answer(NamedTuple):
    """An answer of the API."""

    status: int
    body: Any
    headers: HTTPHeaders
    raw: bytes


def answer_of(response: HTTPResponse) -> Answer:
    """The answer, its body decoded when it is JSON."""
    is_json = response.headers.get("Content-Type", "").startswith("application/json")
    body = json.loads(response.body) if is_json and response.body else None
    return Answer(response.code, body, response.headers, response.body)


class Stream:
    """A client of the socket."""

    def __init__(self, connection: WebSocketClientConnection) -> None:
        self.connection = connection

    async def frame(self) -> dict[str, Any] | None:
        """The next frame; None when the server has closed the socket."""
        message = await asyncio.wait_for(self.connection.read_message(), PATIENCE)
        return None if message is None else json.loads(message)

    async def frames(self) -> AsyncIterator[dict[str, Any]]:
        """All frames until the server closes the socket."""
        while frame := await self.frame():
            yield frame

    async def until(self, wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """The first frame that is wanted; those before it are lost."""
        async for frame in self.frames():
            if wanted(frame):
                return frame
        raise AssertionError(f"closed with {self.connection.close_code} before it came")

    async def events(self, last_id: int) -> list[dict[str, Any]]:
        """The events up to `last_id`."""
        events: list[dict[str, Any]] = []
        while not events or events[-1]["id"] < last_id:
            events += (await self.until(lambda frame: frame["type"] == "events"))["events"]
        return events


def note(text: str) -> AgentThinkAction:
    """An event that makes nobody do anything."""
    return AgentThinkAction(source="agent", thought=text)
