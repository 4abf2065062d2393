"""The demo folder and its notebook fit the guided tour that they lead through."""

from __future__ import annotations

import re
from pathlib import Path

import nbformat

from openhands_jupyter.llm.tour.tasks import recognise
from openhands_jupyter.llm.tour.temporary_files import PATTERNS

BINDER = Path(__file__).resolve().parents[2] / "binder"
DEMO = BINDER / "demo"


def test_the_tour_understands_every_task_of_its_notebook() -> None:
    notebook = nbformat.read(BINDER / "tour.ipynb", as_version=4)
    nbformat.validate(notebook)
    text = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    tasks = re.findall(r"^> (.+)$", text, re.MULTILINE)
    assert len(tasks) == 3
    assert [task for task in tasks if recognise(task) is None] == []


def test_the_demo_folder_has_something_to_plot_and_something_to_delete() -> None:
    assert list(DEMO.glob("*.csv"))
    assert {path for pattern in PATTERNS for path in DEMO.glob(pattern)}
