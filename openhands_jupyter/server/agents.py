"""The agents to choose from."""

from __future__ import annotations

import asyncio

from .base import ApiHandler, allowed


class AgentsHandler(ApiHandler):
    """The catalogue of agents."""

    @allowed("read")
    async def get(self) -> None:
        """Those that are built in, then those that are installed, then the configured one."""
        self.answer({"agents": await asyncio.to_thread(self._catalogue)})

    def _catalogue(self) -> object:
        from ..agents import registry

        return registry.catalogue(self.services.config.settings.agent)


async def check_agent(name: str) -> None:
    """Refuse an agent that cannot be had.

    Raises
    ------
    Invalid
        Saying why.
    """
    from ..agents import registry

    await asyncio.to_thread(registry.find, name)
