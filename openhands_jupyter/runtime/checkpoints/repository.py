"""The folder that the checkpoints of a workspace are kept in.

::

    objects/<hash>       content of files and trees of folders, as in Git, each once
    checkpoints/<id>     a small record each; what no record leads to is rubbish
    cache                which files need not be read again
    lock                 held while in use; says whether a writer was killed

A checkpoint exists once its record has its name, which is the last step, so a killed process
leaves none half made. Nothing waits for the disk: after a power cut the last checkpoints may be
damaged, which their hashes show; the next one reads every file and stores again what is missing.
"""

from __future__ import annotations

import contextlib
import fcntl
import math
import os
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from ...errors import NotFound
from .model import Checkpoint, CheckpointDamaged, CheckpointError, Entry
from .objects import ObjectStore, store_errors
from .scan import Seen

ALWAYS_KEPT = 2
LOW_WATER = 0.8
"""Share of the size cap that stays when the store is full, so as not to make room each time."""

LOCK = "lock"
_IDLE, _BUSY = b"0", b"1"


class Cache(msgspec.Struct):
    """What one checkpoint saves the next.

    Attributes
    ----------
    boot, root
        When it holds: until the system is started anew, while this is the newest state.
    total
        Bytes that the objects take.
    seen
        Hashes of the workspace's files.
    """

    boot: str
    root: bytes
    total: int
    seen: Seen


class Repository:
    """Records, objects, cache and lock, see the module.

    Parameters
    ----------
    folder
        Made when needed.
    size_cap, free_floor
        As in `CheckpointStore`.
    """

    def __init__(self, folder: Path, size_cap: int, free_floor: int) -> None:
        self.folder = folder
        self._records = folder / "checkpoints"
        self._size_cap = size_cap
        self._free_floor = free_floor

    def objects(self) -> ObjectStore:
        """The objects, with nothing added yet."""
        return ObjectStore(self.folder / "objects", self._size_cap, self._free_floor)

    @contextmanager
    def locked(self, *, alone: bool) -> Iterator[int]:
        """Keep others out, or just those who need to be alone; gives the lock file."""
        lock = self._lock(alone)
        while not self._is_in_place(lock):
            # Somebody removed the whole store while this waited.
            os.close(lock)
            lock = self._lock(alone)
        try:
            yield lock
        finally:
            os.close(lock)

    def _lock(self, alone: bool) -> int:
        with store_errors():
            for folder in (self.folder / "objects", self._records):
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            lock = os.open(self.folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX if alone else fcntl.LOCK_SH)
        except BaseException:
            os.close(lock)
            raise
        return lock

    def _is_in_place(self, lock: int) -> bool:
        try:
            return os.path.samestat(os.fstat(lock), os.stat(self.folder / LOCK))
        except FileNotFoundError:
            return False

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Change the store; what a failure or a killed process left is removed."""
        with self.locked(alone=True) as lock:
            with store_errors():
                if os.pread(lock, 1, 0) == _BUSY:
                    self.collect()
                os.pwrite(lock, _BUSY, 0)
            try:
                yield
            except BaseException:
                with contextlib.suppress(OSError, CheckpointError):  # Then the next one tries.
                    self.collect()
                    os.pwrite(lock, _IDLE, 0)
                raise
            with store_errors():
                os.pwrite(lock, _IDLE, 0)

    def ids(self) -> list[str]:
        """Of all checkpoints, the oldest first."""
        return sorted(os.listdir(self._records))

    def records(self) -> list[Checkpoint]:
        """All checkpoints whose record is whole, the oldest first."""
        return [record for id in self.ids() if (record := self._load(id))]

    def newest(self) -> Checkpoint | None:
        """The newest checkpoint whose record is whole."""
        return next((record for id in reversed(self.ids()) if (record := self._load(id))), None)

    def between(self, before: str, after: str | None) -> list[Checkpoint]:
        """The checkpoints after one, up to and with another, or all; the oldest first."""
        ids = [id for id in self.ids() if before < id and (after is None or id <= after)]
        return [record for id in ids if (record := self._load(id))]

    def state(self, id: str) -> Entry:
        """The workspace's folder as it was.

        Raises
        ------
        NotFound
            When there is no such checkpoint.
        """
        record = self._load(id) if id in self.ids() else None
        if record is None:
            raise NotFound(
                "checkpoint_not_found",
                "There is no such checkpoint (any more).",
                "Old checkpoints are dropped when there is no more room for them.",
            )
        return root_of(record)

    def add(self, record: Checkpoint) -> None:
        """Make a checkpoint of what was stored."""
        self._save(record, self._records / record.id)

    def drop(self, id: str) -> None:
        """Remove a record; `collect` removes what only it led to."""
        record = self._load(id)
        later = next((other for other in self.ids() if other > id), None)
        heir = self._load(later) if later else None
        if record and heir and not set(record.by) <= set(heir.by):
            # Between its neighbours all those were at work now.
            by = list(dict.fromkeys([*record.by, *heir.by]))
            self.add(msgspec.structs.replace(heir, by=by))
        (self._records / id).unlink()

    def cache(self, newest: Checkpoint | None) -> Cache:
        """The cache, empty unless it was saved for this checkpoint since the system started."""
        root = newest.root if newest else b""
        with contextlib.suppress(OSError, msgspec.DecodeError):
            cache = msgspec.msgpack.decode((self.folder / "cache").read_bytes(), type=Cache)
            if (cache.boot, cache.root) == (_boot_id(), root):
                return cache
        return Cache(_boot_id(), root, self.objects().total(), {})

    def save_cache(self, cache: Cache) -> None:
        """Keep what the next checkpoint can use."""
        self._save(cache, self.folder / "cache")

    def collect(self, limit: float = math.inf, keep: Collection[str] = ()) -> None:
        """Drop the oldest checkpoints over a limit, and damaged ones; remove all rubbish."""
        objects = self.objects()
        live: dict[bytes, int] = {}
        total, full = 0, False
        for age, id in enumerate(reversed(self.ids())):
            record = self._load(id)
            try:
                reached = objects.reach(record.root, live) if record else None
            except CheckpointDamaged:
                reached = None
            pinned = age < ALWAYS_KEPT or id in keep
            size = sum(reached.values()) if reached else 0
            full = full or (total + size > limit and not pinned)
            if reached is None or (full and not pinned):
                self.drop(id)
            else:
                live |= reached
                total += size
        objects.sweep(live)
        cache = self.cache(self.newest())
        if cache.total != total:
            self.save_cache(msgspec.structs.replace(cache, total=total))

    def make_room(self, keep: Collection[str]) -> None:
        """See to it that the store is not larger than it may be."""
        if self.cache(self.newest()).total > self._size_cap:
            self.collect(self._size_cap * LOW_WATER, keep)

    def _load(self, id: str) -> Checkpoint | None:
        with contextlib.suppress(msgspec.DecodeError):
            return msgspec.msgpack.decode((self._records / id).read_bytes(), type=Checkpoint)
        return None

    def _save(self, item: msgspec.Struct, path: Path) -> None:
        with store_errors():
            partial = self.folder / "partial"
            partial.write_bytes(msgspec.msgpack.encode(item))
            os.replace(partial, path)


def root_of(record: Checkpoint) -> Entry:
    """The workspace's folder as it was."""
    return Entry("folder", 0, 0, record.root)


def _boot_id() -> str:
    return Path("/proc/sys/kernel/random/boot_id").read_text()
