"""Undo and rewind: which files and cells go back to what, and how the log tells it."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Awaitable, Callable, Collection, Iterable
from typing import NamedTuple

from ..errors import Conflict, Invalid, NotFound, OpenHandsError
from ..events import (
    EventStream,
    FileHistory,
    FilesRestoredObservation,
    NotRestored,
    RewindAction,
    Turn,
    UndoAction,
)
from ..notebooks.undo.taking_back import NotebookBack, TakingBack
from ..runtime.checkpoints import (
    Change,
    CheckpointError,
    CheckpointStore,
    Effects,
    Note,
    RestorePlan,
    RestoreReport,
)
from .checkpointing import Checkpointing, Stopped, path_in

MOST_TOLD = 100
"""Paths of each kind that an event names."""

NOTEBOOK = ".ipynb"
OPEN = "Somebody has it open in JupyterLab, and may have saved it meanwhile."

LONGEST_NOTEBOOK = 16 << 20
"""Bytes of one whose file is compared with what its cells would be; a longer one is not."""


class Way(NamedTuple):
    """Where files are to be brought back to.

    Attributes
    ----------
    target
        The checkpoint that they are to be like, as far as the session changed them.
    expected
        The checkpoint that they should be like now: what differs was changed by somebody else.
    effects
        What the session changed.
    """

    target: str
    expected: str
    effects: Effects


class Back(NamedTuple):
    """What an undo or a rewind takes back.

    Attributes
    ----------
    way
        For files; None where none were kept.
    notebooks
        Those that were edited by cells and are taken back so, whatever became of their files.
    """

    way: Way | None
    notebooks: list[NotebookBack]


async def plan_back(
    files: FileHistory,
    store: CheckpointStore | None,
    cells: TakingBack | None,
    session: str,
    action: UndoAction | RewindAction,
) -> Back:
    """What an action takes back, as everything is now.

    Raises
    ------
    NotFound
        When the checkpoints that it needs were dropped.
    CheckpointError
        When they are damaged.
    """
    if isinstance(action, UndoAction):
        edits, was_kept = files.edits_of(action.turn), bool(files.turns[action.turn].before)
    else:
        edits, was_kept = files.edits_since(action.event), True
    found = await cells.plan(id for id in edits if id != action.id) if cells else []
    if store is None or not was_kept:
        return Back(None, found)
    way = await asyncio.to_thread(_way_of, files, store, session, action)
    opened: list[str] = []
    if cells and any(path.endswith(NOTEBOOK) for path in way.effects.targets):
        opened = cells.opened()
    return await asyncio.to_thread(_divided, store, way, found, opened)


def _way_of(
    files: FileHistory, store: CheckpointStore, session: str, action: UndoAction | RewindAction
) -> Way:
    if isinstance(action, UndoAction):
        return way_of_undo(files, store, session, action.turn)
    return way_of_rewind(files, store, session, action.event)


def _divided(
    store: CheckpointStore, way: Way, found: list[NotebookBack], opened: Iterable[str]
) -> Back:
    """Leave the notebooks out of the files that are taken back by cells.

    Another one that somebody has open may have been saved by them while the agent worked.
    """
    targets = way.effects.targets
    files = {notebook.path: path_in(store.workspace, notebook.path) or "" for notebook in found}
    conflicts = plan(store, way).conflicts if targets.keys() & files.values() else {}
    by_cells = []
    for notebook in found:
        file = files[notebook.path]
        is_left = notebook.error is None and file in conflicts
        if file not in targets or is_left or not _is_for_file(notebook, store, way, file):
            by_cells.append(notebook)
    out = {files[notebook.path] for notebook in by_cells}
    kept = {path: entry for path, entry in targets.items() if path not in out}
    may_be_theirs = {path_in(store.workspace, path) or "" for path in opened} & kept.keys()
    effects = way.effects._replace(
        targets=kept, doubts={**way.effects.doubts, **dict.fromkeys(may_be_theirs, OPEN)}
    )
    return Back(way._replace(effects=effects), by_cells)


def _is_for_file(notebook: NotebookBack, store: CheckpointStore, way: Way, file: str) -> bool:
    """Whether a notebook's file can be brought back and nothing else is lost by that.

    It comes back byte for byte then, or goes where it was not there before.
    """
    if notebook.error is not None:
        return isinstance(notebook.error, NotFound | Invalid)
    if notebook.seen.delivery != "disk":
        return False
    before = way.effects.targets[file]
    if before is None:
        return notebook.is_empty_then() or not notebook.made
    try:
        text = store.text(file, before, LONGEST_NOTEBOOK)
    except (CheckpointError, Invalid):
        return False
    return text is not None and notebook.is_then_like(text)


def way_of_undo(files: FileHistory, store: CheckpointStore, session: str, first: int) -> Way:
    """What an undo of a session's turn has to do. Blocks.

    Raises
    ------
    NotFound
        When its checkpoints were dropped.
    """
    turn = files.turns[first]
    return _way(store, session, turn.before, turn)


def way_of_rewind(files: FileHistory, store: CheckpointStore, session: str, event: int) -> Way:
    """What a rewind has to do with the files. Blocks; fails as `way_of_undo` does."""
    target = files.before(event)
    assert target is not None
    last = next(turn for turn in reversed(files.turns.values()) if turn.latest)
    return _way(store, session, target, last)


def _way(store: CheckpointStore, session: str, target: str, last: Turn) -> Way:
    # Of a turn that was cut off nobody knows all that it changed.
    until = last.latest if last.closed else None
    return Way(target, last.latest, store.effects(session, target, until))


def plan(store: CheckpointStore, way: Way) -> RestorePlan:
    """What would be restored now. Blocks."""
    return store.plan(way.target, way.effects, expected=way.expected)


def shown(path: str) -> str:
    """A path as text that can be shown and sent, whatever bytes it holds."""
    return os.fsencode(path).decode(errors="backslashreplace")


def check_turn(files: FileHistory, turn: int | None, is_kept: Callable[[int], bool]) -> int:
    """The turn that is to be undone: this one, or the last.

    Parameters
    ----------
    is_kept
        Whether the edit of notebooks that an action made is kept.

    Raises
    ------
    Conflict
        When it was undone before, or there is none.
    NotFound
        When there is no such turn.
    """
    if turn is None:
        last = files.last_turn(is_kept)
        if last is None:
            raise Conflict("nothing_to_undo", "There is nothing that could be undone.")
        return last.first
    if turn not in files.turns:
        raise NotFound(
            "turn_not_found",
            f"No turn that can be undone begins with event {turn}.",
            "Choose one of those in the timeline.",
        )
    if files.turns[turn].undone:
        raise Conflict("already_undone", "That was undone already.")
    return turn


def check_event(files: FileHistory, event: int) -> None:
    """See that the files can be brought back to before an event.

    Raises
    ------
    Conflict
        When they cannot.
    """
    if files.before(event) is None:
        raise Conflict(
            "no_checkpoint",
            "There is no checkpoint of the files as they were then.",
            "Nothing that changes files ran after that, or they could not be kept.",
        )


class Restorer:
    """Brings files and cells back, as an undo or a rewind asks for.

    Parameters
    ----------
    stream
        The session's log.
    files
        The fold of what it says about checkpoints.
    checkpoints
        The session's checkpoints; None where none are taken.
    cells
        Takes back edits of notebooks; None where there are none.
    """

    def __init__(
        self,
        stream: EventStream,
        files: FileHistory,
        checkpoints: Checkpointing | None,
        cells: TakingBack | None,
    ) -> None:
        self._stream = stream
        self._files = files
        self._checkpoints = checkpoints
        self._cells = cells

    async def restore(self, action: UndoAction | RewindAction) -> None:
        """Keep what there is, bring back what there was, and answer the action on the log.

        Once something was touched, it is done to its end, also when this is cancelled.

        Raises
        ------
        OpenHandsError
            When it cannot be done; nothing has changed then.
        """
        checkpoints = self._checkpoints
        store = checkpoints.store if checkpoints else None
        back = await plan_back(self._files, store, self._cells, self._stream.session, action)
        if checkpoints is not None and back.way is not None:
            await self._keep(checkpoints, back.way, action)
        await _uninterrupted(self._apply(back, action))

    async def _keep(
        self, checkpoints: Checkpointing, way: Way, action: UndoAction | RewindAction
    ) -> None:
        try:
            kept = await checkpoints.take(
                action.id, keep=[way.target, way.expected], begin=await checkpoints.worker(action)
            )
        except Stopped:
            raise OpenHandsError("stopped", "Stopped before anything was restored.") from None
        finally:
            self._stream.live.end(action.id)
        checkpoints.log(action.id, kept)

    async def _apply(self, back: Back, action: UndoAction | RewindAction) -> None:
        checkpoints, way = self._checkpoints, back.way
        report = RestoreReport()
        if checkpoints is not None and way is not None:
            try:
                report = await asyncio.to_thread(_restore, checkpoints.store, way, action.force)
            except OpenHandsError:
                await checkpoints.after(action)
                raise
        cells = self._cells
        notebooks = await cells.take_back(back.notebooks, action.id) if cells else []
        after = ""
        if checkpoints is not None and way is not None:
            with contextlib.suppress(CheckpointError, Stopped):
                after = (await checkpoints.take(keep=[way.target], end=True)).id
        self._stream.append(
            FilesRestoredObservation(
                cause=action.id,
                target=way.target if way else "",
                checkpoint=after,
                restored=len(report.restored),
                removed=len(report.removed),
                paths=[shown(path) for path in [*report.restored, *report.removed][:MOST_TOLD]],
                conflicts=_told(report.conflicts),
                failed=_told(report.failed),
                notebooks=notebooks,
            )
        )


def _restore(store: CheckpointStore, way: Way, force: Collection[str]) -> RestoreReport:
    forced = _real_paths(plan(store, way).changes, force)
    return store.restore(way.target, way.effects, expected=way.expected, force_paths=forced)


def _real_paths(changes: Iterable[Change], wanted: Collection[str]) -> set[str]:
    """The paths that were shown so; two that look the same are none of them."""
    real: dict[str, list[str]] = {}
    for change in changes:
        real.setdefault(shown(change.path), []).append(change.path)
    return {real[path][0] for path in wanted if len(real.get(path, ())) == 1}


def _told(notes: list[Note]) -> list[NotRestored]:
    return [NotRestored(path=note.path, reason=note.reason) for note in notes[:MOST_TOLD]]


async def _uninterrupted(work: Awaitable[None]) -> None:
    """Await `work`, which goes on to its end when this is cancelled; then this is, too."""
    task = asyncio.ensure_future(work)
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        raise
