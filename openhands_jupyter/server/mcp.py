"""The person's MCP servers: how they are, and starting one anew."""

from __future__ import annotations

from .base import ApiHandler, allowed
from .bodies import McpPlace


class McpHandler(ApiHandler):
    """All servers that are configured."""

    @allowed("read")
    async def get(self) -> None:
        """How each is, in a session or outside of any; nothing is started."""
        place = self.query(McpPlace)
        self.answer(await self.services.sessions.mcp.status(place.session))


class McpRestartHandler(ApiHandler):
    """One server."""

    @allowed("execute")
    async def post(self, name: str) -> None:
        """Start it anew in a session, or try it outside of any; that goes on afterwards."""
        place = self.body(McpPlace)
        if place.session is not None:
            await self.session(place.session)
        self.answer(await self.services.sessions.mcp.restart(name, place.session), 202)
