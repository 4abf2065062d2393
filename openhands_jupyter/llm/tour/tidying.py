"""Task of the tour: tidy a notebook, in one edit of which each cell can be accepted or not."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from .notebooks import Seen, SeenCell, read_notebook
from .script import Reply, Script, call, finish, inline, reply, setback

_NOTHING = "Nothing was changed"
TIDY_REQUEST = "Tidy this notebook"


def tidy_notebook(request: str) -> Script:
    """Give a notebook a title, its imports at the top, and no empty cells."""
    seen = yield from read_notebook(request)
    if isinstance(seen, Reply):
        return seen
    operations, plan = tidied(seen)
    if not operations:
        return finish(f"{inline(seen.path)} is tidy already: I found nothing to do.")
    points = "".join(f"\n- {point}" for point in plan)
    (edited,) = yield reply(
        f"This is what I would do with {inline(seen.path)}:\n{points}\n\n"
        "You can accept some cells of it and reject others.",
        call(
            "nb_edit",
            path=seen.path,
            ops=operations,
            why="Tidy the notebook; what it computes stays the same.",
            security_risk="low",
        ),
    )
    if problem := setback(edited, "the edit"):
        return finish(problem)
    if _NOTHING in edited.text:
        return finish("You rejected every cell of it, so I left the notebook as it was.")
    kept = " The cells that you rejected are as they were." if "rejected" in edited.text else ""
    return finish(
        f"{inline(seen.path)} is tidied.{kept} Nothing was run. *Undo* in the panel takes it back, "
        "and so does undo in the notebook."
    )


def tidied(seen: Seen) -> tuple[list[dict[str, Any]], list[str]]:
    """The operations that tidy a notebook, and what they do, in words."""
    cells = [cell for cell in seen.cells if cell.known]
    if not cells:
        return [], []
    operations: list[dict[str, Any]] = []
    plan: list[str] = []
    top = cells[0].id
    titled = cells[0].kind == "markdown" and cells[0].source.startswith("#")
    if not titled:
        title = f"# {_title(seen.path)}"
        operations.append({"op": "insert", "type": "markdown", "source": title, "before": top})
        plan.append("put a title at the top")
    imports = gathered(cells)
    if imports:
        where = "after" if titled else "before"
        gathering = {"op": "insert", "type": "code", "source": "\n".join(imports), where: top}
        operations.append(gathering)
        plan.append(f"gather the imports ({', '.join(map(inline, imports))}) in a cell at the top")
    removed = rewritten = 0
    for cell in cells:
        source = _rewritten(cell, imports)
        if cell.kind == "code" and not source.strip():
            operations.append({"op": "delete", "id": cell.id, "expect_rev": cell.rev})
            removed += not cell.source.strip()
        elif source != cell.source:
            operations.append(
                {"op": "replace", "id": cell.id, "expect_rev": cell.rev, "source": source}
            )
            rewritten += source.strip() == cell.source.strip()
    if removed:
        plan.append(f"remove {removed} empty cell{'s' if removed > 1 else ''}")
    if rewritten:
        plan.append("remove blank lines at the end of cells")
    return operations, plan


def gathered(cells: Sequence[SeenCell]) -> list[str]:
    """The imports that belong into a cell at the top; none where they are in one place already."""
    found = {cell.id: list(_imports(cell).values()) for cell in cells}
    importing = [cell for cell in cells if found[cell.id]]
    code = [cell for cell in cells if cell.kind == "code" and cell.source.strip()]
    if not importing or (len(importing) == 1 and importing[0] is code[0]):
        return []
    return sorted({line for lines in found.values() for line in lines})


def _imports(cell: SeenCell) -> dict[int, str]:
    """The lines of a cell that are an import and nothing else, by their index."""
    if cell.kind != "code":
        return {}
    try:
        statements = ast.parse(cell.source).body
    except (SyntaxError, ValueError):
        # It has magics, or is no code: better left alone.
        return {}
    return {
        statement.lineno - 1: text
        for statement in statements
        if isinstance(statement, ast.Import)
        or (isinstance(statement, ast.ImportFrom) and statement.module != "__future__")
        if (text := ast.unparse(statement)) == cell.lines[statement.lineno - 1].rstrip()
    }


def _rewritten(cell: SeenCell, imports: Sequence[str]) -> str:
    """A cell without the imports that are gathered, and without blank lines at its end."""
    away = _imports(cell) if imports else {}
    lines = [line for number, line in enumerate(cell.lines) if number not in away]
    return "\n".join(lines).rstrip() if not away else "\n".join(lines).strip("\n").rstrip()


def _title(path: str) -> str:
    name = path.rpartition("/")[2].removesuffix(".ipynb")
    return name.replace("_", " ").replace("-", " ").strip().capitalize() or "Notebook"
