"""Code that ran in the sandbox, as what a cell of a notebook comes from."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

import msgspec

from ..errors import NotFound
from ..events import Event, IPythonRunCellAction
from ..notebooks.editing.operations import Insert, Operation

TOLD = 5
"""Pieces of code, the newest, that are told where another one was named."""

_LOOKED_AT = 500
"""Events among which these are looked for."""


def with_code(operations: Sequence[Operation], history: Sequence[Event]) -> list[Operation]:
    """Operations in which cells that come from code have its source.

    Parameters
    ----------
    operations
        What an agent asks for.
    history
        What it has done, the oldest first.

    Raises
    ------
    NotFound
        When it names what is no code of its own that ran in the sandbox.
    """
    return [_with_code(operation, history) for operation in operations]


def _with_code(operation: Operation, history: Sequence[Event]) -> Operation:
    if not isinstance(operation, Insert) or operation.from_code is None:
        return operation
    code = _code(operation.from_code, history)
    return msgspec.structs.replace(operation, source=operation.source or code)


def _code(id: int, history: Sequence[Event]) -> str:
    place = bisect_left(history, id, key=lambda event: event.id)
    event = history[place] if place < len(history) else None
    if event is not None and event.id == id and _is_code(event):
        assert isinstance(event, IPythonRunCellAction)
        return event.code
    last = [str(event.id) for event in history[-_LOOKED_AT:] if _is_code(event)][-TOLD:]
    raise NotFound(
        "code_not_found",
        f"There is no code {id} of yours that ran in the sandbox.",
        f"The newest there: {', '.join(last) or 'none'}. The result of run_code says the number.",
    )


def _is_code(event: Event) -> bool:
    return isinstance(event, IPythonRunCellAction) and event.source == "agent"
