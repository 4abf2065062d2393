"""The person's MCP servers: how they are, starting one anew, and what it is allowed."""

from __future__ import annotations

from .base import ApiHandler, allowed
from .bodies import McpConsent, McpPlace


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


class McpConsentHandler(ApiHandler):
    """What one server is allowed."""

    @allowed("execute")
    async def put(self, name: str) -> None:
        """Keep whether a workspace's server may be used, and which tools run unasked."""
        body = self.body(McpConsent)
        if body.session is not None:
            await self.session(body.session)
        mcp = self.services.sessions.mcp
        self.answer(await mcp.consent(name, body.session, body.digest, body.use, body.trust))
