"""What the checkers of these tasks share. A checker stops at the first thing that is not right."""

from __future__ import annotations

import csv
import hashlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any, NoReturn

# A parser of addresses that nbformat's libraries would load for two seconds, if they found it.
sys.modules["rfc3987_syntax"] = None  # type: ignore[assignment]

LONGEST = 120
"""Seconds that one notebook or program may take."""


def fail(reason: str) -> NoReturn:
    """The task is not done; say why in a line."""
    sys.exit(" ".join(reason.split()))


def require(holds: Any, reason: str) -> None:
    """Fail unless something holds."""
    if not holds:
        fail(reason)


def text_of(name: str) -> str:
    """The text of a file of the workspace."""
    try:
        return Path(name).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        fail(f"{name} cannot be read: {error}")


def json_of(name: str) -> Any:
    """What a JSON file holds."""
    try:
        return json.loads(text_of(name))
    except ValueError as error:
        fail(f"{name} is not JSON: {error}")


def table_of(name: str) -> list[dict[str, str]]:
    """The rows of a CSV file."""
    return list(csv.DictReader(text_of(name).splitlines()))


def require_unchanged(name: str, sha256: str) -> None:
    """Fail if a file is not as it was."""
    found = hashlib.sha256(text_of(name).encode()).hexdigest()
    require(found.startswith(sha256), f"{name} was to be left as it is")


def notebook_of(name: str) -> Any:
    """A valid notebook."""
    import nbformat

    try:
        notebook = nbformat.reads(text_of(name), as_version=4)
        nbformat.validate(notebook)
    except (ValueError, nbformat.ValidationError, AttributeError) as error:
        fail(f"{name} is no valid notebook: {error}")
    return notebook


def run_notebook(name: str, before: str = "", after: str = "") -> Any:
    """Run a copy of a notebook from top to bottom in a fresh kernel.

    Parameters
    ----------
    name
        Its file.
    before, after
        Code for a cell in front of the others, and for one behind them.

    Returns
    -------
    NotebookNode
        The copy with its outputs, and with both cells.
    """
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError
    from nbformat.v4 import new_code_cell

    notebook = notebook_of(name)
    notebook.cells = [
        new_code_cell(before),
        *notebook.cells,
        new_code_cell(after),
    ]
    client = NotebookClient(notebook, timeout=LONGEST, kernel_name="python3")
    try:
        client.execute()
    except CellExecutionError as error:
        fail(f"{name} does not run from top to bottom: {error.ename}: {error.evalue}")
    return notebook


def printed_by(cell: Any) -> str:
    """What a cell printed or showed, as text."""
    return "".join(
        output.get("text") or output.get("data", {}).get("text/plain", "")
        for output in cell.get("outputs", [])
    )


def values_of(name: str, *expressions: str, before: str = "") -> list[Any]:
    """What expressions give, as JSON, in a kernel that has run a notebook."""
    code = f"import json as _json\nprint(_json.dumps([{', '.join(expressions)}], default=float))"
    return list(json.loads(printed_by(run_notebook(name, before, code).cells[-1])))


def run_python(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Python in the workspace."""
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, timeout=LONGEST, check=False
    )
