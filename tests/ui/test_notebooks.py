"""Notebooks that are open in a browser, changed by the server."""

from __future__ import annotations

import json
import re
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from notebook_contract import CASES, FIRST, USUAL, rev
from playwright.sync_api import Page, WebSocketRoute, expect
from read_only import read_only
from ui.lab_server import LabServer
from ui.notebooks import Notebooks, write

SOCKET = re.compile("/openhands/api/tabs")
PATH = "notebook.ipynb"


@pytest.fixture
def notebooks(
    open_page: Callable[..., Page], lab: LabServer, expected_errors: list[str]
) -> Notebooks:
    """A page for notebooks, with a kernel that is there already."""
    # JupyterLab asks for an attachment by this name before it has looked into the cell.
    expected_errors.append("attachment:a.png")
    # Its debugger does not expect that a notebook is closed as soon as it is open.
    expected_errors.append("Could not restore the debugger state")
    return Notebooks(open_page(), lab)


def set_source(cell: dict[str, Any], source: str, now: str | None = None) -> dict[str, Any]:
    return {"type": "set", "id": cell["id"], "rev": rev(cell, now), "source": source}


def test_the_contract_holds_in_a_tab(notebooks: Notebooks) -> None:
    failed = {}
    for name, case in CASES.items():
        path = f"{name}.ipynb"
        notebooks.write(path, case.notebook)
        notebooks.open(path)
        assert notebooks.read(path)["delivery"] == "tab"
        if problem := notebooks.ask("contract", path, case=name):
            failed[name] = problem
        notebooks.close(path)
    assert not failed, "\n".join(failed.values())


def test_a_person_and_the_agent_in_one_notebook(
    notebooks: Notebooks, lab: LabServer, expected_errors: list[str]
) -> None:
    page = notebooks.page
    notebooks.write(PATH, USUAL)
    view = notebooks.open(PATH)
    cell = view.locator(".jp-Cell").first
    cell.locator(".cm-content").click()
    page.keyboard.press("Control+End")
    page.keyboard.type("y = 5")
    typed = "x = 1\ny = 5"
    notebooks.wait_for(lambda: notebooks.opened()[PATH]["selection"]["end"]["column"] == 5)
    state = notebooks.opened()[PATH]
    assert state["active_cell"] == FIRST["id"]
    assert state["visible"] and state["dirty"]
    assert state["kernel"]["id"] == notebooks.kernel["id"]

    # What the agent has read is not there any more.
    answer = notebooks.change(PATH, set_source(FIRST, "lost"))
    assert answer["type"] == "mismatch"
    assert [(c["reason"], c["source"]) for c in answer["cells"]] == [("changed", typed)]
    # What fits is done around the cursor, and the person just goes on.
    page.keyboard.press("ArrowLeft")
    answer = notebooks.change(PATH, set_source(FIRST, f"import os\n{typed} # five", typed))
    assert answer["type"] == "applied"
    page.keyboard.type("1")
    whole = "import os\nx = 1\ny = 15 # five"
    notebooks.wait_for(lambda: notebooks.read(PATH)["cells"][0]["source"] == whole)
    expect(cell.locator(".jp-OutputArea-output")).to_have_count(2)
    expect(cell.locator(".jp-InputPrompt")).to_have_text("[3]:")
    assert notebooks.content(PATH)["cells"][0]["source"] == FIRST["source"]

    # Another one comes behind it, without a kernel, and takes nothing from the person.
    notebooks.write("behind.ipynb", USUAL)
    kernels = len(notebooks.sessions())
    assert notebooks.ask("show", "behind.ipynb") is None
    behind = notebooks.opened()["behind.ipynb"]
    assert (behind["visible"], behind.get("kernel")) == (False, None)
    assert notebooks.opened()[PATH]["visible"]
    page.keyboard.type("2")
    whole = whole.replace("15", "125")
    notebooks.wait_for(lambda: notebooks.read(PATH)["cells"][0]["source"] == whole)
    assert len(notebooks.sessions()) == kernels
    page.keyboard.press("Backspace")
    notebooks.close("behind.ipynb")

    # Out of sight it is the same notebook, and seen twice it is one.
    notebooks.execute("launcher:create")
    notebooks.wait_for(lambda: not notebooks.opened()[PATH]["visible"])
    new = {"type": "insert", "after": None, "cell": {**USUAL["cells"][2], "id": "new-cell"}}
    gone = {"type": "delete", "id": "fourth-cell", "rev": rev(USUAL["cells"][3])}
    assert notebooks.change(PATH, new, gone)["type"] == "applied"
    ids = [c["id"] for c in notebooks.read(PATH)["cells"]]
    assert ids == ["new-cell", "first-cell", "second-cell", "third-cell"]

    # One change is one step back for the person, be it of many cells.
    notebooks.open(PATH)
    notebooks.execute("docmanager:clone")
    notebooks.execute("notebook:undo-cell-action")
    assert [c["id"] for c in notebooks.read(PATH)["cells"]] == [c["id"] for c in USUAL["cells"]]
    notebooks.execute("notebook:undo-cell-action")
    undone = "x = 1\ny = 15"
    notebooks.wait_for(lambda: notebooks.read(PATH)["cells"][0]["source"] in (undone, typed))

    # The file and its name may change behind it.
    assert len(notebooks.ask("opened")) == 1
    assert notebooks.ask("save", PATH) is None
    saved = notebooks.content(PATH)
    assert "".join(saved["cells"][0]["source"]) == undone
    notebooks.change(PATH, set_source(FIRST, "z = 0", undone))
    notebooks.write(PATH, {**saved, "cells": saved["cells"][:2]})
    assert notebooks.ask("save", PATH) == {"error": "notebook_changed_on_disk"}
    expect(page.locator(".jp-Dialog")).to_have_count(0)
    assert len(notebooks.content(PATH)["cells"]) == 2
    (lab.root / PATH).write_text("{no notebook")
    assert notebooks.ask("save", PATH) == {"error": "notebook_changed_on_disk"}
    assert (lab.root / PATH).read_text() == "{no notebook"
    notebooks.write(PATH, saved)
    page.evaluate(
        """async path => {
            await window.jupyterapp.serviceManager.contents.rename(path, 'other.ipynb');
        }""",
        PATH,
    )
    notebooks.wait_for(lambda: set(notebooks.opened()) == {"other.ipynb"})
    assert notebooks.read(PATH) == {"error": "notebook_not_found"}
    assert notebooks.read("other.ipynb")["cells"][0]["source"] == "z = 0"
    # Deleted, it is still there for the person, and nothing makes it anew behind their back.
    expected_errors.append("/api/contents/other.ipynb")
    (lab.root / "other.ipynb").unlink()
    assert notebooks.change("other.ipynb", set_source(FIRST, "z = 1", "z = 0"))["type"] == "applied"
    assert notebooks.ask("save", "other.ipynb") == {"error": "notebook_changed_on_disk"}
    assert not (lab.root / "other.ipynb").exists()
    notebooks.close("other.ipynb")
    assert notebooks.read("other.ipynb") == {"error": "notebook_not_found"}

    with read_only(lab.root / "fixed", {PATH: json.dumps(USUAL)}):
        notebooks.open(f"fixed/{PATH}")
        assert notebooks.read(f"fixed/{PATH}")["state"]["read_only"]
        for answer in (
            notebooks.change(f"fixed/{PATH}", set_source(FIRST, "x")),
            notebooks.ask("save", f"fixed/{PATH}"),
        ):
            assert answer == {"error": "notebook_read_only"}
        notebooks.close(f"fixed/{PATH}")
    # Jupyter makes it for the checkpoints of what cannot be written.
    shutil.rmtree(Path(tempfile.gettempdir(), "jupyter_checkpoints"))


def test_a_connection_that_breaks_between_request_and_answer_in_notebook_7(
    open_page: Callable[..., Page], lab: LabServer, expected_errors: list[str]
) -> None:
    lose_answers = refuse = False
    sockets: list[WebSocketRoute] = []

    def connect(route: WebSocketRoute) -> None:
        if refuse:
            route.close(code=3000)
            return
        server = route.connect_to_server()
        sockets.append(route)

        def from_page(message: str | bytes) -> None:
            nonlocal lose_answers
            if lose_answers and '"answer"' in str(message):
                lose_answers = False
                route.close(code=3000)
                server.close(code=3000)
            else:
                server.send(message)

        route.on_message(from_page)

    # A fault of Notebook 7: it looks for what is not there yet when a plugin's settings come.
    expected_errors += ["reading 'schema'", "attachment:a.png"]
    write(lab, PATH, USUAL)
    page = open_page(notebook=PATH, prepare=lambda page: page.route_web_socket(SOCKET, connect))
    notebooks = Notebooks(page, lab)
    notebooks.wait_for(lambda: PATH in notebooks.opened())
    lose_answers = True
    insert = {"type": "insert", "after": None, "cell": {**FIRST, "id": "new-cell"}}
    # It comes back, is asked again, and answers what it did the first time.
    answer = notebooks.change(PATH, insert)
    assert answer["type"] == "applied"
    assert len(sockets) == 2
    assert len(notebooks.read(PATH)["cells"]) == 5

    # It does not come back in time: whether it was done is seen when it is there again.
    notebooks.ask("patience", returns_within=0.5)
    lose_answers = refuse = True
    source = "sent, and never acknowledged"
    assert notebooks.change(PATH, set_source(FIRST, source)) == {"error": "outcome_unknown"}
    assert notebooks.read(PATH)["delivery"] == "disk"
    refuse = False
    notebooks.wait_for(lambda: PATH in notebooks.opened())
    found = notebooks.read(PATH)
    assert found["delivery"] == "tab"
    assert found["cells"][1]["source"] == source
    assert notebooks.change(PATH, set_source(FIRST, source))["type"] == "mismatch"
    cell = notebooks.page.locator(".jp-Cell .cm-content").nth(1)
    expect(cell).to_have_text(source)
    notebooks.ask("patience", returns_within=5.0)
