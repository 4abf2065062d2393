"""The server's end of the stream to agentd."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from collections.abc import Callable
from typing import Any

import msgspec

from ..errors import OpenHandsError

LONGEST_FRAME = 80_000_000
"""Bytes; what is inside the sandbox is not trusted, and a longer frame ends it."""

OnText = Callable[[str], None]
OnEvent = Callable[[str, dict[str, Any]], None]


class SandboxDied(Exception):
    """The sandbox ended while something was asked of it."""


class _Error(msgspec.Struct):
    code: str
    message: str
    hint: str = ""


class _Frame(msgspec.Struct):
    id: int | None = None
    text: str | None = None
    result: Any = None
    error: _Error | None = None
    event: str | None = None
    params: dict[str, Any] = {}


class _Request:
    def __init__(self, on_text: OnText | None) -> None:
        self.answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self.on_text = on_text


class Channel:
    """Requests to agentd, many at a time, over a connected socket.

    Parameters
    ----------
    on_event
        Told of agentd's events.
    on_end
        Called when the stream ended, which is when the sandbox did.

    Attributes
    ----------
    on_tunnel
        Given the frames that are not JSON; see `agentd.tunnel`.
    """

    def __init__(self, on_event: OnEvent, on_end: Callable[[], None]) -> None:
        self._on_event = on_event
        self._on_end = on_end
        self.on_tunnel: Callable[[bytes], None] | None = None
        self._requests: dict[int, _Request] = {}
        self._numbers = itertools.count(1)
        self._decoder = msgspec.json.Decoder(_Frame)
        self._writer: asyncio.StreamWriter | None = None
        self._reading: asyncio.Task[None] | None = None

    def open(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Use this stream, which the channel then owns."""
        self._writer = writer
        self._reading = asyncio.create_task(self._read(reader))

    async def request(
        self, method: str, params: dict[str, Any], on_text: OnText | None = None
    ) -> Any:
        """Ask agentd for something.

        Parameters
        ----------
        method, params
            As in `openhands_jupyter.runtime.agentd.server`.
        on_text
            Called with the output as it comes.

        Returns
        -------
        Any
            The answer, which is to be checked: the sandbox is not trusted.

        Raises
        ------
        OpenHandsError
            When agentd answers with an error.
        SandboxDied
            When the sandbox ends before the answer.
        """
        if self._writer is None or self._reading is None or self._reading.done():
            raise SandboxDied
        number = next(self._numbers)
        request = self._requests[number] = _Request(on_text)
        body = msgspec.json.encode({"id": number, "method": method, "params": params})
        try:
            self.send(body)
            with contextlib.suppress(ConnectionError):
                await self._writer.drain()
            return await request.answer
        finally:
            self._requests.pop(number, None)

    def send(self, body: bytes) -> None:
        """Send a frame; nothing happens before the stream is there and after it has gone."""
        if self._writer is not None and not self._writer.is_closing():
            self._writer.write(len(body).to_bytes(4, "big") + body)

    async def close(self) -> None:
        """Hang up, which ends the sandbox."""
        if self._writer is not None:
            self._writer.close()
            # Also what TLS has to say of a peer that still sends.
            with contextlib.suppress(OSError):
                await self._writer.wait_closed()
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.gather(self._reading, return_exceptions=True)

    async def _read(self, reader: asyncio.StreamReader) -> None:
        try:
            while True:
                size = int.from_bytes(await reader.readexactly(4), "big")
                if size > LONGEST_FRAME:
                    break
                body = await reader.readexactly(size)
                if self.on_tunnel is not None and body.startswith(b"\0"):
                    self.on_tunnel(body)
                else:
                    self._dispatch(self._decoder.decode(body))
        except (asyncio.IncompleteReadError, ConnectionError, msgspec.DecodeError):
            pass
        finally:
            for request in self._requests.values():
                if not request.answer.done():
                    request.answer.set_exception(SandboxDied())
            self._on_end()

    def _dispatch(self, frame: _Frame) -> None:
        if frame.event is not None:
            self._on_event(frame.event, frame.params)
            return
        request = self._requests.get(frame.id) if frame.id is not None else None
        if request is None or request.answer.done():
            return
        if frame.text is not None:
            if request.on_text is not None:
                request.on_text(frame.text)
        elif frame.error is not None:
            error = frame.error
            request.answer.set_exception(OpenHandsError(error.code, error.message, error.hint))
        else:
            request.answer.set_result(frame.result)
