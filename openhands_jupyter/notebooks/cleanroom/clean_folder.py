"""A copy of a folder to run programs in, and which of its files they used."""

from __future__ import annotations

import errno
import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path

import msgspec

ENVIRONMENT = "pyvenv.cfg"
"""What marks a virtual environment, which is of no use in another place."""

_FOLLOW_NO_LINK = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC
_OF_PROGRAMS = {"__pycache__", ".ipynb_checkpoints"}
"""Folders that programs keep for themselves."""

_PIECE = 1 << 24
_CANNOT = (errno.EXDEV, errno.EINVAL, errno.EOPNOTSUPP, errno.ENOSYS)
_LONG_AGO = 0


class FilesUsed(msgspec.Struct, frozen=True, kw_only=True):
    """Files of the folder, by their paths within it, in alphabetical order.

    Attributes
    ----------
    read
        Also those that were read by programs that no Python knows of; None where the file system
        does not tell.
    """

    read: list[str] | None
    created: list[str]
    changed: list[str]
    deleted: list[str]


class CleanFolder:
    """A copy of a folder without virtual environments, sockets, pipes and devices.

    Links are copied as links, and no link is followed. What cannot be read is left out.

    Parameters
    ----------
    source
        The folder.
    target
        Where the copy is to be; its parent is there, and nobody else's to change.
    with_owners
        Whether each file is to belong to whom the original does, which only root can do.

    Attributes
    ----------
    path
        The copy.
    left_out
        What could not be read, by paths within the folder.
    """

    def __init__(self, source: Path, target: Path, with_owners: bool = False) -> None:
        self.path = target
        self._with_owners = with_owners
        self.left_out: list[str] = []
        self._copy_folder(os.open(source, _FOLLOW_NO_LINK | os.O_DIRECTORY), "")
        self._before = dict(self._states())
        self._tells_reads = _tells_reads(target.with_name(f"{target.name}.probe"))

    def used(self) -> FilesUsed:
        """What programs did in the copy so far."""
        before, after = self._before, dict(self._states())
        read = [path for path, (*_, read) in after.items() if path in before and read > _LONG_AGO]
        return FilesUsed(
            read=sorted(read) if self._tells_reads else None,
            created=sorted(after.keys() - before.keys()),
            changed=sorted(
                p for p in before.keys() & after.keys() if before[p][:3] != after[p][:3]
            ),
            deleted=sorted(before.keys() - after.keys()),
        )

    def _copy_folder(self, folder: int, within: str) -> None:
        """Copy what is in an open folder, and close it."""
        try:
            with os.scandir(folder) as entries:
                names = [entry.name for entry in entries]
            if within and ENVIRONMENT in names:
                return
            target = self.path / within
            target.mkdir(mode=0o700)
            for name in names:
                self._try_to_copy(folder, name, os.path.join(within, name))
            self._become_like(target, os.fstat(folder))
        finally:
            os.close(folder)

    def _try_to_copy(self, folder: int, name: str, path: str) -> None:
        try:
            self._copy(folder, name, path)
        except PermissionError:
            self.left_out.append(path)
        except FileNotFoundError:
            # It was removed meanwhile.
            return

    def _copy(self, folder: int, name: str, path: str) -> None:
        found = os.stat(name, dir_fd=folder, follow_symlinks=False)
        if stat.S_ISLNK(found.st_mode):
            target = self.path / path
            target.symlink_to(os.readlink(name, dir_fd=folder))
            self._become_like(target, found)
        elif stat.S_ISDIR(found.st_mode):
            flags = _FOLLOW_NO_LINK | os.O_DIRECTORY
            self._copy_folder(os.open(name, flags, dir_fd=folder), path)
        elif stat.S_ISREG(found.st_mode):
            # It may be a pipe by now, which nobody writes into.
            descriptor = os.open(name, _FOLLOW_NO_LINK | os.O_NONBLOCK, dir_fd=folder)
            try:
                if stat.S_ISREG(os.fstat(descriptor).st_mode):
                    self._copy_file(descriptor, self.path / path)
            finally:
                os.close(descriptor)

    def _copy_file(self, source: int, target: Path) -> None:
        found = os.fstat(source)
        # Written before anybody may read it, whatever its permissions are.
        copy = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            _copy_content(source, copy)
        finally:
            os.close(copy)
        self._become_like(target, found)
        os.utime(target, ns=(_LONG_AGO, found.st_mtime_ns))

    def _become_like(self, copy: Path, original: os.stat_result) -> None:
        if self._with_owners:
            os.chown(copy, original.st_uid, original.st_gid, follow_symlinks=False)
        if not stat.S_ISLNK(original.st_mode):
            copy.chmod(stat.S_IMODE(original.st_mode) & 0o777)

    def _states(self) -> Iterator[tuple[str, tuple[int, int, int, int]]]:
        """Of each file: which one it is, its size, when it was changed, and when it was read."""
        for folder, folders, names in os.walk(self.path):
            folders[:] = [name for name in folders if name not in _OF_PROGRAMS]
            for name in names:
                place = os.path.join(folder, name)
                found = os.lstat(place)
                read = 0 if stat.S_ISLNK(found.st_mode) else found.st_atime_ns
                state = (found.st_ino, found.st_size, found.st_mtime_ns, read)
                yield os.path.relpath(place, self.path), state


def _copy_content(source: int, copy: int) -> None:
    try:
        # Shares the blocks where the file system can.
        while os.copy_file_range(source, copy, _PIECE):
            pass
    except OSError as error:
        if error.errno not in _CANNOT:
            raise
        with open(source, "rb", closefd=False) as old, open(copy, "wb", closefd=False) as new:
            shutil.copyfileobj(old, new)


def _tells_reads(probe: Path) -> bool:
    """Whether the file system keeps when a file was read, for one that was not for long."""
    probe.write_text("x")
    os.utime(probe, ns=(_LONG_AGO, probe.stat().st_mtime_ns))
    probe.read_text()
    told = probe.stat().st_atime_ns > _LONG_AGO
    probe.unlink()
    return told
