"""A notebook at a glance: what an agent reads before it reads cells."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Literal

import msgspec

from ..cells import Cell, source_of
from ..names.graph import NameGraph
from ..revisions import cell_rev, rev_of_revs
from .outputs import kind_of, outputs_of

LIMIT = 200
"""Cells of one outline."""

FIRST_LINE = 100
"""Characters of a cell's first line, and of a heading."""

MOST_NAMES = 30
"""Names that are told of one cell, of each kind."""

MOST_HEADINGS = 500

_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(\S.*)")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")


class CellOutline(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A cell in a few words.

    Attributes
    ----------
    position
        Its place in the notebook, from 0.
    first_line, lines
        The first line of its source that is not blank, and the number of all lines.
    status
        Of a code cell: ``not_run``, ``ran`` or ``failed``; else empty.
    count
        Its execution count.
    stale
        Whether it ran before a cell that it depends on.
    defines, uses
        Names that it gives to other cells, and takes from outside of it.
    outputs
        What its outputs are, in a word each, such as ``stdout``, ``table`` or ``image/png``.
    """

    id: str
    position: int
    type: str
    rev: str
    first_line: str
    lines: int
    status: Literal["", "not_run", "ran", "failed"] = ""
    count: int | None = None
    stale: bool = False
    defines: list[str] = []
    uses: list[str] = []
    outputs: list[str] = []


class Heading(msgspec.Struct, kw_only=True, omit_defaults=True):
    """A heading of a Markdown cell, and those of lower levels below it."""

    id: str
    level: int
    title: str
    below: list[Heading] = []


class Outline(msgspec.Struct, frozen=True, kw_only=True):
    """What a notebook holds.

    Attributes
    ----------
    nb_rev
        Revision of the whole.
    total
        Number of cells that the outline is about: all, or those that the query is found in.
    cells
        Some of them, in order.
    headings
        Those of the whole notebook, as a tree.
    """

    nb_rev: str
    total: int
    cells: list[CellOutline]
    headings: list[Heading]


def outline(
    cells: Sequence[Cell],
    graph: NameGraph | None = None,
    *,
    first: int = 0,
    limit: int = LIMIT,
    query: str = "",
) -> Outline:
    """An outline of some cells of a notebook.

    Parameters
    ----------
    cells
        All of them, each with an id.
    graph
        Of the same cells, for names and stale cells; None where it is no Python notebook.
    first, limit
        Which of the cells: after that many, and at most so many.
    query
        Only cells with this text in their source, capital or small.
    """
    revs = [cell_rev(cell) for cell in cells]
    sought = query.casefold()
    found = [n for n, cell in enumerate(cells) if sought in source_of(cell).casefold()]
    stale = {cell.id for cell in graph.stale_by_runs()} if graph else set()
    return Outline(
        nb_rev=rev_of_revs((cell["id"], rev) for cell, rev in zip(cells, revs, strict=True)),
        total=len(found),
        cells=[
            _outlined(cells[n], n, revs[n], graph, cells[n]["id"] in stale)
            for n in found[max(first, 0) :][: max(limit, 0)]
        ],
        headings=_headings(cells),
    )


def _outlined(
    cell: Cell, position: int, rev: str, graph: NameGraph | None, stale: bool
) -> CellOutline:
    source = source_of(cell)
    kinds = list(dict.fromkeys(kind_of(output) for output in outputs_of(cell)))
    names = graph.names.get(cell["id"]) if graph else None
    is_code = cell["cell_type"] == "code"
    return CellOutline(
        id=cell["id"],
        position=position,
        type=cell["cell_type"],
        rev=rev,
        first_line=source.strip()[: FIRST_LINE * 2].partition("\n")[0][:FIRST_LINE],
        lines=source.count("\n") + 1 if source else 0,
        status=_status(cell, kinds) if is_code else "",
        count=cell.get("execution_count") if is_code else None,
        stale=stale,
        defines=sorted(names.defines)[:MOST_NAMES] if names else [],
        uses=graph.uses(cell["id"])[:MOST_NAMES] if graph and names else [],
        outputs=kinds,
    )


def _status(cell: Cell, kinds: Sequence[str]) -> Literal["not_run", "ran", "failed"]:
    if "error" in kinds:
        return "failed"
    return "ran" if cell.get("execution_count") is not None or kinds else "not_run"


def _headings(cells: Sequence[Cell]) -> list[Heading]:
    top: list[Heading] = []
    path: list[Heading] = []
    number = 0
    for cell in cells:
        if cell["cell_type"] != "markdown":
            continue
        for level, title in _headings_in(source_of(cell)):
            number += 1
            if number > MOST_HEADINGS:
                return top
            heading = Heading(id=cell["id"], level=level, title=title)
            while path and path[-1].level >= level:
                path.pop()
            (path[-1].below if path else top).append(heading)
            path.append(heading)
    return top


def _headings_in(source: str) -> Iterator[tuple[int, str]]:
    """Level and title of each heading that is not within a block of code (CommonMark 4.2, 4.5)."""
    fence = ""
    for line in source.split("\n"):
        mark = _FENCE.match(line)
        if fence:
            if mark and mark[1].startswith(fence) and not line.strip(f" {fence[0]}"):
                fence = ""
        elif mark:
            fence = mark[1]
        elif found := _HEADING.match(line):
            title = re.sub(r"[ \t]+#+[ \t]*$", "", found[2][: FIRST_LINE * 2]).strip()
            yield len(found[1]), title[:FIRST_LINE]
