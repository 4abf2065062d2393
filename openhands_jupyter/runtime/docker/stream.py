"""The stream to a process in a container.

Without a terminal, Docker puts its output into frames: the kind in one byte (1 for standard
output, 2 for standard error), three bytes of zero, four bytes of length, most significant first;
see "Attach to a container" in the reference of the Docker Engine API. Its input has none. Both pass
over a connection that was an HTTP request's: Docker's answer to it ends with an empty line.
"""

from __future__ import annotations

import asyncio
import http.client
import io
import json
from collections.abc import Callable

from .endpoint import Endpoint
from .refusals import refused

Stream = tuple[asyncio.StreamReader, asyncio.StreamWriter]

ANSWER_TIMEOUT = 10.0
_END_OF_ANSWER = b"\r\n\r\n"
_STREAMS = (101, 200)
_HEAD = 8
_STDOUT = 1


class _Frames(asyncio.StreamReaderProtocol):
    """Passes on what the process wrote, without the answer before it and without the frames."""

    def __init__(
        self,
        reader: asyncio.StreamReader,
        loop: asyncio.AbstractEventLoop,
        on_stderr: Callable[[bytes], None],
        on_end: Callable[[], None],
    ) -> None:
        super().__init__(reader, loop=loop)
        self.answered: asyncio.Future[tuple[int, int]] = loop.create_future()
        """Status and length of the answer before it."""
        self._answer = b""
        self._framed = True
        self._on_stderr = on_stderr
        self._on_end = on_end
        self._head = bytearray()
        self._left = 0

    def data_received(self, data: bytes) -> None:
        if not self.answered.done():
            self._answer, found, data = (self._answer + data).partition(_END_OF_ANSWER)
            if found:
                status, length = _parsed(self._answer)
                self._framed = status in _STREAMS
                self.answered.set_result((status, length))
        if self._framed:
            self._take(data)
        else:
            super().data_received(data)

    def connection_lost(self, error: Exception | None) -> None:
        super().connection_lost(error)
        if not self.answered.done():
            self.answered.set_exception(ConnectionError("Docker hung up."))

    def _take(self, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            if self._left == 0:
                missing = _HEAD - len(self._head)
                self._head += rest[:missing]
                rest = rest[missing:]
                if len(self._head) < _HEAD:
                    return
                self._left = int.from_bytes(self._head[4:], "big")
                if self._left == 0:
                    self._head.clear()
                continue
            piece = bytes(rest[: self._left])
            rest = rest[self._left :]
            self._left -= len(piece)
            if self._head[0] == _STDOUT:
                super().data_received(piece)
            else:
                self._on_stderr(piece)
            if self._left == 0:
                self._head.clear()

    def eof_received(self) -> bool | None:
        self._on_end()
        return super().eof_received()


async def open_stream(
    endpoint: Endpoint,
    path: str,
    on_stderr: Callable[[bytes], None],
    on_end: Callable[[], None],
    body: bytes = b"",
) -> Stream:
    """Have Docker turn a request into a stream to a process.

    Parameters
    ----------
    endpoint
        Where the daemon is.
    path
        What is asked for, with the query.
    on_stderr
        Told what comes on the standard error.
    on_end
        Told when Docker hangs up.
    body
        What goes with the request, as JSON.

    Returns
    -------
    tuple
        The process's standard output, and its standard input.

    Raises
    ------
    BackendUnavailable
        When the daemon does not do it.
    OSError
        When it cannot be reached.
    """
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(loop=loop)

    def protocol() -> _Frames:
        return _Frames(reader, loop, on_stderr, on_end)

    connected: tuple[asyncio.Transport, _Frames]
    if endpoint.is_here:
        connected = await loop.create_unix_connection(protocol, endpoint.socket)
    else:
        tls = await asyncio.to_thread(endpoint.ssl_context)
        connected = await loop.create_connection(protocol, *endpoint.address, ssl=tls)
    transport, frames = connected
    head = (
        f"POST {path} HTTP/1.1",
        "Host: docker",
        "Connection: Upgrade",
        "Upgrade: tcp",
        "Content-Type: application/json",
        f"Content-Length: {len(body)}",
    )
    try:
        transport.write("\r\n".join(head).encode() + _END_OF_ANSWER + body)
        async with asyncio.timeout(ANSWER_TIMEOUT):
            status, length = await frames.answered
            if status not in _STREAMS:
                raise refused(_explanation(await reader.read(length)))
    except BaseException:
        transport.abort()
        raise
    return reader, asyncio.StreamWriter(transport, frames, reader, loop)


def _parsed(answer: bytes) -> tuple[int, int]:
    first, _, rest = answer.partition(b"\r\n")
    headers = http.client.parse_headers(io.BytesIO(rest))
    # Without a length, all that comes.
    return int(first.split(b" ")[1]), int(headers.get("Content-Length", -1))


def _explanation(body: bytes) -> str:
    """Docker says it as it is, Podman as JSON."""
    try:
        return str(json.loads(body)["message"])
    except (ValueError, KeyError, TypeError):
        return body.decode("utf-8", "replace").strip()
