"""The server's end of the MCP process."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
from asyncio.subprocess import DEVNULL, Process
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from typing import Any

import msgspec

from ..errors import OpenHandsError
from ..llm.gateway_child import without_secrets
from ..making import made_or_undone
from .protocol import (
    LINE_LIMIT,
    Answer,
    Call,
    Cancel,
    Close,
    Done,
    Ended,
    Failed,
    Launch,
    Open,
    Opened,
    Request,
    line,
    read_answer,
)

_MODULE = "openhands_jupyter.mcp.host_process"
LATE = 10.0
"""Seconds after which a call that has timed out is not waited for any more either."""

Told = Callable[[Opened | Ended], None]


class McpError(OpenHandsError):
    """A call of a tool that was not answered."""

    status = 502


class McpHost:
    """The MCP process of one Jupyter server: started for the first connection, and when it died."""

    def __init__(self) -> None:
        self._child: _Child | None = None
        self._starting = asyncio.Lock()
        self._numbers = count()

    @property
    def pid(self) -> int | None:
        """Id of the process; None while there is none."""
        return self._child.pid if self._child and self._child.alive else None

    async def open(self, launch: Launch, told: Told) -> Link:
        """Have a server started, without waiting for it.

        Parameters
        ----------
        launch
            How.
        told
            Hears of its tools and of its end, on the event loop; after its end nothing more.

        Raises
        ------
        McpError
            When the process cannot be started.
        """
        async with self._starting:
            if self._child is None or not self._child.alive:
                self._child = await _Child.start()
            child = self._child
        number = next(self._numbers)
        child.told[number] = told
        child.send(Open(connection=number, launch=launch))
        return Link(child, number, self._numbers)

    async def close(self) -> None:
        """End the process and all servers."""
        async with self._starting:
            if self._child is not None:
                await self._child.close()


class Link:
    """One connection to a server."""

    def __init__(self, child: _Child, number: int, numbers: count[int]) -> None:
        self._child = child
        self._number = number
        self._numbers = numbers

    async def call(self, tool: str, arguments: dict[str, Any], patience: float) -> Done:
        """Call a tool; cancelling this tells the server.

        Parameters
        ----------
        tool, arguments
            As the server names them.
        patience
            Seconds that it may take.

        Raises
        ------
        McpError
            With the code ``mcp_timeout``, ``mcp_ended`` or ``mcp_error``.
        """
        number = next(self._numbers)
        request = Call(
            call=number,
            connection=self._number,
            tool=tool,
            arguments=arguments,
            timeout=patience,
        )
        answer = self._child.expect(number)
        try:
            self._child.send(request)
            async with asyncio.timeout(patience + LATE):
                return await answer
        except TimeoutError as error:
            # The process itself does nothing any more.
            self._child.kill()
            message = f"It did not answer within {patience:g} seconds."
            raise McpError("mcp_timeout", message) from error
        finally:
            self._child.forget(number)

    def close(self) -> None:
        """End it; `told` hears when that is done."""
        self._child.send(Close(connection=self._number))


class _Child:
    def __init__(
        self, process: Process, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self.alive = True
        self.told: dict[int, Told] = {}
        self._process = process
        self._writer = writer
        self._calls: dict[int, asyncio.Future[Done]] = {}
        self._listener = asyncio.create_task(self._listen(reader))

    @classmethod
    async def start(cls) -> _Child:
        ours, theirs = socket.socketpair()
        try:
            with theirs:
                making = asyncio.create_subprocess_exec(
                    # -P: the current folder may hold modules named like those of the SDK.
                    *(sys.executable, "-P", "-m", _MODULE, str(theirs.fileno())),
                    pass_fds=[theirs.fileno()],
                    stdin=DEVNULL,
                    stdout=DEVNULL,
                    stderr=DEVNULL,
                    env=without_secrets(),
                    cwd="/",
                    process_group=0,
                )
                process = await made_or_undone(making, lambda _: _hang_up(ours))
        except OSError as error:
            ours.close()
            message = f"The MCP process could not be started: {error.strerror}."
            raise McpError("mcp_process", message) from error
        reader, writer = await asyncio.open_connection(sock=ours, limit=LINE_LIMIT)
        return cls(process, reader, writer)

    @property
    def pid(self) -> int:
        return self._process.pid

    def send(self, request: Request) -> None:
        if self.alive:
            self._writer.write(line(request))

    def expect(self, call: int) -> asyncio.Future[Done]:
        answer: asyncio.Future[Done] = asyncio.get_running_loop().create_future()
        self._calls[call] = answer
        if not self.alive:
            answer.set_exception(_process_ended())
        return answer

    def forget(self, call: int) -> None:
        answer = self._calls.pop(call)
        if not answer.done() or answer.cancelled():
            self.send(Cancel(call=call))

    def kill(self) -> None:
        self.alive = False
        if self._process.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)

    async def close(self) -> None:
        self._writer.close()
        await self._listener

    async def _listen(self, reader: asyncio.StreamReader) -> None:
        # A line that cannot be read means that the package was replaced under the running server.
        with suppress(ConnectionError, ValueError, msgspec.MsgspecError):
            while data := await reader.readline():
                self._take(read_answer(data))
        self._writer.close()
        self.kill()
        await self._process.wait()
        for answer in self._calls.values():
            if not answer.done():
                answer.set_exception(_process_ended())
        for number in list(self.told):
            self._tell(Ended(connection=number, message="The MCP process ended."))

    def _take(self, message: Answer) -> None:
        if isinstance(message, Opened | Ended):
            self._tell(message)
            return
        answer = self._calls.get(message.call)
        if answer is None or answer.done():
            return
        if isinstance(message, Failed):
            answer.set_exception(McpError(message.code, message.message))
        else:
            answer.set_result(message)

    def _tell(self, message: Opened | Ended) -> None:
        if isinstance(message, Ended):
            told = self.told.pop(message.connection, None)
        else:
            told = self.told.get(message.connection)
        if told is not None:
            told(message)


def _process_ended() -> McpError:
    return McpError("mcp_ended", "The MCP process ended before there was an answer.")


async def _hang_up(stream: socket.socket) -> None:
    # The process ends by itself with it.
    stream.close()
