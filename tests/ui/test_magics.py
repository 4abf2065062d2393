"""A task from a cell: approved there, awaited in the next, kept on save, never begun by Run All."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook
from playwright.sync_api import Locator, Page, expect
from ui.lab_server import TOKEN, LabServer

TASK = "%%openhands --into task\nDelete the temporary files in {place}"
CELLS = [
    "%load_ext openhands_jupyter\nplace = 'this folder'",
    TASK,
    "print('it has', (await task).state)",
    "%openhands status",
    "%%openhands\nShow me around",
]


class Notebook:
    """A notebook that is open in a page."""

    def __init__(self, page: Page) -> None:
        self.page = page

    def cell(self, index: int) -> Locator:
        return self.page.locator(".jp-Notebook .jp-CodeCell").nth(index)

    def task(self, index: int) -> Locator:
        return self.cell(index).get_by_role("region", name="Task of OpenHands")

    def run(self, index: int) -> None:
        self.cell(index).locator(".cm-content").click()
        self.page.keyboard.press("Shift+Enter")

    def menu(self, menu: str, entry: str) -> None:
        self.page.get_by_role("menuitem", name=menu, exact=True).click()
        self.page.get_by_role("menuitem", name=entry).first.click()

    def save(self) -> None:
        with self.page.expect_response(
            lambda r: "/api/contents/story.ipynb" in r.url and r.request.method == "PUT"
        ):
            self.page.keyboard.press("Control+s")


@pytest.fixture
def notebook(open_page: Callable[..., Page], lab: LabServer, tour: None) -> Notebook:
    for name in ("one.tmp", "two.tmp"):
        (lab.root / name).write_text("x")
    cells = [new_code_cell(source) for source in CELLS]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    notebook = new_notebook(cells=cells, metadata={"kernelspec": kernel})
    nbformat.write(notebook, lab.root / "story.ipynb")
    page = open_page()
    page.goto(f"{lab.url}/lab/tree/story.ipynb")
    expect(page.get_by_role("button", name="| Idle")).to_be_visible(timeout=60_000)
    return Notebook(page)


def messages(lab: LabServer) -> list[str]:
    """What was said to agents."""
    return [
        event["content"]
        for session in lab.sessions()
        for event in lab.events(session["id"])
        if event["type"] == "UserMessageAction"
    ]


def saved(lab: LabServer) -> list[dict[str, Any]]:
    text = (lab.root / "story.ipynb").read_text()
    assert TOKEN not in text
    cells: list[dict[str, Any]] = nbformat.reads(text, as_version=4).cells
    return cells


def test_a_task_from_a_cell(notebook: Notebook, lab: LabServer, expected_errors: list[str]) -> None:
    expected_errors.append("404 (Not Found)")
    # Of Notebook itself, with and without us.
    expected_errors += ["(reading 'schema')", "Command 'filebrowser:open-path' not registered"]
    page = notebook.page
    notebook.run(0)
    expect(notebook.cell(0)).to_contain_text("[1]")
    notebook.run(1)
    task = notebook.task(1)
    card = task.get_by_role("region", name="Approve this")
    expect(card).to_contain_text("rm -- one.tmp two.tmp")
    notebook.save()
    # A page that is loaded anew takes up the task, and its kernel's line to it.
    page.reload()
    expect(page.get_by_role("button", name="| Idle")).to_be_visible(timeout=60_000)
    expect(card).to_contain_text("rm -- one.tmp two.tmp")
    notebook.run(2)
    assert (lab.root / "one.tmp").exists()
    card.get_by_role("button", name="Approve").focus()
    page.keyboard.press("Enter")
    answer = task.get_by_role("region", name="Answer")
    expect(answer).to_contain_text("one.tmp")
    expect(task).to_contain_text("Finished")
    assert not (lab.root / "one.tmp").exists()
    # The kernel heard of it while the next cell waited.
    expect(notebook.cell(2)).to_contain_text("it has finished")
    notebook.run(3)
    expect(notebook.cell(3)).to_contain_text("finished: Delete")
    assert messages(lab) == ["Delete the temporary files in this folder"]

    notebook.save()
    cells = saved(lab)
    [output] = cells[1]["outputs"]
    assert "one.tmp" in output["data"]["text/plain"]
    assert cells[1]["metadata"]["openhands"]["task"]["answer"] == output["data"]["text/plain"]
    assert "finished" in str(cells[3]["outputs"])

    # The same notebook, whose kernel goes on, in the other front end.
    page.goto(f"{lab.url}/notebooks/story.ipynb")
    expect(page.locator(".jp-NotebookKernelStatus")).to_be_hidden(timeout=60_000)
    expect(answer).to_contain_text("one.tmp")
    task.get_by_role("button", name="Show the steps").click()
    task.get_by_text(re.compile(r"^\d+ steps")).click()
    expect(task.get_by_role("log")).to_contain_text("rm -- one.tmp two.tmp")

    notebook.menu("Run", "Run All Cells")
    expect(task).to_contain_text("Answered before")
    expect(task.get_by_role("button", name="Ask again")).to_be_visible()
    expect(notebook.cell(2)).to_contain_text("it has answered")
    other = notebook.task(4)
    begin = other.get_by_role("button", name="Begin")
    expect(begin).to_be_visible()
    assert len(messages(lab)) == 1

    begin.click()
    expect(other).to_contain_text("What shall I do next?")
    expect(other).to_contain_text("answer in another cell")
    assert messages(lab)[1:] == ["Show me around"]
    assert len(lab.sessions()) == 1

    other.get_by_role("button", name="Open in the panel").click()
    panel = page.get_by_role("region", name="OpenHands", exact=True)
    expect(panel).to_contain_text("What shall I do next?")
