"""Cells of notebooks that are open in a browser, run by the server."""

from __future__ import annotations

from typing import Any

import pytest
from notebook_contract import STREAM, code, notebook
from notebook_runs import CASES, ON, WAIT
from playwright.sync_api import expect
from ui.notebooks import Notebooks
from ui.test_notebooks import notebooks

__all__ = ["notebooks"]

PATH = "running.ipynb"
"""Jupyter remembers the kernel of each path."""

WAITING = notebook(code("first-cell", WAIT), code("second-cell", "y = 1", STREAM))


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_the_contract_holds_in_a_tab(notebooks: Notebooks) -> None:
    failed = {}
    dialog = notebooks.page.locator(".jp-Dialog .jp-mod-accept")
    for name, case in CASES.items():
        path = f"{name}.ipynb"
        notebooks.write(path, case.notebook)
        notebooks.open(path)
        assert notebooks.read(path)["delivery"] == "tab"
        if problem := notebooks.ask("run contract", path, case=name):
            failed[name] = problem
        # JupyterLab tells the person that the kernel has died.
        if dialog.count():
            dialog.first.click()
        notebooks.close(path)
    assert not failed, "\n".join(failed.values())


def begun(notebooks: Notebooks) -> str:
    """Begin to run all cells, and wait until the first one does something."""
    run: str = notebooks.ask("run", PATH)["id"]
    notebooks.wait_for(lambda: "begun" in str(told(notebooks, run)["outputs"]))
    return run


def told(notebooks: Notebooks, run: str) -> dict[str, Any]:
    """What the server knows of a run."""
    found: dict[str, Any] = notebooks.ask("runs", case=run)
    return found


def test_a_person_goes_on_writing_while_cells_run(notebooks: Notebooks) -> None:
    page = notebooks.page
    notebooks.write(PATH, WAITING)
    view = notebooks.open(PATH)
    second = view.locator(".jp-Cell").nth(1)
    second.locator(".cm-content").click()
    page.keyboard.press("Control+End")
    page.keyboard.type(" + 1")
    run = begun(notebooks)
    expect(view.locator(".jp-InputPrompt").first).to_have_text("[*]:")
    expect(view.locator(".jp-OutputArea-output").first).to_contain_text("begun")
    # Their cursor is where it was, and so is the mode.
    page.keyboard.type("0")
    expect(second.locator(".cm-content")).to_have_text("y = 1 + 10")
    (notebooks.lab.root / ON).touch()
    notebooks.wait_for(lambda: told(notebooks, run)["state"] == "changed")
    (notebooks.lab.root / ON).unlink()
    expect(view.locator(".jp-InputPrompt").first).not_to_have_text("[*]:")
    expect(view.locator(".jp-OutputArea-output").first).to_contain_text("ended")
    page.keyboard.type("0")
    expect(second.locator(".cm-content")).to_have_text("y = 1 + 100")
    notebooks.close(PATH)


def test_a_notebook_that_is_closed_while_its_cells_run(notebooks: Notebooks) -> None:
    notebooks.write(PATH, WAITING)
    notebooks.open(PATH)
    run = begun(notebooks)
    notebooks.close(PATH)
    assert told(notebooks, run)["state"] == "running"
    (notebooks.lab.root / ON).touch()
    notebooks.wait_for(lambda: told(notebooks, run)["state"] != "running")
    (notebooks.lab.root / ON).unlink()
    end = told(notebooks, run)
    assert (end["state"], end["problem"]) == ("done", None)
    assert end["cells"] == [["done", True], ["done", True]]
    first, second = notebooks.content(PATH)["cells"]
    assert "".join(first["outputs"][0]["text"]) == "begun\nended\n"
    assert second["outputs"] == []
    assert second["execution_count"] == first["execution_count"] + 1


def test_a_person_answers_what_a_cell_asks(notebooks: Notebooks) -> None:
    notebooks.write(PATH, notebook(code("first-cell", "print('Hello', input('Your name? '))")))
    view = notebooks.open(PATH)
    run = notebooks.ask("run", PATH)["id"]
    notebooks.wait_for(lambda: told(notebooks, run)["state"] == "awaiting_input")
    view.locator(".jp-Stdin-input").fill("Ada")
    view.locator(".jp-Stdin-input").press("Enter")
    notebooks.wait_for(lambda: told(notebooks, run)["state"] == "done")
    expect(view.locator(".jp-OutputArea-output").last).to_contain_text("Hello Ada")
    notebooks.close(PATH)
