from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from openhands_jupyter.events import Action, CmdRunAction, IPythonRunCellAction, Risk
from openhands_jupyter.security import Gate

Rate = Callable[[str], Risk]


@pytest.fixture(scope="module")
def workspace() -> Iterator[Path]:
    """A workspace that is not below /tmp, where everything counts as scratch."""
    root = Path(tempfile.mkdtemp(prefix="openhands ", dir="/var/tmp"))
    yield _filled(root / "work space é")
    shutil.rmtree(root)


def _filled(folder: Path) -> Path:
    folder.mkdir()
    (folder / "data.csv").write_text("a,b\n1,2\n")
    (folder / "notes.txt").write_text("old\n")
    (folder / "out").mkdir()
    (folder / "away").symlink_to("/etc")
    (folder / "fib.py").write_text("a, b = 0, 1\nfor _ in range(9):\n    a, b = b, a + b\n")
    (folder / "clean.py").write_text("import os\nos.remove('data.csv')\n")
    (folder / "clean.sh").write_text("#!/bin/sh\nrm data.csv\n")
    (folder / "pyclean").write_text("#!/usr/bin/env python3\nimport os\nos.remove('data.csv')\n")
    (folder / "build.sh").write_text("#!/bin/sh\nmake all\n")
    (folder / ".git" / "hooks").mkdir(parents=True)
    (folder / "env" / "bin").mkdir(parents=True)
    (folder / "env" / "pyvenv.cfg").write_text("home = /usr/bin\n")
    return folder


@pytest.fixture(scope="module")
def gate(workspace: Path) -> Gate:
    return Gate(workspace)


def _rate(gate: Gate, action: Action) -> Risk:
    return gate.check(action, mode="agent", isolated=True).risk


@pytest.fixture(scope="module")
def shell(gate: Gate) -> Rate:
    """Rates a shell command in a sandbox."""
    return lambda command: _rate(gate, CmdRunAction(command=command))


@pytest.fixture(scope="module")
def cell(workspace: Path) -> Rate:
    """Rates a cell in a sandbox, in a session of its own."""
    return lambda code: _rate(Gate(workspace), IPythonRunCellAction(code=code))
