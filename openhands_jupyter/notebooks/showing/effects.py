"""What became of names and files while code ran, in words."""

from __future__ import annotations

from collections.abc import Sequence

from ...events import NameChanges, TouchedFiles


def names_text(names: NameChanges | None) -> str:
    """A line for each kind of change; empty where none is known. The code has chosen the names."""
    if names is None:
        return ""
    return _lines(
        [("new", names.new), ("changed", names.changed), ("deleted", names.deleted)],
        names.left_out,
    )


def files_text(files: TouchedFiles | None) -> str:
    """The same for files."""
    if files is None:
        return ""
    return _lines(
        [("created", files.created), ("changed", files.changed), ("deleted", files.deleted)],
        files.left_out,
    )


def _lines(kinds: Sequence[tuple[str, Sequence[str]]], left_out: int) -> str:
    lines = [f"{kind}: {', '.join(names)}" for kind, names in kinds if names]
    if left_out:
        lines.append(f"and {left_out} more")
    return "\n".join(lines)
