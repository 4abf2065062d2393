"""Where the packages are kept that are installed in sandboxes: a folder for each workspace and
Python, outside of both, which no program of the person's uses.

What is in it was written by code that nobody vetted. It is used within sandboxes only; here it is
measured and removed, and never read or imported from.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ...errors import Conflict
from ..owner import Owner

FOLDER = "packages"
"""In OpenHands' own folder."""

_STATE = os.environ.get("STATE_DIRECTORY", "/var/lib").partition(":")[0]
OF_OTHERS = Path(_STATE, "openhands-jupyter")
"""Where root keeps those of sandboxes that other users run, who cannot enter root's home.

``STATE_DIRECTORY`` is what systemd tells a service of its folder, see systemd.exec(5).
"""

_LOCK_SUFFIX = ".lock"


class PackagesFolder:
    """A folder for packages, held while a sandbox uses it.

    `open` makes them.

    Attributes
    ----------
    path
        The folder.
    inside
        Its name in the sandbox. The scripts in it hold that name.
    """

    def __init__(self, path: Path, inside: str, lock: int) -> None:
        self.path = path
        self.inside = inside
        self._lock = lock

    @classmethod
    def open(
        cls, home: Path, workspace: Path, python: str, inside: str, owner: Owner | None = None
    ) -> PackagesFolder:
        """The folder of a workspace and a Python, made if need be.

        Parameters
        ----------
        home
            OpenHands' own folder.
        workspace
            The workspace.
        python
            What the packages are for: a Python's path, or the name of an image.
        inside
            Its name in the sandbox; empty for its own.
        owner
            Who uses it, if not the server's own user.

        Raises
        ------
        OSError
            When it cannot be made.
        """
        of_workspace = folder_of(home, workspace, owner)
        # Others have to find the way to what is theirs, and can list nothing.
        make_private(of_workspace, 0o700 if owner is None else 0o711)
        path = of_workspace / _key(f"{python}\0{inside}")
        lock = locked(path, fcntl.LOCK_SH | fcntl.LOCK_NB)
        try:
            path.mkdir(mode=0o700, exist_ok=True)
            if owner is not None:
                owner.take(path)
        except BaseException:
            os.close(lock)
            raise
        return cls(path, inside or str(path), lock)

    def close(self) -> None:
        """Let go of it; it stays."""
        os.close(self._lock)


def folder_of(home: Path, workspace: Path, owner: Owner | None = None) -> Path:
    """The folder that holds those of a workspace."""
    base = home / FOLDER if owner is None else OF_OTHERS / FOLDER / str(owner.uid)
    return base / _key(str(workspace))


def size_of(home: Path, workspace: Path) -> int:
    """Bytes that the packages of a workspace take."""
    return sum(size_below(folder) for folder in _folders_of(home, workspace))


def remove(home: Path, workspace: Path) -> int:
    """Remove the packages that were installed in the sandboxes of a workspace.

    Returns
    -------
    int
        The bytes that they took.

    Raises
    ------
    Conflict
        When a sandbox uses them; those that no sandbox uses are gone.
    OSError
        When they cannot be removed.
    """
    freed, used = 0, False
    for folder in _folders_of(home, workspace):
        size = size_below(folder)
        if remove_unused(folder):
            freed += size
        else:
            used = True
    if used:
        raise Conflict(
            "packages_in_use",
            f"A sandbox on {workspace} is running and uses the installed packages.",
            "Close the sessions on this folder first.",
        )
    return freed


def forget(home: Path, workspace: Path) -> None:
    """Remove all that is kept for a workspace that will never be used again.

    Raises
    ------
    Conflict, OSError
        As `remove`.
    """
    remove(home, workspace)
    for base in _bases_of(home, workspace):
        clear(base)


def remove_all(home: Path) -> int:
    """Remove the packages of every workspace that no sandbox uses; the bytes that they took."""
    freed = 0
    for base in (home / FOLDER, *(OF_OTHERS / FOLDER).glob("*")):
        for folder in _inner_folders(base):
            size = size_below(folder)
            if remove_unused(folder):
                freed += size
    return freed


def size_below(folder: Path) -> int:
    """Bytes of disk that a folder takes."""
    return sum(
        os.lstat(os.path.join(parent, name)).st_blocks * 512
        for parent, _, names in os.walk(folder)
        for name in names
    )


def remove_unused(folder: Path) -> bool:
    """Remove a folder that is locked by whoever uses it; whether nobody did."""
    with _alone(folder) as alone:
        if alone:
            clear(folder)
        return alone


def clear(folder: Path) -> None:
    """Remove a folder that nobody uses, if there is one, and follow no link in it."""
    if not folder.is_dir():
        return
    # What is in it may have taken away its owner's own rights to it.
    for parent, names, _ in os.walk(folder):
        for name in names:
            path = os.path.join(parent, name)
            if not os.path.islink(path):
                os.chmod(path, 0o700)
    shutil.rmtree(folder)


def make_private(folder: Path, mode: int) -> None:
    """Make a folder and those above it that are missing, with this mode whatever the umask."""
    if not folder.parent.is_dir():
        make_private(folder.parent, mode)
    with suppress(FileExistsError):
        folder.mkdir()
        folder.chmod(mode)


def _folders_of(home: Path, workspace: Path) -> Iterator[Path]:
    for base in _bases_of(home, workspace):
        yield from _folders_in(base)


def _bases_of(home: Path, workspace: Path) -> list[Path]:
    name = _key(str(workspace))
    return [home / FOLDER / name, *(OF_OTHERS / FOLDER).glob(f"*/{name}")]


def _inner_folders(base: Path) -> Iterator[Path]:
    for folder in _folders_in(base):
        yield from _folders_in(folder)


def _folders_in(base: Path) -> list[Path]:
    with suppress(OSError):
        return [path for path in base.iterdir() if path.is_dir() and not path.is_symlink()]
    return []


def locked(folder: Path, kind: int) -> int:
    """A descriptor that holds the lock of a folder, which is beside it, out of the sandbox."""
    name = folder.with_name(folder.name + _LOCK_SUFFIX)
    lock = os.open(name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(lock, kind)
    except BaseException:
        os.close(lock)
        raise
    return lock


@contextmanager
def _alone(folder: Path) -> Iterator[bool]:
    try:
        lock = locked(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        yield False
        return
    try:
        yield True
    finally:
        os.close(lock)


def _key(text: str) -> str:
    return hashlib.sha256(os.fsencode(text)).hexdigest()[:16]
