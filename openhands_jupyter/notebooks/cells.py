"""A cell as nbformat has it, whatever wrote it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Cell = Mapping[str, Any]
"""A cell of nbformat 4: a plain dict or a `NotebookNode`."""


def source_of(cell: Cell) -> str:
    """The source as one text; empty where there is none."""
    return joined(cell.get("source"))


def joined(text: Any) -> str:
    """A text that nbformat also allows to be a list of its lines."""
    if isinstance(text, list):
        return "".join(map(str, text))
    return text if isinstance(text, str) else ""
