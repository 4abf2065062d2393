"""Notebooks in a folder, reached through Jupyter's own contents manager."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jupyter_server.services.contents.largefilemanager import AsyncLargeFileManager

from openhands_jupyter.notebooks.delivery.notebooks import Notebooks


class Folder:
    """A server's root folder.

    Attributes
    ----------
    contents
        Jupyter's contents manager for it.
    notebooks
        The way to its notebooks.
    """

    def __init__(self, root: Path, data: Path) -> None:
        self.root = root
        self.contents = AsyncLargeFileManager(root_dir=str(root))
        # Signatures would be kept in the person's own folder.
        self.contents.notary.db_file = ":memory:"
        self.contents.notary.secret = b"of this test"
        self.notebooks = Notebooks(self.contents)

    def write(self, path: str, content: dict[str, Any]) -> Path:
        """Write a notebook, as other programs do."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(content))
        return file


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    """An empty folder."""
    root = tmp_path / "root"
    root.mkdir()
    return Folder(root, tmp_path)
