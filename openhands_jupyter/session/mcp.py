"""The MCP servers of this process: what is configured, and those that each session uses."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from weakref import WeakValueDictionary

import msgspec

from ..config import Config
from ..errors import Conflict, NotFound
from ..events import Masker
from ..mcp.cache import ToolCache
from ..mcp.config import McpConfig, ServerConfig, Transport
from ..mcp.host import McpError, McpHost
from ..mcp.names import tool_name
from ..mcp.protocol import FoundTool
from ..mcp.server import Server, State, Surroundings
from ..mcp.servers import McpServers, trusted


class ToolStatus(msgspec.Struct, frozen=True, kw_only=True):
    """A tool of a server: what the server says of it, and whether the person trusts it.

    Attributes
    ----------
    name
        As a model is told of it.
    tool
        As the server names it.
    """

    name: str
    tool: str
    title: str
    description: str
    read_only: bool | None
    destructive: bool | None
    trusted: bool


class ServerStatus(msgspec.Struct, frozen=True, kw_only=True):
    """How a server is doing.

    Attributes
    ----------
    where
        The command that is started, or the address, without secrets.
    state
        ``off``, ``idle`` (not started; its tools may be known from before), ``starting``,
        ``ready`` or ``failed``.
    message, stderr
        Why it failed, and the end of its error output.
    notice
        What else is to be known.
    """

    name: str
    transport: Transport
    where: str
    state: State
    tools: list[ToolStatus]
    message: str = ""
    stderr: str = ""
    notice: str = ""


class McpStatus(msgspec.Struct, frozen=True):
    """All servers that are configured, and a sentence for each that could not be taken."""

    servers: list[ServerStatus]
    warnings: list[str]


class McpRoom:
    """All MCP servers of this process.

    Each session has servers of its own, because it is its workspace that they are told of; one
    process talks to all of them. None is started before a session's agent is told of its tools.

    Parameters
    ----------
    config
        Where they are written down.
    masker
        Knows the secrets, which servers may write anywhere.
    """

    def __init__(self, config: Config, masker: Masker) -> None:
        self._config = config
        self._masker = masker
        self._around = Surroundings(
            host=McpHost(),
            cache=ToolCache(config.home / "cache" / "mcp"),
            lookup=config.secrets.get,
            hide=lambda values: config.secrets.hide(*values),
        )
        self._sessions: WeakValueDictionary[str, McpServers] = WeakValueDictionary()
        self._tried: McpServers | None = None

    async def servers_of(self, session_id: str, workspace: Path) -> McpServers:
        """The servers of a session that is being opened; none is started."""
        read = await self._read()
        servers = McpServers(read.servers, self._around, workspace)
        self._sessions[session_id] = servers
        return servers

    async def status(self, session_id: str | None) -> McpStatus:
        """How the servers are doing that are configured now; nothing is started.

        Parameters
        ----------
        session_id
            In which open session; None for servers that were tried outside of any.
        """
        read = await self._read()
        used = self._used(session_id)
        return McpStatus([self._status(one, used) for one in read.servers], read.warnings)

    async def restart(self, name: str, session_id: str | None) -> ServerStatus:
        """Start a server anew, as it is configured now, without waiting for it.

        Parameters
        ----------
        name
            The server.
        session_id
            In which open session; None to try it outside of any.

        Raises
        ------
        NotFound
            When none of this name is configured.
        Conflict
            When it is switched off.
        """
        read = await self._read()
        config = next((one for one in read.servers if one.name == name), None)
        if config is None:
            raise NotFound(
                "mcp_server_not_found",
                f"There is no MCP server {name}.",
                "Look at config.toml and mcp.json in the home folder of OpenHands.",
            )
        if not config.enabled:
            raise Conflict(
                "mcp_server_off", f"The MCP server {name} is switched off.", "Set enabled to true."
            )
        used = self._used(session_id)
        if used is None:
            used = self._tried = McpServers([], self._around, self._config.root)
        await used.configure(read.servers)
        await used.servers[name].restart()
        return self._status(config, used)

    async def listed(self, name: str) -> ServerStatus:
        """Try a server: start it, have it list its tools, and end it.

        Raises
        ------
        NotFound, Conflict
            As with `restart`.
        """
        await self.restart(name, None)
        assert self._tried
        server = self._tried.servers[name]
        try:
            await server.start()
        except McpError:
            return self._status(server.config, self._tried)
        status = self._status(server.config, self._tried)
        await server.close()
        return status

    async def close(self) -> None:
        """End all servers, and the process that talks to them."""
        everywhere = [*self._sessions.values(), *([self._tried] if self._tried else [])]
        await asyncio.gather(*(servers.close() for servers in everywhere))
        await self._around.host.close()

    def _used(self, session_id: str | None) -> McpServers | None:
        return self._sessions.get(session_id) if session_id else self._tried

    async def _read(self) -> McpConfig:
        def read() -> McpConfig:
            found = self._config.mcp()
            self._around.cache.load(found.servers)
            return found

        return await asyncio.to_thread(read)

    def _status(self, config: ServerConfig, used: McpServers | None) -> ServerStatus:
        server = used.servers.get(config.name) if used else None
        other = server is not None and server.config != config
        if server is None or other:
            server = Server(config, self._around, self._config.root)
        status = ServerStatus(
            name=config.name,
            transport=config.transport,
            where=config.where,
            state=server.state,
            tools=_tools(config, server.tools),
            message=server.message,
            stderr=server.stderr,
            notice="It was changed and is used so after a restart." if other else server.notice,
        )
        masked: ServerStatus = self._masker.value(status)
        return masked


def _tools(config: ServerConfig, tools: Sequence[FoundTool]) -> list[ToolStatus]:
    return [
        ToolStatus(
            name=tool_name(config.name, tool.name),
            tool=tool.name,
            title=tool.title,
            description=tool.description,
            read_only=tool.read_only,
            destructive=tool.destructive,
            trusted=trusted(config, tool, tool.name),
        )
        for tool in tools
    ]
