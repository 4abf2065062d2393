"""Undo and rewind: which files go back to what, and how the log tells it."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Awaitable, Collection, Iterable
from typing import NamedTuple

from ..errors import Conflict, NotFound, OpenHandsError
from ..events import (
    EventStream,
    FileHistory,
    FilesRestoredObservation,
    NotRestored,
    RewindAction,
    Turn,
    UndoAction,
)
from ..runtime.checkpoints import (
    Change,
    CheckpointError,
    CheckpointStore,
    Effects,
    Note,
    RestorePlan,
    RestoreReport,
)
from .checkpointing import Checkpointing, Stopped

MOST_TOLD = 100
"""Paths of each kind that an event names."""


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
    return _way(store, session, target, next(reversed(files.turns.values())))


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


def check_turn(files: FileHistory, turn: int | None) -> int:
    """The turn that is to be undone: this one, or the last.

    Raises
    ------
    Conflict
        When it was undone before, or there is none.
    NotFound
        When there is no such turn.
    """
    if turn is None:
        last = files.last_turn
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
    """Brings files back, as an undo or a rewind asks for.

    Parameters
    ----------
    stream
        The session's log.
    files
        The fold of what it says about checkpoints.
    checkpoints
        The session's checkpoints.
    """

    def __init__(self, stream: EventStream, files: FileHistory, checkpoints: Checkpointing) -> None:
        self._stream = stream
        self._files = files
        self._checkpoints = checkpoints

    async def restore(self, action: UndoAction | RewindAction) -> None:
        """Keep the files as they are, bring them back, and answer the action on the log.

        Once a file was touched, it is done to its end, also when this is cancelled.

        Raises
        ------
        OpenHandsError
            When it cannot be done; no file has changed then.
        """
        store = self._checkpoints.store
        way = await asyncio.to_thread(self._way, store, action)
        try:
            kept = await self._checkpoints.take(
                action.id,
                keep=[way.target, way.expected],
                begin=self._checkpoints.worker(action),
            )
        except Stopped:
            raise OpenHandsError("stopped", "Stopped before any file was restored.") from None
        finally:
            self._stream.live.end(action.id)
        self._checkpoints.log(action.id, kept)
        await _uninterrupted(self._apply(store, way, action))

    def _way(self, store: CheckpointStore, action: UndoAction | RewindAction) -> Way:
        if isinstance(action, UndoAction):
            return way_of_undo(self._files, store, self._stream.session, action.turn)
        return way_of_rewind(self._files, store, self._stream.session, action.event)

    async def _apply(
        self, store: CheckpointStore, way: Way, action: UndoAction | RewindAction
    ) -> None:
        try:
            report = await asyncio.to_thread(_restore, store, way, action.force)
        except OpenHandsError:
            await self._checkpoints.after(action)
            raise
        after = ""
        with contextlib.suppress(CheckpointError, Stopped):
            after = (await self._checkpoints.take(keep=[way.target], end=True)).id
        self._stream.append(
            FilesRestoredObservation(
                cause=action.id,
                target=way.target,
                checkpoint=after,
                restored=len(report.restored),
                removed=len(report.removed),
                paths=[shown(path) for path in [*report.restored, *report.removed][:MOST_TOLD]],
                conflicts=_told(report.conflicts),
                failed=_told(report.failed),
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
