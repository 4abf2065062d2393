"""All servers of one session, and their tools as an agent is told of them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ..events import MCPAction
from ..events.shown import without_escapes
from ..llm.arguments import decoded
from ..llm.base import Tool
from .config import ServerConfig
from .names import tool_name
from .protocol import Done, FoundTool
from .server import Server, Surroundings

MOST_TOOLS = 100
"""Tools of servers in one prompt; providers take 128 in all."""

_PREFACE = "[Tool of the MCP server {}; what follows is the server's own text, not the user's.] "


class McpServers:
    """The servers of one session: none is started before an agent is to be told of its tools.

    Parameters
    ----------
    configs
        What the person configured.
    around
        What servers need.
    workspace
        The session's folder, which they are told of.

    Attributes
    ----------
    workspace
        As given.
    """

    def __init__(
        self, configs: Sequence[ServerConfig], around: Surroundings, workspace: Path
    ) -> None:
        self._around = around
        self.workspace = workspace
        self.servers = {config.name: self._server(config) for config in configs}
        self._names: dict[str, tuple[str, str]] = {}

    def _server(self, config: ServerConfig) -> Server:
        return Server(config, self._around, self.workspace)

    async def configure(self, configs: Sequence[ServerConfig]) -> None:
        """Take in what is configured now; servers that are configured otherwise are ended."""
        before = self.servers
        same = {name: one for name, one in before.items() if one.config in configs}
        self.servers = {c.name: same.get(c.name) or self._server(c) for c in configs}
        await asyncio.gather(*(one.close() for name, one in before.items() if name not in same))

    def descriptions(self) -> list[Tool]:
        """The tools that are known now; servers that nobody knows are started meanwhile."""
        for server in self.servers.values():
            server.begin()
        return [self._described(server, tool) for server, tool in self._offered()]

    async def known(self, patience: float) -> list[str]:
        """Wait for servers whose tools nobody knows yet; they are started at the same time.

        Parameters
        ----------
        patience
            Seconds.

        Returns
        -------
        list of str
            The names of those that have not listed their tools by then.
        """
        for server in self.servers.values():
            server.begin()
        unknown = {name: one for name, one in self.servers.items() if one.unknown}
        if unknown:
            waiting = [asyncio.create_task(one.start()) for one in unknown.values()]
            await asyncio.wait(waiting, timeout=patience)
            for task in waiting:
                task.cancel()
            await asyncio.gather(*waiting, return_exceptions=True)
        return [name for name, one in unknown.items() if one.state != "ready"]

    def _offered(self) -> Iterator[tuple[str, FoundTool]]:
        left = MOST_TOOLS
        for name, server in self.servers.items():
            for tool in server.tools[:left]:
                yield name, tool
            left = max(0, left - len(server.tools))

    def _described(self, server: str, tool: FoundTool) -> Tool:
        name = tool_name(server, tool.name)
        self._names[name] = server, tool.name
        text = without_escapes(tool.description or tool.title or tool.name)
        return Tool(
            name=name,
            description=_PREFACE.replace("{}", server) + text,
            parameters=tool.schema or {"type": "object", "properties": {}},
        )

    def parse(self, name: str, arguments: str) -> MCPAction | None:
        """The action that a tool call means; None where no server has, or had, such a tool.

        Parameters
        ----------
        name
            As in `descriptions`.
        arguments
            JSON text as a model wrote it.

        Raises
        ------
        ValueError
            When the arguments are no object; the message tells the model how to mend the call.
        """
        if name not in self._names:
            # A server that was started anew meanwhile, or a history from before.
            self.descriptions()
        if name not in self._names:
            return None
        server, tool = self._names[name]
        try:
            given = decoded(arguments)
        except ValueError as error:
            raise ValueError(f"The arguments of {name} {error}. Call it again.") from error
        if not isinstance(given, dict):
            raise ValueError(f"The arguments of {name} have to be a JSON object. Call it again.")
        return MCPAction(server=server, tool=tool, arguments=given)

    def find(self, server: str, tool: str) -> tuple[Server, FoundTool | None] | None:
        """A server and what it says of a tool, if it has it; None where there is no such server."""
        found = self.servers.get(server)
        if found is None:
            return None
        return found, next((one for one in found.tools if one.name == tool), None)

    async def call(self, server: str, tool: str, arguments: dict[str, Any]) -> Done:
        """Call a tool; see `Server.call`."""
        return await self.servers[server].call(tool, arguments)

    async def close(self) -> None:
        """End all; what is called later is started again."""
        await asyncio.gather(*(server.close() for server in self.servers.values()))
