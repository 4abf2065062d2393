"""The ordered log of one session: append, read, subscribe."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import deque
from collections.abc import AsyncIterator, Callable, Collection
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, TypeVar

import msgspec

from ..errors import OpenHandsError
from .blobs import BlobStore, Extractor
from .codec import decode, encode, type_of
from .event import SCHEMA_VERSION, Event, OpaqueEvent
from .jsonl import JsonlStore
from .live import LiveText
from .masking import Masker
from .observations import AgentStateChangedObservation

BATCH = 500
"""Most events handed to a subscriber at once."""
RECENT = 256
"""Newest events kept in memory; a subscriber further behind reads the file."""
SYNC_PAUSE = 0.05
"""Seconds over which writes are gathered before the disk is asked to keep them."""

Listener = Callable[[Event], None]
T = TypeVar("T")
E = TypeVar("E", bound=Event)

_log = logging.getLogger(__name__)


class EventStream:
    """The events of one session, in order, on disk.

    All methods but `read` and `read_raw` belong to the event loop's thread. An event is in the
    file before any subscriber sees it, and a change of state is safe on the disk before it is
    reported.

    Parameters
    ----------
    folder
        The session's folder; its name is the session's id.
    masker
        Keeps secrets out of everything that is written or reported.

    Attributes
    ----------
    live
        Text that is still being written.
    blobs
        The payloads that the events refer to.
    masker
        As given.

    Raises
    ------
    Conflict
        When another process has the session open.
    """

    def __init__(self, folder: Path, masker: Masker | None = None) -> None:
        self.masker = masker or Masker()
        self._store = JsonlStore(folder)
        self.session = folder.name
        self.blobs = BlobStore(folder / "blobs")
        self.live = LiveText(self.masker)
        self._extractor = Extractor(self.blobs, self.masker)
        self._recent: deque[bytes] = deque(maxlen=RECENT)
        self._listeners: list[Listener] = []
        self.subscribers = 0
        self._unsafe: deque[int] = deque()
        self._published = self.last_id
        self._changed = asyncio.Event()
        self._urgent = asyncio.Event()
        self._sync_task: asyncio.Task[None] | None = None
        self._sync_error: OSError | None = None
        self._closed = False
        self._ended = False

    @property
    def last_id(self) -> int:
        """Id of the newest event; -1 if there is none."""
        return len(self._store) - 1

    @property
    def torn(self) -> bytes:
        """The torn last line that was cut off when the log was opened; empty if it was whole."""
        return self._store.torn

    def append(self, event: Event) -> int:
        """Accept an event: stamp it, mask it, write it, report it.

        Parameters
        ----------
        event
            A new event; its ``id`` must not be given yet.

        Returns
        -------
        int
            The event's id.

        Raises
        ------
        ValueError
            When the event is on a log already, or is opaque.
        OpenHandsError
            When the stream is closed, or something else changed the log.
        OSError
            When it cannot be written, or what was written before cannot be kept safe on the disk;
            the log has then not changed.
        """
        if event.id != -1 or isinstance(event, OpaqueEvent):
            raise ValueError(f"event {event.id} is on a log already")
        if self._closed:
            raise OpenHandsError("session_closed", "The session is closed.", "Open it again.")
        if self._sync_error:
            raise OSError(*self._sync_error.args) from self._sync_error
        loop = asyncio.get_running_loop()
        event = msgspec.structs.replace(
            self._extractor.extract(event),
            v=SCHEMA_VERSION,
            id=self.last_id + 1,
            session=self.session,
            time=datetime.now(UTC),
            source=event.source or event.usual_source,
        )
        line, event = encode(event, self.masker)
        self._store.append(line)
        self._recent.append(line)
        if isinstance(event, AgentStateChangedObservation):
            self._unsafe.append(event.id)
            self._urgent.set()
        if self._sync_task is None or self._sync_task.done():
            self._sync_task = loop.create_task(self._sync())
        self._publish()
        self._report(event)
        return event.id

    def prepare(self, event: E) -> E:
        """`event` with its large payloads kept as blobs already, so that `append` is quick.

        For large events; the only part of appending that may be done on another thread.
        """
        return self._extractor.extract(event)

    async def settled(self) -> None:
        """Wait until all that was appended so far has been reported to subscribers."""
        last = self.last_id
        while self._published < last and not self._closed:
            await self._changed.wait()

    def add_listener(self, listener: Listener) -> None:
        """Have `listener` called with every event from now on, inside `append`.

        For state that must never lag behind the log. A listener must be quick, must not raise and
        must not append; whatever may wait belongs into a subscriber. One that raises all the same
        keeps the event neither from the log nor from the other listeners.
        """
        self._listeners.append(listener)

    def read_raw(
        self,
        after: int = -1,
        before: int | None = None,
        limit: int = 200,
        order: Literal["asc", "desc"] = "asc",
        types: Collection[str] | None = None,
    ) -> list[bytes]:
        """A page of events as lines of JSON; reads the file, on any thread.

        Parameters
        ----------
        after, before
            Only events with an id above and below; None for no bound.
        limit
            Most events wanted.
        order
            ``asc`` for oldest first, ``desc`` for newest first.
        types
            Only events of these types; None for all.

        Raises
        ------
        OpenHandsError
            When something else changed the log.
        """
        first = max(after + 1, 0)
        last = self.last_id if before is None else min(before - 1, self.last_id)
        page: list[bytes] = []
        while first <= last and len(page) < limit:
            size = min(limit - len(page) if types is None else BATCH, last - first + 1)
            if order == "asc":
                lines = self._store.read(first, first + size - 1)
                first += size
            else:
                lines = self._store.read(last - size + 1, last)[::-1]
                last -= size
            page += (
                lines
                if types is None
                else [line for line in lines if self._read_line(line, type_of) in types]
            )
        return page[:limit]

    def read(
        self,
        after: int = -1,
        before: int | None = None,
        limit: int = 200,
        order: Literal["asc", "desc"] = "asc",
        types: Collection[str] | None = None,
    ) -> list[Event]:
        """A page of events; as `read_raw`, but decoded.

        Raises
        ------
        OpenHandsError
            When a line of the log is not an event.
        """
        return [
            self._read_line(line, decode)
            for line in self.read_raw(after, before, limit, order, types)
        ]

    async def subscribe(self, after: int = -1) -> AsyncIterator[list[bytes]]:
        """Every event after `after`, as lines of JSON in lists: none lost, none twice, in order.

        A subscriber is a position in the log. One that is slow costs nothing and delays nobody.
        It ends with the last event when the stream is closed.
        """
        self.subscribers += 1
        try:
            async for batch in self._follow(max(min(after, self.last_id), -1) + 1):
                yield batch
        finally:
            self.subscribers -= 1

    async def _follow(self, position: int) -> AsyncIterator[list[bytes]]:
        while True:
            changed = self._changed
            while position <= self._published:
                try:
                    batch = await self._batch(position)
                except FileNotFoundError:
                    if self._ended:  # and its folder deleted
                        return
                    raise
                position += len(batch)
                yield batch
            if self._ended:
                return
            await changed.wait()

    async def events(self, after: int = -1) -> AsyncIterator[Event]:
        """Every event after `after`, one by one; as `subscribe`, but decoded."""
        async for batch in self.subscribe(after):
            for line in batch:
                yield self._read_line(line, decode)

    async def wait_for(self, predicate: Callable[[Event], bool], after: int = -1) -> Event:
        """The first event after `after` for which `predicate` is true.

        Raises
        ------
        OpenHandsError
            When the stream is closed before there is one.
        """
        async for event in self.events(after):
            if predicate(event):
                return event
        raise OpenHandsError("session_closed", "The session was closed meanwhile.")

    async def close(self) -> None:
        """Have everything on the disk, end all subscriptions, give the session free.

        Raises
        ------
        OSError
            When the disk does not keep everything; the session is given free all the same.
        """
        if self._closed:
            return
        self._closed = True
        try:
            if self._sync_task:
                self._urgent.set()
                await asyncio.wait([self._sync_task])
            if self._sync_error:
                raise self._sync_error
            await asyncio.to_thread(self._keep)
            self._unsafe.clear()
        finally:
            self.live.close()
            self._ended = True
            self._publish()
            self._store.close()

    async def _batch(self, position: int) -> list[bytes]:
        last = min(self._published, position + BATCH - 1)
        oldest = self.last_id + 1 - len(self._recent)
        if position >= oldest:
            return [self._recent[n - oldest] for n in range(position, last + 1)]
        return await asyncio.to_thread(self._store.read, position, last)

    def _publish(self) -> None:
        """Let subscribers see what may be seen: nothing from the first unsafe event on."""
        self._published = self._unsafe[0] - 1 if self._unsafe else self.last_id
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()

    def _report(self, event: Event) -> None:
        for listener in self._listeners:
            try:
                listener(event)
            except Exception:
                _log.exception(
                    "A listener failed on event %d of session %s", event.id, self.session
                )

    async def _sync(self) -> None:
        synced = -1
        while synced < self.last_id:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._urgent.wait(), SYNC_PAUSE)
            self._urgent.clear()
            synced = self.last_id
            try:
                await asyncio.to_thread(self._keep)
            except OSError as error:
                self._sync_error = error
                return
            while self._unsafe and self._unsafe[0] <= synced:
                self._unsafe.popleft()
            self._publish()

    def _keep(self) -> None:
        """Have what was written on the disk: no event before the blobs that it refers to."""
        self.blobs.sync()
        self._store.sync()

    def _read_line(self, line: bytes, read: Callable[[bytes], T]) -> T:
        try:
            return read(line)
        except msgspec.DecodeError as error:
            raise OpenHandsError(
                "log_damaged",
                f"A line of {self._store.path} is not an event: {error}.",
                "Restore the file from a backup, or delete the session.",
            ) from error
