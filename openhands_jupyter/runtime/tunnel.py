"""Connections between this machine and a sandbox that shares no files with it, over the channel.

Kernels are reached over ZeroMQ's ipc as in every sandbox: their sockets are listened at here, and
what comes is passed on to those inside. See `agentd.tunnel` for the protocol.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable
from typing import Any

import msgspec

from .agentd.tunnel import PIECE, WINDOW, frame, parts
from .rundir import RunDirectory

MOST_CONNECTIONS = 256
"""That the sandbox may open to the proxy at a time."""


class _Over(Exception):
    """The other side has closed the connection."""


class Tunnel:
    """The server's end.

    Parameters
    ----------
    send
        Sends a frame on the channel.
    run_directory
        The sandbox's, here.
    inside
        The private folder inside that stands for it.
    """

    def __init__(
        self, send: Callable[[bytes], None], run_directory: RunDirectory, inside: str
    ) -> None:
        self._send = send
        self._run_directory = run_directory
        self._inside = inside
        self._numbers = itertools.count(0, 2)
        self._links: dict[int, _Link] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._listeners: dict[str, asyncio.Server] = {}

    async def kernel(self, kernel: str, command: list[str]) -> dict[str, Any]:
        """Have a kernel's sockets answer here; how agentd is to be asked to start it.

        Parameters
        ----------
        kernel
            Its id, after which its connection file is called.
        command
            Its command line, with the connection file that is here.
        """
        outside = self._run_directory.connections / f"{kernel}.json"
        connection = msgspec.json.decode(outside.read_bytes())
        for name in ("shell", "iopub", "stdin", "control", "hb"):
            await self._listen(f"{kernel}-{connection[f'{name}_port']}")
        connection["ip"] = f"{self._inside}/{kernel}"
        file = f"{self._inside}/{kernel}.json"
        return {
            "kernel": kernel,
            "command": [file if part == str(outside) else part for part in command],
            "connection": {"path": file, "content": msgspec.json.encode(connection).decode()},
        }

    def receive(self, body: bytes) -> None:
        """Take a frame that came.

        Raises
        ------
        ConnectionError
            When it is against the protocol.
        """
        kind, number, rest = parts(body)
        if kind == b"o" and number % 2 and number not in self._links:
            # It has a link at once, so that what comes meanwhile is kept for it.
            self._start(self._to_proxy(self._link(number)))
        elif number in self._links:
            self._links[number].take(kind, rest)

    async def close(self) -> None:
        """End all connections."""
        for listener in self._listeners.values():
            listener.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _listen(self, name: str) -> None:
        if name in self._listeners:
            return

        def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            link = self._link(next(self._numbers))
            self._send(frame(b"o", link.number, f"{self._inside}/{name}".encode()))
            self._start(self._run(link, reader, writer))

        path = self._run_directory.sockets / name
        self._listeners[name] = await asyncio.start_unix_server(accept, path)

    def _link(self, number: int) -> _Link:
        link = self._links[number] = _Link(number, self._send)
        return link

    async def _to_proxy(self, link: _Link) -> None:
        try:
            if len(self._links) > MOST_CONNECTIONS:
                raise ConnectionError
            opened = await asyncio.open_unix_connection(self._run_directory.proxy)
        except OSError:
            self._send(frame(b"c", link.number))
            del self._links[link.number]
        else:
            await self._run(link, *opened)

    async def _run(
        self, link: _Link, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        try:
            await link.run(reader, writer)
        finally:
            writer.close()
            self._send(frame(b"c", link.number))
            del self._links[link.number]

    def _start(self, running: Any) -> None:
        task = asyncio.ensure_future(running)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


class _Link:
    """One connection.

    Attributes
    ----------
    number
        By which both sides know it.
    """

    def __init__(self, number: int, send: Callable[[bytes], None]) -> None:
        self.number = number
        self._send = send
        self._incoming: asyncio.Queue[tuple[bytes, bytes]] = asyncio.Queue()
        self._credit = WINDOW
        self._more_credit = asyncio.Event()
        self._granted = WINDOW

    def take(self, kind: bytes, rest: bytes) -> None:
        """What the sandbox says of it."""
        if kind == b"a":
            self._credit += int.from_bytes(rest, "big")
            self._more_credit.set()
            return
        self._granted -= len(rest)
        if self._granted < 0 or self._incoming.qsize() > WINDOW // 16:
            raise ConnectionError("The sandbox sends more than it may.")
        self._incoming.put_nowait((kind, rest))

    async def run(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Pass on what comes, until both sides have ended."""
        try:
            async with asyncio.TaskGroup() as both:
                both.create_task(self._outward(reader))
                both.create_task(self._inward(writer))
        except* (ConnectionError, _Over):
            pass

    async def _outward(self, reader: asyncio.StreamReader) -> None:
        """From here into the sandbox."""
        while piece := await reader.read(PIECE):
            while self._credit < len(piece):
                self._more_credit.clear()
                await self._more_credit.wait()
            self._credit -= len(piece)
            self._send(frame(b"d", self.number, piece))
        self._send(frame(b"e", self.number))

    async def _inward(self, writer: asyncio.StreamWriter) -> None:
        """From the sandbox to here."""
        while True:
            kind, data = await self._incoming.get()
            if kind == b"c":
                raise _Over
            if kind == b"e":
                writer.write_eof()
                return
            writer.write(data)
            await writer.drain()
            self._granted += len(data)
            self._send(frame(b"a", self.number, len(data).to_bytes(4, "big")))
