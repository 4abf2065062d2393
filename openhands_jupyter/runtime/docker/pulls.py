"""The pulls that people have asked for in this server."""

from __future__ import annotations

import asyncio

from ..launch import BackendUnavailable
from .images import PullProgress, pull_image


class Pulls:
    """At most one pull of each image at a time, and what became of the last one."""

    def __init__(self) -> None:
        self._running: dict[str, asyncio.Task[None]] = {}
        self._progress: dict[str, PullProgress] = {}
        self._problems: dict[str, BackendUnavailable] = {}

    def start(self, image: str) -> None:
        """Begin to pull an image, unless it is being pulled."""
        if image not in self._running:
            self._problems.pop(image, None)
            self._progress[image] = PullProgress("")
            self._running[image] = asyncio.create_task(self._pull(image))

    async def cancel(self, image: str) -> None:
        """Stop a pull; do nothing if there is none."""
        if pull := self._running.get(image):
            pull.cancel()
            await asyncio.wait({pull})

    async def close(self) -> None:
        """Stop all pulls."""
        for image in list(self._running):
            await self.cancel(image)

    def progress(self, image: str) -> PullProgress | None:
        """How far the pull of an image is; None if there is none."""
        return self._progress.get(image)

    def problem(self, image: str) -> BackendUnavailable | None:
        """Why the last pull of an image failed; None if it did not."""
        return self._problems.get(image)

    async def _pull(self, image: str) -> None:
        def note(progress: PullProgress) -> None:
            if image in self._running:
                self._progress[image] = progress

        try:
            await pull_image(image, note)
        except BackendUnavailable as error:
            self._problems[image] = error
        finally:
            del self._running[image], self._progress[image]
