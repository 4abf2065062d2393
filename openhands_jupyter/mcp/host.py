"""The server's end of the MCP process."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from itertools import count
from typing import Any

from ..errors import OpenHandsError
from ..helper_process import HelperProcess, line, without_secrets
from .protocol import (
    LINE_LIMIT,
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
    _process: HelperProcess

    def __init__(self) -> None:
        self.told: dict[int, Told] = {}
        self._calls: dict[int, asyncio.Future[Done]] = {}

    @classmethod
    async def start(cls) -> _Child:
        child = cls()
        try:
            child._process = await HelperProcess.start(
                _MODULE, without_secrets(), LINE_LIMIT, child._take, child._ended
            )
        except OSError as error:
            message = f"The MCP process could not be started: {error.strerror}."
            raise McpError("mcp_process", message) from error
        return child

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def alive(self) -> bool:
        return self._process.alive

    def send(self, request: Request) -> None:
        self._process.send(line(request))

    def kill(self) -> None:
        self._process.kill()

    async def close(self) -> None:
        await self._process.close()

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

    def _ended(self, status: int) -> None:
        for answer in self._calls.values():
            if not answer.done():
                answer.set_exception(_process_ended())
        for number in list(self.told):
            self._tell(Ended(connection=number, message="The MCP process ended."))

    def _take(self, data: bytes) -> None:
        message = read_answer(data)
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
