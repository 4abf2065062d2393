"""The code of cells as Python: as it stands, or with its magics as IPython's own calls."""

from __future__ import annotations

import ast
import re
import sys
import warnings

# IPython transforms a cell once more for each escaped line, so long cells with many are too slow.
MAX_WORK = 3_000_000
COPIES_LINES = (3, 12) <= sys.version_info < (3, 12, 4)
"""Whether this Python's tokenizer keeps a copy of the line with each of its tokens."""
MAX_COPIED = 50_000_000
"""Characters of such copies."""
_ESCAPE = re.compile(r"^[ \t]*+(?:[!%?/,;]|.*[=]\s*[!%]|.*\?\s*$)", re.MULTILINE)


class TooMuchCode(Exception):
    """Code that would take too long to be transformed."""


def parse(code: str) -> ast.Module:
    """Parse Python without the warnings that odd literals give.

    Raises
    ------
    SyntaxError, ValueError, MemoryError
        As `ast.parse`.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(code)


def parse_cell(code: str) -> ast.Module:
    """Parse a cell, where need be as IPython would transform it.

    ``%name line`` becomes ``get_ipython().run_line_magic('name', 'line')``, and so on.

    Raises
    ------
    TooMuchCode
        When the transformation would take too long.
    SyntaxError, ValueError, MemoryError
        When it is no code either way.
    """
    try:
        return parse(code)
    except (SyntaxError, ValueError, MemoryError):
        return parse(_transformed(code))


def _transformed(code: str) -> str:
    if len(code) * (len(_ESCAPE.findall(code)) + 1) > MAX_WORK and not code.lstrip().startswith(
        "%%"
    ):
        raise TooMuchCode("a cell this long with so many magics is not checked")
    if COPIES_LINES and sum(len(line) ** 2 for line in code.splitlines()) > MAX_COPIED:
        raise TooMuchCode("a cell with lines this long is not checked")
    from IPython.core.inputtransformer2 import TransformerManager

    transformed: str = TransformerManager().transform_cell(code)  # type: ignore[no-untyped-call]
    return transformed
