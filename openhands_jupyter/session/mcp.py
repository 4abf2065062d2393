"""The MCP servers of this process: what is configured, and those that each session uses."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

import msgspec
from msgspec import UNSET, UnsetType

from ..config import Config
from ..config.mcp import SETTING
from ..config.mcp_consents import Consent
from ..errors import Conflict, NotFound
from ..events import Masker
from ..mcp.cache import ToolCache
from ..mcp.config import McpConfig, ServerConfig, Trust
from ..mcp.host import McpError, McpHost
from ..mcp.server import Server, Surroundings
from ..mcp.servers import McpServers
from .mcp_status import McpStatus, ServerStatus, status_of

FIRST_LISTING = 30.0
"""Seconds that a task which nobody watches waits for servers that were never listed."""


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
            trust=self._trust,
        )
        self._sessions: WeakValueDictionary[str, McpServers] = WeakValueDictionary()
        self._tried = self._none()

    async def servers_of(self, session_id: str, workspace: Path) -> McpServers:
        """The servers of a session that is being opened; none is started."""
        read = await self._read(workspace)
        servers = McpServers(self._usable(read, workspace), self._around, workspace)
        self._sessions[session_id] = servers
        return servers

    async def known(self, session_id: str) -> list[ServerStatus]:
        """Wait a while for servers whose tools were never listed, in a session that is open.

        That is for tasks that nobody watches, whose first step may be their only one. Else no
        prompt waits for a server: its tools are there from the step on that follows its start.

        Returns
        -------
        list of ServerStatus
            Those that the agent begins without, also since the person has not allowed them.
        """
        names = await self._used(session_id).known(FIRST_LISTING)
        servers = (await self.status(session_id)).servers
        return [one for one in servers if one.name in names or one.consent is False]

    async def status(self, session_id: str | None) -> McpStatus:
        """How the servers are doing that are configured now; nothing is started.

        Parameters
        ----------
        session_id
            In which open session; None for servers that were tried outside of any.
        """
        used = self._used(session_id)
        read = await self._read(used.workspace)
        servers = [self._status(one, used) for one in read.servers]
        return McpStatus(servers, read.warnings)

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
            When it is switched off, or not allowed.
        """
        used = self._used(session_id)
        read = await self._read(used.workspace)
        config = _find(read, name)
        if not config.enabled:
            raise Conflict(
                "mcp_server_off", f"The MCP server {name} is switched off.", "Set enabled to true."
            )
        if not self._may_run(config, used.workspace):
            raise Conflict(
                "mcp_consent_needed",
                f"The MCP server {name} is named by the workspace, and you have not allowed it.",
                "Look at what it would start, and allow it if you trust it.",
            )
        await used.configure(self._usable(read, used.workspace))
        await used.servers[name].restart()
        return self._status(config, used)

    async def consent(
        self,
        name: str,
        session_id: str | None,
        digest: str,
        use: bool | None,
        trust: Trust | UnsetType | None,
    ) -> ServerStatus:
        """Keep what the person allows a server; it counts at once, in all sessions.

        Parameters
        ----------
        name
            The server.
        session_id
            In whose workspace; None for the folder that the person works in.
        digest
            Of the definition that they have seen.
        use
            Whether a workspace's server may be used; None to leave that as it is.
        trust
            Which of its tools are called without asking; None for what the configuration says.

        Raises
        ------
        NotFound
            When none of this name is configured.
        Conflict
            When its definition is another one by now, when it needs no consent, or when the
            administrator has locked the servers.
        HomeNotWritable
            When it cannot be kept.
        """
        self._config.require_unlocked([SETTING])
        used = self._used(session_id)
        read = await self._read(used.workspace)
        config = _find(read, name)
        if config.digest != digest:
            raise Conflict(
                "mcp_server_changed",
                f"The MCP server {name} was changed meanwhile.",
                "Look at what it would start now.",
            )
        if use is not None and config.origin != "workspace":
            raise Conflict(
                "mcp_server_own",
                f"The MCP server {name} is not named by a workspace, so it needs no consent.",
                "Switch it off with enabled = false where it is written down.",
            )
        changes: dict[str, Any] = {} if use is None else {"use": use}
        if trust is not UNSET:
            changes["trust"] = trust
        kept = msgspec.structs.replace(self._consent(config, used.workspace), **changes)
        await asyncio.to_thread(self._config.mcp_consents.keep, kept)
        if use is not None:
            await self._configure(used.workspace, self._usable(read, used.workspace))
        return self._status(config, used)

    async def listed(self, name: str) -> ServerStatus:
        """Try a server: start it, have it list its tools, and end it.

        Raises
        ------
        NotFound, Conflict
            As with `restart`.
        """
        await self.restart(name, None)
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
        await asyncio.gather(*(servers.close() for servers in self._everywhere()))
        await self._around.host.close()

    def _everywhere(self) -> list[McpServers]:
        return [*self._sessions.values(), self._tried]

    async def _configure(self, workspace: Path, usable: Sequence[ServerConfig]) -> None:
        there = [one for one in self._everywhere() if one.workspace == workspace]
        await asyncio.gather(*(servers.configure(usable) for servers in there))

    def _none(self) -> McpServers:
        return McpServers([], self._around, self._config.root)

    def _used(self, session_id: str | None) -> McpServers:
        """The servers that are used there; none, for a session that is not open."""
        if session_id is None:
            return self._tried
        return self._sessions.get(session_id) or self._none()

    async def _read(self, workspace: Path) -> McpConfig:
        def read() -> McpConfig:
            found = self._config.mcp(workspace)
            self._around.cache.load(found.servers)
            warnings = self._config.mcp_consents.load()
            return McpConfig(found.servers, found.warnings + warnings)

        return await asyncio.to_thread(read)

    def _consent(self, config: ServerConfig, workspace: Path) -> Consent:
        place = str(workspace) if config.origin == "workspace" else ""
        return self._config.mcp_consents.find(config.name, config.digest, place)

    def _may_run(self, config: ServerConfig, workspace: Path) -> bool:
        return config.origin != "workspace" or self._consent(config, workspace).use

    def _usable(self, read: McpConfig, workspace: Path) -> list[ServerConfig]:
        return [one for one in read.servers if self._may_run(one, workspace)]

    def _trust(self, config: ServerConfig, workspace: Path) -> Trust:
        chosen = None if self._config.mcp_locked else self._consent(config, workspace).trust
        return config.trust if chosen is None else chosen

    def _status(self, config: ServerConfig, used: McpServers) -> ServerStatus:
        server = used.servers.get(config.name)
        changed = server is not None and server.config != config
        if server is None or changed:
            server = Server(config, self._around, used.workspace)
        status = status_of(server, self._may_run(config, used.workspace), changed)
        masked: ServerStatus = self._masker.value(status)
        return masked


def _find(read: McpConfig, name: str) -> ServerConfig:
    for config in read.servers:
        if config.name == name:
            return config
    raise NotFound(
        "mcp_server_not_found",
        f"There is no MCP server {name}.",
        "Look at config.toml and mcp.json in the home folder of OpenHands.",
    )
