"""Variables of a kernel as the text that a model reads: masked, bounded, and fenced as data."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from ...events import Masker
from ...events.blobs import cut
from ...events.shown import as_data
from .reading import LIMIT

LONGEST = 300
"""Characters of a value, a name or a type."""

LONGEST_DOC = 1_500

UNREADABLE = "The kernel told nothing that could be read."


class Column(msgspec.Struct):
    """A column of a table; ``nulls``, ``low`` and ``high`` as far as they are known."""

    name: str
    dtype: str
    nulls: int | None = None
    low: str | None = None
    high: str | None = None


class Found(msgspec.Struct):
    """A variable, as `in_kernel.describing` tells it."""

    name: str
    type: str
    kind: str = ""
    shape: list[int] | None = None
    dtypes: list[str] = []
    size: int | None = None
    columns: list[Column] = []
    columns_left_out: int = 0
    rows: list[list[str]] = []
    items: list[str] | None = None
    nulls: int | None = None
    low: str | None = None
    high: str | None = None
    text: str | None = None
    signature: str = ""
    doc: str = ""
    methods: list[str] = []
    notes: list[str] = []


class Answer(msgspec.Struct):
    """All that was told; ``left_out`` more fit the question."""

    variables: list[Found] = []
    missing: list[str] = []
    left_out: int = 0


def variables_text(told: Any, masker: Masker) -> str:
    """What a kernel told of its variables, which comes from outside.

    Parameters
    ----------
    told
        As `in_kernel.describing` tells it, or anything else.
    masker
        Knows the secrets.
    """
    try:
        answer = masker.value(msgspec.convert(told, Answer))
    except msgspec.ValidationError:
        return UNREADABLE
    lines = [line for variable in answer.variables for line in _lines(variable)]
    if answer.left_out:
        lines.append(f"[and {answer.left_out:,} more]")
    if answer.missing:
        lines.append(f"No such names: {_short(', '.join(answer.missing))}")
    return as_data(cut("\n".join(lines), LIMIT)).rstrip() or "There are no variables."


def _lines(found: Found) -> Iterator[str]:
    yield f"{_short(found.name)}: {', '.join(_head(found))}"
    for note in found.notes:
        yield f"  [{_short(note)}]"
    if found.signature:
        yield f"  {_short(found.name + found.signature)}"
    if found.text is not None:
        yield f"  {_short(found.text)}"
    for column in found.columns:
        span = "".join(_span(column.nulls, column.low, column.high))
        yield f"  {_short(column.name)}: {_short(column.dtype)}{span}"
    if found.columns_left_out:
        yield f"  [and {found.columns_left_out:,} more columns]"
    for row in found.rows:
        yield f"  | {' | '.join(map(_short, row))}"
    if found.items is not None:
        more = ", …" if found.shape and found.shape[0] > len(found.items) else ""
        yield f"  {', '.join(map(_short, found.items))}{more}"
    for method in found.methods:
        yield f"  .{_short(method)}"
    for line in cut(found.doc.strip(), LONGEST_DOC).splitlines():
        yield f"  {_short(line)}"


def _head(found: Found) -> Iterator[str]:
    yield f"{found.kind} {_short(found.type)}".strip()
    if found.shape is not None:
        yield " by ".join(f"{length:,}" for length in found.shape) or "no dimensions"
    if found.dtypes and not found.columns:
        yield _short("; ".join(found.dtypes))
    if found.size is not None:
        yield f"{found.size:,} bytes"
    if not found.columns:
        span = "".join(_span(found.nulls, found.low, found.high))
        if span:
            yield span.removeprefix(", ")


def _span(nulls: int | None, low: str | None, high: str | None) -> Iterator[str]:
    if nulls is not None:
        yield f", {nulls:,} null{'' if nulls == 1 else 's'}"
    if low is not None and high is not None:
        yield f", {_short(low)} to {_short(high)}"


def _short(text: str) -> str:
    return cut(" ".join(text.split()), LONGEST)
