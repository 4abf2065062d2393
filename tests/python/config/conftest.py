from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from configuring import Make

from openhands_jupyter.config import Config


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / ".openhands"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


@pytest.fixture
def make(home: Path, root: Path) -> Make:
    """Builds a configuration over the test's own home and root."""

    def build(environ: dict[str, str] | None = None, **kwargs: Any) -> Config:
        return Config(root, environ={"OPENHANDS_HOME": str(home), **(environ or {})}, **kwargs)

    return build
