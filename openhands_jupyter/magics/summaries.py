"""Values as a few lines of text for a model: never pickled, never longer than a limit."""

from __future__ import annotations

import reprlib
from collections.abc import Mapping, Sequence, Set
from typing import Any

LONGEST = 4_000
"""Characters of one value."""

ROWS = 5
COLUMNS = 20


class _Short(reprlib.Repr):
    """`repr` that looks into the first items of containers only."""

    def __init__(self) -> None:
        super().__init__()
        self.maxlist = self.maxtuple = self.maxset = self.maxfrozenset = self.maxdict = 20
        self.maxstring = self.maxother = self.maxlong = 500
        self.maxlevel = 4


_short = _Short()


def summarise(value: Any) -> str:
    """What a value is, in at most `LONGEST` characters.

    Tables are told as their shape, their columns and their first rows, arrays as shape and type.
    """
    try:
        text = _describe(value)
    except Exception as error:
        text = f"{type(value).__name__} that cannot be shown: {type(error).__name__}"
    return cut(text, LONGEST)


def cut(text: str, longest: int) -> str:
    """`text`, or its beginning with a note of how much is left out."""
    if len(text) <= longest:
        return text
    return f"{text[:longest]}… ({len(text) - longest:,} more characters)"


def _describe(value: Any) -> str:
    if isinstance(value, str):
        return value
    kind = type(value).__name__
    if hasattr(value, "columns") and hasattr(value, "dtypes") and hasattr(value, "head"):
        return _table(value, kind)
    if hasattr(value, "shape") and hasattr(value, "dtype"):
        first = value.head(ROWS) if hasattr(value, "head") else value
        shape = " x ".join(str(length) for length in value.shape) or "no dimension"
        return f"{kind}, {shape}, {value.dtype}\n{cut(str(first), LONGEST)}"
    if isinstance(value, (Mapping, Sequence, Set)) and len(value) > 20:
        return f"{kind} of {len(value):,} items: {_short.repr(value)}"
    return _short.repr(value)


def _table(value: Any, kind: str) -> str:
    rows, columns = value.shape
    types = ", ".join(
        f"{name}: {dtype}" for name, dtype in list(zip(value.columns, value.dtypes, strict=True))
    )
    head = value.head(ROWS)
    if hasattr(head, "to_string"):
        shown = head.to_string(max_cols=COLUMNS, max_colwidth=40)
    else:
        shown = str(head)
    heading = f"{kind}, {rows:,} rows x {columns:,} columns"
    return f"{heading}\nColumns: {cut(types, 1_000)}\nFirst rows:\n{shown}"
