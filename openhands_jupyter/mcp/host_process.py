"""The MCP process: talks to the MCP servers of one Jupyter server, and ends with it.

Started by `McpHost` with one end of a socket pair. The SDK is imported here and nowhere else: it
takes a second, and what servers send is parsed here, so that none of them can hold up the server.
"""

from __future__ import annotations

import asyncio
import socket
from functools import partial
from typing import TYPE_CHECKING

from ..helper_process import line, serve
from .protocol import (
    LINE_LIMIT,
    Answer,
    Call,
    Cancel,
    Close,
    Ended,
    Failed,
    Open,
    read_request,
)

if TYPE_CHECKING:
    from .connection import Connection


def main() -> None:
    """Serve what comes over the inherited socket."""
    serve(_Worker().run)


class _Worker:
    """Holds the connections, and makes calls, several at a time."""

    def __init__(self) -> None:
        self._connections: dict[int, Connection] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._calls: dict[int, asyncio.Task[None]] = {}
        self._writer: asyncio.StreamWriter

    async def run(self, connection: socket.socket) -> None:
        reader, self._writer = await asyncio.open_connection(sock=connection, limit=LINE_LIMIT)
        while data := await reader.readline():
            match read_request(data):
                case Open() as request:
                    self._open(request)
                case Close(connection=number) if number in self._connections:
                    self._connections[number].close()
                case Call() as request:
                    task = asyncio.create_task(self._call(request))
                    self._calls[request.call] = task
                    task.add_done_callback(partial(self._forget, request.call))
                case Cancel(call=call) if call in self._calls:
                    self._calls[call].cancel()

    def _open(self, request: Open) -> None:
        number = request.connection
        try:
            from .connection import Connection
        except Exception as error:
            message = f"The MCP library could not be loaded: {error}"
            self._send(Ended(connection=number, message=message))
            return
        connection = self._connections[number] = Connection(number, request.launch, self._send)
        task = asyncio.create_task(connection.run())
        self._tasks.add(task)
        task.add_done_callback(partial(self._ended, number))

    def _ended(self, number: int, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        del self._connections[number]

    async def _call(self, request: Call) -> None:
        connection = self._connections.get(request.connection)
        if connection is None:
            answer: Answer = Failed(
                call=request.call, code="mcp_ended", message="The server is not there."
            )
        else:
            answer = await connection.call(request)
        self._send(answer)
        await self._writer.drain()

    def _forget(self, call: int, _: asyncio.Task[None]) -> None:
        del self._calls[call]

    def _send(self, answer: Answer) -> None:
        self._writer.write(line(answer))


if __name__ == "__main__":
    main()
