"""What was known of the variables of a kernel before it got busy."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from ..agents.context import variable_text
from ..events import (
    Event,
    KernelInspectAction,
    KernelObservation,
    UserMessageAction,
    VariablesContext,
)
from ..events.shown import as_data


def last_known(
    history: Sequence[Event], action: KernelInspectAction, path: str
) -> tuple[str, datetime] | None:
    """The last answer to the same question, or what went with a message of the person's.

    Parameters
    ----------
    history
        The session's.
    action
        The question.
    path
        The notebook, as the contents API has it.

    Returns
    -------
    tuple or None
        A text for the model, and when that was so; None where nothing is known.
    """
    same = {
        event.id
        for event in history
        if isinstance(event, KernelInspectAction) and _question(event) == _question(action)
    }
    for event in reversed(history):
        match event:
            case KernelObservation(cause=int(cause), known_at=None, time=datetime() as time):
                if cause in same:
                    return event.content, time
            case UserMessageAction(time=datetime() as time):
                for part in event.context:
                    if not isinstance(part, VariablesContext) or part.path != path:
                        continue
                    if text := _text(part, action):
                        return text, time
    return None


def _question(action: KernelInspectAction) -> tuple[object, ...]:
    return action.whose, action.path, action.names, action.query, action.depth


def _text(part: VariablesContext, action: KernelInspectAction) -> str:
    wanted = [
        variable_text(variable)
        for variable in part.variables
        if (variable.name in action.names if action.names else action.query in variable.name)
    ]
    return as_data("\n".join(wanted)).rstrip()
