"""Task of the tour: find out why a cell fails, and mend it where that is plain to see."""

from __future__ import annotations

import ast
import builtins
import difflib
import re
from collections.abc import Generator, Sequence
from dataclasses import dataclass

from .conversation import Result
from .notebooks import Seen, SeenCell, error_in, read_notebook
from .script import Reply, Script, call, finish, inline, reply, setback

WHY_REQUEST = "Find out why this cell fails"

_UNDEFINED = re.compile(r"NameError: name '(\w+)' is not defined.*")
_NO_MODULE = re.compile(r"(?:ModuleNotFoundError|ImportError): No module named '([\w.]+)'.*")
_NAMED_CELL = re.compile(r"\bcell \W?([\w-]{4,64})\b")
_FAILED = re.compile(r"^@\d+ (\S+): error\b", re.MULTILINE)
_USUAL_NAMES = {
    "np": "import numpy as np",
    "pd": "import pandas as pd",
    "plt": "import matplotlib.pyplot as plt",
    "sns": "import seaborn as sns",
}
_ADVICE = {
    "ZeroDivisionError": "something is divided by zero: look at the divisor before it is used",
    "KeyError": "there is no such key or column: look at the names that there are",
    "IndexError": "a position is asked for that there is not: look at how long it is",
    "FileNotFoundError": "there is no such file, seen from the folder in which the kernel works",
    "TypeError": "a value is of another type than is needed there",
    "AttributeError": "the object has nothing of that name, or is None",
    "SyntaxError": "Python cannot read the cell",
}


@dataclass(frozen=True)
class Finding:
    """Why a cell fails, and what to put in place of what, where that mends it.

    Attributes
    ----------
    everywhere
        Whether that is done wherever the word stands, and not once at the beginning.
    """

    why: str
    old: str = ""
    new: str = ""
    everywhere: bool = False


def find_out(request: str) -> Script:
    """Find a cell that fails, say why, and offer to mend it."""
    seen = yield from read_notebook(request)
    if isinstance(seen, Reply):
        return seen
    before = _failed_before(seen, request)
    failing = before or (yield from _failed_in_sandbox(seen))
    if isinstance(failing, Reply):
        return failing
    finding = diagnosed(failing, seen.cells)
    told = f"Cell {inline(failing.id)} fails with {inline(failing.error)}: {finding.why}."
    if not finding.new or not failing.known:
        return finish(f"{told}\n\nI am the guided tour and cannot mend this by myself.")
    (edited,) = yield reply(
        f"{told} I would put {inline(finding.new)} in place of {inline(finding.old)}.",
        call(
            "nb_edit",
            path=seen.path,
            ops=[_patch(failing, finding)],
            why=f"Mend the {failing.error.partition(':')[0]} of this cell.",
            security_risk="low",
        ),
    )
    if problem := setback(edited, "the edit"):
        return finish(f"{told}\n\n{problem}")
    code = [cell.id for cell in seen.cells if cell.kind == "code" and cell.source.strip()]
    # Where it has an error, the cells above have been run in that kernel before.
    cells = [failing.id] if before else code[: code.index(failing.id) + 1]
    (ran,) = yield reply(
        "Now it should work. I run it in your notebook's kernel, if you let me.",
        call(
            "run_cells",
            path=seen.path,
            cells=cells,
            why="See whether the cell works now.",
            security_risk="low",
        ),
    )
    return finish(f"{told}\n\n{_report(ran)}")


def diagnosed(cell: SeenCell, cells: Sequence[SeenCell]) -> Finding:
    """Why a cell fails, by its error and by the code of the cells."""
    if undefined := _UNDEFINED.fullmatch(cell.error):
        return _undefined(undefined[1], cell, cells)
    if missing := _NO_MODULE.fullmatch(cell.error):
        package = missing[1].partition(".")[0]
        return Finding(
            f"the package {inline(package)} is not installed for this kernel; "
            f"{inline(f'%pip install {package}')} in a cell may install it"
        )
    name = cell.error.partition(":")[0]
    return Finding(_ADVICE.get(name, "the message says what Python found"))


def _undefined(name: str, cell: SeenCell, cells: Sequence[SeenCell]) -> Finding:
    ids = [one.id for one in cells]
    given = {one.id: _names_given(one.source) for one in cells if one.kind == "code"}
    for later in ids[ids.index(cell.id) + 1 :]:
        if name in given.get(later, ()):
            return Finding(f"{inline(name)} is defined further down, in cell {inline(later)}")
    for earlier in ids[: ids.index(cell.id)]:
        if name in given.get(earlier, ()):
            return Finding(
                f"cell {inline(earlier)} defines {inline(name)}, but this kernel has not run it"
            )
    if statement := _USUAL_NAMES.get(name):
        first = cell.lines[0]
        # The magic of a cell has to stay its first line.
        lines = (first, statement) if first.startswith("%%") else (statement, first)
        return Finding(f"{inline(name)} was never imported", first, "\n".join(lines))
    known = {*dir(builtins), *(known for names in given.values() for known in names)}
    if close := difflib.get_close_matches(name, known, 1, 0.75):
        why = f"it looks misspelt, as there is {inline(close[0])}"
        return Finding(why, name, close[0], everywhere=True)
    return Finding(f"no cell defines {inline(name)}")


def _names_given(source: str) -> set[str]:
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return set()
    return {
        name
        for node in ast.walk(tree)
        for name in (
            [node.id]
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
            else [node.name]
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
            else [alias.asname or alias.name.partition(".")[0] for alias in node.names]
            if isinstance(node, ast.Import | ast.ImportFrom)
            else []
        )
    }


def _failed_before(seen: Seen, request: str) -> SeenCell | None:
    """The cell that is named, else the first one, with an error among its outputs."""
    failed = [cell for cell in seen.cells if cell.error]
    if named := _NAMED_CELL.search(request):
        failed.sort(key=lambda cell: not cell.id.startswith(named[1]))
    return failed[0] if failed else None


def _failed_in_sandbox(seen: Seen) -> Generator[Reply, tuple[Result, ...], SeenCell | Reply]:
    """Run the notebook where nothing can happen, up to the first error."""
    (ran,) = yield reply(
        "No cell shows an error, so I run them in the sandbox, where your kernel is not touched.",
        call("run_cells", path=seen.path, which="all", kernel="sandbox", security_risk="low"),
    )
    if problem := setback(ran, "the run in the sandbox"):
        return finish(problem)
    failed = _FAILED.search(ran.text)
    cell = next((c for c in seen.cells if failed and c.id == failed[1]), None)
    if cell is None:
        return finish(f"All cells of {inline(seen.path)} ran in the sandbox without an error.")
    cell.error = error_in(ran.text)
    return cell


def _patch(cell: SeenCell, finding: Finding) -> dict[str, object]:
    """The cell with a name replaced wherever it stands, or its first line once."""
    if finding.everywhere:
        source = re.sub(rf"\b{finding.old}\b", finding.new, cell.source)
    else:
        source = cell.source.replace(finding.old, finding.new, 1)
    return {"op": "replace", "id": cell.id, "expect_rev": cell.rev, "source": source}


def _report(ran: Result) -> str:
    if problem := setback(ran, "the run"):
        return f"The cell is mended. {problem}"
    if error := error_in(ran.text):
        return f"It was run, and there is another error now: {inline(error)}."
    if "await_run" in ran.text:
        return "It still runs; its outputs will be in the notebook."
    return "It was run in your kernel, and works now."
