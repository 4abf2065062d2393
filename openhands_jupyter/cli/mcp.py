"""``jupyter openhands mcp``: the person's MCP servers, and whether they work."""

from __future__ import annotations

import argparse
import asyncio
import sys

from msgspec import UNSET, UnsetType

from ..config import Config
from ..errors import NotFound
from ..events import Masker
from ..mcp.config import Trust
from ..session.mcp import McpRoom
from ..session.mcp_status import ServerStatus
from .terminal import Terminal, inert

EXIT_NOT_AGREED = 3

_COLOURS = {"ready": "green", "failed": "red"}


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command and its verbs."""
    parser = commands.add_parser("mcp", help="look at your MCP servers, try them, allow them")
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
    allowing = verbs.add_parser(
        "allow",
        help="allow a server that the workspace names, or say which tools run unasked",
        description="Show a server and allow it, as it is now; when its definition changes it has "
        "to be allowed again. The workspace is the current folder.",
        epilog="Exit codes: 0 allowed, 1 error, 3 not allowed, or there is nobody to ask.",
    )
    allowing.add_argument("name", metavar="NAME")
    allowing.add_argument(
        "--trust",
        metavar="WHICH",
        help="call without asking: all, reads (tools that say they only read), none, or tools by "
        "the server's own names, separated by commas (default: as configured, else none)",
    )
    allowing.add_argument("--yes", action="store_true", help="do not ask")
    forbidding = verbs.add_parser("forbid", help="take that back")
    forbidding.add_argument("name", metavar="NAME")


async def run(options: argparse.Namespace, config: Config, terminal: Terminal) -> int:
    """Run the verb; gives the exit code."""
    room = McpRoom(config, Masker(config.secrets_values))
    try:
        found = await room.status(None)
        for warning in found.warnings:
            print(f"jupyter openhands: {inert(warning)}", file=sys.stderr)
        match options.verb:
            case "list":
                servers = found.servers
            case "test":
                servers = await _tested(room, found.servers, options.names)
            case "allow":
                server = _named(found.servers, options.name)
                if not options.yes and not await _agreed(terminal, server):
                    return EXIT_NOT_AGREED
                trust = _trust(options.trust) if options.trust else UNSET
                servers = [await _allowed(room, server, True, trust)]
            case _:
                server = _named(found.servers, options.name)
                servers = [await _allowed(room, server, False, None)]
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
    for name in names:
        _named(servers, name)
    chosen = names or [server.name for server in servers if server.state != "off"]
    return list(await asyncio.gather(*(room.listed(name) for name in chosen)))


async def _agreed(terminal: Terminal, server: ServerStatus) -> bool:
    """Whether the person allows a server that needs it, having seen what it is just now."""
    if server.consent is not False:
        return True
    _show(terminal, server)
    if not terminal.can_ask:
        terminal.print("Nobody can be asked: there is no terminal. Say --yes to allow it.")
        return False
    return (await terminal.ask("Allow it? [y/N]")).lower() in ("y", "yes")


async def _allowed(
    room: McpRoom, server: ServerStatus, use: bool, trust: Trust | UnsetType | None
) -> ServerStatus:
    needed = use if server.consent is not None else None
    return await room.consent(server.name, None, server.digest, needed, trust)


def _named(servers: list[ServerStatus], name: str) -> ServerStatus:
    for server in servers:
        if server.name == name:
            return server
    raise NotFound("mcp_server_not_found", f"There is no MCP server {name}.")


def _trust(given: str) -> Trust:
    known: dict[str, Trust] = {"all": True, "reads": "reads", "none": False}
    return known[given] if given in known else [name.strip() for name in given.split(",")]


def _show(terminal: Terminal, server: ServerStatus) -> None:
    tools = f"{len(server.tools)} tools" if server.tools else "no tools known"
    head = f"{server.name}: {server.state}, {tools} ({server.transport}, {server.where})"
    terminal.print(inert(head), _COLOURS.get(server.state, ""))
    for told in filter(None, (server.message, server.notice)):
        terminal.print(inert(f"  {told}"))
    if server.consent is not None:
        terminal.print(inert(f"  from {server.file}"))
        for line in server.definition.splitlines():
            terminal.print(inert(f"  {line}"), "dim")
    for line in server.stderr.splitlines()[-20:]:
        terminal.print(inert(f"  | {line}"), "dim")
    for tool in server.tools:
        reads = ", says it only reads" if tool.read_only else ""
        asked = "runs unasked" if tool.trusted else "asks first"
        terminal.print(inert(f"  {tool.name} ({asked}{reads})"))
