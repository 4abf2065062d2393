"""Sandboxes that are started before they are needed, so that the first action starts at once."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from .session import Session

_log = logging.getLogger(__name__)


class Prewarmer:
    """Starts the sandboxes of sessions that somebody has opened, a few at most.

    Parameters
    ----------
    limit
        Gives how many sandboxes may stand ready unused. One more, and the one that was asked for
        the longest time ago is ended; nothing is lost with it.
    """

    def __init__(self, limit: Callable[[], int]) -> None:
        self._limit = limit
        self._ready: dict[str, Session] = {}
        self._background: set[asyncio.Task[None]] = set()

    def prewarm(self, session: Session) -> None:
        """Start the session's sandbox and kernel in the background, unless it has worked already.

        What goes wrong is met, and told, by the first action.
        """
        if self._limit() > 0 and session.controller.sandbox.untouched:
            task = asyncio.create_task(self._start(session))
            self._background.add(task)
            task.add_done_callback(self._background.discard)

    async def close(self) -> None:
        """Start no more."""
        for task in self._background:
            task.cancel()
        await asyncio.gather(*self._background, return_exceptions=True)

    async def _start(self, session: Session) -> None:
        self._ready.pop(session.id, None)
        for id, other in list(self._ready.items()):
            if other.closed or not other.controller.sandbox.untouched:
                self._ready.pop(id, None)
        while len(self._ready) >= self._limit():
            oldest = self._ready.pop(next(iter(self._ready)))
            await oldest.controller.sandbox.cool()
        self._ready[session.id] = session
        try:
            await session.controller.sandbox.prewarm()
        except Exception:
            _log.exception("The sandbox of session %s could not be started ahead", session.id)
