"""The HTTP side: plays scripts, keeps a log of the requests, and tells when a client hangs up.

Besides ``/v1/chat/completions``, Anthropic's ``/v1/messages`` and ``/v1/models`` it serves, for
tests in another process, ``PUT /__script`` (a list of scripts), ``GET /__log`` and
``DELETE /__log``.
"""

from __future__ import annotations

import asyncio
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, Literal

import msgspec
from tornado.httpserver import HTTPServer
from tornado.iostream import StreamClosedError
from tornado.netutil import bind_sockets
from tornado.routing import Rule
from tornado.web import Application, RequestHandler, url
from waiting import PATIENCE

from . import anthropic, wire
from .script import ALL_PLAYED, Script, Turn

Outcome = Literal["", "answered", "fault", "disconnected"]


class Request(msgspec.Struct, kw_only=True):
    """One request for a completion.

    Attributes
    ----------
    headers
        With names in small letters.
    pieces
        Pieces of the answer sent so far.
    outcome
        How it ended; ``disconnected`` when the client hung up before the end.
    received, ended
        On the monotonic clock, in seconds.
    """

    number: int
    path: str
    headers: dict[str, str]
    body: dict[str, Any]
    pieces: int = 0
    outcome: Outcome = ""
    received: float = 0.0
    ended: float | None = None

    def end(self, outcome: Outcome) -> None:
        """Note how the request ended; what was noted first stands."""
        if not self.outcome:
            self.outcome = outcome
            self.ended = time.monotonic()


class ModelServer:
    """A model server on a port of its own, in a thread of its own.

    Parameters
    ----------
    port
        0 for any free one.
    scripts
        What to play; the first script that is meant for a conversation is played.
    """

    def __init__(self, *scripts: Script, port: int = 0) -> None:
        self.scripts = list(scripts)
        self.requests: list[Request] = []
        self._sockets = bind_sockets(port, "127.0.0.1")
        self.port: int = self._sockets[0].getsockname()[1]
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="model-server", daemon=True)
        self._stop = asyncio.Event()

    @property
    def url(self) -> str:
        """The address to give as ``base_url``."""
        return f"http://127.0.0.1:{self.port}/v1"

    def play(self, *turns: Turn, when: str = "", final: Turn | None = None) -> None:
        """Play these turns; see `Script`. Without ``when`` they replace everything before."""
        script = Script(turns=list(turns), when=when, final=final or ALL_PLAYED)
        kept = [other for other in self.scripts if other.when != when] if when else []
        self.scripts = [script, *kept]

    def wait_for(
        self, condition: Callable[[list[Request]], bool], timeout: float = PATIENCE
    ) -> None:
        """Block until the log of requests meets a condition.

        Raises
        ------
        TimeoutError
            When it does not in time.
        """
        deadline = time.monotonic() + timeout
        while not condition(list(self.requests)):
            if time.monotonic() > deadline:
                seen = [(r.number, r.outcome, r.pieces) for r in self.requests]
                raise TimeoutError(f"The model server has seen only {seen}.")
            time.sleep(0.01)

    def start(self) -> None:
        """Begin to serve."""
        self._thread.start()

    def close(self) -> None:
        """Stop serving, and end answers that are under way."""
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(timeout=10)

    def join(self) -> None:
        """Wait until the server ends."""
        self._thread.join()

    def _run(self) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self._serve())

    async def _serve(self) -> None:
        routes: list[Rule] = [
            url(r"/v1/chat/completions", CompletionHandler, {"server": self}),
            url(r"/v1/messages", MessagesHandler, {"server": self}),
            url(r"/v1/models", ModelsHandler),
            url(r"/__script", ScriptHandler, {"server": self}),
            url(r"/__log", LogHandler, {"server": self}),
        ]
        http = HTTPServer(Application(routes, log_function=lambda handler: None))
        http.add_sockets(self._sockets)
        await self._stop.wait()
        http.stop()
        await http.close_all_connections()

    def next_turn(self, body: dict[str, Any]) -> Turn:
        """Take the next turn of the first script that is meant for the conversation."""
        asked = (m["content"] for m in body["messages"] if m["role"] == "user")
        message = next(asked, "")
        if isinstance(message, list):
            message = "\n".join(part.get("text", "") for part in message)
        for script in self.scripts:
            if turn := script.next_turn(message):
                return turn
        return Turn(status=500, message="No script is meant for this conversation.")


class CompletionHandler(RequestHandler):
    """Answers a request with the next turn."""

    def initialize(self, server: ModelServer) -> None:
        self.server = server
        self.gone = asyncio.Event()

    def on_connection_close(self) -> None:
        self.gone.set()
        self.record.end("disconnected")

    async def post(self) -> None:
        body = msgspec.json.decode(self.request.body)
        self.record = Request(
            number=len(self.server.requests),
            path=self.request.path,
            headers={name.lower(): value for name, value in self.request.headers.get_all()},
            body=body,
            received=time.monotonic(),
        )
        self.server.requests.append(self.record)
        turn = self.server.next_turn(body)
        try:
            await self._pause(turn.delay)
            await self._answer(turn, body)
        except StreamClosedError:
            # Where a write finds it out, nobody else tells.
            self.record.end("disconnected")

    async def _answer(self, turn: Turn, body: dict[str, Any]) -> None:
        if turn.fault in ("reset", "hang") and turn.fault_after == 0:
            await self._fail(turn)
        elif turn.status != 200:
            self.set_status(turn.status)
            if turn.retry_after:
                self.set_header("Retry-After", turn.retry_after)
            await self.finish(wire.error(turn))
            self.record.end("answered")
        elif turn.page:
            await self.finish(turn.page)
            self.record.end("answered")
        elif body.get("stream") and turn.streams:
            await self._stream(turn, body)
        else:
            await self._whole(turn, body)

    async def _whole(self, turn: Turn, body: dict[str, Any]) -> None:
        answer = msgspec.json.encode(wire.completion(turn, self.record.number, body["model"]))
        self.set_header("Content-Type", "application/json")
        self.set_header("Content-Length", len(answer))
        if turn.fault:
            self.write(answer[: len(answer) // 2])
            await self.flush()
            await self._fail(turn)
        else:
            await self.finish(answer)
            self.record.end("answered")

    async def _stream(self, turn: Turn, body: dict[str, Any]) -> None:
        self.set_header("Content-Type", "text/event-stream")
        self.set_header("Cache-Control", "no-cache")
        for event, is_piece in self._events(turn, body):
            if turn.fault and self.record.pieces >= turn.fault_after:
                return await self._fail(turn)
            self.write(event)
            await self.flush()
            if is_piece:
                self.record.pieces += 1
                await self._pause(turn.pace)
        await self.finish()
        self.record.end("answered")

    def _events(self, turn: Turn, body: dict[str, Any]) -> Iterator[tuple[bytes, bool]]:
        with_usage = bool((body.get("stream_options") or {}).get("include_usage"))
        return wire.stream(turn, self.record.number, body["model"], with_usage)

    def _error(self, turn: Turn) -> bytes:
        return wire.error_event(turn)

    async def _fail(self, turn: Turn) -> None:
        if turn.fault == "hang":
            await self.gone.wait()
            return
        self.record.end("fault")
        if turn.fault == "error":
            self.write(self._error(turn))
        if turn.fault in ("end", "error"):
            await self.finish()
            return
        stream = self.detach()
        if turn.fault == "reset":
            no_linger = struct.pack("ii", 1, 0)
            stream.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, no_linger)
        stream.close()

    async def _pause(self, seconds: float) -> None:
        """Wait, unless the client hangs up."""
        if seconds:
            with suppress(TimeoutError):
                await asyncio.wait_for(self.gone.wait(), seconds)
        if self.gone.is_set():
            raise StreamClosedError


class MessagesHandler(CompletionHandler):
    """Answers as Anthropic does."""

    def _events(self, turn: Turn, body: dict[str, Any]) -> Iterator[tuple[bytes, bool]]:
        return anthropic.stream(turn, self.record.number, body["model"])

    def _error(self, turn: Turn) -> bytes:
        return anthropic.error_event(turn)


class ModelsHandler(RequestHandler):
    """Lists the one model."""

    def get(self) -> None:
        self.write({"object": "list", "data": [{"id": "scripted", "object": "model"}]})


class ScriptHandler(RequestHandler):
    """Takes new scripts."""

    def initialize(self, server: ModelServer) -> None:
        self.server = server

    def put(self) -> None:
        self.server.scripts = msgspec.json.decode(self.request.body, type=list[Script])
        self.set_status(204)


class LogHandler(RequestHandler):
    """Shows and clears the log of requests."""

    def initialize(self, server: ModelServer) -> None:
        self.server = server

    def get(self) -> None:
        self.set_header("Content-Type", "application/json")
        self.write(msgspec.json.encode(self.server.requests))

    def delete(self) -> None:
        self.server.requests.clear()
        self.set_status(204)
