"""What the agent does with the person's MCP servers: executed beside the sandbox."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator

import msgspec

from ..events import Action, ErrorObservation, MCPAction, MCPObservation, Observation, Output
from ..events.mcp import Claim
from ..mcp.host import McpError
from ..mcp.protocol import FoundTool, Part
from ..mcp.servers import McpServers
from ..runtime.base import OutputCallback

CLAIMS: tuple[Claim, ...] = ("read_only", "destructive", "idempotent", "open_world")

_HINTS = {
    "mcp_timeout": "What was asked for may have been done all the same: look before you ask again.",
    "mcp_ended": "What was asked for may have been done all the same: look before you ask again. "
    "It is started again by the next call.",
    "mcp_start": "The person sees in the settings what it wrote, and can restart it there.",
}


class McpActions:
    """Executes the calls of one session.

    Parameters
    ----------
    servers
        Those of the session.
    """

    def __init__(self, servers: McpServers) -> None:
        self._servers = servers

    def takes(self, action: Action) -> bool:
        """Whether an action is a call of a server."""
        return isinstance(action, MCPAction)

    async def prepare(self, action: Action) -> Action | Observation:
        """Find out what would be called; nothing is started. See `Runtime.prepare`."""
        assert isinstance(action, MCPAction)
        found = self._servers.find(action.server, action.tool)
        if found is None or found[0].state == "off":
            return ErrorObservation(
                code="mcp_unknown",
                message=f"There is no MCP server {action.server} (any more).",
                hint="Go on without it, or ask the person.",
            )
        server, tool = found
        return msgspec.structs.replace(
            action,
            where=server.config.where,
            claims=_claims(tool),
            trusted=server.trusts(action.tool),
        )

    async def run(self, action: Action, on_output: OutputCallback) -> Observation:
        """Call the tool; see `Runtime.run_action`."""
        assert isinstance(action, MCPAction)
        began = time.monotonic()
        try:
            done = await self._servers.call(action.server, action.tool, action.arguments)
        except McpError as error:
            return ErrorObservation(
                code=error.code,
                message=f"{action.server}: {error.message}",
                hint=_HINTS.get(error.code, ""),
            )
        except asyncio.CancelledError:
            return ErrorObservation(
                code="stopped",
                message=f"It was stopped; what {action.tool} did until then is not known.",
            )
        return MCPObservation(
            server=action.server,
            tool=action.tool,
            outputs=[_output(part) for part in done.parts],
            ok=not done.is_error,
            seconds=round(time.monotonic() - began, 3),
        )


def _claims(tool: FoundTool | None) -> list[Claim]:
    return [claim for claim in CLAIMS if tool and getattr(tool, claim)]


def _output(part: Part) -> Output:
    about = {"uri": part.uri} if part.uri else {}
    if part.kind == "image":
        return Output(kind="display_data", data={part.media_type: part.data}, metadata=about)
    text = f"[{part.text}]" if part.kind == "notice" else part.text
    if part.kind == "resource":
        text = "\n".join(_head(part)) + text
    return Output(kind="display_data", data={"text/plain": text}, metadata=about)


def _head(part: Part) -> Iterator[str]:
    kind = f" ({part.media_type})" if part.media_type else ""
    yield f"[resource {part.uri}{kind}]"
    yield ""
