"""Which states of the files a session has kept, and its turns: a fold over its events."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from .checkpoints import (
    CheckpointObservation,
    FilesRestoredObservation,
    NoCheckpointObservation,
    RewindAction,
    UndoAction,
)
from .event import Event
from .notebooks import (
    NotebookCreateAction,
    NotebookEditAction,
    NotebookEditObservation,
    NotebookUndoAction,
)
from .observations import AgentStateChangedObservation, ErrorObservation

_GOES_ON_FROM = ("running", "rate_limited", "awaiting_user_confirmation")


@dataclass(frozen=True)
class Turn:
    """What may have changed files or notebooks in one go: steps of the agent, or an undo.

    Attributes
    ----------
    first
        Id of its first action that may have changed something; also what the turn is known by.
    before, latest
        Checkpoints: before that action, and the newest of the turn; empty where no files were kept.
    closed
        Whether `latest` was taken when the turn had ended; if not, the server ended meanwhile.
    undone
        Whether it was taken back.
    changed
        Paths that it changed; -1 where that is not known.
    cells
        Cells of notebooks that it edited.
    """

    first: int
    before: str
    latest: str
    closed: bool = False
    undone: bool = False
    changed: int = -1
    cells: int = 0


class Mark(NamedTuple):
    """What is known of the files just before an action.

    Attributes
    ----------
    action
        Its id.
    checkpoint
        The files then; None when they could not be kept, from there on until the next mark.
    """

    action: int
    checkpoint: str | None


@dataclass
class FileHistory:
    """The turns of a session and the checkpoints before its actions.

    Attributes
    ----------
    turns
        All of them by `Turn.first`, the oldest first; the last one may still go on.
    marks
        The oldest first.
    edits
        Ids of the actions that may have edited cells of notebooks, ascending.
    """

    turns: dict[int, Turn] = field(default_factory=dict)
    marks: list[Mark] = field(default_factory=list)
    edits: list[int] = field(default_factory=list)
    _open: int | None = None
    _agent_state: str = "loading"
    _undoing: dict[int, UndoAction | RewindAction] = field(default_factory=dict)
    _undone_by: dict[int, list[int]] = field(default_factory=dict)

    @property
    def at_rest(self) -> bool:
        """Whether the agent neither works nor waits for approval."""
        return self._agent_state not in _GOES_ON_FROM

    @property
    def open_turn(self) -> Turn | None:
        """The turn that goes on; None if none does."""
        return None if self._open is None else self.turns[self._open]

    def last_turn(self, is_kept: Callable[[int], bool]) -> Turn | None:
        """The newest turn of the agent that can be undone; None if there is none.

        Parameters
        ----------
        is_kept
            Whether the edit of notebooks that an action made is kept.
        """
        for turn in reversed(self.turns.values()):
            if turn.undone or turn.first in self._undoing:
                continue
            changed_files = turn.before and turn.changed != 0
            if changed_files or any(map(is_kept, self.edits_of(turn.first))):
                return turn
        return None

    @property
    def latest(self) -> str | None:
        """The newest checkpoint; None if there is none."""
        return next((turn.latest for turn in reversed(self.turns.values()) if turn.latest), None)

    def edits_of(self, turn: int) -> list[int]:
        """Ids of the actions in a turn that may have edited cells of notebooks."""
        until = next((first for first in self.turns if first > turn), None)
        return self.edits_since(turn, until)

    def edits_since(self, event: int, until: int | None = None) -> list[int]:
        """Such ids from an event on, up to and without another."""
        end = None if until is None else bisect_left(self.edits, until)
        return self.edits[bisect_left(self.edits, event) : end]

    def is_of_person(self, event: int) -> bool:
        """Whether an event is an undo or a rewind."""
        return event in self._undoing

    def before(self, event: int) -> str | None:
        """The checkpoint of the files as they were before an event; None if there is none."""
        after = next((n for n, mark in enumerate(self.marks) if mark.action >= event), None)
        if after is None:
            return None
        failing = after > 0 and self.marks[after - 1].checkpoint is None
        return (
            None if failing and self.marks[after].action != event else self.marks[after].checkpoint
        )

    def apply(self, event: Event) -> None:
        """Fold in the next event of the log."""
        match event:
            case CheckpointObservation() if event.since:
                self._close(event.action, event.checkpoint, event.changed)
            case CheckpointObservation():
                self._mark(event.action, event.checkpoint)
            case NoCheckpointObservation():
                self.marks.append(Mark(event.action, None))
            case UndoAction() | RewindAction():
                self.edits.append(event.id)
                self._undoing[event.id] = event
            case FilesRestoredObservation(cause=int(cause)) if action := self._undoing.get(cause):
                self._note_edit(cause, sum(len(notebook.cells) for notebook in event.notebooks))
                self._close(cause, event.checkpoint, event.restored + event.removed)
                self._note_undone(action)
            case NotebookEditAction() | NotebookCreateAction() | NotebookUndoAction():
                self.edits.append(event.id)
            case NotebookEditObservation(cause=int(cause)) if event.cells:
                self._note_edit(cause, len(event.cells))
            case ErrorObservation(cause=int(cause), code="outcome_unknown"):
                self._note_edit(cause, 0)
            case AgentStateChangedObservation():
                if event.state == "running" and self._agent_state not in _GOES_ON_FROM:
                    # A turn that was not closed by now was cut off by the end of a server.
                    self._open = None
                self._agent_state = event.state

    def _mark(self, action: int, checkpoint: str) -> None:
        self.marks.append(Mark(action, checkpoint))
        if self._open is None or action in self._undoing:
            self._open = action
            self.turns[action] = Turn(action, checkpoint, checkpoint)
        else:
            turn = self.turns[self._open]
            self.turns[self._open] = replace(
                turn, before=turn.before or checkpoint, latest=checkpoint
            )

    def _note_edit(self, action: int, cells: int) -> None:
        """Note that cells were edited, also where no files could be kept before."""
        if action in self._undoing:
            first = action
        else:
            first = self._open = action if self._open is None else self._open
        turn = self.turns.get(first) or Turn(first, "", "")
        self.turns[first] = replace(turn, cells=turn.cells + cells)

    def _close(self, first: int, checkpoint: str, changed: int) -> None:
        if first in self.turns and checkpoint:
            turn = self.turns[first]
            self.turns[first] = replace(turn, latest=checkpoint, closed=True, changed=changed)
        if self._open == first:
            self._open = None

    def _note_undone(self, action: UndoAction | RewindAction) -> None:
        if isinstance(action, UndoAction):
            undone = [action.turn]
        else:
            undone = [first for first in self.turns if action.event <= first < action.id]
        undone = [first for first in undone if first in self.turns and not self.turns[first].undone]
        self._undone_by[action.id] = undone
        # Who takes back an undo has again what it undid.
        again = [first for undo in undone for first in self._undone_by.get(undo, ())]
        for first in undone:
            self.turns[first] = replace(self.turns[first], undone=True)
        for first in again:
            self.turns[first] = replace(self.turns[first], undone=False)
