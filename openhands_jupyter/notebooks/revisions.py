"""Which state a cell or a notebook is in, as a short word that browsers compute too."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable

from ..events.codec import well_formed
from .cells import Cell, source_of

DIGITS = 8


def cell_rev(cell: Cell) -> str:
    """The revision of what a person writes in a cell: its type and source.

    Returns
    -------
    str
        The first 8 hexadecimal digits of the SHA-256 of type, a zero byte and source, as UTF-8 in
        which half a surrogate pair is U+FFFD, as browsers encode it.
    """
    return rev_of(cell.get("cell_type", ""), source_of(cell))


def rev_of(cell_type: str, source: str) -> str:
    """As `cell_rev`, of a cell of this type with this source."""
    return _digits(f"{cell_type}\0{source}")


def notebook_rev(cells: Iterable[Cell]) -> str:
    """The revision of the whole: which cells, in which order, in which state.

    Returns
    -------
    str
        The first 8 hexadecimal digits of the SHA-256 of a line ``id:rev`` for each cell.
    """
    return rev_of_revs((cell["id"], cell_rev(cell)) for cell in cells)


def rev_of_revs(revs: Iterable[tuple[str, str]]) -> str:
    """As `notebook_rev`, where ids and revisions of the cells are known."""
    return _digits("".join(f"{name}:{rev}\n" for name, rev in revs))


def outputs_rev(cell: Cell) -> str:
    """The revision of what running a cell has put there: its outputs and its execution count.

    Only where the notebook is held is it computed anew and compared: numbers that programs write in
    different ways make it another one elsewhere.

    Returns
    -------
    str
        The first 8 hexadecimal digits of the SHA-256 of both as JSON with sorted keys.
    """
    held = [cell.get("outputs") or [], cell.get("execution_count")]
    return _digits(json.dumps(held, sort_keys=True, separators=(",", ":"), ensure_ascii=False))


def _digits(text: str) -> str:
    try:
        content = text.encode()
    except UnicodeEncodeError:
        content = well_formed(text).encode()
    return hashlib.sha256(content).hexdigest()[:DIGITS]
