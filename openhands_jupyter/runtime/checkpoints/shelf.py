"""Which store a workspace has, which sessions use it, and what becomes of it without them.

::

    <home>/checkpoints/<hash of the workspace's path>/
        workspace                 the path, for people
        sessions/<session id>     ids of the checkpoints on that session's log, a line each
"""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

from .repository import Repository
from .store import CheckpointStore

FOLDER = "checkpoints"


def folder_of(home: Path, workspace: Path) -> Path:
    """The folder of a workspace's store; it may not exist yet."""
    return home / FOLDER / sha256(bytes(workspace)).hexdigest()[:32]


class Shelf:
    """A session's place at the store of its workspace. Everything blocks.

    Parameters
    ----------
    home
        OpenHands' own folder.
    workspace
        The session's workspace.
    session
        Its id.
    """

    def __init__(self, home: Path, workspace: Path, session: str) -> None:
        self.folder = folder_of(home, workspace)
        self._workspace = workspace
        self._session = session
        self._noted = ""

    def enter(self) -> None:
        """Say that this session uses the store, before it puts anything there.

        Raises
        ------
        OSError
            When that cannot be written.
        """
        if not self._own.exists():
            self._own.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            (self.folder / "workspace").write_bytes(bytes(self._workspace) + b"\n")
            self._own.touch(mode=0o600)

    def note(self, *checkpoints: str) -> None:
        """Keep checkpoints as long as there is the session, unless there is no room for them.

        Raises
        ------
        OSError
            When that cannot be written.
        """
        new = [id for id in checkpoints if id != self._noted]
        if new:
            self.enter()
            with self._own.open("a") as file:
                file.writelines(f"{id}\n" for id in new)
            self._noted = new[-1]

    def leave(self, is_alive: Callable[[str], bool]) -> None:
        """Remove what only this session used: its checkpoints, or the store.

        Parameters
        ----------
        is_alive
            Whether there still is a session with an id.
        """
        if not self.folder.exists():
            return
        with contextlib.suppress(FileNotFoundError):
            self._own.unlink()
        repository = Repository(self.folder, 0, 0)
        with repository.locked(alone=True):
            others = [path for path in self._others() if is_alive(path.name)]
            if not others:
                # A session that waits for the lock will see that its store went, and begin anew.
                shutil.rmtree(self.folder)
                return
        store = CheckpointStore(self.folder, self._workspace, size_cap=0)
        store.prune({id for path in others for id in path.read_text().split()})

    def _others(self) -> list[Path]:
        folder = self._own.parent
        return sorted(folder.iterdir()) if folder.exists() else []

    @property
    def _own(self) -> Path:
        return self.folder / "sessions" / self._session
