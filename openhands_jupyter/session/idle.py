"""What nobody uses is let go: sandboxes first, then sessions that nobody looks at."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable
from datetime import timedelta

from .session import Session

LONGEST_PAUSE = 60.0
"""Seconds between two looks."""

_log = logging.getLogger(__name__)


class IdleKeeper:
    """Looks from time to time for sessions that were not used for long.

    Parameters
    ----------
    timeout
        Gives the minutes without use after which a sandbox is released; 0 for never.
    sessions
        Gives the sessions that are open.
    close
        Closes a session, unless somebody has begun to use it; it is opened again when it is asked
        for.
    """

    def __init__(
        self,
        timeout: Callable[[], float],
        sessions: Callable[[], Iterable[Session]],
        close: Callable[[Session], Awaitable[None]],
    ) -> None:
        self._timeout = timeout
        self._sessions = sessions
        self._close = close
        self._looking: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to look, if it has not begun yet."""
        if self._looking is None:
            self._looking = asyncio.create_task(self._look())

    async def close(self) -> None:
        """Look no more."""
        if self._looking is not None:
            self._looking.cancel()
            await asyncio.gather(self._looking, return_exceptions=True)

    async def _look(self) -> None:
        while True:
            minutes = self._timeout()
            await asyncio.sleep(min(LONGEST_PAUSE, minutes * 6) if minutes else LONGEST_PAUSE)
            for session in list(self._sessions()) if minutes else []:
                try:
                    await self._look_at(session, minutes)
                except Exception:
                    _log.exception("Session %s could not be let go", session.id)

    async def _look_at(self, session: Session, minutes: float) -> None:
        if session.unused_for() < timedelta(minutes=minutes):
            return
        reason = f"The sandbox was released after {_in_words(minutes)} without use."
        if await session.release_sandbox(reason) and session.forgettable:
            await self._close(session)


def _in_words(minutes: float) -> str:
    if minutes >= 60 and minutes % 60 == 0:
        return _count(minutes / 60, "hour")
    return _count(minutes, "minute")


def _count(number: float, what: str) -> str:
    return f"{number:g} {what}" if number == 1 else f"{number:g} {what}s"
