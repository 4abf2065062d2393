"""Where files of instructions are: below the workspace, and in the person's own folder."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from ...beneath import open_beneath, read_beneath
from ...events import SkillOrigin

LONGEST = 200_000
"""Bytes of a file."""

MOST_ENTRIES = 200
"""Of a folder that are looked at."""

README = "README.md"
"""Tells people of a folder, not agents of their work."""

_FOLDER = os.O_RDONLY | os.O_DIRECTORY

Stamp = tuple[int, int, int]
"""Of a file: another one means that it is another file, or was written to."""


class Entry(NamedTuple):
    """A file that was found.

    Attributes
    ----------
    path
        From the place on.
    stamp
        Of the file as it was then.
    """

    path: str
    stamp: Stamp


class Place:
    """A folder with files of instructions.

    What is in a workspace is opened beneath it, wherever links lead. The person may well have
    links in a folder of their own, which no agent can write to.

    Parameters
    ----------
    folder
        The folder.
    origin
        Whose it is.
    """

    def __init__(self, folder: Path, origin: SkillOrigin) -> None:
        self.folder = folder
        self.origin = origin

    def stat(self, path: str) -> Entry | None:
        """One file; None where there is none.

        Raises
        ------
        OSError
            When it cannot be looked at, such as where it leads out of the workspace.
        """
        top, rest = self._at(path)
        try:
            fd = open_beneath(top, rest, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY)
        except (FileNotFoundError, NotADirectoryError):
            return None
        try:
            return Entry(path, _stamp(os.fstat(fd)))
        finally:
            os.close(fd)

    def names(self, path: str) -> list[str]:
        """What is in a folder, by name; nothing where there is no such folder.

        Raises
        ------
        OSError
            When it cannot be looked at.
        """
        top, rest = self._at(path)
        try:
            fd = open_beneath(top, rest, _FOLDER)
        except (FileNotFoundError, NotADirectoryError):
            return []
        try:
            with os.scandir(fd) as entries:
                names = sorted(entry.name for _, entry in zip(range(10_000), entries, strict=False))
        finally:
            os.close(fd)
        return [name for name in names if not name.startswith(".") and name.isprintable()]

    def files(self, folder: str, ends: str) -> Iterator[Entry]:
        """The files of a folder whose name ends so."""
        names = [name for name in self.names(folder) if name.endswith(ends) and name != README]
        yield from self._found(f"{folder}/{name}" for name in names[:MOST_ENTRIES])

    def folders_with(self, folder: str, file: str) -> Iterator[Entry]:
        """Those files of this name that are one folder further down."""
        names = self.names(folder)[:MOST_ENTRIES]
        yield from self._found(f"{folder}/{name}/{file}" for name in names)

    def read(self, path: str) -> bytes:
        """A file.

        Raises
        ------
        OSError
            When it cannot be read, is no regular file or too long.
        """
        top, rest = self._at(path)
        return read_beneath(top, rest, LONGEST)

    def _found(self, paths: Iterator[str]) -> Iterator[Entry]:
        for path in paths:
            try:
                entry = self.stat(path)
            except OSError:
                # What is wrong with it is told when it is read.
                entry = Entry(path, (0, 0, 0))
            if entry is not None:
                yield entry

    def _at(self, path: str) -> tuple[Path, str]:
        """A folder to stay in, and the way from there."""
        if self.origin == "workspace":
            return self.folder, path
        where = (self.folder / path).resolve()
        return where.parent, where.name


def _stamp(found: os.stat_result) -> Stamp:
    return found.st_ino, found.st_mtime_ns, found.st_size
