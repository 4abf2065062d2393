"""One server's life, in one task of its own; used in the MCP process only."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import anyio
import httpx2
import mcp_types as types
from mcp.client.client import Client
from mcp.client.subscriptions import SubscriptionLost
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import FileUrl

from .protocol import Answer, Call, Done, Ended, Failed, Launch, Opened
from .results import TOOLS, found_tools, parts_of
from .transports import Tail, transport

CLIENT = types.Implementation(name="openhands-jupyter", version="1")
PAGES = 20
RELIST_PAUSE = 0.5
"""Seconds between two listings, for a server that says again and again that they changed."""

RELISTEN_PAUSE = 30.0
"""Seconds after which a server that ended a stream of changes is asked for another."""

END_TIMEOUT = 2.0
"""Seconds for the end of a server's error output, once it was found to be gone."""


class _Gone(Exception):
    """The server ended, or hung up."""


class Connection:
    """A server that runs, or that we are connected to.

    The SDK's context managers have to be left by the task that entered them: that is the one of
    `run`. Calls are made by tasks of their own.

    Parameters
    ----------
    number
        Which one it is.
    launch
        How it is started.
    send
        Takes what is to be told.
    """

    def __init__(self, number: int, launch: Launch, send: Callable[[Answer], None]) -> None:
        self._number = number
        self._launch = launch
        self._send = send
        self._client: Client | None = None
        self._tail = Tail()
        self._scope = anyio.CancelScope()
        self._closed = False
        self._changed = anyio.Event()
        self._gone = anyio.Event()
        self._opened: Opened | None = None

    async def run(self) -> None:
        """Start it and stay until it ends; it never raises."""
        message = ""
        self._scope.deadline = anyio.current_time() + self._launch.start_timeout
        try:
            with self._scope:
                await self._live()
        except Exception as error:
            message = await self._why(error)
        started, self._client = self._client is not None, None
        if not message and not self._closed:
            message = (
                "It ended."
                if started
                else f"It did not start within {self._launch.start_timeout:g} seconds."
            )
        self._send(
            Ended(
                connection=self._number,
                message="" if self._closed else message,
                stderr=self._tail.text,
            )
        )

    def close(self) -> None:
        """End it."""
        self._closed = True
        self._scope.cancel()

    async def call(self, request: Call) -> Answer:
        """Call a tool; cancelling it tells the server."""
        number, client = request.call, self._client
        if client is None:
            return Failed(call=number, code="mcp_ended", message="The server is not there.")
        try:
            with anyio.fail_after(request.timeout):
                result = await client.call_tool(request.tool, request.arguments)
            return Done(call=number, parts=parts_of(result), is_error=bool(result.is_error))
        except TimeoutError:
            message = f"It did not answer within {request.timeout:g} seconds."
            return Failed(call=number, code="mcp_timeout", message=message)
        except MCPError as error:
            if _hung_up(error):
                self._gone.set()
                message = "The server ended before it answered."
                return Failed(call=number, code="mcp_ended", message=message)
            return Failed(call=number, code="mcp_error", message=error.message[:4000])
        except Exception as error:
            return Failed(call=number, code="mcp_error", message=_said(error))

    async def _live(self) -> None:
        async with Client(
            transport(self._launch, self._tail),
            cache=None,
            client_info=CLIENT,
            message_handler=self._on_message,
            list_roots_callback=self._roots,
        ) as client:
            # A model reads what came; to check it loads parsers for as long as a server takes.
            client.session.validate_tool_result = _taken_as_it_is  # type: ignore[method-assign]
            await self._list(client)
            self._client = client
            self._scope.deadline = math.inf
            async with anyio.create_task_group() as group:
                group.start_soon(self._keep_listed, client)
                if client.protocol_version in MODERN_PROTOCOL_VERSIONS:
                    group.start_soon(self._listen, client)
                if self._launch.transport == "stdio":
                    await self._tail.closed.wait()
                else:
                    await self._gone.wait()
                raise _Gone

    async def _list(self, client: Client) -> None:
        tools: list[types.Tool] = []
        cursor: str | None = None
        for _ in range(PAGES):
            page = await client.list_tools(cursor=cursor)
            tools += page.tools
            cursor = page.next_cursor
            if not cursor or len(tools) > TOOLS:
                break
        found = found_tools(tools)
        notice = f"Only {len(found)} of its tools are used." if len(tools) > TOOLS else ""
        opened = Opened(connection=self._number, tools=found, notice=notice)
        if opened != self._opened:
            self._opened = opened
            self._send(opened)

    async def _keep_listed(self, client: Client) -> None:
        while True:
            await self._changed.wait()
            self._changed = anyio.Event()
            # What it listed before still stands; if it is gone, that is noticed elsewhere.
            with suppress(MCPError):
                await self._list(client)
            await anyio.sleep(RELIST_PAUSE)

    async def _listen(self, client: Client) -> None:
        """Hear of changes as servers since 2026 tell of them: only who asks is told."""
        with suppress(MCPError):
            while True:
                with suppress(SubscriptionLost, TimeoutError):
                    async with client.listen(tools_list_changed=True) as changes:
                        if not changes.honored.tools_list_changed:
                            return
                        # What changed before, and while nobody listened, is told to nobody.
                        self._changed.set()
                        async for _ in changes:
                            self._changed.set()
                await anyio.sleep(RELISTEN_PAUSE)

    async def _on_message(self, message: Any) -> None:
        if isinstance(message, types.ToolListChangedNotification):
            self._changed.set()

    async def _roots(self, context: Any) -> types.ListRootsResult:
        uri = FileUrl(Path(self._launch.root or "/").as_uri())
        root = types.Root(uri=uri, name="workspace")
        return types.ListRootsResult(roots=[root])

    async def _why(self, error: Exception) -> str:
        """Why it ended, as a sentence."""
        if self._launch.transport == "stdio":
            with anyio.move_on_after(END_TIMEOUT):
                await self._tail.closed.wait()
        errors = list(_innermost(error))
        if any(isinstance(one, _Gone) or _hung_up(one) for one in errors):
            return "It ended." if self._client else "It ended while it was being started."
        return _said(errors[0])


async def _taken_as_it_is(name: str, result: types.CallToolResult) -> None:
    pass


def _hung_up(error: BaseException) -> bool:
    """Whether it is the SDK's own error, whose code servers use for errors of theirs too."""
    closed = isinstance(error, MCPError) and error.code == types.CONNECTION_CLOSED
    return closed and str(error) == "Connection closed"


def _innermost(error: BaseException) -> list[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        return [one for inner in error.exceptions for one in _innermost(inner)]
    return [error]


def _said(error: BaseException) -> str:
    """What an error says, which may be nothing; the address that it names is left out."""
    if isinstance(error, httpx2.HTTPStatusError):
        return f"It answered with HTTP status {error.response.status_code}."
    if isinstance(error, httpx2.ConnectError):
        return "It could not be reached."
    return f"{str(error) or type(error).__name__}"[:4000]
