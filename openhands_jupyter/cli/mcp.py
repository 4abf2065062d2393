"""``jupyter openhands mcp``: the person's MCP servers, and whether they work."""

from __future__ import annotations

import argparse
import asyncio
import sys

from ..config import Config
from ..errors import NotFound
from ..events import Masker
from ..session.mcp import McpRoom, ServerStatus
from .terminal import Terminal, inert

_COLOURS = {"ready": "green", "failed": "red"}


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command and its verbs."""
    parser = commands.add_parser("mcp", help="look at your MCP servers, or try them")
    verbs = parser.add_subparsers(dest="verb", required=True)
    verbs.add_parser(
        "list",
        help="say which are configured",
        description="Say which servers are configured and what they listed last. Nothing is "
        "started.",
    )
    testing = verbs.add_parser(
        "test",
        help="start them, list their tools, and end them",
        description="Start each server with all your rights, as a session would, list its tools, "
        "and end it. Exit code 1 when one of them fails.",
    )
    testing.add_argument("names", nargs="*", metavar="NAME", help="only these (default: all)")


async def run(options: argparse.Namespace, config: Config, terminal: Terminal) -> int:
    """Run the verb; gives the exit code."""
    room = McpRoom(config, Masker(config.secrets_values))
    try:
        found = await room.status(None)
        for warning in found.warnings:
            print(f"jupyter openhands: {inert(warning)}", file=sys.stderr)
        if options.verb == "list":
            servers = found.servers
        else:
            servers = await _tested(room, found.servers, options.names)
        for server in servers:
            _show(terminal, server)
        if not servers:
            terminal.print("There are no MCP servers. The page on MCP says how to add one.")
        return int(any(server.state == "failed" for server in servers))
    finally:
        await room.close()


async def _tested(
    room: McpRoom, servers: list[ServerStatus], names: list[str]
) -> list[ServerStatus]:
    known = {server.name: server for server in servers}
    if unknown := [name for name in names if name not in known]:
        raise NotFound("mcp_server_not_found", f"There is no MCP server {', '.join(unknown)}.")
    chosen = names or [name for name, server in known.items() if server.state != "off"]
    return list(await asyncio.gather(*(room.listed(name) for name in chosen)))


def _show(terminal: Terminal, server: ServerStatus) -> None:
    tools = f"{len(server.tools)} tools" if server.tools else "no tools known"
    head = f"{server.name}: {server.state}, {tools} ({server.transport}, {server.where})"
    terminal.print(inert(head), _COLOURS.get(server.state, ""))
    for told in filter(None, (server.message, server.notice)):
        terminal.print(inert(f"  {told}"))
    for line in server.stderr.splitlines()[-20:]:
        terminal.print(inert(f"  | {line}"), "dim")
    for tool in server.tools:
        reads = ", says it only reads" if tool.read_only else ""
        asked = "runs unasked" if tool.trusted else "asks first"
        terminal.print(inert(f"  {tool.name} ({asked}{reads})"))
