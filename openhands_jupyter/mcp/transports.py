"""The ways to a server, as the SDK has them, with limits; used in the MCP process only."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import httpx2
from mcp.client.sse import sse_client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from ..process_tree import program
from . import keeper
from .protocol import Launch

LONGEST = keeper.LONGEST
"""Bytes of a message."""

KEPT = 4000
"""Characters of a server's error output that are kept."""

CONNECT_TIMEOUT = 30.0
READ_TIMEOUT = 24 * 3600.0
"""Seconds; how long a call may take is said with the call."""


class Tail:
    """The end of a server's error output.

    Attributes
    ----------
    closed
        Set when the server has ended, and all that it wrote was read.
    """

    def __init__(self) -> None:
        self._parts: deque[str] = deque(maxlen=64)
        self.closed = anyio.Event()

    def add(self, text: str) -> None:
        """Take in what it wrote."""
        self._parts.append(text[-KEPT:])

    @property
    def text(self) -> str:
        """What is kept of it."""
        return "".join(self._parts)[-KEPT:].strip()


@asynccontextmanager
async def transport(launch: Launch, tail: Tail) -> AsyncGenerator[Any, None]:
    """The two streams of a connection; to be left by the task that entered it."""
    if launch.transport == "stdio":
        async with _stdio(launch, tail) as streams:
            yield streams
    elif launch.transport == "sse":
        async with sse_client(
            launch.url, launch.headers, CONNECT_TIMEOUT, READ_TIMEOUT, _http_client
        ) as streams:
            yield streams
    else:
        async with (
            _http_client(launch.headers) as client,
            streamable_http_client(
                launch.url, http_client=client, max_sse_event_size=LONGEST
            ) as streams,
        ):
            yield streams


@asynccontextmanager
async def _stdio(launch: Launch, tail: Tail) -> AsyncGenerator[Any, None]:
    command, *args = program(keeper.__name__, launch.command, *launch.args)
    parameters = StdioServerParameters(
        command=command,
        args=args,
        env={name: os.environ[name] for name in _PASSED_ON if name in os.environ} | launch.env,
        cwd=launch.cwd or None,
        encoding_error_handler="replace",
    )
    reading, writing = os.pipe()
    async with anyio.create_task_group() as group:
        group.start_soon(_read_errors, reading, tail)
        with os.fdopen(writing, "w") as errors:
            async with stdio_client(parameters, errors) as streams:
                # The server has its own; ours must not keep the pipe open.
                errors.close()
                yield streams


_PASSED_ON = ("LANG", "LC_ALL", "TMPDIR", "TZ", "XDG_RUNTIME_DIR")
"""Variables that a server gets besides those that the SDK passes on (HOME, PATH and the like)."""


async def _read_errors(descriptor: int, tail: Tail) -> None:
    os.set_blocking(descriptor, False)
    try:
        while True:
            await anyio.wait_readable(descriptor)
            data = os.read(descriptor, 65536)
            if not data:
                break
            tail.add(data.decode("utf-8", "replace"))
    finally:
        os.close(descriptor)
        tail.closed.set()


def _http_client(
    headers: dict[str, str] | None = None,
    timeout: httpx2.Timeout | None = None,
    auth: httpx2.Auth | None = None,
) -> httpx2.AsyncClient:
    timeout = timeout or httpx2.Timeout(CONNECT_TIMEOUT, read=READ_TIMEOUT)
    client = httpx2.AsyncClient(headers=headers, timeout=timeout, auth=auth)
    client.event_hooks = {"response": [_limit]}
    return client


async def _limit(response: httpx2.Response) -> None:
    """Let an answer that is read as a whole not grow without end; streams have limits of events."""
    if "text/event-stream" not in response.headers.get("content-type", ""):
        stream = response.stream
        assert isinstance(stream, httpx2.AsyncByteStream)
        response.stream = _Limited(stream)


class _Limited(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        left = LONGEST
        async for piece in self._stream:
            left -= len(piece)
            if left < 0:
                raise httpx2.ReadError(f"The answer is longer than {LONGEST // 2**20} MiB.")
            yield piece

    async def aclose(self) -> None:
        await self._stream.aclose()
