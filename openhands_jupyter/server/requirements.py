"""What the requirements file lists: whether it is installed, and installing it on request."""

from __future__ import annotations

import msgspec

from .answers import InstallStatus
from .base import ApiHandler, allowed


class RequirementsHandler(ApiHandler):
    """The requirements file of the settings."""

    @allowed("read")
    async def get(self) -> None:
        """Say whether it is installed, or how far that is."""
        await self._answer(200)

    @allowed("execute")
    async def post(self) -> None:
        """Begin to install it; that goes on if it was asked for before."""
        self.services.installation.start()
        await self._answer(202)

    @allowed("execute")
    async def delete(self) -> None:
        """Stop the installation, if there is one."""
        await self.services.installation.cancel()
        self.answer_nothing()

    async def _answer(self, status: int) -> None:
        found = await self.services.installation.status()
        self.answer(msgspec.convert(found, InstallStatus, from_attributes=True), status)
