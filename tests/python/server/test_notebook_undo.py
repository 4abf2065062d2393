"""Undo of what an agent did to notebooks, open or not: a real server, a scripted model."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import nbformat
import pytest
from jsonschema import Draft202012Validator
from model_server.script import call
from model_server.server import ModelServer
from notebook_contract import FIRST, STREAM, THIRD, USUAL, code, notebook, rev
from notebook_sessions import (
    DONE,
    NAME,
    PATH,
    READ,
    Begin,
    OpenTab,
    begin,
    file,
    home,
    open_tab,
    root,
    saved,
    write,
)
from session_tools import SECRET, events, until
from undo_tools import answer_to, turn_end, undo

from openhands_jupyter.events import (
    ErrorObservation,
    FilesRestoredObservation,
    NotebookEditObservation,
    NotebookUndoAction,
)
from openhands_jupyter.server.base import Services

pytestmark = pytest.mark.sandbox

# The fixtures have to be here to be found.
__all__ = ["begin", "file", "home", "open_tab", "root"]

PATCH = {"op": "patch", "id": "first", "expect_rev": rev(FIRST), "old": "1", "new": "2"}
INSERT = {"op": "insert", "type": "code", "source": "y = x", "after": "@0"}


def edit(*ops: dict[str, Any]) -> Any:
    return call("nb_edit", path=NAME, ops=list(ops))


def cells_in(file: Path) -> list[dict[str, Any]]:
    """The cells of a file with each text as one string."""
    cells: list[dict[str, Any]] = nbformat.read(file, 4)["cells"]
    return cells


def described(document: dict[str, Any], path: str, answer: Any) -> None:
    """See that an answer is as the API's description has it."""
    operation = document["paths"][f"/sessions/{{session_id}}/{path}"]["get"]
    schema = operation["responses"]["200"]["content"]["application/json"]["schema"]
    Draft202012Validator({**schema, "components": document["components"]}).validate(answer)


async def test_a_turn_is_undone_by_cells_wherever_its_notebooks_are(
    api: Any,
    begin: Begin,
    services: Services,
    open_tab: OpenTab,
    file: Path,
    model_server: ModelServer,
) -> None:
    key = code("key-cell", f"key = '{SECRET}'\nuse(key)\nprint(1)", STREAM, execution_count=1)
    clash = code("clash-cell", "mine = 0")
    before = notebook(FIRST, key, clash, THIRD)
    other = file.parent / "other.ipynb"
    for path in (file, other):
        write(path, before)
    patch = {"op": "patch", "expect_rev": rev(key), "id": "key-cell", "old": "(1)", "new": "(2)"}
    ops = [
        PATCH,
        patch,
        {"op": "clear_outputs", "id": "key-cell", "expect_rev": rev(key)},
        {"op": "replace", "id": "clash-cell", "expect_rev": rev(clash), "source": "mine = 1"},
        {"op": "delete", "id": "third-cell", "expect_rev": rev(THIRD)},
        {**INSERT, "after": None, "before": "first-cell"},
    ]
    model_server.play(
        READ,
        edit(*ops),
        call("nb_read", path="other.ipynb"),
        call("nb_edit", path="other.ipynb", ops=ops),
        call("write_file", path="notes.txt", content="x"),
        DONE,
    )
    async with open_tab(PATH, before) as tab:
        session = await begin(mode="auto")
        await until(session, "finished")
        end = await turn_end(session)
        assert end.cells == 10
        assert all("openhands" in tab.cell(id)["metadata"] for id in ("first-cell", "key-cell"))
        # The person works on: in another cell, in other lines, in the same line.
        tab.cells.append(code("new-cell", "typed"))
        tab.type_into("key-cell", f"# mine\nkey = '{SECRET}'\nuse(key)\nprint(2)")
        tab.type_into("clash-cell", "mine = 7")
        write(file, {**before, "cells": tab.cells})
        after = [dict(cell) for cell in tab.cells]
        mine = saved(other)
        mine["cells"].append(code("new-cell", "typed"))
        write(other, mine)
        written = nbformat.read(other, 4)

        document = (await api("GET", "openapi.json")).body
        preview = (await api("GET", f"sessions/{session.id}/undo")).body
        described(document, "undo", preview)
        assert [change["path"] for change in preview["changes"]] == ["notes.txt"]
        shown = {one["path"]: one for one in preview["notebooks"]}
        assert {path: one["delivery"] for path, one in shown.items()} == {
            "analysis.ipynb": "tab",
            "other.ipynb": "disk",
        }
        fates = {cell["id"]: cell["what"] for cell in shown["analysis.ipynb"]["cells"]}
        assert set(fates.values()) == {"changed", "inserted", "deleted"}
        assert fates["third-cell"] == "inserted"
        (left,) = shown["analysis.ipynb"]["left"]
        assert (left["id"], left["reason"]) == ("clash-cell", "clash")
        assert "mine = 7" in left["both"] and "mine = 0" in left["both"]
        assert not shown["other.ipynb"].get("left")
        assert (tab.cells, cells_in(other)) == (after, written["cells"]), (
            "a preview changes nothing"
        )

        # A restart forgets nothing, and what is kept whole is for nobody else to read.
        await services.sessions.close()
        kept = services.sessions._config.sessions_folder / session.id / "edits"
        assert SECRET in "".join(one.read_text() for one in kept.iterdir())
        assert {stat.S_IMODE(one.stat().st_mode) for one in kept.iterdir()} == {0o600}
        assert SECRET not in (kept.parent / "events.jsonl").read_text()
        session = await services.sessions.open(session.id)

        done = await undo(session)
        assert (done.removed, not done.conflicts, not done.failed) == (1, True, True)
        assert [len(one.left) for one in done.notebooks] == [1, 0]
        typed = [{**key, "source": f"# mine\n{key['source']}"}, code("new-cell", "typed")]
        assert tab.cells[:2] == [FIRST, typed[0]]
        assert [cell["id"] for cell in tab.cells[2:]] == ["clash-cell", "third-cell", "new-cell"]
        assert tab.cell("clash-cell")["source"] == "mine = 7"
        assert tab.cells[3:] == [THIRD, typed[1]], "with what it had put out, and unmarked"
        assert cells_in(other) == [FIRST, key, clash, THIRD, typed[1]]
        # The file of the open notebook is left to the person.
        assert cells_in(file) == after
        assert not (file.parent / "notes.txt").exists()

        # What the person typed since stays when the undo is taken back, too.
        tab.type_into("new-cell", "typed more")
        answer = await api("POST", f"sessions/{session.id}/undo", {"turn": done.cause})
        again = await answer_to(session, answer.body["id"])
        assert isinstance(again, FilesRestoredObservation)
        await until(session, "awaiting_user_input", after=again.cause)
        redone = [{**c, "source": "typed more"} if c["id"] == "new-cell" else c for c in after]
        assert tab.cells == redone
        assert cells_in(other) == written["cells"]
        assert (file.parent / "notes.txt").read_text() == "x"

        # What is only saved, or written by a command, while it is open may be the person's.
        model_server.play(call("execute_bash", command=f"echo >> {NAME}; echo > a"), DONE)
        id = session.send_message("Do something else")
        await until(session, "finished", after=id)
        await turn_end(session, after=id)
        preview = (await api("GET", f"sessions/{session.id}/undo")).body
        conflicts = {change["path"]: change["conflict"] for change in preview["changes"]}
        assert list(conflicts) == [NAME, "a"] and "has it open" in conflicts[NAME]
        assert not conflicts["a"] and not preview["notebooks"]

        model_server.play(DONE)
        id = session.send_message("What is there now?")
        await until(session, "finished", after=id)
    told = [m["content"] for m in model_server.requests[-1].body["messages"] if m["role"] == "user"]
    notes = [text for text in told if text.startswith("[")]
    assert "In analysis.ipynb: these cells are as before: " in notes[0]
    assert "since: clash-cell (clash)." in notes[0]
    assert "took back an undo" in notes[1]
    assert SECRET not in json.dumps(model_server.requests[-1].body)
    session_folder = kept.parent
    await services.sessions.delete(session.id)
    assert not session_folder.exists()


async def test_an_edit_of_which_nobody_knows_whether_it_was_made_is_undone_all_the_same(
    begin: Begin, services: Services, open_tab: OpenTab, file: Path, model_server: ModelServer
) -> None:
    services.notebooks.tabs.answers_within = 1.0
    model_server.play(READ, edit(PATCH, INSERT), DONE, READ, edit(PATCH), DONE)
    async with open_tab(PATH, USUAL) as tab:
        tab.mute = {"change"}
        session = await begin(mode="auto")
        await until(session, "finished")
        (error,) = events(session, ErrorObservation)
        assert isinstance(error, ErrorObservation) and error.code == "outcome_unknown"
        assert tab.sources()[:2] == ["x = 2\n", "y = x"]
        tab.mute = set()
        await undo(session)
        assert tab.cells == USUAL["cells"]

        # One that was kept and never made changes nothing.
        tab.silent = {"change"}
        id = session.send_message("Again")
        await until(session, "finished", after=id)
        tab.silent = set()
        tab.type_into("first-cell", "typed")
        typed = list(tab.cells)
        await undo(session)
        assert tab.cells == typed


async def test_notebooks_that_are_gone_broken_or_new_are_a_matter_of_files(
    begin: Begin, file: Path, model_server: ModelServer
) -> None:
    broken = file.parent / "broken.ipynb"
    write(broken, USUAL)
    cells = [{"type": "code", "source": "x = 1"}]
    model_server.play(
        READ,
        edit(PATCH),
        call("nb_read", path="broken.ipynb"),
        call("nb_edit", path="broken.ipynb", ops=[PATCH]),
        call("nb_create", path="new.ipynb", cells=cells),
        call("nb_create", path="taken.ipynb", cells=cells),
        call("execute_bash", command=f"rm {NAME}; echo '{{' > broken.ipynb"),
        DONE,
    )
    session = await begin(mode="auto")
    await until(session, "finished")
    await turn_end(session)
    taken = file.parent / "taken.ipynb"
    mine = saved(taken)
    mine["cells"].append(code("mine", "typed"))
    write(taken, mine)
    done = await undo(session)
    assert (saved(file), saved(broken)) == (USUAL, USUAL)
    assert not (file.parent / "new.ipynb").exists()
    assert [one.path for one in done.notebooks] == ["taken.ipynb"]
    assert cells_in(taken) == [code("mine", "typed")]


async def test_the_agent_takes_an_edit_of_its_own_back(
    begin: Begin, open_tab: OpenTab, file: Path, model_server: ModelServer
) -> None:
    replace = {"op": "replace", "id": "third-cell", "expect_rev": rev(THIRD), "source": "pass"}
    model_server.play(READ, edit(PATCH), edit(replace, INSERT), DONE)
    async with open_tab(PATH, USUAL) as tab:
        session = await begin(mode="auto")
        await until(session, "finished")
        first, second = events(session, NotebookEditObservation)
        assert isinstance(first, NotebookEditObservation)
        assert f"Undo token: {first.cause}." in first.content
        edited = list(tab.cells)
        again = {"op": "patch", "id": "third-cell", "old": "pass", "new": "1"}

        # One edit by its token, seen before it is done; what is back has to be read again.
        tab.type_into("second-cell", "typed")
        session.change_settings(mode="agent")
        undo_second = call("nb_undo", path=NAME, token=second.cause, why="Too short.")
        model_server.play(
            call("nb_undo", path=NAME, token=1),
            undo_second,
            edit({**again, "expect_rev": rev(THIRD), "old": "print"}),
            DONE,
        )
        id = session.send_message("Take the last one back")
        waiting = await until(session, "awaiting_user_confirmation", after=id)
        action = session.stream.read(after=(waiting.cause or 0) - 1, limit=1)[0]
        assert isinstance(action, NotebookUndoAction)
        assert (action.delivery, action.edits) == ("tab", [second.cause])
        fates = {cell.what for cell in action.cells}
        assert (fates, action.left) == ({"changed", "deleted"}, [])
        assert action.risk and action.risk.level == "medium"
        session.confirm(action.id, "approve")
        await until(session, "finished", after=action.id)
        assert [cell["id"] for cell in tab.cells] == [cell["id"] for cell in USUAL["cells"]]
        assert tab.cell("third-cell") == THIRD
        assert tab.cell("first-cell")["source"] == "x = 2\n"
        assert tab.cell("second-cell")["source"] == "typed"
        done = events(session, NotebookEditObservation)[-1]
        assert isinstance(done, NotebookEditObservation) and done.cause == action.id
        assert len(done.cells) == 2
        codes = [e.code for e in events(session, ErrorObservation)]  # type: ignore[attr-defined]
        assert codes == ["edit_not_found", "cells_changed"]

        # While the person decides, they type: what they approved is not what would be done.
        model_server.play(call("nb_undo", path=NAME, token=first.cause), DONE)
        id = session.send_message("And the first")
        waiting = await until(session, "awaiting_user_confirmation", after=id)
        typed = "x = 2\nz = 1\n"
        tab.type_into("first-cell", typed)
        assert waiting.cause is not None
        session.confirm(waiting.cause, "approve")
        await until(session, "finished", after=waiting.cause)
        assert tab.cell("first-cell")["source"] == typed
        error = events(session, ErrorObservation)[-1]
        assert isinstance(error, ErrorObservation) and error.code == "notebook_changed"

        await turn_end(session, after=error.id)

        # The person takes the agent's undo back, and what the agent may not take back is theirs.
        person = await undo(session)
        assert tab.cell("third-cell")["source"] == "pass"
        assert {c["id"] for c in tab.cells} == {c["id"] for c in edited}
        model_server.play(call("nb_undo", path=NAME, token=person.cause), DONE)
        id = session.send_message("Take that back")
        await until(session, "finished", after=id)
        error = events(session, ErrorObservation)[-1]
        assert isinstance(error, ErrorObservation) and error.code == "edit_not_found"
        assert tab.cell("third-cell")["source"] == "pass"

        # A rewind takes back all that was done since, the undos included.
        assert first.cause is not None
        answer = await answer_to(session, session.rewind(first.cause))
        assert isinstance(answer, FilesRestoredObservation)
        assert [(left.id, left.reason) for left in answer.notebooks[0].left] == [
            ("first-cell", "clash")
        ]
        assert [cell["id"] for cell in tab.cells] == [cell["id"] for cell in USUAL["cells"]]
        assert (tab.cell("first-cell")["source"], tab.cell("third-cell")) == (typed, THIRD)
        assert tab.cell("second-cell")["source"] == "typed"
