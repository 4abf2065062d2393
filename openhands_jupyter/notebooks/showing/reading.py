"""Sources and long outputs, page by page."""

from __future__ import annotations

import msgspec

LIMIT = 16_000
"""Characters of a page."""

LONGEST_LINE = 2_000


class Page(msgspec.Struct, frozen=True, kw_only=True):
    """Some lines of a text.

    Attributes
    ----------
    text
        The lines, each behind its number, which is counted from 1.
    first, last, total
        Numbers of the first and the last line shown, and of all lines; 0 where there are none.
    """

    text: str
    first: int
    last: int
    total: int


def page(text: str, first: int = 1, count: int | None = None, limit: int = LIMIT) -> Page:
    """Some lines of a text, as many as there is room for.

    Parameters
    ----------
    text
        All of it.
    first
        Number of the first line wanted.
    count
        Of lines wanted; None for all.
    limit
        Characters of the page; a line that does not fit any more begins the next one.
    """
    lines = text.split("\n") if text else []
    start = max(first, 1) - 1
    end = len(lines) if count is None else min(start + max(count, 0), len(lines))
    shown: list[str] = []
    left = limit
    for number in range(start, end):
        line = f"{number + 1:6}\t{_cut(lines[number])}"
        left -= len(line) + 1
        if shown and left < 0:
            break
        shown.append(line)
    return Page(
        text="\n".join(shown),
        first=start + 1 if shown else 0,
        last=start + len(shown) if shown else 0,
        total=len(lines),
    )


def _cut(line: str) -> str:
    left_out = len(line) - LONGEST_LINE
    return f"{line[:LONGEST_LINE]} [… {left_out:,} characters]" if left_out > 0 else line
