"""How MCP servers are doing, as it is told to the person."""

from __future__ import annotations

from typing import Any

import msgspec

from ..mcp.config import ConfigOrigin, Transport, Trust
from ..mcp.names import tool_name
from ..mcp.server import Server, State

CHANGED = "It was changed and is used so after a restart."
NOT_ALLOWED = (
    "The workspace names it, and it is not used before you allow it: it would be a program with "
    "all your rights, outside the sandbox."
)


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
    origin, file
        Whose it is, and the file that it is written in.
    definition
        All that decides over a server of a workspace, as JSON: what the person has to see before
        they allow it. Empty for others, whose texts may hold secrets.
    digest
        Its definition as a hash.
    variables
        The secrets and variables that it is given, by name.
    consent
        Whether the person allowed it, for a server of a workspace; None where it needs none.
    trust
        Which of its tools are called without asking.
    """

    name: str
    transport: Transport
    where: str
    state: State
    tools: list[ToolStatus]
    message: str = ""
    stderr: str = ""
    notice: str = ""
    origin: ConfigOrigin
    file: str
    definition: str = ""
    digest: str
    variables: list[str]
    consent: bool | None = None
    trust: Trust


class McpStatus(msgspec.Struct, frozen=True):
    """All servers that are configured, and a sentence for each that could not be taken."""

    servers: list[ServerStatus]
    warnings: list[str]


def status_of(server: Server, may_run: bool, changed: bool) -> ServerStatus:
    """How a server is doing.

    Parameters
    ----------
    server
        The server.
    may_run
        False for one of a workspace that the person has not allowed.
    changed
        Whether a server that was configured otherwise is used in its place.
    """
    config = server.config
    of_workspace = config.origin == "workspace"
    return ServerStatus(
        name=config.name,
        transport=config.transport,
        where=config.where,
        state=server.state if may_run else "off",
        tools=_tools(server) if may_run else [],
        message=server.message,
        stderr=server.stderr,
        notice=NOT_ALLOWED if not may_run else CHANGED if changed else server.notice,
        origin=config.origin,
        file=config.file,
        definition=_json(config.definition) if of_workspace else "",
        digest=config.digest,
        variables=config.variables,
        consent=may_run if of_workspace else None,
        trust=server.trust,
    )


def _json(value: Any) -> str:
    return msgspec.json.format(msgspec.json.encode(value)).decode()


def _tools(server: Server) -> list[ToolStatus]:
    return [
        ToolStatus(
            name=tool_name(server.config.name, tool.name),
            tool=tool.name,
            title=tool.title,
            description=tool.description,
            read_only=tool.read_only,
            destructive=tool.destructive,
            trusted=server.trusts(tool.name),
        )
        for tool in server.tools
    ]
