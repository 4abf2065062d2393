"""Pictures of what a folder holds, to be compared."""

from __future__ import annotations

import os
import stat
from pathlib import Path

Picture = dict[bytes, tuple[str, int, bytes]]
"""Kind, permissions and content (or target of a link) of each path."""


def take_picture(folder: Path) -> Picture:
    """Everything below a folder; links are not followed."""
    found: Picture = {}
    for root, folders, files in os.walk(os.fsencode(folder)):
        for name in (*folders, *files):
            path = os.path.join(root, name)
            info = os.lstat(path)
            mode = stat.S_IMODE(info.st_mode)
            key = os.path.relpath(path, os.fsencode(folder))
            if stat.S_ISLNK(info.st_mode):
                found[key] = ("link", 0, os.readlink(path))
            elif stat.S_ISDIR(info.st_mode):
                found[key] = ("folder", mode, b"")
            elif stat.S_ISREG(info.st_mode):
                with open(path, "rb") as file:
                    found[key] = ("file", mode, file.read())
            else:
                found[key] = ("other", mode, b"")
    return found
