"""Which names of the kernel a cell needs and which it gives, read from its code alone."""

from __future__ import annotations

import ast
import builtins
import hashlib
import re
from functools import lru_cache

from ...ipython_code import TooMuchCode, parse_cell
from .name_reader import CellNames, Reader

LONGEST = 256_000
"""Characters of code that is read."""

REMEMBERED = 4_000
"""Cells, so that a notebook of which one cell changes is not read anew."""

LONGEST_REMEMBERED = 10_000

UNREADABLE = CellNames(opaque=True, readable=False)

_IPYTHON = re.compile(r"get_ipython|display|In|Out|exit|quit|_[iod]h|_i*\d*|__|___")


def names_in(source: str) -> tuple[CellNames, str]:
    """The names of a cell's code, and a digest of it without comments and formatting.

    Code that cannot be read may do anything: `UNREADABLE`, with a digest of the source as it is.
    """
    return _remembered(source) if len(source) <= LONGEST_REMEMBERED else _read(source)


def is_built_in(name: str) -> bool:
    """Whether Python or IPython has the name without any cell."""
    return hasattr(builtins, name) or _IPYTHON.fullmatch(name) is not None


def digest(text: str) -> str:
    """The first 16 hexadecimal digits of the SHA-256 of a text."""
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:16]


def _read(source: str) -> tuple[CellNames, str]:
    if len(source) > LONGEST:
        return UNREADABLE, digest(source)
    try:
        tree = parse_cell(source)
        return Reader(tree).names(), digest(ast.dump(tree))
    except (SyntaxError, ValueError, MemoryError, RecursionError, TooMuchCode):
        return UNREADABLE, digest(source)


_remembered = lru_cache(REMEMBERED)(_read)
