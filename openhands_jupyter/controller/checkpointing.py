"""Keeps the files of the workspace before each action and at the end of each turn."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import threading
import time
from collections.abc import Callable, Collection
from functools import partial
from pathlib import Path

from ..errors import OpenHandsError
from ..events import (
    Action,
    CheckpointObservation,
    DryRunAction,
    EventStream,
    FileEditAction,
    FileHistory,
    FileWriteAction,
    NoCheckpointObservation,
    Turn,
)
from ..events.notebooks import NotebookWrite
from ..runtime.checkpoints import (
    Change,
    Checkpoint,
    CheckpointError,
    CheckpointStore,
    Shelf,
    Worker,
)

LONGEST_TAKE = 60.0
"""Seconds that the agent may be kept waiting; a disk reads some gigabytes in that time."""

QUIET = 1.0
"""Seconds after which progress is shown, and between two pieces of it."""

_NOT_AGAIN = ("checkpoint_too_large", "checkpoint_too_slow")
"""To find that out anew before each action would take too long."""

NO_UNDO = "What is changed in files from here on cannot be undone."

Progress = Callable[[int, int], None]

_log = logging.getLogger(__name__)


class Stopped(Exception):
    """Somebody stopped it."""


class Checkpointing:
    """Takes the checkpoints of one session and puts them on its log.

    Parameters
    ----------
    stream
        The session's log.
    files
        The fold of what it says about checkpoints; kept current by the controller.
    store
        The store of the workspace.
    shelf
        The session's place there.
    """

    def __init__(
        self, stream: EventStream, files: FileHistory, store: CheckpointStore, shelf: Shelf
    ) -> None:
        self.store = store
        self._stream = stream
        self._files = files
        self._shelf = shelf
        self._one_at_a_time = asyncio.Lock()
        self._takes: set[threading.Event] = set()
        self._shown_at = -1
        self._problem: CheckpointError | None = None
        self._told = ""
        # What was cut off by the end of a server: others may have changed files since.
        self._unclosable = files.open_turn.first if files.open_turn else -1
        self._warming: asyncio.Task[None] | None = None
        self._at_work = False
        self._ending = False
        self._turn_kept = asyncio.Event()

    def warm(self) -> None:
        """Begin to keep what the files are like now, so that the first action waits less."""
        if self._warming is None:
            self._warming = asyncio.create_task(self._warm())

    async def before(self, action: Action) -> Checkpoint | None:
        """Keep the files before an action; where that fails, tell it and let the agent go on.

        Returns
        -------
        Checkpoint or None
            What was kept.

        Raises
        ------
        Stopped
            After `stop`.
        """
        if not action.changes_files:
            return None
        worker = await self.worker(action)
        id = _known_by(action)
        try:
            if self._problem is not None and self._problem.code in _NOT_AGAIN:
                raise self._problem
            checkpoint = await self.take(action.id, begin=worker)
        except CheckpointError as error:
            self._problem = error
            self._tell(id, error)
            # Others on the workspace must know all the same.
            with contextlib.suppress(CheckpointError):
                await asyncio.to_thread(self.store.begin, worker)
            return None
        self._told = ""
        self.log(id, checkpoint)
        return checkpoint

    async def changes_since(self, checkpoint: str, within: float) -> list[Change] | None:
        """What differs now from a checkpoint.

        Parameters
        ----------
        checkpoint
            Its id.
        within
            Seconds that the look may take.

        Returns
        -------
        list of Change or None
            None where that is not known in time, or the look was given up.
        """
        stopping = threading.Event()
        self._takes.add(stopping)
        look = partial(self.store.diff, checkpoint, progress=self._progress(stopping))
        try:
            async with asyncio.timeout(within):
                return await asyncio.to_thread(look)
        except (OpenHandsError, Stopped, TimeoutError):
            return None
        finally:
            # The thread, should it go on, ends at the next file.
            stopping.set()
            self._takes.discard(stopping)

    async def after(self, action: Action) -> None:
        """Note that an action has ended; where others work too, keep what the files are now."""
        if not action.changes_files:
            return
        with contextlib.suppress(CheckpointError, Stopped):
            if not await asyncio.to_thread(self.store.end, self._stream.session):
                await self.take(end=True)

    async def worker(self, action: Action) -> Worker:
        """This session, about to change what an action may change."""
        path = None
        if isinstance(action, FileWriteAction | FileEditAction | NotebookWrite):
            path = await asyncio.to_thread(path_in, self.store.workspace, action.path)
        return Worker(self._stream.session, path)

    def log(self, action: int, checkpoint: Checkpoint) -> None:
        """Put on the log that the files were kept before an action."""
        self._stream.append(
            CheckpointObservation(
                action=action,
                checkpoint=checkpoint.id,
                files=checkpoint.files,
                size=checkpoint.size,
                left_out=checkpoint.left_out_count,
            )
        )

    @property
    def can_end_turn(self) -> bool:
        """Whether there is a turn to be closed with `end_turn`."""
        turn = self._files.open_turn
        return turn is not None and bool(turn.before) and turn.first != self._unclosable

    async def end_turn(self, *, runs_on: bool = False) -> None:
        """Keep what the turn has made of the files, and put on the log how much it changed.

        Where that fails, the turn's last changes cannot be told from what others do later.

        Parameters
        ----------
        runs_on
            Whether a command was left running, which may change more.
        """
        turn = self._files.open_turn
        if turn is None:
            return
        self._unclosable = turn.first
        self._ending = True
        try:
            await self._keep_end(turn, runs_on)
        finally:
            self._ending = False
            kept, self._turn_kept = self._turn_kept, asyncio.Event()
            kept.set()

    async def until_turn_is_kept(self) -> None:
        """Wait until the end of a turn that is over is kept, or cannot be: at most a minute."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LONGEST_TAKE):
                while self._files.at_rest and (self._ending or self.can_end_turn):
                    await self._turn_kept.wait()

    async def _keep_end(self, turn: Turn, runs_on: bool) -> None:
        try:
            checkpoint = await self.take(end=not runs_on)
            changed = await asyncio.to_thread(self._count_changes, turn, checkpoint)
        except (CheckpointError, Stopped) as error:
            _log.warning("Session %s: the turn's end was not kept: %r", self._stream.session, error)
            return
        self._stream.append(
            CheckpointObservation(
                action=turn.first,
                checkpoint=checkpoint.id,
                files=checkpoint.files,
                size=checkpoint.size,
                left_out=checkpoint.left_out_count,
                since=turn.before,
                changed=changed,
                cells=turn.cells,
            )
        )

    async def take(
        self,
        cause: int = -1,
        *,
        keep: Collection[str] = (),
        begin: Worker | None = None,
        end: bool = False,
    ) -> Checkpoint:
        """Keep the files; nothing is put on the log.

        Parameters
        ----------
        cause
            Id of the event that progress is shown at, if it takes long; -1 for none.
        keep
            Checkpoints that must not go to make room.
        begin
            What the session is about to do.
        end
            Whether it has done that; it has then, also where this fails.

        Raises
        ------
        CheckpointError
            When it fails; what it says is for the person.
        Stopped
            After `stop`.
        """
        turn = self._files.open_turn
        keep = {*keep, turn.before} if turn and turn.before else keep
        stopping = threading.Event()
        self._takes.add(stopping)
        self._shown_at = cause
        try:
            async with self._one_at_a_time, asyncio.timeout(LONGEST_TAKE):
                self._shown_at = cause
                return await asyncio.to_thread(
                    self._take, self._progress(stopping), keep, begin, end
                )
        except TimeoutError:
            stopping.set()
            raise CheckpointError(
                "checkpoint_too_slow",
                f"To keep the files of the workspace took more than {LONGEST_TAKE:.0f} seconds.",
                "Exclude folders that hold data.",
            ) from None
        except asyncio.CancelledError:
            # The thread, which nobody waits for, ends at the next file.
            stopping.set()
            raise
        finally:
            self._takes.discard(stopping)
            if self._shown_at == cause:
                self._shown_at = -1

    def stop(self) -> None:
        """Give up every checkpoint that is being taken."""
        for stopping in self._takes:
            stopping.set()

    async def close(self) -> None:
        """Give up what goes on."""
        self.stop()
        if self._warming is not None:
            await asyncio.wait([self._warming])
        if self._at_work:
            with contextlib.suppress(CheckpointError):
                await asyncio.to_thread(self.store.give_up, self._stream.session)

    async def _warm(self) -> None:
        try:
            await self.take()
        except CheckpointError as error:
            # It is told when an action needs it.
            self._problem = error
        except Stopped:
            self._warming = None

    def _take(
        self, progress: Progress, keep: Collection[str], begin: Worker | None, end: bool
    ) -> Checkpoint:
        session = self._stream.session
        self._at_work = self._at_work or begin is not None
        try:
            self._shelf.enter()
            checkpoint = self.store.take(
                progress, keep=keep, begin=begin, end=session if end else ""
            )
            self._shelf.note(checkpoint.id)
            return checkpoint
        except (CheckpointError, Stopped):
            if end:
                self.store.give_up(session)
            raise
        except OSError as error:
            raise CheckpointError(
                "checkpoint_unwritable",
                f"The checkpoint could not be kept: {error.strerror}.",
                "See to it that the OpenHands home folder is writable.",
            ) from error

    def _progress(self, stopping: threading.Event) -> Progress:
        loop = asyncio.get_running_loop()
        due = time.monotonic() + QUIET

        def show(done: int, total: int) -> None:
            nonlocal due
            if stopping.is_set():
                raise Stopped
            if time.monotonic() >= due:
                due = time.monotonic() + QUIET
                loop.call_soon_threadsafe(self._show, done, total)

        return show

    def _show(self, done: int, total: int) -> None:
        if self._shown_at >= 0:
            of = f" of {total / 1e6:,.0f}" if total else ""
            text = f"[Keeping the files as they are, for undo: {done / 1e6:,.0f}{of} MB]\n"
            self._stream.live.write("output", self._shown_at, text)

    def _count_changes(self, turn: Turn, checkpoint: Checkpoint) -> int:
        # What others kept meanwhile tells their changes from this turn's, as long as it is there.
        self._shelf.note(*self.store.between(turn.before, checkpoint.id))
        effects = self.store.effects(self._stream.session, turn.before, checkpoint.id)
        return len(effects.targets)

    def _tell(self, action: int, error: CheckpointError) -> None:
        if self._told != error.code:
            self._told = error.code
            self._stream.append(
                NoCheckpointObservation(
                    action=action,
                    code=error.code,
                    message=f"{NO_UNDO} {error.message}",
                    hint=error.hint,
                )
            )


def _known_by(action: Action) -> int:
    """By which action the files before it are known: a dry run is part of what waits."""
    if isinstance(action, DryRunAction) and action.cause is not None:
        return action.cause
    return action.id


def path_in(workspace: Path, path: str) -> str | None:
    """Where a path leads in the workspace, links followed; None for elsewhere."""
    root = os.path.realpath(workspace)
    try:
        relative = os.path.relpath(os.path.realpath(os.path.join(root, path)), root)
    except ValueError:  # It is no path at all.
        return None
    return None if relative == ".." or relative.startswith("../") else relative
