"""The rooms of the architecture: who may import whom, and how little a plain import loads."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "openhands_jupyter"
HEAVY = {
    "bs4",
    "docker",
    "ipykernel",
    "litellm",
    "lxml",
    "markdownify",
    "mcp",
    "openai",
    "pandas",
    "PIL",
    "resvg_py",
}
OUTSIDE = {PACKAGE / "__init__.py", PACKAGE / "_version.py"}
"""No rooms: the package imports its rooms on demand only, and everybody may import the version."""
MODULES = sorted(set(PACKAGE.rglob("*.py")) - OUTSIDE)


def allowed_imports() -> dict[str, set[str]]:
    """The table "Rooms" of the architecture page: each room, and the rooms that it may import."""
    page = (ROOT / "docs" / "architecture.md").read_text()
    table = page.split("## Rooms", 1)[1].split("\n## ", 1)[0]
    rooms: dict[str, set[str]] = {}
    for row in re.findall(r"^\| (`.*`) \|.*\| (.*) \|$", table, re.MULTILINE):
        names, may_import = (cell.strip() for cell in row)
        allowed = set(rooms) if may_import == "all of the above" else room_names(may_import)
        rooms |= {name: allowed | room_names(names) for name in room_names(names)}
    return rooms


def room_names(cell: str) -> set[str]:
    return {name.removesuffix("/").removesuffix(".py") for name in re.findall(r"`([^`]+)`", cell)}


def imported_rooms(path: Path) -> Iterator[tuple[int, str]]:
    """Line and room of each import of ours in a module, wherever in the module it stands."""
    package = ("openhands_jupyter", *path.relative_to(PACKAGE).parent.parts)
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            targets = [alias.name.split(".") for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = list(package[: len(package) - node.level + 1]) if node.level else []
            base += node.module.split(".") if node.module else []
            targets = [[*base, alias.name] for alias in node.names]
        else:
            continue
        for target in targets:
            if target[0] == "openhands_jupyter" and len(target) > 1:
                yield node.lineno, target[1]


def room_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def test_every_room_is_on_the_architecture_page() -> None:
    assert {room_of(path) for path in MODULES} <= set(allowed_imports())


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_point_downward(path: Path) -> None:
    allowed = allowed_imports()[room_of(path)] | {"_version", "__version__"}
    wrong = [
        f"line {line} imports {name}" for line, name in imported_rooms(path) if name not in allowed
    ]
    assert wrong == []


@pytest.mark.parametrize("module", ["openhands_jupyter", "openhands_jupyter.app"])
def test_importing_loads_nothing_heavy(module: str) -> None:
    code = f"import json, sys, {module}; print(json.dumps(sorted(sys.modules)))"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert answer.returncode == 0, answer.stderr
    assert HEAVY & {name.split(".")[0] for name in json.loads(answer.stdout)} == set()


def test_the_package_alone_loads_no_web_server() -> None:
    code = "import sys, openhands_jupyter; print('tornado' in sys.modules)"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert answer.stdout.strip() == "False", answer.stderr


def test_the_command_line_loads_nothing_to_check_notebooks_with() -> None:
    # Magics load it too, into a person's kernel. Either takes as long as all the rest, or longer.
    code = (
        "import sys, openhands_jupyter.cli.main; "
        "print({'nbformat', 'jsonschema'} & set(sys.modules))"
    )
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert answer.stdout.strip() == "set()", answer.stderr
