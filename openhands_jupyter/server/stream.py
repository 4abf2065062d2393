"""The WebSocket that a session is watched through: first what was, then what comes."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import msgspec
from jupyter_server.auth.decorator import ws_authenticated
from jupyter_server.base.websocket import WebSocketMixin
from tornado.websocket import WebSocketClosedError, WebSocketHandler

from .base import JsonErrors, allowed
from .bodies import StreamQuery

if TYPE_CHECKING:
    from ..session import Session

HEARTBEAT = 20.0
"""Seconds; the client takes more than twice this silence for a dead connection."""
FRAME_SIZE = 1024 * 1024
"""Bytes that events are gathered up to; proxies on the way refuse frames of 10 MB and more."""
SESSION_GONE = 4404
GOING_AWAY = 1001
INTERNAL_ERROR = 1011


class StreamHandler(WebSocketMixin, WebSocketHandler, JsonErrors):
    """Sends a session's events, live text and changes; what a client sends is ignored.

    Each connection has a position in the log and waits for its own client only: one that is slow
    falls behind, catches up from the log, and delays nobody.
    """

    _session: Session
    _after: int
    _task: asyncio.Task[None] | None = None

    def set_default_headers(self) -> None:
        """Leave out the headers of JSON answers, which an upgrade has no use for."""

    def get_compression_options(self) -> dict[str, Any] | None:
        """The server's own choice."""
        options: dict[str, Any] | None = self.settings.get("websocket_compression_options")
        return options

    @allowed("read", authenticated=ws_authenticated)
    async def get(self, session_id: str) -> None:
        """Open the session, then the socket: an error is an answer and not a broken socket."""
        self._after = self.query(StreamQuery).after
        self._session = await self.session(session_id)
        await super().get()

    def open(self, *args: str, **kwargs: str) -> None:
        """Begin to send (called by Tornado)."""
        super().open(*args, **kwargs)
        self.services.sessions.prewarm(self._session)
        self._task = asyncio.create_task(self._send_all())

    def on_message(self, message: str | bytes) -> None:
        """Ignore what the client sends."""

    def on_close(self) -> None:
        """Stop sending (called by Tornado)."""
        if self._task:
            self._task.cancel()
        super().on_close()

    async def _send_all(self) -> None:
        code = INTERNAL_ERROR
        try:
            hello, told = self._session.info(), self._session.keeping.changes
            await self._send("hello", session=hello, last_id=self._session.stream.last_id)
            async with asyncio.TaskGroup() as group:
                others = [
                    group.create_task(self._send_live_text()),
                    group.create_task(self._send_changes(told)),
                    group.create_task(self._send_heartbeats()),
                ]
                await self._send_events()
                for task in others:
                    task.cancel()
            code = SESSION_GONE if self._session.id in self.services.gone else GOING_AWAY
        except* WebSocketClosedError:
            self.log.debug("The client of a stream went away")
        except* Exception:
            self.log.exception("The stream of session %s broke off", self._session.id)
        self.close(code)

    async def _send_events(self) -> None:
        """Send the log until the session is closed; the events were encoded when they came."""
        async for lines in self._session.stream.subscribe(self._after):
            for part in parts(lines):
                await self.write_message(b'{"type":"events","events":[%b]}' % b",".join(part))

    async def _send_live_text(self) -> None:
        async for items in self._session.stream.live.subscribe():
            await self._send("live", items=items)

    async def _send_changes(self, told: int) -> None:
        keeping = self._session.keeping
        # What changed while the hello was on its way was reported to nobody. Not told by comparing:
        # what an agent at work has used of its time is never twice the same.
        while told != keeping.changes:
            told = keeping.changes
            await self._send("session", session=self._session.info())
        async for info in keeping.changed():
            await self._send("session", session=info)

    async def _send_heartbeats(self) -> None:
        while True:
            await asyncio.sleep(HEARTBEAT)
            await self._send("heartbeat", last_id=self._session.stream.last_id)

    async def _send(self, kind: str, **content: Any) -> None:
        """Send one frame, and wait until the connection has taken it."""
        await self.write_message(msgspec.json.encode({"type": kind, **content}))


def parts(lines: Sequence[bytes]) -> Iterator[Sequence[bytes]]:
    """`lines` in lists of up to `FRAME_SIZE` bytes, or of a single line that is longer."""
    first = size = 0
    for index, line in enumerate(lines):
        if index > first and size + len(line) > FRAME_SIZE:
            yield lines[first:index]
            first, size = index, 0
        size += len(line)
    yield lines[first:]
