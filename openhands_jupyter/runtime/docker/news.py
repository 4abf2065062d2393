"""What Docker tells of one container, as it happens."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from .daemon import Answer
from .group import ContainerGroup

if TYPE_CHECKING:
    from docker import DockerClient

END_TIMEOUT = 1.0

_KILLED = "137"


class News:
    """Listens to the events of a container.

    Attributes
    ----------
    cgroup
        Counts how many times its memory was used up.
    sentences
        What became of it that an agent should know.
    expected
        Whether its end is no news.
    """

    def __init__(self) -> None:
        self.cgroup = ContainerGroup()
        self.sentences: list[str] = []
        self.expected = False
        self._loop = asyncio.get_running_loop()
        self._events: Answer | None = None
        self._heard = asyncio.Event()
        self._ended = asyncio.Event()
        self._deaf = asyncio.Event()

    @property
    def ended(self) -> bool:
        """Whether the container ended."""
        return self._ended.is_set()

    def watch(self, client: DockerClient, container: str) -> None:
        """Begin to listen, on another thread than the event loop's."""
        with Answer(client) as self._events:
            events = client.api.events(filters={"container": [container]}, decode=True)
        listening = threading.Thread(target=self._listen, args=(events, self._events), daemon=True)
        listening.start()

    async def stop(self) -> None:
        """Listen no more."""
        if self._events is not None:
            self._events.stop()
            await _within(END_TIMEOUT, self._deaf)
            self._events = None

    async def wait_for_end(self) -> None:
        """Wait until the container has ended, but not for long."""
        await _within(END_TIMEOUT, self._ended)

    async def after(self, known: int, patience: float) -> list[str]:
        """The sentences after the first so many.

        Parameters
        ----------
        known
            That many.
        patience
            Seconds to wait for one, where there is none.
        """
        if len(self.sentences) == known:
            await _within(patience, self._heard)
        self._heard.clear()
        return self.sentences[known:]

    def add(self, sentence: str) -> None:
        """Something else became of it."""
        if sentence not in self.sentences[-1:]:
            self.sentences.append(sentence)
        self._heard.set()

    def _listen(self, events: Iterable[dict[str, Any]], answer: Answer) -> None:
        for event in events:
            self._tell(event)
        answer.close()
        self._tell({})

    def _tell(self, event: dict[str, Any]) -> None:
        with contextlib.suppress(RuntimeError):
            # The loop may be over before the container.
            self._loop.call_soon_threadsafe(self._hear, event)

    def _hear(self, event: dict[str, Any]) -> None:
        what = event.get("status")
        if what == "oom":
            self.cgroup.kills += 1
            self._heard.set()
        elif what == "die":
            self._ended.set()
            code = event.get("Actor", {}).get("Attributes", {}).get("exitCode", "")
            self._add_end(
                "The container was killed from outside."
                if code == _KILLED
                else f"The container ended with exit code {code}."
            )
        elif not event:
            self._ended.set()
            self._deaf.set()
            self._add_end("The Docker daemon ended or was restarted, and the container with it.")

    def _add_end(self, sentence: str) -> None:
        if not (self.expected or self.sentences or self.cgroup.kills):
            self.add(sentence)


async def _within(seconds: float, event: asyncio.Event) -> None:
    """Wait for an event, but not longer than this."""
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(event.wait(), seconds)
