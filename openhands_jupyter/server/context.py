"""What a browser may send with a message: the parts of its context, and how large they may be.

The limits count for what comes in. On the log a part has none, because a mask may be longer than
the secret that it hides.
"""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from ..events import (
    CellContext,
    ErrorContext,
    KernelContext,
    MessageContext,
    NotebookContext,
    SelectionContext,
    Variable,
    VariablesContext,
)

# The panel cuts what it sends to the same lengths: labextension/src/notebooks/parts.ts.
Path = Annotated[str, Meta(min_length=1, max_length=4096)]
Name = Annotated[str, Meta(max_length=200)]
Text = Annotated[str, Meta(max_length=8000)]
Number = Annotated[int, Meta(ge=0, le=2**53)]


class SentKernel(KernelContext, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A kernel."""

    name: Name
    state: Name


class SentNotebook(NotebookContext, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A notebook that is open."""

    path: Path
    kernel: SentKernel | None = None


class SentCell(CellContext, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The cell that the person is in."""

    path: Path
    cell: Name
    cell_type: Name
    source: Text


class SentSelection(SelectionContext, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is selected in it."""

    path: Path
    cell: Name
    first_line: Number
    last_line: Number
    text: Text


class SentVariable(Variable, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A variable."""

    name: Name
    type: Name
    shape: Annotated[list[Number], Meta(max_length=64)] | None = None
    dtypes: Annotated[list[Name], Meta(max_length=20)] = []


class SentVariables(VariablesContext, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The variables of a kernel."""

    path: Path
    # A list of them is a list of variables, since nobody changes it.
    variables: Annotated[list[SentVariable], Meta(max_length=100)]  # type: ignore[assignment]
    left_out: Number = 0


class SentError(ErrorContext, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An error that a notebook shows."""

    path: Path
    cell: Name
    ename: Name
    evalue: Annotated[str, Meta(max_length=2000)]
    traceback: Text


SentContext = Annotated[
    list[SentNotebook | SentCell | SentSelection | SentVariables | SentError],
    Meta(max_length=40),
]


def as_events(sent: SentContext) -> list[MessageContext]:
    """What was sent, as it stands on the log."""
    return msgspec.convert(msgspec.to_builtins(sent), list[MessageContext])
