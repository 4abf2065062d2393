"""The files of the workspace as they were, and going back to them."""

from __future__ import annotations

from typing import ClassVar

import msgspec

from .event import Action, Observation, Source
from .notebooks import NotebookRestored


class CheckpointObservation(Observation, frozen=True, kw_only=True, tag=True):
    """The files of the workspace were kept, before an action or at the end of a turn.

    Attributes
    ----------
    action
        Id of the action, which had not begun; at a turn's end its first action that may have
        changed files.
    checkpoint
        Id in the store of the workspace.
    files, size
        Files in it, and their bytes together.
    left_out
        Paths that it holds no content of, such as caches.
    since
        At a turn's end the checkpoint before its first action; else empty.
    changed, cells
        Paths that the turn changed, and cells of notebooks that it edited; told at its end.
    """

    action: int
    checkpoint: str
    files: int = 0
    size: int = 0
    left_out: int = 0
    since: str = ""
    changed: int = 0
    cells: int = 0


class NoCheckpointObservation(Observation, frozen=True, kw_only=True, tag=True):
    """The files could not be kept before an action, which therefore cannot be undone.

    Told once, and again when the reason is another one.

    Attributes
    ----------
    action
        Its id.
    code, message, hint
        Why, as in an error.
    """

    action: int
    code: str
    message: str
    hint: str = ""


class UndoAction(Action, frozen=True, kw_only=True, tag=True):
    """The person takes back what a turn did to files, and to the cells of notebooks.

    Exactly one observation answers it.

    Attributes
    ----------
    turn
        Id of the turn's first action that may have changed files, or of an earlier undo.
    force
        Paths to be restored although somebody else changed them since, with all below them.
    """

    usual_source: ClassVar[Source] = "user"

    turn: int
    force: list[str] = []


class RewindAction(Action, frozen=True, kw_only=True, tag=True):
    """The person goes back to before an event: its files, a new kernel and a new shell.

    The log stays whole. Exactly one observation answers it.

    Attributes
    ----------
    event
        Id of the event.
    replay
        Whether the cells that succeeded before that event are to be run again.
    force
        As with an undo.
    """

    usual_source: ClassVar[Source] = "user"

    event: int
    replay: bool = False
    force: list[str] = []


class NotRestored(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A path that was to be restored and was not, and why."""

    path: str
    reason: str


class FilesRestoredObservation(Observation, frozen=True, kw_only=True, tag=True):
    """Files and cells are as they were before; answers an undo or a rewind.

    Attributes
    ----------
    target
        The checkpoint that files were restored from; empty where none were kept.
    checkpoint
        The files afterwards.
    restored, removed
        Number of paths that are as they were, and of those that were not there then.
    paths
        The first of these paths.
    conflicts
        Left alone, because somebody else changed them since.
    failed
        Could not be restored.
    notebooks
        What was done to notebooks that had been edited cell by cell.
    """

    target: str
    checkpoint: str
    restored: int = 0
    removed: int = 0
    paths: list[str] = []
    conflicts: list[NotRestored] = []
    failed: list[NotRestored] = []
    notebooks: list[NotebookRestored] = []


class ReplayObservation(Observation, frozen=True, kw_only=True, tag=True):
    """Earlier cells were run again in the new kernel, as the rewind in ``cause`` asked for.

    Attributes
    ----------
    cells, done
        How many there were, and how many of them succeeded again.
    reason
        Why it was not all of them, as a sentence; else empty.
    """

    cells: int
    done: int
    reason: str = ""
