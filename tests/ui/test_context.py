"""What goes with a message of the notebooks that are open: seen, switched off, sent, remembered."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from model_server import ModelServer, call
from nbformat.v4 import new_code_cell, new_notebook, new_output
from playwright.sync_api import Locator, Page, expect
from ui.lab_server import LabServer
from ui.notebooks import Notebooks
from ui.panel import Panel
from ui.test_looks import OVERFLOWING

PATH = "analysis.ipynb"
DEFINE = """\
import os, time
import numpy as np
prices = np.zeros((2, 3))
rows = ['a', 'b']"""
FAIL = "total = prices.sum()\ntotal + missing"
WAIT = "while not os.path.exists('go'):\n    time.sleep(0.05)"


@pytest.fixture
def notebooks(
    open_page: Callable[..., Page], lab: LabServer, expected_errors: list[str]
) -> Notebooks:
    """A page with two notebooks, one of them in front, its cells not run yet."""
    expected_errors.append("Could not restore the debugger state")
    notebooks = Notebooks(open_page(), lab)
    for path in ("other.ipynb", PATH):
        sources = [DEFINE, FAIL, WAIT, "len(In)"]
        cells = [new_code_cell(source, id=f"cell-{n}") for n, source in enumerate(sources)]
        notebooks.write(path, new_notebook(cells=cells))
        notebooks.open(path)
    return notebooks


@pytest.fixture
def panel(notebooks: Notebooks) -> Panel:
    """The panel beside them."""
    panel = Panel(notebooks.page)
    panel.open()
    return panel


@pytest.fixture
def results() -> Path:
    """Where pictures are kept."""
    folder = Path("test-results")
    folder.mkdir(exist_ok=True)
    return folder


def chips(panel: Panel) -> Locator:
    return panel.root.get_by_role("group", name="Goes with the message").get_by_role("button")


def labels(panel: Panel) -> list[str]:
    return chips(panel).all_inner_texts()


def chip(panel: Panel, name: str) -> Locator:
    return chips(panel).filter(has_text=name)


def last_message(lab: LabServer) -> dict[str, Any]:
    events = lab.events(lab.sessions()[0]["id"])
    message: dict[str, Any]
    *_, message = (event for event in events if event["type"] == "UserMessageAction")
    return message


def run(notebooks: Notebooks, index: int) -> None:
    cell = notebooks.page.locator(".jp-NotebookPanel:visible .jp-Cell").nth(index)
    cell.locator(".cm-content").click()
    notebooks.page.keyboard.press("Control+Enter")


@pytest.mark.timeout(300)
def test_seen_switched_off_sent_and_remembered(
    notebooks: Notebooks, panel: Panel, lab: LabServer, model: ModelServer, results: Path
) -> None:
    page = notebooks.page
    model.play(call("finish", message="One"), call("finish", message="Two"))
    run(notebooks, 0)
    run(notebooks, 1)
    expect(page.locator(".jp-NotebookPanel:visible")).to_contain_text("NameError")
    page.locator(".jp-NotebookPanel:visible .cm-content").nth(1).click()
    page.keyboard.press("Control+End")
    page.keyboard.press("Shift+Home")
    expect(chip(panel, "Selection: 1 line")).to_have_attribute("title", "total + missing")
    panel.composer.click()
    expect(chips(panel)).to_have_text(
        [
            f"{PATH} · unsaved · python3 idle",
            "1 other notebook",
            "Cell: total = prices.sum()",
            "Selection: 1 line",
            "3 variables",
            "Error: NameError",
        ]
    )
    tip = chip(panel, "3 variables").get_attribute("title") or ""
    assert "prices: numpy.ndarray(2, 3) float64" in tip
    page.screenshot(path=results / "context.png")

    chip(panel, "Error").click()
    expect(chip(panel, "Error")).to_have_attribute("aria-pressed", "false")
    chip(panel, "1 other").focus()
    page.keyboard.press("Space")
    expect(chip(panel, "1 other")).to_have_attribute("aria-pressed", "false")
    panel.send("Why does it fail?")
    # The model's gateway and the sandbox start with it.
    expect(panel.status).to_contain_text("Finished", timeout=120_000)
    sent = last_message(lab)["context"]
    notebook, cell, selection, variables = sent
    assert notebook == {
        "kind": "notebook",
        "path": PATH,
        "visible": True,
        "dirty": True,
        "kernel": {"name": "python3", "state": "idle"},
    }
    at = {"path": PATH, "cell": "cell-1"}
    assert cell == {"kind": "cell", **at, "cell_type": "code", "source": FAIL}
    lines = {"first_line": 2, "last_line": 2}
    assert selection == {"kind": "selection", **at, **lines, "text": "total + missing"}
    assert variables == {
        "kind": "variables",
        "path": PATH,
        "variables": [
            {
                "name": "prices",
                "type": "numpy.ndarray",
                "shape": [2, 3],
                "dtypes": ["float64"],
            },
            {"name": "rows", "type": "list", "shape": [2]},
            {"name": "total", "type": "numpy.float64"},
        ],
    }
    prompt = model.requests[-1].body["messages"][-1]["content"]
    assert prompt.startswith("Why does it fail?\n\nThe person's notebooks")
    assert "prices: numpy.ndarray(2, 3) float64" in prompt
    assert "NameError" not in prompt and "other.ipynb" not in prompt
    row = panel.log.get_by_role("article", name="You")
    expect(row.locator(".jp-OpenHands-chip")).to_have_count(4)
    row.locator("summary").click()
    expect(row.get_by_role("group", name="3 variables")).to_contain_text("rows: list(2)")
    page.screenshot(path=results / "context-sent.png")
    row.locator("summary").click()

    # What is switched off stays so, and what a busy kernel holds is not waited for.
    run(notebooks, 2)
    expect(chip(panel, "Variables: kernel busy")).to_be_visible()
    expect(chip(panel, "Error")).to_have_attribute("aria-pressed", "false")
    panel.send("And now?")
    panel.expect_state("Finished")
    kinds = [part["kind"] for part in last_message(lab)["context"]]
    assert kinds == ["notebook", "cell"]
    assert last_message(lab)["context"][0]["kernel"]["state"] == "busy"
    (lab.root / "go").touch()

    # The kernel was asked several times, and counted none of it.
    run(notebooks, 3)
    cells = page.locator(".jp-NotebookPanel:visible .jp-Cell")
    first = int(cells.first.locator(".jp-InputPrompt").inner_text().strip("[]:"))
    expect(cells.nth(3).locator(".jp-InputPrompt")).to_have_text(f"[{first + 3}]:")
    expect(cells.nth(3).locator(".jp-OutputArea-output")).to_have_text(f"{first + 4}")


def fix_button(page: Page, number: int) -> Locator:
    return page.get_by_role("button", name=f"Fix with OpenHands: cell {number}", exact=True)


@pytest.mark.timeout(300)
def test_an_error_is_given_to_the_agent_and_a_cell_asked_about(
    notebooks: Notebooks,
    lab: LabServer,
    model: ModelServer,
    open_page: Callable[..., Page],
    expected_errors: list[str],
    results: Path,
) -> None:
    page = notebooks.page
    panel = Panel(page)
    model.play(call("finish", message="One"), call("finish", message="Two"))
    run(notebooks, 3)
    run(notebooks, 0)
    expect(page.locator(".jp-OpenHands-fix")).to_have_count(0)
    run(notebooks, 1)
    button = fix_button(page, 2)
    expect(button).to_be_visible()
    page.screenshot(path=results / "fix-button.png")

    # The click opens the panel, which was not loaded yet, and is all that it takes.
    button.click()
    expect(panel.status).to_contain_text("Finished", timeout=120_000)
    sent = last_message(lab)
    assert sent["content"] == f'Fix the error in cell "cell-1" of "{PATH}"'
    parts = {part["kind"]: part for part in sent["context"]}
    assert parts["cell"]["source"] == FAIL
    assert (parts["error"]["cell"], parts["error"]["ename"]) == ("cell-1", "NameError")
    prompt = model.requests[-1].body["messages"][-1]["content"]
    assert "name 'missing' is not defined" in prompt and FAIL.splitlines()[1] in prompt
    expect(panel.composer).to_be_focused()
    expect(panel.composer).to_have_value("")
    page.screenshot(path=results / "fix-sent.png")

    # What the person switched off is not sent by a click either: it is left for them to send.
    chip(panel, "Error").click()
    button.press("Enter")
    expect(panel.composer).to_have_value(sent["content"])
    expect(chip(panel, "Error")).to_have_attribute("aria-pressed", "false")
    panel.composer.fill("")

    # It goes with the error.
    page.locator(".jp-NotebookPanel:visible .cm-content").nth(1).click()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text("prices.sum()")
    page.keyboard.press("Control+Enter")
    expect(button).to_have_count(0)

    # Asking by keyboard, from the cell and from its toolbar.
    about = 'About cell "cell-{}" of "' + PATH + '": '
    page.locator(".jp-NotebookPanel:visible .cm-content").first.click()
    page.keyboard.press("Control+Alt+Shift+o")
    expect(panel.composer).to_be_focused()
    expect(panel.composer).to_have_value(about.format(0))
    expect(chip(panel, "Cell: import os, time")).to_have_attribute("aria-pressed", "true")
    page.keyboard.type("why?")
    expect(panel.composer).to_have_value(about.format(0) + "why?")
    page.locator(".jp-NotebookPanel:visible .jp-InputPrompt").nth(3).click()
    ask = page.get_by_role("button", name="Ask OpenHands about this cell")
    page.screenshot(path=results / "ask-cell.png")
    ask.press("Enter")
    expect(panel.composer).to_be_focused()
    expect(panel.composer).to_have_value(f"{about.format(0)}why?\n{about.format(3)}")
    expect(chip(panel, "Cell: len(In)")).to_be_visible()
    assert len(model.requests) == 1

    # In Notebook 7, with an error that was saved, whatever it claims to be.
    error = new_output("error", ename="<b>E</b>", evalue="saved", traceback=["saved"])
    cell = new_code_cell("1 / 0", id="old", outputs=[error])
    python = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    notebooks.write('old "one".ipynb', new_notebook(cells=[cell], metadata=python))
    # A fault of Notebook 7: it looks for what is not there yet when a plugin's settings come.
    expected_errors.append("reading 'schema'")
    other = open_page(notebook='old "one".ipynb')
    fix_button(other, 1).press("Enter")
    expect(Panel(other).status).to_contain_text("Finished", timeout=120_000)
    expect(Panel(other).composer).to_be_focused()
    prompt = model.requests[-1].body["messages"][-1]["content"]
    assert prompt.startswith('Fix the error in cell "old" of "old \\"one\\".ipynb"')
    assert "1 / 0" in prompt and "<b>E</b>: saved" in prompt


@pytest.mark.parametrize("theme", ["JupyterLab Light", "JupyterLab Dark"])
def test_narrow(notebooks: Notebooks, panel: Panel, results: Path, theme: str) -> None:
    page = notebooks.page
    page.evaluate(
        "theme => window.jupyterapp.commands.execute('apputils:change-theme', {theme})", theme
    )
    expect(page.locator("body")).to_have_attribute(
        "data-jp-theme-light", str(theme.endswith("Light")).lower()
    )
    panel.set_width(320)
    run(notebooks, 0)
    run(notebooks, 1)
    expect(chip(panel, "Error: NameError")).to_be_visible()
    expect(fix_button(page, 2)).to_be_in_viewport(ratio=1)
    panel.composer.click()
    chip(panel, "Error").click()
    expect(chips(panel)).to_have_count(5)
    assert panel.root.evaluate(OVERFLOWING) == []
    page.screenshot(path=results / f"context-narrow-{theme.split()[-1].lower()}.png")
    for path in (PATH, "other.ipynb"):
        notebooks.close(path)
    expect(chips(panel)).to_have_count(0)
