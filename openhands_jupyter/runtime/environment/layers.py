"""What a requirements file lists: installed once, in a sandbox, and read in all later ones.

Like `packages`, what is in a layer was made by code that nobody vetted, and stays in sandboxes.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

from ...errors import Conflict
from ..owner import Owner
from . import packages
from .choice import KernelPython
from .packages import PackagesFolder, clear, locked, make_private, remove_unused

FOLDER = "layers"
KEPT = 3
"""Layers that are kept besides the one that was made last: for other Pythons, or a step back."""

_DONE_SUFFIX = ".done"


@dataclass(frozen=True)
class Requirements:
    """A requirements file as it was read.

    Attributes
    ----------
    name
        Its path, for people.
    content
        What is in it.
    """

    name: str
    content: bytes


class Layer:
    """The place of what a requirements file lists, for one Python.

    Parameters
    ----------
    home
        OpenHands' own folder.
    requirements
        The file.
    python
        The Python below.
    inside
        Its name in the sandbox; empty for its own.
    owner
        Who installs, if not the server's own user.
    """

    def __init__(
        self,
        home: Path,
        requirements: Requirements,
        python: KernelPython,
        inside: str,
        owner: Owner | None = None,
    ) -> None:
        self._base = (
            home / FOLDER if owner is None else packages.OF_OTHERS / FOLDER / str(owner.uid)
        )
        self._owner = owner
        below = python.python
        parts = [requirements.content, repr(below).encode(), inside.encode()]
        self.path = self._base / hashlib.sha256(b"\0".join(parts)).hexdigest()[:16]
        self._inside = inside or str(self.path)
        self._held: PackagesFolder | None = None
        self._done = self.path.with_name(self.path.name + _DONE_SUFFIX)

    @property
    def ready(self) -> bool:
        """Whether everything is installed."""
        return self._done.is_file()

    def open(self) -> PackagesFolder | None:
        """Hold it for a sandbox that reads it; None while it is not ready.

        Raises
        ------
        OSError
            When it cannot be held.
        """
        if not self.ready:
            return None
        lock = locked(self.path, fcntl.LOCK_SH | fcntl.LOCK_NB)
        os.utime(self._done)
        return PackagesFolder(self.path, self._inside, lock)

    def begin(self) -> PackagesFolder:
        """Hold it alone and empty, to install into it, until `release`.

        Raises
        ------
        Conflict
            When somebody else is at it.
        OSError
            When it cannot be made.
        """
        make_private(self._base, 0o700 if self._owner is None else 0o711)
        try:
            lock = locked(self.path, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise Conflict(
                "requirements_busy",
                "These packages are in use, or being installed already.",
                "Wait, or close the sessions that use them.",
            ) from error
        folder = PackagesFolder(self.path, self._inside, lock)
        try:
            self.give_up()
            self.path.mkdir(mode=0o700)
            if self._owner is not None:
                self._owner.take(self.path)
        except BaseException:
            folder.close()
            raise
        self._held = folder
        return folder

    def release(self) -> None:
        """Let go of it after `begin`. May be called twice."""
        if self._held is not None:
            self._held.close()
            self._held = None

    def finish(self) -> None:
        """Say that everything is installed, and remove layers that were not used for longest."""
        self._done.touch(mode=0o600)
        done = sorted(self._base.glob(f"*{_DONE_SUFFIX}"), key=lambda path: path.stat().st_mtime)
        for marker in done[: -KEPT - 1]:
            folder = marker.with_name(marker.name.removesuffix(_DONE_SUFFIX))
            if folder.is_dir() and remove_unused(folder):
                marker.unlink(missing_ok=True)

    def give_up(self) -> None:
        """Remove what there is of it; to be called by whoever holds it alone."""
        self._done.unlink(missing_ok=True)
        clear(self.path)


def remove_all(home: Path) -> int:
    """Remove every layer that no sandbox uses; how many there were."""
    removed = 0
    for base in (home / FOLDER, *(packages.OF_OTHERS / FOLDER).glob("*")):
        for marker in base.glob(f"*{_DONE_SUFFIX}"):
            folder = marker.with_name(marker.name.removesuffix(_DONE_SUFFIX))
            if remove_unused(folder):
                marker.unlink(missing_ok=True)
                removed += 1
    return removed
