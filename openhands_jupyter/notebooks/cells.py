"""A cell as nbformat has it, whatever wrote it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Cell = Mapping[str, Any]
"""A cell of nbformat 4: a plain dict or a `NotebookNode`."""


def source_of(cell: Cell) -> str:
    """The source as one text; empty where there is none."""
    return joined(cell.get("source"))


def new_cell(
    id: str, cell_type: str, source: str, metadata: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """A cell as nbformat 4.5 wants it, which was never run."""
    cell = {"cell_type": cell_type, "id": id, "metadata": dict(metadata or {}), "source": source}
    return {**cell, "outputs": [], "execution_count": None} if cell_type == "code" else cell


def with_newlines(text: str) -> str:
    """A source whose lines end as JupyterLab's editor ends them."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def joined(text: Any) -> str:
    """A text that nbformat also allows to be a list of its lines."""
    if isinstance(text, list):
        return "".join(map(str, text))
    return text if isinstance(text, str) else ""
