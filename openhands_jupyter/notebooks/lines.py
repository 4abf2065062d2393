"""How two texts differ, line by line, in bounded time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher
from itertools import takewhile
from typing import NamedTuple

from ..events.blobs import cut

CONTEXT = 3
LIMIT = 4_000
"""Characters of one diff."""

LONGEST_LINE = 300
"""Characters of one line of a diff."""

MOST_LINES = 4_000
MOST_PAIRS = 200_000
"""Lines of both texts, and pairs of equal lines; difflib may look at each of them often."""


class Region(NamedTuple):
    """Lines `start` to `end` of the one text, which are `new_start` to `new_end` of the other."""

    start: int
    end: int
    new_start: int
    new_end: int


def regions(before: Sequence[str], after: Sequence[str]) -> list[Region]:
    """Where two texts differ, in order; between two regions is at least one line of both.

    Where the texts are long and differ a lot, what lies between their common beginning and end is
    one region.
    """
    shorter = min(len(before), len(after))
    head = sum(1 for _ in takewhile(lambda n: before[n] == after[n], range(shorter)))
    tail = sum(
        1 for _ in takewhile(lambda n: before[-1 - n] == after[-1 - n], range(shorter - head))
    )
    old, new = before[head : len(before) - tail], after[head : len(after) - tail]
    if not old and not new:
        return []
    if _is_too_much(old, new):
        return [Region(head, head + len(old), head, head + len(new))]
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    return [
        Region(head + i1, head + i2, head + j1, head + j2)
        for kind, i1, i2, j1, j2 in matcher.get_opcodes()
        if kind != "equal"
    ]


def _is_too_much(old: Sequence[str], new: Sequence[str]) -> bool:
    if len(old) + len(new) > MOST_LINES:
        return True
    counts = Counter(new)
    return sum(counts[line] for line in old) > MOST_PAIRS


def unified_diff(before: str, after: str) -> str:
    """The hunks of a unified diff, without a header; empty where nothing differs.

    It is for reading: what is very long is cut, and the cut is said.
    """
    old, new = before.split("\n"), after.split("\n")
    written: list[str] = []
    for hunk in _hunks(regions(old, new)):
        written += _written(old, new, hunk)
    return cut("\n".join(written), LIMIT)


def _hunks(found: list[Region]) -> list[list[Region]]:
    hunks: list[list[Region]] = []
    for region in found:
        if hunks and region.start - hunks[-1][-1].end <= 2 * CONTEXT:
            hunks[-1].append(region)
        else:
            hunks.append([region])
    return hunks


def _written(old: list[str], new: list[str], hunk: list[Region]) -> list[str]:
    start = max(hunk[0].start - CONTEXT, 0)
    new_start = hunk[0].new_start - (hunk[0].start - start)
    end = min(hunk[-1].end + CONTEXT, len(old))
    new_end = hunk[-1].new_end + (end - hunk[-1].end)
    lines = [f"@@ -{_span(start, end)} +{_span(new_start, new_end)} @@"]
    at = start
    for region in hunk:
        lines += [f" {_short(line)}" for line in old[at : region.start]]
        lines += [f"-{_short(line)}" for line in old[region.start : region.end]]
        lines += [f"+{_short(line)}" for line in new[region.new_start : region.new_end]]
        at = region.end
    return [*lines, *(f" {_short(line)}" for line in old[at:end])]


def _span(start: int, end: int) -> str:
    count = end - start
    first = start + 1 if count else start
    return str(first) if count == 1 else f"{first},{count}"


def _short(line: str) -> str:
    left_out = len(line) - LONGEST_LINE
    return f"{line[:LONGEST_LINE]} [… {left_out:,} characters]" if left_out > 0 else line
