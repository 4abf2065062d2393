"""The context of a message as a model is told of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..events import (
    CellContext,
    ErrorContext,
    MessageContext,
    NotebookContext,
    SelectionContext,
    Variable,
    VariablesContext,
)
from ..events.context import CONTEXT_BEGINS
from ..events.shown import as_data


def with_context(content: str, context: Sequence[MessageContext]) -> str:
    """What the person wrote, and after it, fenced as data, what went along."""
    if not context:
        return content
    data = as_data("\n".join(line for part in context for line in _lines(part)))
    return f"{content}{CONTEXT_BEGINS}{data.rstrip()}"


def _lines(part: MessageContext) -> Iterator[str]:
    match part:
        case NotebookContext():
            yield f"Open: {part.path} ({', '.join(_state(part))})"
        case CellContext():
            yield f"The person is in {part.cell_type} cell {part.cell} of {part.path}:"
            yield part.source or "[empty]"
        case SelectionContext():
            lines = f"lines {part.first_line} to {part.last_line}"
            yield f"Selected in cell {part.cell} of {part.path}, {lines}:"
            yield part.text
        case VariablesContext():
            yield f"Variables in the kernel of {part.path}:"
            yield from map(variable_text, part.variables)
            if part.left_out:
                yield f"[and {part.left_out:,} more]"
        case ErrorContext():
            yield f"Error in {part.path}, cell {part.cell}: {part.ename}: {part.evalue}"
            yield part.traceback


def _state(notebook: NotebookContext) -> Iterator[str]:
    yield "on the screen" if notebook.visible else "behind other tabs"
    if notebook.dirty:
        yield "unsaved changes"
    kernel = notebook.kernel
    yield f"kernel {kernel.name} {kernel.state}" if kernel else "no kernel"


def variable_text(variable: Variable) -> str:
    """A variable in a line."""
    shape = variable.shape
    size = "" if shape is None else f"({', '.join(map(str, shape))})"
    dtypes = f" {', '.join(variable.dtypes)}" if variable.dtypes else ""
    columns = shape[1] if shape and len(shape) > 1 and len(variable.dtypes) > 1 else 0
    more = columns - len(variable.dtypes)
    left_out = f" [and {more:,} more columns]" if more > 0 else ""
    return f"{variable.name}: {variable.type}{size}{dtypes}{left_out}"
