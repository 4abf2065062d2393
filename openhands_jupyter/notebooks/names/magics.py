"""What magics and command lines of IPython do with names of the kernel."""

from __future__ import annotations

import re
from dataclasses import dataclass, field


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_PYTHON_LINES = _words("time timeit prun memit mprun lprun debug")
_PYTHON_CELLS = _words("time timeit prun memit capture")
_FOREIGN_CELLS = _words(
    "bash sh script perl ruby html svg latex markdown javascript js writefile file ! sx system"
)
_DEFINING_LINES = _words("run load pylab store loadpy rerun reset")
_OPTIONS = re.compile(r"\s*(?:-{1,2}[\w-]+(?:\s+\d+|=\S+)?\s+)*")
_EXPANDED = re.compile(r"\{([^{}]{1,500})\}|\$(\w+)")
_STORED = re.compile(r"--(?:out|err)\s+(\w+)")


@dataclass
class Magic:
    """What one magic or command line does with names.

    Attributes
    ----------
    expressions
        Python expressions whose values it takes, names among them.
    binds
        Names that it binds.
    code
        A cell that it runs.
    keeps
        Whether the names that this cell binds stay.
    opaque
        Whether it may bind names that are not known.
    """

    expressions: list[str] = field(default_factory=list)
    binds: list[str] = field(default_factory=list)
    code: str = ""
    keeps: bool = True
    opaque: bool = False


def magic_of(method: str, texts: list[str]) -> Magic:
    """What a call of ``get_ipython()`` does that IPython puts in place of a magic.

    Parameters
    ----------
    method
        Such as ``run_line_magic`` or ``system``.
    texts
        Its arguments.
    """
    if method == "run_cell_magic" and len(texts) == 3:
        return _cell_magic(*texts)
    if method == "run_line_magic" and len(texts) == 2:
        name, line = texts
        if name in _PYTHON_LINES:
            return Magic(code=_OPTIONS.sub("", line, count=1), keeps=name == "time")
        return Magic(expressions=_expressions(line), opaque=name in _DEFINING_LINES)
    return Magic(expressions=_expressions(" ".join(texts)))


def _cell_magic(name: str, line: str, body: str) -> Magic:
    binds = _STORED.findall(line)
    if name == "capture":
        binds += [word for word in line.split() if word.isidentifier()]
    is_python = name in _PYTHON_CELLS
    return Magic(
        expressions=_expressions(line),
        binds=binds,
        code=body if is_python else "",
        keeps=name != "timeit",
        opaque=not is_python and name not in _FOREIGN_CELLS,
    )


def _expressions(line: str) -> list[str]:
    """What stands in ``{expression}`` and ``$name``, in place of which IPython puts values."""
    return [expression.strip() or name for expression, name in _EXPANDED.findall(line)]
