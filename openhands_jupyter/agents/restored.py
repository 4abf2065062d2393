"""What a model is told when the person took back what it did."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ..events import (
    FilesRestoredObservation,
    NotebookRestored,
    ReplayObservation,
    RewindAction,
    UndoAction,
)
from ..llm.base import ToolCall

MOST_PATHS = 20
LONGEST_CALL = 200


def note_of_restore(
    restores: Mapping[int, UndoAction | RewindAction],
    event: FilesRestoredObservation,
    call_from: Callable[[int], ToolCall | None],
) -> str:
    """What an undo or a rewind means for the agent.

    Parameters
    ----------
    restores
        The undos and rewinds so far, by id.
    event
        What came of one of them.
    call_from
        Gives the agent's first call from an event on.
    """
    action = restores.get(event.cause) if event.cause is not None else None
    if isinstance(action, RewindAction):
        head = f"The user went back to before {_step(call_from(action.event))}."
        tail = (
            "The kernel and the shell are new ones: variables, processes, the current folder and "
            "the environment are as at the start of a session. Effects outside of the workspace, "
            "such as on the network, are not undone."
        )
    elif action is not None and action.turn in restores:
        head = "The user took back an undo."
        tail = "Nothing but files and cells of notebooks was changed by that."
    else:
        step = _step(call_from(action.turn) if action else None)
        head = f"The user undid the changes that began with {step}."
        tail = (
            "Only files and cells of notebooks were restored: variables in the kernel, processes "
            "and effects outside of the workspace are as they were."
        )
    lines = [head, "The files of the workspace are again as they were before that."]
    lines += _paths(event) + _notebooks(event)
    return f"[{' '.join([*lines, 'Read again before you change something.', tail])}]"


def note_of_replay(event: ReplayObservation) -> str:
    """What was run again in a new kernel."""
    text = f"{event.done} of {event.cells} earlier cells ran again in the new kernel."
    return f"[{text} {event.reason}".rstrip() + "]"


def _step(call: ToolCall | None) -> str:
    if call is None:
        return "an earlier step"
    arguments = call.arguments
    if len(arguments) > LONGEST_CALL:
        arguments = arguments[:LONGEST_CALL] + "…"
    return f"your call {call.name} {arguments}"


def _paths(event: FilesRestoredObservation) -> list[str]:
    kept = [note.path for note in (*event.conflicts, *event.failed)]
    return [
        *([f"Changed by that: {_listed(event.paths)}."] if event.paths else []),
        *([f"Left as they are: {_listed(kept)}."] if kept else []),
    ]


def _notebooks(event: FilesRestoredObservation) -> list[str]:
    return [f"In {one.path}: {_cells_of(one)}" for one in event.notebooks[:MOST_PATHS]]


def _cells_of(notebook: NotebookRestored) -> str:
    if notebook.problem:
        return f"nothing was taken back. {notebook.problem}"
    left = [f"{cell.id} ({cell.reason})" for cell in notebook.left]
    done = [cell.id for cell in notebook.cells]
    return " ".join(
        [
            f"these cells are as before: {_listed(done)}." if done else "no cell is as before.",
            *([f"Left, as somebody changed them since: {_listed(left)}."] if left else []),
        ]
    )


def _listed(paths: list[str]) -> str:
    more = len(paths) - MOST_PATHS
    return ", ".join(paths[:MOST_PATHS]) + (f" and {more} more" if more > 0 else "")
