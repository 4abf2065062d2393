"""The default store: one append-only file of JSON lines per session."""

from __future__ import annotations

import fcntl
import os
from array import array
from pathlib import Path

import msgspec

from ..errors import Conflict, OpenHandsError
from .blobs import sync_path
from .codec import id_of


class JsonlStore:
    """The lines of ``events.jsonl``, found by number.

    Line n is the event with id n. The offsets of the lines are kept in memory (8 bytes an event),
    so that reading a page costs no more than the page.

    Parameters
    ----------
    folder
        The session's folder; made if it does not exist.

    Attributes
    ----------
    torn
        What was cut off a log whose last line was not whole; empty if it was.

    Raises
    ------
    Conflict
        When another process has the session open.
    OpenHandsError
        When its last line shows that the log is damaged elsewhere than at its end.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.path = folder / "events.jsonl"
        self._lease = take_lease(folder)
        try:
            self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        except BaseException:
            os.close(self._lease)
            raise
        self._name_is_safe = False
        try:
            self._ends = _line_ends(self.path)
            self.torn = self._repair()
        except BaseException:
            self.close()
            raise

    def __len__(self) -> int:
        return len(self._ends)

    def append(self, line: bytes) -> None:
        """Write one line; it is with the operating system when this returns.

        Raises
        ------
        OSError
            When it could not be written whole; the file is then as it was before.
        OpenHandsError
            When the file is not as this process left it.
        """
        if os.lseek(self._file, 0, os.SEEK_END) != self._size:
            raise self._damaged("was changed by something else")
        data = memoryview(line + b"\n")
        written = 0
        try:
            while written < len(data):
                written += os.write(self._file, data[written:])
        except BaseException:
            os.ftruncate(self._file, self._size)
            raise
        self._ends.append(self._size + len(data))

    def read(self, first: int, last: int) -> list[bytes]:
        """Lines `first` to `last`, both included; on any thread, and also after `close`.

        Raises
        ------
        OpenHandsError
            When the file was changed by something else.
        """
        if first > last:
            return []
        start = self._ends[first - 1] if first else 0
        # Opened anew, because the store may be closed meanwhile and its descriptor reused.
        with self.path.open("rb") as file:
            file.seek(start)
            lines = file.read(self._ends[last] - start).split(b"\n")
        if len(lines) != last - first + 2 or lines.pop():
            raise self._damaged("was changed by something else")
        return lines

    def sync(self) -> None:
        """Have everything written so far on the disk; may be called on any thread."""
        os.fdatasync(self._file)
        if not self._name_is_safe:
            sync_path(self.path.parent)
            self._name_is_safe = True

    def close(self) -> None:
        """Give the session free for other processes."""
        os.close(self._file)
        os.close(self._lease)

    @property
    def _size(self) -> int:
        return self._ends[-1] if self._ends else 0

    def _repair(self) -> bytes:
        """Cut off a last line that was not written whole, and keep it in a file of its own."""
        if self._ends and self._last_id() is None:
            self._ends.pop()
        torn = os.pread(self._file, os.fstat(self._file).st_size - self._size, self._size)
        if self._ends and self._last_id() != len(self) - 1:
            raise self._damaged("is damaged: its lines are not numbered from 0 on")
        if torn:
            (self.path.parent / f"torn-{len(self)}").write_bytes(torn)
            os.ftruncate(self._file, self._size)
        return torn

    def _last_id(self) -> int | None:
        """Id on the last line; None if that is no event."""
        try:
            return id_of(self.read(len(self) - 1, len(self) - 1)[0])
        except msgspec.DecodeError:
            return None

    def _damaged(self, how: str) -> OpenHandsError:
        return OpenHandsError(
            "log_damaged",
            f"{self.path} {how}.",
            "Close the session and restore the file from a backup, or delete the session.",
        )


def take_lease(folder: Path) -> int:
    """Hold a session for this process, until the descriptor is closed or the process ends.

    Parameters
    ----------
    folder
        The session's folder.

    Returns
    -------
    int
        The descriptor to close.

    Raises
    ------
    Conflict
        When another holder has it.
    """
    lease = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lease, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lease)
        raise Conflict(
            "session_in_use",
            f"The session in {folder} is open in another process.",
            "Close it there first (another Jupyter server, or a running jupyter openhands).",
        ) from None
    return lease


def _line_ends(path: Path) -> array[int]:
    """Offset of the byte after each whole line."""
    ends = array("Q")
    with path.open("rb") as file:
        position = 0
        for line in file:
            position += len(line)
            if line.endswith(b"\n"):
                ends.append(position)
    return ends
