"""Calls of the person's MCP servers, which no sandbox surrounds."""

from __future__ import annotations

from typing import Any

import msgspec

from ..events import Action, MCPAction
from .scene import Scene

OUTSIDE = "Calls a tool of yours outside the sandbox, which may do whatever its server may"
CLAIMS = {
    "read_only": "Its server says that it only reads; nobody has checked that",
    "destructive": "Its server says that it may destroy or overwrite something",
}


def is_call(action: Action) -> bool:
    """Whether an action calls a tool of an MCP server."""
    return isinstance(action, MCPAction)


def asks(action: Action) -> bool:
    """Whether an action calls a tool that the person does not trust, in whatever mode."""
    return isinstance(action, MCPAction) and not action.trusted


def only_reads(action: Action) -> bool:
    """Whether an action calls a tool that the person trusts, and that says it only reads."""
    return isinstance(action, MCPAction) and action.trusted and "read_only" in action.claims


def check_call(scene: Scene, action: MCPAction) -> None:
    """Note what is known of a call: not what it does, but what speaks for and against it.

    What the server says of its tools never lowers the risk of one that the person does not trust.
    """
    tool = f"{action.server}: {action.tool}"
    if not action.trusted:
        scene.add("high", OUTSIDE, tool)
    if "destructive" in action.claims and "read_only" not in action.claims:
        scene.add("low" if action.trusted else "high", CLAIMS["destructive"])
    elif "read_only" in action.claims and not action.trusted:
        scene.add("low", CLAIMS["read_only"])
    elif not action.claims and not action.trusted:
        scene.add("low", "Its server does not say what it may change")
    if not action.trusted and (size := len(_encoded(action.arguments))) > 10_000:
        scene.add("low", f"It is given {size:,} bytes, which leave the sandbox")


def _encoded(arguments: dict[str, Any]) -> bytes:
    return msgspec.json.encode(arguments)
