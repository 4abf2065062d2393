"""A guard on the disk: what one action adds to it is limited, while it runs and afterwards."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable
from pathlib import Path

INTERVAL = 0.5
RESERVE = 256 * 2**20
"""Bytes that stay free in any case, for everybody else."""

CLOCK_COARSENESS = 0.05
"""Seconds by which a file's time may lie before the clock's."""


class DiskGuard:
    """Watches the free space, and looks closer only when more of it went than an action may use.

    Parameters
    ----------
    folders
        Where programs in the sandbox can write to the disk.
    limit
        Bytes.
    on_breach
        Told how much was written, each time that it was too much.
    """

    def __init__(self, folders: list[Path], limit: int, on_breach: Callable[[int], None]) -> None:
        self._folders = folders
        self._limit = limit
        self._on_breach = on_breach
        self._since = 0.0
        self._free: dict[int, int] = {}
        self._watching: asyncio.Task[None] | None = None
        self.begin()

    def begin(self) -> None:
        """Another action starts: count from here."""
        self._since = time.time() - CLOCK_COARSENESS
        self._free = self._free_now()

    def start(self) -> None:
        """Watch from now on, between actions too."""
        self._watching = asyncio.create_task(self._watch())

    async def close(self) -> None:
        """Watch no more."""
        if self._watching is not None:
            self._watching.cancel()
            await asyncio.gather(self._watching, return_exceptions=True)
            self._watching = None

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(INTERVAL)
            free = self._free_now()
            # By device, so that what others delete elsewhere hides nothing.
            used = sum(max(0, self._free.get(device, left) - left) for device, left in free.items())
            if used <= self._limit:
                continue
            # Others use these disks too.
            written = await asyncio.to_thread(_written_since, self._folders, self._since)
            if min(used, written) > self._limit or sum(self._free_now().values()) < RESERVE:
                self._on_breach(used)
                self.begin()

    def _free_now(self) -> dict[int, int]:
        """Bytes that are free, by device."""
        on_device = {folder.stat().st_dev: folder for folder in self._folders if folder.is_dir()}
        infos = {device: os.statvfs(folder) for device, folder in on_device.items()}
        return {device: info.f_bavail * info.f_frsize for device, info in infos.items()}


def _written_since(folders: list[Path], since: float) -> int:
    """Bytes on disk of the files that were changed; their own times cannot be set by programs."""
    total = 0
    left = [str(folder) for folder in folders]
    while left:
        try:
            with os.scandir(left.pop()) as entries:
                for entry in entries:
                    info = entry.stat(follow_symlinks=False)
                    if entry.is_dir(follow_symlinks=False):
                        left.append(entry.path)
                    elif info.st_ctime >= since:
                        total += info.st_blocks * 512
        except OSError:
            continue
    return total
