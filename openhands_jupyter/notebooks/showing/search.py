"""Finding text in the sources and outputs of a notebook, in bounded time."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Literal, NamedTuple

import msgspec

from ...errors import Invalid
from ...events import Masker
from ..cells import Cell, source_of
from . import line_finder
from .outputs import Handle, outputs_of, whole_text

SECONDS = 3
"""Of the processor, for one search."""

LONGEST_WAIT = 30.0
"""Seconds after which a search is ended that does not get the processor."""

CHARACTERS = 20_000_000
"""That are looked through."""

MOST_SHOWN = 200
LONGEST_PATTERN = 1_000
SHOWN = 300
"""Characters of a line, around what was found."""

Where = Literal["source", "outputs", "both"]


class Match(msgspec.Struct, frozen=True, kw_only=True):
    """A line that holds what was looked for.

    Attributes
    ----------
    id
        Of the cell.
    line
        Number of the line in the source or output, from 1.
    text
        The line, cut around what was found.
    output
        Handle of the output that the line is in; None for the source.
    """

    id: str
    line: int
    text: str
    output: str | None = None


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """What a search found.

    Attributes
    ----------
    matches
        The first of them, in order.
    total
        Number of matching lines; of those found in time, where a notice says so.
    notice
        Why not everything was looked through, as a sentence; else empty.
    """

    matches: list[Match]
    total: int
    notice: str = ""


def search(
    cells: Sequence[Cell],
    pattern: str,
    masker: Masker,
    *,
    is_regex: bool = True,
    where: Where = "source",
    seconds: int = SECONDS,
) -> Found:
    """The lines of a notebook in which a pattern is found.

    It waits for a process of its own: not for an event loop.

    Parameters
    ----------
    cells
        Each with an id.
    pattern
        A regular expression of Python, searched for in each line by itself.
    masker
        Knows the secrets, which are found nowhere.
    is_regex
        Whether the pattern is one; else it is searched for as it stands.
    where
        In what of the cells.
    seconds
        Of the processor, after which it ends with what it has found.

    Raises
    ------
    Invalid
        ``bad_pattern``.
    """
    if not 0 < len(pattern) <= LONGEST_PATTERN:
        raise _wrong(f"it has to have 1 to {LONGEST_PATTERN:,} characters")
    texts: list[_Text] = []
    left = CHARACTERS
    for text in _texts(cells, where, masker):
        left -= len(text.content)
        if left < 0:
            break
        texts.append(text)
    hits, total, late = _run(pattern if is_regex else re.escape(pattern), texts, seconds)
    return Found(
        matches=list(_matches(texts, hits)),
        total=total,
        notice=_TIME if late else _SIZE if left < 0 else "",
    )


class _Text(NamedTuple):
    id: str
    output: str | None
    content: str


class _Answer(NamedTuple):
    hits: list[tuple[int, int, int]]
    total: int
    late: bool


_SIZE = f"The search ended after {CHARACTERS // 1_000_000} million characters; name fewer cells."
_TIME = "The search took too long and ended early; use a simpler pattern, or name fewer cells."


def _run(pattern: str, texts: Sequence[_Text], seconds: int) -> _Answer:
    request = {
        "pattern": pattern,
        "texts": [text.content for text in texts],
        "most": MOST_SHOWN,
        "seconds": seconds,
    }
    process = subprocess.Popen(
        [sys.executable, "-I", "-S", line_finder.__file__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    try:
        output, _ = process.communicate(json.dumps(request).encode(), timeout=LONGEST_WAIT)
    except subprocess.TimeoutExpired:
        process.kill()
        output, _ = process.communicate()
    if process.returncode == line_finder.WRONG_PATTERN:
        raise _wrong(output.decode(errors="replace").strip())
    if process.returncode == line_finder.TOO_MUCH_MEMORY:
        raise _wrong("it takes too much memory")
    lines = [line.split() for line in output.decode().split("\n")[:-1]]
    hits = [(int(n), int(line), int(start)) for n, line, start in (x for x in lines if len(x) == 3)]
    totals = [int(line[1]) for line in lines if line[:1] == ["total"]]
    if not totals and process.returncode >= 0:
        raise RuntimeError(f"the search ended with exit code {process.returncode}")
    return _Answer(hits, totals[0] if totals else len(hits), late=not totals)


def _matches(texts: Sequence[_Text], hits: Sequence[tuple[int, int, int]]) -> Iterator[Match]:
    for number, found in groupby(hits, itemgetter(0)):
        text = texts[number]
        lines = text.content.split("\n")
        for _, line, start in found:
            shown = _around(lines[line - 1], start)
            yield Match(id=text.id, line=line, text=shown, output=text.output)


def _wrong(reason: str) -> Invalid:
    return Invalid(
        "bad_pattern",
        f"The pattern cannot be searched for: {reason}.",
        "Mend the regular expression, or search for plain text.",
    )


def _texts(cells: Sequence[Cell], where: Where, masker: Masker) -> Iterator[_Text]:
    for cell in cells:
        if where != "outputs":
            yield _Text(cell["id"], None, masker.text(source_of(cell)))
        if where != "source":
            for number, output in enumerate(outputs_of(cell)):
                handle = str(Handle(cell["id"], number))
                yield _Text(cell["id"], handle, whole_text(output, masker))


def _around(line: str, at: int) -> str:
    if len(line) <= SHOWN:
        return line
    start = max(0, min(at - SHOWN // 3, len(line) - SHOWN))
    end = start + SHOWN
    return f"{'…' if start else ''}{line[start:end]}{'…' if end < len(line) else ''}"
