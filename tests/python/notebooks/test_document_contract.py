"""The contract on files; ``tests/ui/test_notebooks.py`` runs it in a browser."""

from __future__ import annotations

from typing import Any

import pytest
from notebook_contract import CASES, World


@pytest.mark.parametrize("name", CASES)
@pytest.mark.filterwarnings("ignore::nbformat.warnings.DuplicateCellId")
async def test_the_contract_holds_for_files(folder: Any, name: str) -> None:
    path = "a folder/notebook.ipynb"
    file = folder.write(path, CASES[name].notebook)
    await CASES[name].run(World(folder.notebooks, path, file))
