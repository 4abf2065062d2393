"""Notebooks that are open in a browser and shared through jupyter-collaboration."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from notebook_contract import CASES, FIRST, USUAL
from playwright.sync_api import Page, Route, WebSocketRoute, expect
from ui.lab_server import LabServer
from ui.notebooks import Notebooks
from ui.test_notebooks import PATH, notebooks, set_source

pytest.importorskip("jupyter_docprovider", reason="jupyter-collaboration is not installed")

__all__ = ["notebooks"]

pytestmark = pytest.mark.timeout(300)

SOME = (
    "a_source_is_set_and_all_else_stays",
    "many_steps_are_one_change",
    "cells_of_old_notebooks_get_ids",
    "a_change_makes_no_output_trusted",
)
"""Cases in which something is saved, or much is done; the others are as without it."""


def test_the_tab_changes_a_shared_notebook_and_then_the_room(
    notebooks: Notebooks, expected_errors: list[str]
) -> None:
    # The environment of this test switches on no other server extension than it has to.
    expected_errors.append("/lsp/status")
    for name in SOME:
        path = f"{name}.ipynb"
        notebooks.write(path, CASES[name].notebook)
        notebooks.open(path)
        assert notebooks.read(path)["delivery"] == "tab"
        assert notebooks.ask("contract", path, case=name) is None
        notebooks.close(path)

    notebooks.write(PATH, USUAL)
    notebooks.open(PATH)
    assert notebooks.change(PATH, set_source(FIRST, "in the tab"))["type"] == "applied"
    notebooks.close(PATH)
    # The room outlives its last tab for a while, and has what was not saved.
    found = notebooks.read(PATH)
    assert (found["delivery"], found["cells"][0]["source"]) == ("room", "in the tab")
    changed = notebooks.change(PATH, set_source(FIRST, "in the room", "in the tab"))
    assert changed["type"] == "applied"
    assert notebooks.ask("save", PATH) is None
    assert "".join(notebooks.content(PATH)["cells"][0]["source"]) == "in the room"
    view = notebooks.open(PATH)
    expect(view.locator(".jp-Cell .cm-content").first).to_have_text("in the room")


def test_a_tab_saves_what_the_room_has_saved_before_it_heard_of_that(
    notebooks: Notebooks, expected_errors: list[str]
) -> None:
    expected_errors.append("/lsp/status")
    # Rooms outlive their tests: each has notebooks of its own.
    path = "unheard.ipynb"
    notebooks.write(path, USUAL)
    notebooks.open(path)
    # What a tab asks when a room has saved: which file it is now.
    held: list[Route] = []
    question = re.compile(rf"/api/contents/{path}\?(?!.*type=).*hash=0")
    notebooks.page.route(question, lambda route: held.append(route))
    changed = notebooks.change(path, set_source(FIRST, "saved by the room"))
    assert changed["type"] == "applied"
    notebooks.wait_for(lambda: held)
    changed = notebooks.change(path, set_source(FIRST, "saved by the tab", "saved by the room"))
    assert changed["type"] == "applied"
    assert notebooks.ask("save", path) is None
    assert "".join(notebooks.content(path)["cells"][0]["source"]) == "saved by the tab"
    expect(notebooks.page.locator(".jp-Dialog")).to_have_count(0)
    for route in held:
        route.continue_()


def test_a_tab_saves_though_the_answer_of_the_room_is_lost(
    open_page: Callable[..., Page], lab: LabServer, expected_errors: list[str]
) -> None:
    expected_errors += ["/lsp/status", "attachment:a.png", "Could not restore the debugger state"]
    path = "lost.ipynb"
    lost: list[str | bytes] = []

    def connect(route: WebSocketRoute) -> None:
        server = route.connect_to_server()

        def from_server(message: str | bytes) -> None:
            if isinstance(message, bytes) and b'"responseTo"' in message:
                lost.append(message)
            else:
                route.send(message)

        server.on_message(from_server)

    room = re.compile("/api/collaboration/room/json")
    page = open_page(prepare=lambda page: page.route_web_socket(room, connect))
    notebooks = Notebooks(page, lab)
    notebooks.write(path, USUAL)
    notebooks.open(path)
    assert notebooks.change(path, set_source(FIRST, "saved"))["type"] == "applied"
    assert notebooks.ask("save", path) is None
    assert "".join(notebooks.content(path)["cells"][0]["source"]) == "saved"
    assert lost
