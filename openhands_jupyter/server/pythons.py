"""The Pythons that the agent may be given."""

from __future__ import annotations

import asyncio

import msgspec

from ..config import Config
from ..errors import Invalid
from .answers import PythonCandidate, Pythons
from .base import ApiHandler, InvalidField, allowed


class PythonsHandler(ApiHandler):
    """The catalogue of Pythons."""

    @allowed("read")
    async def get(self) -> None:
        """The server's own first, then kernelspecs, environments and conda environments."""
        from ..runtime.environment.candidates import candidates

        root = self.services.config.root
        found = await asyncio.to_thread(candidates, root)
        pythons = msgspec.convert(found, list[PythonCandidate], from_attributes=True)
        self.answer(Pythons(pythons=pythons))


async def check_python(config: Config, asked: str) -> None:
    """Try the Python that somebody chooses.

    Raises
    ------
    InvalidField
        When it cannot be used, with what to do about it.
    SandboxUnavailable
        When no sandbox can be started to try it in.
    """
    from ..runtime.environment.candidates import try_python

    try:
        await try_python(asked, config.settings.isolation)
    except Invalid as error:
        raise InvalidField(error.code, error.message, "python", error.hint) from error
