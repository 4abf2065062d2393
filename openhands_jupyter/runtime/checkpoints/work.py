"""Who is at work in a workspace, which several sessions of several servers may share.

The file ``work`` in the store says it, and is read and written under the store's lock. A session
holds ``workers/<session>`` locked while it is at work, which ends with its process.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec

from .model import Worker
from .objects import store_errors


class Work(msgspec.Struct, frozen=True):
    """Who is at work.

    Attributes
    ----------
    now
        Those that are.
    since
        Those that were at any time since the newest checkpoint was taken or found unchanged.
    """

    now: tuple[Worker, ...] = ()
    since: tuple[Worker, ...] = ()

    def others(self, session: str) -> bool:
        """Whether another session is at work."""
        return any(worker.session != session for worker in self.now)

    def seen(self) -> Work:
        """After the present state was kept: what is changed from here on is by those at work."""
        return Work(self.now, self.now)

    def begun(self, worker: Worker) -> Work:
        """With one more, in place of what the session did before."""
        return Work((*self.ended(worker.session).now, worker), _once([*self.since, worker]))

    def ended(self, session: str) -> Work:
        """Without a session, which may have changed files until now."""
        return Work(tuple(w for w in self.now if w.session != session), self.since)


def _once(workers: Iterable[Worker]) -> tuple[Worker, ...]:
    return tuple(dict.fromkeys(workers))


class WorkFile:
    """Reads and writes who is at work; the caller holds the store's lock.

    Parameters
    ----------
    folder
        The store's.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / "work"
        self._locks = folder / "workers"
        self._held: dict[str, int] = {}

    def read(self) -> Work:
        """Who is at work, without those whose process ended."""
        try:
            work = msgspec.msgpack.decode(self._path.read_bytes(), type=Work)
        except (FileNotFoundError, msgspec.DecodeError):
            return Work()
        for worker in work.now:
            if not self._is_alive(worker.session):
                work = work.ended(worker.session)
        return work

    def change(self, change: Callable[[Work], Work]) -> None:
        """Keep what `change` makes of the present state; locks follow who is at work."""
        before = self.read()
        after = change(before)
        sessions = {worker.session for worker in after.now}
        with store_errors():
            for session in sessions - {worker.session for worker in before.now}:
                self._hold(session)
            if after != before:
                partial = self._path.with_suffix(".partial")
                partial.write_bytes(msgspec.msgpack.encode(after))
                os.replace(partial, self._path)
            for session in self._held.keys() - sessions:
                self._release(session)

    def _release(self, session: str) -> None:
        os.close(self._held.pop(session))
        (self._locks / session).unlink(missing_ok=True)

    def _hold(self, session: str) -> None:
        if session in self._held:  # Somebody removed the whole store.
            self._release(session)
        self._locks.mkdir(mode=0o700, exist_ok=True)
        lock = os.open(self._locks / session, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        fcntl.flock(lock, fcntl.LOCK_EX)
        self._held[session] = lock

    def _is_alive(self, session: str) -> bool:
        if session in self._held:
            return True
        try:
            lock = os.open(self._locks / session, os.O_RDWR | os.O_CLOEXEC)
        except FileNotFoundError:
            return False
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        else:
            return False
        finally:
            os.close(lock)
