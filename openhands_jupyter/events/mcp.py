"""Calls of the person's own tools, which servers of the Model Context Protocol have."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from .event import Action, Observation
from .running import Output

Claim = Literal["read_only", "destructive", "idempotent", "open_world"]
"""What a server may say of a tool (MCP 2025-06-18, ToolAnnotations); nobody has checked it."""


class MCPAction(Action, frozen=True, kw_only=True, tag=True):
    """Call a tool of an MCP server, which is outside the sandbox.

    Attributes
    ----------
    server
        Name of the server in the person's configuration.
    tool
        Name of the tool as the server gives it.
    arguments
        What it is called with.
    where
        What the server is, found before the person is asked: a command, or an address.
    claims
        What the server says of the tool, found then too.
    trusted
        Whether the person wants calls of this tool to run unasked, found then too.
    """

    runnable: ClassVar[bool] = True

    server: str
    tool: str
    arguments: dict[str, Any] = {}
    where: str = ""
    claims: list[Claim] = []
    trusted: bool = False


class MCPObservation(Observation, frozen=True, kw_only=True, tag=True):
    """What a tool of an MCP server answered.

    Attributes
    ----------
    server, tool
        As with `MCPAction`.
    outputs
        Its texts and images; of a resource the metadata tells the ``uri``.
    ok
        False where the server says that the tool failed.
    seconds
        How long it took.
    """

    server: str
    tool: str
    outputs: list[Output] = []
    ok: bool = True
    seconds: float = 0.0
