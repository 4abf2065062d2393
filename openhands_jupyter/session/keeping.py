"""What a session is, kept beside its log, and told whenever it changes."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import msgspec

from .info import SessionInfo, write_info

_log = logging.getLogger(__name__)


class Keeping:
    """Tells and keeps the info of one session.

    Parameters
    ----------
    folder
        Of the session.
    info
        Gives what it is now.
    settled
        Waits until the log is safe on the disk.

    Attributes
    ----------
    changes
        How many times it changed so far.
    """

    def __init__(
        self,
        folder: Path,
        info: Callable[[], SessionInfo],
        settled: Callable[[], Awaitable[None]],
    ) -> None:
        self._folder = folder
        self._info = info
        self._settled = settled
        self.changes = 0
        self._changed = asyncio.Event()
        self._closed = False
        self._saved: SessionInfo | None = None
        self._saving: asyncio.Task[None] | None = None

    def begin(self) -> None:
        """Keep it from now on, whenever it changed."""
        self._saving = asyncio.create_task(self._keep_saved())

    def announce(self) -> None:
        """Say that it is another one now."""
        self.changes += 1
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()

    async def changed(self) -> AsyncIterator[SessionInfo]:
        """What it is, each time that it changed and this is safe on the disk."""
        changed = self._changed
        while not self._closed:
            await changed.wait()
            changed = self._changed
            await self._settled()
            yield self._info()

    def end(self) -> None:
        """Say for the last time that it is another one."""
        self._closed = True
        self.announce()

    async def close(self) -> None:
        """Keep what it is at last; after `end`."""
        if self._saving is not None:
            await self._saving
        await asyncio.to_thread(self.save)

    def save(self) -> None:
        """Keep it beside the log, for lists of sessions; the log stays the truth.

        Writes to the disk: to be called on another thread than the event loop's.
        """
        info = msgspec.structs.replace(
            self._info(), open=False, network=None, kernel=None, cells_running=False
        )
        if info != self._saved:
            write_info(self._folder, info)
            self._saved = info

    async def _keep_saved(self) -> None:
        async for info in self.changed():
            try:
                await asyncio.to_thread(self.save)
            except OSError as error:
                # The log has its own errors; a list that lags behind is no failure.
                _log.warning("Session %s could not be saved for lists: %s", info.id, error)
