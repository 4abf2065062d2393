"""What a model is told when the person took back what it did."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ..events import FilesRestoredObservation, ReplayObservation, RewindAction, UndoAction
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
        head = "The user took back an undo of file changes."
        tail = "Nothing but files was changed by that."
    else:
        step = _step(call_from(action.turn) if action else None)
        head = f"The user undid the file changes that began with {step}."
        tail = (
            "Only files were restored: variables in the kernel, processes and effects outside of "
            "the workspace are as they were."
        )
    lines = [head, "The files of the workspace are again as they were before that.", *_paths(event)]
    return f"[{' '.join([*lines, tail])}]"


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
        "Read a file again before you change it.",
    ]


def _listed(paths: list[str]) -> str:
    more = len(paths) - MOST_PATHS
    return ", ".join(paths[:MOST_PATHS]) + (f" and {more} more" if more > 0 else "")
