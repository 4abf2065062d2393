"""One server as one session uses it: started when it is needed, ended with the session."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import msgspec

from .cache import ToolCache
from .config import ServerConfig, Trust, expand
from .host import Link, McpError, McpHost
from .protocol import Done, Ended, FoundTool, Launch, Opened

State = Literal["off", "idle", "starting", "ready", "failed"]

WORKSPACE = "WORKSPACE"
"""The session's workspace, as ``${WORKSPACE}`` in what the person writes of a server."""

END_TIMEOUT = 10.0
"""Seconds that the end of a server is waited for; it ends by itself later."""


class Surroundings(msgspec.Struct, frozen=True, kw_only=True):
    """What servers need of the program around them.

    Attributes
    ----------
    host
        Talks to them.
    cache
        Knows their tools from before.
    lookup
        Gives a secret, or a variable of the environment.
    hide
        Is told values that must not be shown.
    trust
        Says which of a server's tools are called without asking, in a workspace.
    """

    host: McpHost
    cache: ToolCache
    lookup: Callable[[str], str | None]
    hide: Callable[[frozenset[str]], None]
    trust: Callable[[ServerConfig, Path], Trust]


class Server:
    """A server of one session.

    Attributes
    ----------
    config
        What the person wrote of it.
    state
        ``off`` (not to be used), ``idle`` (not started), ``starting``, ``ready`` or ``failed``.
    message
        Why it failed.
    stderr
        The end of its error output, once it has ended.
    notice
        What is not used of it.
    """

    def __init__(self, config: ServerConfig, around: Surroundings, workspace: Path) -> None:
        self.config = config
        self.state: State = "idle" if config.enabled else "off"
        self.message = ""
        self.stderr = ""
        self.notice = ""
        self._around = around
        self._workspace = workspace
        self._life: _Life | None = None
        self._tools: list[FoundTool] | None = None
        self._saving: set[asyncio.Task[None]] = set()

    @property
    def tools(self) -> list[FoundTool]:
        """Its tools, as it listed them last; none where it cannot be started."""
        if self.state == "off" or (self.state == "failed" and self._tools is None):
            return []
        if self._tools is not None:
            return self._tools
        listing = self._around.cache.get(self.config)
        return listing.tools if listing else []

    @property
    def trust(self) -> Trust:
        """Which of its tools are called without asking, as the person says now."""
        return self._around.trust(self.config, self._workspace)

    def trusts(self, name: str) -> bool:
        """Whether the person wants calls of a tool, by the server's name, to run unasked."""
        trust = self.trust
        if isinstance(trust, list):
            return name in trust
        if trust == "reads":
            return any(tool.name == name and tool.read_only for tool in self.tools)
        return trust

    @property
    def unknown(self) -> bool:
        """Whether nobody knows its tools yet, but may soon."""
        return self.state == "starting" and not self.tools

    def begin(self) -> None:
        """Start it in the background, if nobody knows its tools (any more) and it was not tried."""
        listing = self._around.cache.get(self.config)
        if self.state == "idle" and not (listing and listing.fresh):
            self._started()

    async def start(self) -> None:
        """Start it, if it does not run, and wait for that.

        Raises
        ------
        McpError
            When it failed.
        """
        life = self._started()
        await asyncio.shield(life.opened)

    async def call(self, tool: str, arguments: dict[str, Any]) -> Done:
        """Call a tool; the server is started if it does not run.

        Parameters
        ----------
        tool, arguments
            As the server names them.

        Raises
        ------
        McpError
            When it could not be started, or did not answer.
        """
        await self.start()
        life = self._life
        if life is None or life.link is None:
            raise McpError("mcp_ended", "It ended before it could be called.")
        return await life.link.call(tool, arguments, self.config.timeout)

    async def restart(self) -> None:
        """End it if it runs, and start it in the background."""
        await self.close()
        if self.config.enabled:
            self.state = "idle"
            self._started()

    async def close(self) -> None:
        """End it; the next call starts it again."""
        life, self._life = self._life, None
        if life is None:
            return
        self.state = "idle"
        life.starting.cancel()
        await asyncio.gather(life.starting, return_exceptions=True)
        if life.link is not None:
            life.link.close()
            await asyncio.wait([asyncio.create_task(life.ended.wait())], timeout=END_TIMEOUT)
        if not life.opened.done():
            life.opened.set_exception(McpError("mcp_ended", "It was ended."))
            life.opened.exception()

    def _started(self) -> _Life:
        if self._life is None:
            self.state, self.message, self.stderr = "starting", "", ""
            life = self._life = _Life()
            life.starting = asyncio.create_task(self._start(life))
        return self._life

    async def _start(self, life: _Life) -> None:
        try:
            complete = expand(self.config, self._lookup)
            self._around.hide(complete.hidden)
            life.link = await self._around.host.open(
                _launch(complete.config, self._workspace), lambda told: self._told(life, told)
            )
        except ValueError as error:
            self._told(life, Ended(connection=0, message=str(error)))
        except McpError as error:
            self._told(life, Ended(connection=0, message=error.message))

    def _lookup(self, name: str) -> str | None:
        return str(self._workspace) if name == WORKSPACE else self._around.lookup(name)

    def _told(self, life: _Life, told: Opened | Ended) -> None:
        if isinstance(told, Ended):
            life.ended.set()
        if self._life is not life:
            return
        if isinstance(told, Opened):
            self.state, self.notice, self._tools = "ready", told.notice, told.tools
            self._around.cache.put(self.config, told.tools)
            self._save()
            if not life.opened.done():
                life.opened.set_result(None)
            return
        self._life = None
        self.state, self.message, self.stderr = "failed", told.message, told.stderr
        if not life.opened.done():
            # What it listed before is of no use where it cannot be started.
            self._tools = None
            life.opened.set_exception(McpError("mcp_start", told.message))
            # There may be nobody who waits for it.
            life.opened.exception()

    def _save(self) -> None:
        task = asyncio.create_task(asyncio.to_thread(self._around.cache.save, self.config))
        self._saving.add(task)
        task.add_done_callback(self._saving.discard)


class _Life:
    """From one start of a server to its end."""

    def __init__(self) -> None:
        self.opened: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.ended = asyncio.Event()
        self.link: Link | None = None
        self.starting: asyncio.Task[None]


def _launch(config: ServerConfig, workspace: Path) -> Launch:
    # Not the workspace, unless the person says so: programs take their modules and their settings
    # from the folder that they are started in, and there the agent may put what it likes.
    cwd = workspace / config.cwd if config.cwd else Path.home()
    return Launch(
        transport=config.transport,
        command=config.command,
        args=config.args,
        env=config.env,
        cwd=str(cwd),
        url=config.url,
        headers=config.headers,
        start_timeout=config.start_timeout,
        root=str(workspace),
    )
