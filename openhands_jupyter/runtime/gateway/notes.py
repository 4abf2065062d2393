"""Notes on the disk of the kernels that run elsewhere, so that none outlives a killed server.

A note is a file that is locked while its server lives. What is not locked is left over.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from pathlib import Path

import msgspec

SUFFIX = ".json"


class _Content(msgspec.Struct):
    address: str
    kernel: str


class Note:
    """A note that is held by this process.

    `write` and `left_over` give them.

    Attributes
    ----------
    kernel
        The kernel's id.
    """

    def __init__(self, path: Path, lock: int, kernel: str) -> None:
        self.kernel = kernel
        self._path = path
        self._lock = lock

    @classmethod
    def write(cls, folder: Path, address: str, kernel: str) -> Note:
        """Note that a kernel runs.

        Parameters
        ----------
        folder
            Where the notes are.
        address
            Of the server, without a password.
        kernel
            The kernel's id there.

        Raises
        ------
        OSError
            When it cannot be written.
        """
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = folder / f"{os.urandom(8).hex()}{SUFFIX}"
        unnamed = path.with_suffix(".new")
        lock = os.open(unnamed, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            os.write(lock, msgspec.json.encode(_Content(address, kernel)))
            # It gets its name once it is held, so that nobody takes it for left over.
            unnamed.rename(path)
        except BaseException:
            os.close(lock)
            raise
        return cls(path, lock, kernel)

    def remove(self) -> None:
        """Forget the kernel, which has ended."""
        self._path.unlink(missing_ok=True)
        self.leave()

    def leave(self) -> None:
        """Leave the note to whoever comes next, because the kernel may still run."""
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1


def left_over(folder: Path, address: str) -> list[Note]:
    """The notes of killed servers, which are held then.

    Parameters
    ----------
    folder
        Where the notes are.
    address
        Of the server whose kernels are meant: a token must not be sent to another.
    """
    found = []
    for path in folder.glob(f"*{SUFFIX}"):
        with contextlib.suppress(OSError):
            lock = os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                content = msgspec.json.decode(path.read_bytes(), type=_Content)
            except (OSError, msgspec.DecodeError):
                os.close(lock)
                continue
            if content.address == address:
                found.append(Note(path, lock, content.kernel))
            else:
                os.close(lock)
    return found
