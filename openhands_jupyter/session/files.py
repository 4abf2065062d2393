"""The files of a session's workspace over time: what changed, and what can be taken back."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path

import msgspec

from ..config import Config
from ..controller.checkpointing import Checkpointing
from ..controller.replaying import cells_to_replay
from ..controller.restoring import Back, check_event, check_turn, plan, plan_back, shown
from ..errors import Conflict, Invalid, NotFound
from ..events import (
    CheckpointObservation,
    EventStream,
    FileHistory,
    NotebookRestored,
    RewindAction,
    UndoAction,
)
from ..notebooks.undo.taking_back import TakingBack, telling
from ..runtime.checkpoints import (
    DEFAULT_EXCLUDE,
    Change,
    CheckpointStore,
    Entry,
    RestorePlan,
    Shelf,
)
from ..runtime.checkpoints.authorship import THEIRS
from ..runtime.checkpoints.model import ChangeKind, EntryKind
from .info import SessionInfo

MOST_LISTED = 1000
GIGABYTE = 1_000_000_000


class FileState(msgspec.Struct, frozen=True, kw_only=True):
    """What there is at a path; ``mode`` are the permission bits."""

    kind: EntryKind
    size: int
    mode: int


class FileChange(msgspec.Struct, frozen=True, kw_only=True):
    """A path that differs between two states.

    Attributes
    ----------
    kind
        ``added``, ``deleted``, ``modified``, ``mode`` (only the permissions), ``link`` (it leads
        elsewhere), ``type`` (a file became a folder, or the like).
    conflict
        Why an undo leaves it alone unless it is forced, or that another session made it; else
        empty.
    """

    path: str
    kind: ChangeKind
    before: FileState | None = None
    after: FileState | None = None
    conflict: str = ""


class FileTexts(msgspec.Struct, frozen=True, kw_only=True):
    """One file in two states.

    Attributes
    ----------
    before, after
        Its text; empty where there is none.
    notice
        Why there is no text to be compared; else empty.
    """

    before: str = ""
    after: str = ""
    notice: str = ""


class Changes(msgspec.Struct, frozen=True, kw_only=True):
    """What differs between two states.

    Attributes
    ----------
    changes
        The first `MOST_LISTED` paths, or the one that was asked for.
    total
        Paths that differ.
    texts
        Of the path that was asked for.
    """

    changes: list[FileChange]
    total: int
    texts: FileTexts | None = None


class RestorePreview(msgspec.Struct, frozen=True, kw_only=True):
    """What an undo or a rewind would do now.

    Attributes
    ----------
    event
        The turn that would be undone, or the event that would be gone back to.
    changes, total
        From now to then.
    failed
        Paths that cannot be restored, with the reason as ``conflict``.
    cells
        Cells that a rewind could run again; 0 for an undo.
    uncertain
        Whether the server ended during the turn, so that what it changed last cannot be told from
        what others changed.
    others
        The first `MOST_LISTED` paths that other sessions alone changed, which stay as they are.
    notebooks
        Those that are taken back cell by cell, and not as files.
    """

    event: int
    changes: list[FileChange]
    total: int
    failed: list[FileChange]
    cells: int = 0
    uncertain: bool = False
    others: list[str] = []
    notebooks: list[NotebookRestored] = []


def make_checkpointing(
    config: Config, info: SessionInfo, stream: EventStream, files: FileHistory
) -> Checkpointing | None:
    """What keeps a session's files; None where nothing does, as on another machine."""
    settings = config.settings
    if not settings.checkpoints or info.sandbox == "gateway":
        return None
    workspace = Path(info.workspace)
    shelf = Shelf(config.home, workspace, info.id)
    store = CheckpointStore(
        shelf.folder,
        workspace,
        size_cap=int(settings.checkpoint_limit * GIGABYTE),
        exclude=(*DEFAULT_EXCLUDE, *settings.checkpoint_exclude),
    )
    return Checkpointing(stream, files, store, shelf)


class SessionFiles:
    """Looks at the checkpoints of one session, and at what can be undone.

    Every method raises `CheckpointError` or `NotFound` when a checkpoint that it needs is damaged
    or was dropped, and `Conflict` when none are taken in this session.

    Parameters
    ----------
    stream
        The session's log.
    files
        The fold of what it says about checkpoints.
    checkpoints
        What takes them; None if nothing does.
    cells
        Takes back edits of notebooks.
    """

    def __init__(
        self,
        stream: EventStream,
        files: FileHistory,
        checkpoints: Checkpointing | None,
        cells: TakingBack,
    ) -> None:
        self._stream = stream
        self._files = files
        self._checkpoints = checkpoints
        self._cells = cells

    def _require_store(self) -> CheckpointStore:
        if self._checkpoints is None:
            raise Conflict(
                "no_checkpoints",
                "The files are not kept in this session, so nothing can be undone.",
                "Checkpoints are switched off (sandbox.checkpoints), or the files are on another "
                "machine.",
            )
        return self._checkpoints.store

    async def checkpoints(self, limit: int) -> list[CheckpointObservation]:
        """The newest checkpoints on the log, the newest first."""
        kind = CheckpointObservation.__name__
        found = await asyncio.to_thread(self._stream.read, order="desc", limit=limit, types=[kind])
        return [event for event in found if isinstance(event, CheckpointObservation)]

    async def diff(self, before: str, after: str | None) -> Changes:
        """What changed from one checkpoint to another, or until now."""
        return await asyncio.to_thread(self._diff, before, after)

    async def texts(self, before: str, after: str | None, path: str) -> Changes:
        """One changed file before and after, with its texts.

        Raises
        ------
        NotFound
            When it did not change.
        """
        return await asyncio.to_thread(self._texts, before, after, path)

    async def until_kept(self) -> None:
        """Wait until what the last turn made of the files is kept, which it is a moment later."""
        if self._checkpoints is not None:
            await self._checkpoints.until_turn_is_kept()

    async def undo_preview(self, turn: int | None) -> RestorePreview:
        """What `Session.undo` would do now; it raises the same."""
        await self.until_kept()
        first = self.check_undo(turn)
        back = await self._back(UndoAction(turn=first))
        uncertain = back.way is not None and not self._files.turns[first].closed
        return await asyncio.to_thread(self._preview, back, first, 0, uncertain)

    async def rewind_preview(self, event: int) -> RestorePreview:
        """What `Session.rewind` would do now; it raises the same."""
        await self.until_kept()
        self.check_rewind(event)
        back = await self._back(RewindAction(event=event))
        cells, _ = await asyncio.to_thread(cells_to_replay, self._stream, event)
        return await asyncio.to_thread(self._preview, back, event, len(cells), False)

    async def _back(self, action: UndoAction | RewindAction) -> Back:
        store = self._checkpoints.store if self._checkpoints else None
        return await plan_back(self._files, store, self._cells, self._stream.session, action)

    def _preview(self, back: Back, event: int, cells: int, uncertain: bool) -> RestorePreview:
        found = RestorePlan(changes=[], conflicts={}, failed=[])
        if back.way is not None:
            found = plan(self._require_store(), back.way)
        # Those that need a decision first, should there be more than can be listed.
        ordered = sorted(found.changes, key=lambda change: change.path not in found.conflicts)
        return RestorePreview(
            event=event,
            changes=_listed(ordered, found.conflicts),
            total=len(ordered),
            failed=[
                FileChange(path=note.path, kind="modified", conflict=note.reason)
                for note in found.failed[:MOST_LISTED]
            ],
            cells=cells,
            uncertain=uncertain,
            others=[shown(path) for path in found.others[:MOST_LISTED]],
            notebooks=telling(notebook.seen for notebook in back.notebooks),
        )

    def check_undo(self, turn: int | None) -> int:
        """The turn that would be undone; see `check_turn` for what it raises."""
        is_kept = self._cells.kept.has
        if turn is None and self._files.last_turn(is_kept) is None:
            self._require_store()
        first = check_turn(self._files, turn, is_kept)
        if not any(map(is_kept, self._files.edits_of(first))):
            self._require_store()
        return first

    def check_rewind(self, event: int) -> None:
        """See that a rewind to before an event is possible; see `check_event`."""
        self._require_store()
        check_event(self._files, event)

    def _diff(self, before: str, after: str | None) -> Changes:
        store = self._require_store()
        found = store.diff(before, after)
        theirs = store.effects(self._stream.session, before, after).others if after else {}
        return Changes(changes=_listed(found, dict.fromkeys(theirs, THEIRS)), total=len(found))

    def _texts(self, before: str, after: str | None, path: str) -> Changes:
        store = self._require_store()
        found = store.diff(before, after)
        change = next((change for change in found if shown(change.path) == path), None)
        if change is None:
            raise NotFound("file_not_changed", f"{path} is the same in both states.")
        return Changes(changes=_listed([change]), total=len(found), texts=_compared(store, change))


def _compared(store: CheckpointStore, change: Change) -> FileTexts:
    try:
        texts = [_text(store, change.path, entry) for entry in (change.before, change.after)]
    except Invalid as error:
        return FileTexts(notice=f"It is too long to be compared. {error.message}")
    if None in texts:
        return FileTexts(notice="It is no text, so it cannot be compared here.")
    return FileTexts(before=texts[0] or "", after=texts[1] or "")


def _text(store: CheckpointStore, path: str, entry: Entry | None) -> str | None:
    if entry is None or entry.kind == "folder":
        return ""
    if entry.kind == "link":
        return entry.digest.decode(errors="backslashreplace")
    return store.text(path, entry)


def _listed(changes: list[Change], reasons: Mapping[str, str] | None = None) -> list[FileChange]:
    reasons = reasons or {}
    return [
        FileChange(
            path=shown(change.path),
            kind=change.kind,
            before=_state(change.before),
            after=_state(change.after),
            conflict=reasons.get(change.path, ""),
        )
        for change in changes[:MOST_LISTED]
    ]


def _state(entry: Entry | None) -> FileState | None:
    return FileState(kind=entry.kind, size=entry.size, mode=entry.mode) if entry else None
