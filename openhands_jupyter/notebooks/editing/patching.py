"""Putting one text in place of another within a source."""

from __future__ import annotations

import difflib
import re

from ...errors import Invalid
from ..lines import LONGEST_LINE

_SHOWN_PLACES = 10
_SHOWN_LINES = 12
_MOST_LINES = 3_000
"""Lines of a source that are looked at for what resembles a text that is not there."""


def patched(source: str, old: str, new: str, everywhere: bool) -> str:
    """The source with `new` in place of `old`.

    Raises
    ------
    Invalid
        ``patch_not_found`` with what resembles it most, ``patch_ambiguous`` with the lines where
        it stands, ``patch_empty`` where nothing is to be looked for.
    """
    if not old:
        raise Invalid(
            "patch_empty",
            "`old` is empty.",
            "Say which text is to be replaced, or use `replace` for the whole cell.",
        )
    first = source.find(old)
    if first < 0:
        raise Invalid(
            "patch_not_found", "The cell does not hold the text in `old`.", _hint(source, old)
        )
    if not everywhere and source.find(old, first + 1) >= 0:
        raise Invalid(
            "patch_ambiguous",
            f"The text in `old` stands in the cell more than once: {_places(source, old)}.",
            "Give more of the text around it, or set `all` to replace each.",
        )
    return source.replace(old, new)


def _places(source: str, old: str) -> str:
    lines: list[int] = []
    at, line = source.find(old), 1
    seen = 0
    while at >= 0 and len(lines) <= _SHOWN_PLACES:
        line += source.count("\n", seen, at)
        lines.append(line)
        seen, at = at, source.find(old, at + 1)
    shown = ", ".join(map(str, lines[:_SHOWN_PLACES]))
    return f"lines {shown}{' and more' if len(lines) > _SHOWN_PLACES else ''}"


def _hint(source: str, old: str) -> str:
    lines, wanted = source.split("\n")[:_MOST_LINES], old.strip("\n").split("\n")
    same = _same_but_for_white_space(lines, wanted)
    if same is not None:
        return (
            "This differs from it in white space only. Copy it exactly:\n"
            f"{_numbered(lines, same, len(wanted))}"
        )
    near = _resembling(lines, wanted)
    if not near:
        return "Nothing in the cell resembles it. Read the cell again."
    shown = "\n…\n".join(_numbered(lines, start, len(wanted)) for start in near)
    return f"What resembles it most:\n{shown}"


def _same_but_for_white_space(lines: list[str], wanted: list[str]) -> int | None:
    plain = [re.sub(r"\s+", "", line) for line in lines]
    sought = [re.sub(r"\s+", "", line) for line in wanted]
    for start in range(len(plain) - len(sought) + 1):
        if plain[start] == sought[0] and plain[start : start + len(sought)] == sought:
            return start
    inside = [n for n, line in enumerate(plain) if sought[0] and sought[0] in line]
    return inside[0] if len(sought) == 1 and inside else None


def _resembling(lines: list[str], wanted: list[str]) -> list[int]:
    """Where the lines begin whose first one is most like the first one wanted."""
    offset, sought = next(
        ((n, line.strip()) for n, line in enumerate(wanted) if line.strip()), (0, "")
    )
    starts: dict[str, int] = {}
    for number, line in enumerate(lines):
        starts.setdefault(line.strip()[:LONGEST_LINE], max(number - offset, 0))
    close = difflib.get_close_matches(sought[:LONGEST_LINE], list(starts), n=3, cutoff=0.5)
    return [starts[line] for line in close]


def _numbered(lines: list[str], start: int, count: int) -> str:
    shown = lines[start : start + min(count, _SHOWN_LINES)]
    return "\n".join(f"{start + n + 1:6}\t{line[:LONGEST_LINE]}" for n, line in enumerate(shown))
