"""Cells without what may be large in them, for whoever does not need that."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..cells import Cell, joined

BEGINNING = 200
"""Characters of each text of an output; they tell a table from other HTML."""


def lean(cell: Cell) -> dict[str, Any]:
    """A cell with outputs and attachments of which only is told what they are.

    The same is done in a browser by ``labextension/src/notebooks/lean.ts``.
    """
    lighter = dict(cell)
    # A file may hold anything there.
    if isinstance(outputs := cell.get("outputs"), list):
        lighter["outputs"] = [_lean_output(o) for o in outputs if isinstance(o, dict)]
    if isinstance(attachments := cell.get("attachments"), dict):
        lighter["attachments"] = {name: {} for name in attachments}
    return lighter


def lean_metadata(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """The metadata of a notebook without the state of its widgets."""
    return {key: value for key, value in metadata.items() if key != "widgets"}


def _lean_output(output: Mapping[str, Any]) -> dict[str, Any]:
    lighter: dict[str, Any] = {}
    for key, value in output.items():
        if key == "data" and isinstance(value, dict):
            lighter[key] = {mime: _beginning(part) for mime, part in value.items()}
        elif key == "traceback":
            lighter[key] = []
        elif key == "metadata":
            lighter[key] = {}
        else:
            lighter[key] = _beginning(value)
    return lighter


def _beginning(value: Any) -> Any:
    if isinstance(value, int | float | None):
        return value
    return joined(value)[:BEGINNING]
