"""Cells by name: ids, prefixes of ids, positions."""

from __future__ import annotations

import difflib
import hashlib
import re
from bisect import bisect_left
from collections.abc import Sequence
from itertools import count, takewhile

from ..errors import Invalid, NotFound
from ..events.codec import well_formed
from .cells import Cell, source_of

SHORTEST_PREFIX = 4
LISTED = 40
"""Ids that an error names."""

_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_POSITION = re.compile(r"@(\d+)")
_QUOTED = 60
"""Characters of a wrong address that an error repeats."""


def with_ids(cells: Sequence[Cell]) -> list[Cell]:
    """The cells, each with an id of its own, as nbformat allows them.

    So an id is never a text that a notebook could have a model read. Cells from before nbformat
    4.5 have none, and copied notebooks have some twice, of which the first cell keeps it. A new id
    follows from what the cell holds, so that the same file gives the same ids each time it is
    read, until they are written.
    """
    taken = {cell["id"] for cell in cells if _has_id(cell)}
    seen: set[str] = set()
    named: list[Cell] = []
    for cell in cells:
        if not _has_id(cell) or cell["id"] in seen:
            cell = {**cell, "id": _derived_id(cell, taken)}
            taken.add(cell["id"])
        seen.add(cell["id"])
        named.append(cell)
    return named


def _has_id(cell: Cell) -> bool:
    return isinstance(cell.get("id"), str) and _ID.fullmatch(cell["id"]) is not None


def _derived_id(cell: Cell, taken: set[str]) -> str:
    content = well_formed(f"{cell.get('cell_type', '')}\0{source_of(cell)}")
    digest = hashlib.sha256(content.encode())
    for number in count():
        attempt = digest.copy()
        attempt.update(f"\0{number}".encode())
        if (name := attempt.hexdigest()[:8]) not in taken:
            return name
    raise AssertionError("count() does not end")


class Addresses:
    """Finds the cells of one state of a notebook by what an agent calls them.

    Parameters
    ----------
    cells
        In their order, each with an id of its own.
    """

    def __init__(self, cells: Sequence[Cell]) -> None:
        self.ids: list[str] = [cell["id"] for cell in cells]
        self._known = set(self.ids)
        self._sorted = sorted(self.ids)

    def id(self, address: str) -> str:
        """The id of the cell that is meant.

        Parameters
        ----------
        address
            An id, a prefix of at least 4 characters that only one id has, or ``"@12"`` for the
            cell at position 12, counted from 0.

        Raises
        ------
        NotFound
            ``cell_not_found``, with the ids that there are.
        Invalid
            ``cell_ambiguous`` where several ids begin so.
        """
        if address in self._known:
            return address
        if position := _POSITION.fullmatch(address):
            return self._at(int(position[1][:9]))
        if len(address) < SHORTEST_PREFIX:
            raise self._not_found(
                address, f"A cell is named by at least {SHORTEST_PREFIX} characters of its id. "
            )
        first = bisect_left(self._sorted, address)
        found = list(takewhile(lambda name: name.startswith(address), self._sorted[first:]))
        if not found:
            raise self._not_found(address, "")
        if len(found) > 1:
            raise Invalid(
                "cell_ambiguous",
                f"{len(found)} cells have ids that begin with {_quoted(address)}.",
                f"Use more characters of the id: {_listing(found)}.",
            )
        return found[0]

    def _at(self, position: int) -> str:
        if position < len(self.ids):
            return self.ids[position]
        held = f"positions @0 to @{len(self.ids) - 1}" if self.ids else "no cells"
        raise NotFound(
            "cell_not_found",
            f"There is no cell at position @{position}.",
            f"The notebook has {held}. Cells are better named by their ids.",
        )

    def _not_found(self, address: str, rule: str) -> NotFound:
        message = f"There is no cell {_quoted(address)}."
        if not self.ids:
            return NotFound("cell_not_found", message, "The notebook has no cells.")
        if len(self.ids) <= LISTED:
            return NotFound("cell_not_found", message, f"{rule}The ids are: {', '.join(self.ids)}.")
        close = difflib.get_close_matches(address[:_QUOTED], self.ids, n=5, cutoff=0.5)
        nearest = f"The nearest ids are: {', '.join(close)}. " if close else ""
        return NotFound(
            "cell_not_found",
            message,
            f"{rule}{nearest}The first of {len(self.ids):,} ids are: {_listing(self.ids)}.",
        )


def _listing(ids: Sequence[str]) -> str:
    more = len(ids) - LISTED
    return ", ".join(ids[:LISTED]) + (f" and {more:,} more" if more > 0 else "")


def _quoted(address: str) -> str:
    short = " ".join(address[: _QUOTED + 1].split())
    return repr(short if len(short) <= _QUOTED else f"{short[:_QUOTED]}…")
