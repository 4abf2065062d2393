"""Workspaces with stores beside them, and pictures of what a workspace holds."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest
from tree_picture import Picture, take_picture

from openhands_jupyter.runtime.checkpoints import CheckpointStore


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "wörk späce"
    folder.mkdir()
    return folder


MakeStore = Callable[..., CheckpointStore]


@pytest.fixture
def make_store(tmp_path: Path, workspace: Path) -> MakeStore:
    """Opens the store of the workspace, which is in ``store`` beside it."""

    def make_store(**options: object) -> CheckpointStore:
        options = {"size_cap": 1 << 30, "free_floor": 0, **options}
        return CheckpointStore(tmp_path / "store", workspace, **options)

    return make_store


@pytest.fixture
def store(make_store: MakeStore) -> CheckpointStore:
    return make_store()


@pytest.fixture
def picture() -> Callable[[Path], Picture]:
    return take_picture


@pytest.fixture
def python() -> Callable[..., list[str]]:
    """The command that runs a piece of code with the package in reach."""
    root = Path(__file__).resolve().parents[3]

    def python(code: str, *arguments: object) -> list[str]:
        head = f"import sys; sys.path.insert(0, {str(root)!r})\n"
        return [sys.executable, "-c", head + textwrap.dedent(code), *map(str, arguments)]

    return python
