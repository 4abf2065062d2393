"""The agent's notebook tools: a real server, a scripted model over HTTP, notebooks open or not."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from model_server.script import call, together
from model_server.server import ModelServer
from notebook_contract import FIRST, THIRD, USUAL, code, notebook, rev
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
    results,
    root,
    saved,
    write,
)
from session_tools import SECRET, events, until
from waiting import PATIENCE, wait_until

from openhands_jupyter.events import (
    CellDecision,
    CellEdit,
    ErrorObservation,
    NotebookCreateAction,
    NotebookEditAction,
    NotebookEditObservation,
    NotebookObservation,
    NotebookReadAction,
)
from openhands_jupyter.events.masking import MASK
from openhands_jupyter.notebooks.revisions import notebook_rev
from openhands_jupyter.server.base import Services
from openhands_jupyter.session import Session

pytestmark = pytest.mark.sandbox

# The fixtures have to be here to be found.
__all__ = ["begin", "file", "home", "open_tab", "root"]


async def asked(session: Session, after: int = -1) -> NotebookEditAction:
    """The edit that waits for the person."""
    waiting = await until(session, "awaiting_user_confirmation", after=after)
    action = session.stream.read(after=(waiting.cause or 0) - 1, limit=1)[0]
    assert isinstance(action, NotebookEditAction)
    return action


def edit(*ops: dict[str, Any], **more: Any) -> Any:
    return call("nb_edit", path=NAME, ops=list(ops), **more)


PATCH = {"op": "patch", "id": "first", "expect_rev": rev(FIRST), "old": "1", "new": "2"}
INSERT = {"op": "insert", "type": "code", "source": "y = x", "after": "@0"}


async def test_the_person_decides_cell_by_cell_in_the_open_notebook(
    begin: Begin, open_tab: OpenTab, file: Path, model_server: ModelServer
) -> None:
    unsaved = {**THIRD, "source": "print('not saved')"}
    delete = {"op": "delete", "id": "third-cell", "expect_rev": rev(unsaved)}
    model_server.play(
        together(call("nb_list"), call("nb_outline", path=NAME), READ),
        edit(PATCH, INSERT, delete, why="To tidy up."),
        DONE,
    )
    async with open_tab(PATH, USUAL) as tab:
        tab.type_into("third-cell", "print('not saved')")
        session = await begin()
        action = await asked(session)
        assert (action.delivery, action.why) == ("tab", "To tidy up.")
        assert action.risk and action.risk.level == "high"
        assert action.risk.reasons[0] == "Deletes cells: third-cell"
        assert "Changes a notebook that you have open: analysis.ipynb" in action.risk.reasons
        first, new, gone = action.cells
        assert len({first.group, new.group, gone.group}) == 3
        assert (first.id, first.before, first.after) == ("first-cell", "x = 1\n", "x = 2\n")
        assert (new.what, new.before, new.after, new.position) == ("inserted", None, "y = x", 1)
        assert (gone.what, gone.before, gone.after) == ("deleted", "print('not saved')", None)
        assert "change" not in tab.asked

        session.confirm(
            action.id,
            "approve",
            cells=[
                CellDecision(id="third-cell", decision="reject"),
                CellDecision(id=new.id, decision="approve", source="y = x + 1"),
            ],
        )
        await until(session, "finished")
    assert tab.sources()[:2] == ["x = 2\n", "y = x + 1"]
    assert [cell["id"] for cell in tab.cells][1] == new.id
    assert tab.cell("third-cell") == unsaved
    for id in ("first-cell", new.id):
        mark = tab.cell(id)["metadata"]["openhands"]
        assert (mark["session"], mark["event"]) == (session.id, action.id)
        assert (mark["model"], mark["approver"]) == ("openai/scripted", "user")
    assert tab.cell("first-cell")["metadata"]["tags"] == ["a"]
    assert tab.cell("first-cell")["outputs"] == FIRST["outputs"]
    assert "openhands" not in tab.cell("second-cell")["metadata"]
    (done,) = events(session, NotebookEditObservation)
    assert isinstance(done, NotebookEditObservation)
    assert (done.cause, done.delivery, done.rejected) == (action.id, "tab", ["third-cell"])
    assert done.nb_rev == notebook_rev(tab.cells)
    assert [(cell.id, cell.after) for cell in done.cells] == [
        ("first-cell", "x = 2\n"),
        (new.id, "y = x + 1"),
    ]
    listed, outlined, read, told = results(model_server)
    assert "analysis.ipynb: open in front of the person, with unsaved changes" in listed
    assert "the person is in cell third-cell" in listed
    assert "@2 third-cell code" in outlined
    assert "Überschrift" in outlined
    assert "print('not saved')" in read
    assert rev(FIRST) in read
    assert "-x = 1" in told
    assert "+x = 2" in told
    assert f"rev {rev(FIRST, 'x = 2' + chr(10))}" in told
    assert "The person rejected these cells, which stay as they were: third-cell." in told
    assert "y = x + 1" in told
    assert saved(file) == USUAL


async def test_what_the_person_types_while_the_card_waits_is_kept(
    begin: Begin, open_tab: OpenTab, file: Path, model_server: ModelServer
) -> None:
    model_server.play(READ, edit(PATCH, INSERT), DONE)
    async with open_tab(PATH, USUAL) as tab:
        session = await begin()
        action = await asked(session)
        tab.type_into("first-cell", "x = 1\nz = 3\n")
        session.confirm(action.id, "approve")
        await until(session, "finished")
    assert tab.sources() == ["x = 1\nz = 3\n", *(cell["source"] for cell in USUAL["cells"][1:])]
    (error,) = events(session, ErrorObservation)
    assert isinstance(error, ErrorObservation)
    assert (error.cause, error.code) == (action.id, "cells_changed")
    told = results(model_server)[-1]
    assert "+z = 3" in told
    assert "<output>" in told


async def test_what_the_person_types_at_the_last_moment_is_kept(
    begin: Begin, open_tab: OpenTab, file: Path, model_server: ModelServer
) -> None:
    model_server.play(READ, edit(PATCH, INSERT), DONE)
    async with open_tab(PATH, USUAL) as tab:
        tab.typed_last = ("first-cell", "x = 1\nz = 3\n")
        session = await begin(mode="auto")
        await until(session, "finished")
    assert tab.sources() == ["x = 1\nz = 3\n", *(cell["source"] for cell in USUAL["cells"][1:])]
    told = results(model_server)[-1]
    assert "cells_changed" in told
    assert "Your edit and this one fit together as" in told or "same lines" in told


async def test_a_tab_that_goes_away_leaves_the_outcome_open(
    begin: Begin, services: Services, open_tab: OpenTab, file: Path, model_server: ModelServer
) -> None:
    services.notebooks.tabs.returns_within = 0.2
    model_server.play(READ, edit(PATCH), edit(PATCH), DONE)
    async with open_tab(PATH, USUAL) as tab:
        session = await begin()
        action = await asked(session)
        tab.silent = {"change"}
        session.confirm(action.id, "approve")
        await wait_until(lambda: "unanswered" in tab.asked)
    await until(session, "finished")
    # Nobody knows what is in the cells now, so it has to be read again.
    codes = [e.code for e in events(session, ErrorObservation)]  # type: ignore[attr-defined]
    assert codes == ["outcome_unknown", "notebook_not_read"]
    assert saved(file) == USUAL


async def test_what_was_made_and_not_acknowledged_is_not_made_again(
    begin: Begin, services: Services, open_tab: OpenTab, file: Path, model_server: ModelServer
) -> None:
    services.notebooks.tabs.returns_within = 0.2
    insert = edit({**INSERT, "after": "first-cell"})
    model_server.play(READ, insert, DONE)
    async with open_tab(PATH, USUAL) as tab:
        session = await begin()
        action = await asked(session)
        tab.mute = {"change"}
        session.confirm(action.id, "approve")
        await wait_until(lambda: "change" in tab.asked)
    await until(session, "finished")
    # The tab is back, with the cell that nobody has heard of, also after a restart.
    await services.sessions.close()
    async with open_tab(PATH, {**USUAL, "cells": tab.cells}) as tab:
        session = await services.sessions.open(session.id)
        session.change_settings(mode="auto")
        model_server.play(insert, call("nb_outline", path=NAME), insert, DONE)
        id = session.send_message("Once more")
        await until(session, "finished", after=id)
    codes = [e.code for e in events(session, ErrorObservation)]  # type: ignore[attr-defined]
    assert codes == ["outcome_unknown", "notebook_not_read"]
    outlined = results(model_server)[-2]
    assert outlined.count("y = x") == 1
    # It has seen now that the cell is there: to insert another one is its own wish.
    assert tab.sources()[:3] == ["x = 1\n", "y = x", "y = x"]


async def test_of_two_browsers_the_one_in_front_is_edited_else_the_one_opened_last(
    begin: Begin, open_tab: OpenTab, file: Path, model_server: ModelServer
) -> None:
    def tab(name: str, visible: bool) -> Any:
        return open_tab(PATH, USUAL, name=f"browser-{name}", visible=visible)

    model_server.play(READ, edit(PATCH), DONE)
    async with tab("one", True) as front, tab("two", False) as behind:
        session = await begin(mode="auto")
        await until(session, "finished")
    assert (front.sources()[0], behind.sources()[0]) == ("x = 2\n", "x = 1\n")
    assert behind.asked == []

    # Neither is on the screen; what was read in one is not overwritten in another.
    model_server.play(call("nb_list"), READ, DONE)
    async with tab("one", False) as first:
        session = await begin(mode="auto")
        await until(session, "finished")
        assert "analysis.ipynb: open, with unsaved changes" in results(model_server)[0]
        async with tab("two", False) as second:
            second.type_into("first-cell", "x = 10\n")
            model_server.play(
                edit(PATCH), READ, edit({**PATCH, "expect_rev": rev(FIRST, "x = 10\n")}), DONE
            )
            id = session.send_message("Go on")
            await until(session, "finished", after=id)
    assert (first.sources()[0], second.sources()[0]) == ("x = 1\n", "x = 20\n")
    assert [e.code for e in events(session, ErrorObservation)] == ["cells_changed"]  # type: ignore[attr-defined]
    assert saved(file) == USUAL


async def test_other_cells_may_change_while_the_card_waits(
    begin: Begin, open_tab: OpenTab, file: Path, model_server: ModelServer
) -> None:
    model_server.play(READ, edit(PATCH, {**INSERT, "after": "@2"}), DONE)
    async with open_tab(PATH, USUAL) as tab:
        session = await begin()
        action = await asked(session)
        # What was @2 for the model is at another place by now.
        tab.cells.insert(0, code("typed-cell", "typed"))
        session.confirm(action.id, "approve")
        await until(session, "finished")
    assert [cell["id"] for cell in tab.cells][:4] == [
        "typed-cell",
        "first-cell",
        "second-cell",
        "third-cell",
    ]
    assert tab.cells[4]["source"] == "y = x"
    assert tab.sources()[1] == "x = 2\n"


async def test_rejecting_all_cells_changes_nothing(
    api: Any, begin: Begin, open_tab: OpenTab, file: Path, model_server: ModelServer
) -> None:
    model_server.play(READ, edit(PATCH), DONE)
    async with open_tab(PATH, USUAL) as tab:
        session = await begin()
        action = await asked(session)
        route = f"sessions/{session.id}/confirmations/{action.id}"
        unknown = {"decision": "approve", "cells": [{"id": "other", "decision": "reject"}]}
        refused = await api("POST", route, unknown)
        assert (refused.status, refused.body["code"]) == (422, "not_a_cell_of_the_edit")
        rejected = {"decision": "approve", "cells": [{"id": "first-cell", "decision": "reject"}]}
        assert [(await api("POST", route, rejected)).status for _ in range(2)] == [201, 200]
        assert (await api("POST", route, {"decision": "approve"})).status == 409
        await until(session, "finished")
    assert "change" not in tab.asked
    assert tab.cells == USUAL["cells"]
    assert "rejected every cell" in results(model_server)[-1]


@pytest.mark.parametrize(
    ("ops", "code", "told"),
    [
        ([PATCH], "cells_not_read", "first-cell"),
        ([{"op": "delete", "id": "nowhere", "expect_rev": "0"}], "cell_not_found", "second-cell"),
        ([], "no_operations", "empty"),
    ],
    ids=["never read", "unknown id", "nothing"],
)
async def test_what_cannot_be_done_is_told_without_asking(
    begin: Begin,
    open_tab: OpenTab,
    file: Path,
    model_server: ModelServer,
    ops: list[dict[str, Any]],
    code: str,
    told: str,
) -> None:
    model_server.play(call("nb_outline", path=NAME), edit(*ops), DONE)
    async with open_tab(PATH, USUAL) as tab:
        session = await begin()
        state = await until(session, "finished", "awaiting_user_confirmation")
    assert state.state == "finished"
    assert "change" not in tab.asked
    (error,) = events(session, ErrorObservation)
    assert isinstance(error, ErrorObservation)
    assert error.code == code
    assert told in results(model_server)[-1]


async def test_ask_mode_asks_for_the_open_notebook_and_refuses_a_closed_one(
    begin: Begin, open_tab: OpenTab, file: Path, model_server: ModelServer
) -> None:
    model_server.play(READ, edit(PATCH), READ, edit(PATCH), DONE)
    async with open_tab(PATH, USUAL):
        session = await begin(mode="ask")
        action = await asked(session)
        session.confirm(action.id, "reject", "Not now")
        await until(session, "awaiting_user_confirmation", "finished", after=action.id + 2)
    write(file.parent / "other.ipynb", USUAL)
    model_server.play(
        call("nb_read", path="other.ipynb"),
        call("nb_edit", path="other.ipynb", ops=[PATCH]),
        DONE,
    )
    other = await begin(mode="ask")
    await until(other, "finished")
    (error,) = events(other, ErrorObservation)
    assert isinstance(error, ErrorObservation)
    assert error.code == "refused"
    assert saved(file.parent / "other.ipynb") == USUAL


async def test_what_was_approved_for_an_open_notebook_is_not_written_to_its_file(
    begin: Begin, services: Services, open_tab: OpenTab, file: Path, model_server: ModelServer
) -> None:
    model_server.play(READ, edit(PATCH), DONE)
    async with open_tab(PATH, USUAL):
        session = await begin(mode="ask")
        action = await asked(session)
    await wait_until(lambda: not services.notebooks.tabs.notebooks())
    session.confirm(action.id, "approve")
    await until(session, "finished")
    (error,) = events(session, ErrorObservation)
    assert isinstance(error, ErrorObservation)
    assert error.code == "notebook_opened_or_closed"
    assert saved(file) == USUAL


async def test_what_may_be_done_to_a_file_is_not_done_in_a_notebook_opened_since(
    begin: Begin, open_tab: OpenTab, file: Path, model_server: ModelServer
) -> None:
    delete = {"op": "delete", "id": "first-cell", "expect_rev": rev(FIRST)}
    model_server.play(READ, edit(delete), DONE)
    session = await begin()
    action = await asked(session)
    async with open_tab(PATH, USUAL) as tab:
        session.confirm(action.id, "approve")
        await until(session, "finished")
    (error,) = events(session, ErrorObservation)
    assert isinstance(error, ErrorObservation)
    assert error.code == "notebook_opened_or_closed"
    assert "change" not in tab.asked
    assert saved(file) == USUAL


async def test_an_edit_that_fails_tells_nothing_of_what_may_not_be_read(
    begin: Begin, open_tab: OpenTab, root: Path, model_server: ModelServer
) -> None:
    (root / "private.ipynb").write_text(json.dumps(USUAL))
    tag = {"op": "tag", "id": "third-cell", "expect_rev": "wrong", "add": ["a"]}
    clear = {"op": "clear_outputs", "id": "third-cell", "expect_rev": "wrong"}
    private = "../private.ipynb"
    model_server.play(
        *(call("nb_edit", path=private, ops=[op]) for op in (tag, clear)),
        call("nb_read", path=private, cells=["third-cell"]),
        call("nb_edit", path=private, ops=[tag]),
        DONE,
    )
    async with open_tab("private.ipynb", USUAL) as tab:
        session = await begin(mode="ask")
        waiting = await until(session, "awaiting_user_confirmation", "finished")
        assert "print(i)" not in json.dumps(model_server.requests[-1].body)
        # Also when it was allowed to read the cell once.
        tab.type_into("third-cell", "print('typed since')")
        session.confirm(waiting.cause, "approve")
        await until(session, "finished")
    assert "typed since" in results(model_server)[2]
    assert all("print(" not in results(model_server)[n] for n in (0, 1, 3))


async def test_a_closed_notebook_is_changed_like_a_file_and_undone(
    begin: Begin, file: Path, model_server: ModelServer
) -> None:
    model_server.play(READ, edit(PATCH, INSERT), edit(_second_patch()), DONE)
    session = await begin()
    finished = await until(session, "finished", "awaiting_user_confirmation")
    assert finished.state == "finished"
    cells = saved(file)["cells"]
    # The second edit needs no new look at what the first one wrote.
    assert "".join(cells[0]["source"]) == "x = 3\n"
    assert cells[0]["metadata"]["openhands"]["approver"] == "nobody"
    assert "".join(cells[1]["source"]) == "y = x"
    first, _ = events(session, NotebookEditObservation)
    assert isinstance(first, NotebookEditObservation)
    assert first.delivery == "disk"
    assert "Stale now" not in first.content
    id = session.undo()
    await until(session, "awaiting_user_input", after=id)
    assert saved(file) == USUAL


def _second_patch() -> dict[str, Any]:
    return {
        "op": "patch",
        "id": "first-cell",
        "expect_rev": rev(FIRST, "x = 2\n"),
        "old": "x = 2",
        "new": "x = 3",
    }


async def test_what_an_edit_makes_stale_is_told(
    begin: Begin, file: Path, model_server: ModelServer
) -> None:
    uses = code("uses-it", "print(x)", execution_count=4)
    write(file, notebook(FIRST, uses))
    model_server.play(READ, edit(PATCH), DONE)
    session = await begin()
    await until(session, "finished")
    assert "Stale now, because they use what was changed: uses-it (x)." in results(model_server)[-1]


async def test_auto_mode_changes_the_open_notebook_unasked(
    begin: Begin, open_tab: OpenTab, file: Path, model_server: ModelServer
) -> None:
    model_server.play(READ, edit(PATCH), call("nb_save", path=NAME), DONE)
    async with open_tab(PATH, USUAL) as tab:
        session = await begin(mode="auto")
        await until(session, "finished")
    assert tab.sources()[0] == "x = 2\n"
    assert tab.cell("first-cell")["metadata"]["openhands"]["approver"] == "nobody"
    assert "save" in tab.asked
    assert results(model_server)[-1] == f"Saved {NAME}."


async def test_secrets_are_masked_and_cannot_be_overwritten_by_their_mask(
    begin: Begin, file: Path, model_server: ModelServer
) -> None:
    cell = code("key-cell", f"key = '{SECRET}'\nprint(1)")
    write(file, notebook(cell))
    replace = {"op": "replace", "id": "key-cell", "expect_rev": rev(cell)}
    patch = {"op": "patch", "id": "key-cell", "expect_rev": rev(cell), "old": "1", "new": "2"}
    model_server.play(
        READ,
        edit({**replace, "source": f"key = '{MASK}'\nprint(2)"}),
        edit({**patch, "old": "print(1)", "new": "print(2)"}),
        DONE,
    )
    session = await begin()
    await until(session, "finished")
    assert "".join(saved(file)["cells"][0]["source"]).split("\n") == [
        f"key = '{SECRET}'",
        "print(2)",
    ]
    assert json.dumps(model_server.requests[-1].body).count(SECRET) == 0
    assert [e.code for e in events(session, ErrorObservation)] == ["masked_text"]  # type: ignore[attr-defined]


async def test_links_and_other_folders_are_no_way_out_of_the_workspace(
    begin: Begin, open_tab: OpenTab, root: Path, tmp_path: Path, model_server: ModelServer
) -> None:
    outside, private = tmp_path / "outside.ipynb", root / "private.ipynb"
    for path in (outside, private):
        path.write_text(json.dumps(USUAL))
    (root / "work" / "link.ipynb").symlink_to(outside)
    (root / "work" / "inner.ipynb").symlink_to(private)
    (root / "work" / ".vscode").mkdir()
    paths = (
        "link.ipynb",
        "inner.ipynb",
        "../private.ipynb",
        str(outside),
        "../../outside.ipynb",
        ".vscode/a.ipynb",
    )
    model_server.play(*(call("nb_read", path=path) for path in paths), DONE)
    session = await begin()
    await until(session, "finished")
    assert [e.code for e in events(session, ErrorObservation)] == [  # type: ignore[attr-defined]
        "notebook_out_of_reach"
    ] * len(paths)
    assert "print(i)" not in json.dumps(model_server.requests[-1].body)

    # What the person has open may be read there, when they say so; also in Auto mode.
    model_server.play(call("nb_read", path="../private.ipynb"), DONE)
    async with open_tab("private.ipynb", USUAL):
        session = await begin(mode="auto")
        waiting = await until(session, "awaiting_user_confirmation", "finished")
        (action,) = events(session, NotebookReadAction)
        assert waiting.cause == action.id
        assert isinstance(action, NotebookReadAction)
        assert action.risk and action.risk.reasons == [
            "Reads outside the workspace: ../private.ipynb"
        ]
        session.confirm(action.id, "approve")
        await until(session, "finished")
    assert "print(i)" in results(model_server)[-1]


async def test_what_was_read_is_known_after_a_restart(
    begin: Begin, services: Services, file: Path, model_server: ModelServer
) -> None:
    model_server.play(READ, DONE)
    session = await begin()
    await until(session, "finished")
    await services.sessions.close()
    again = await services.sessions.open(session.id)
    model_server.play(edit(PATCH), DONE)
    id = again.send_message("Now change it")
    await until(again, "finished", after=id)
    assert "".join(saved(file)["cells"][0]["source"]) == "x = 2\n"


async def test_a_long_cell_counts_as_read_when_its_last_page_was_shown(
    begin: Begin, file: Path, model_server: ModelServer
) -> None:
    long = code("long-cell", "\n".join(f"x{n} = {n}" for n in range(1200)) + "\n# end")
    write(file, notebook(long))
    patch = {
        "op": "patch",
        "id": "long-cell",
        "expect_rev": rev(long),
        "old": "# end",
        "new": "# END",
    }
    model_server.play(READ, edit(patch), DONE)
    session = await begin()
    await until(session, "finished")
    first = events(session, NotebookObservation)[0]
    assert isinstance(first, NotebookObservation)
    next_line = int(first.content.split("first_line=")[1].split("]")[0])
    pages = [call("nb_read", path=NAME, first_line=next_line)]
    model_server.play(*pages, edit(patch), DONE)
    id = session.send_message("Read on")
    await until(session, "finished", after=id)
    told = [e.code for e in events(session, ErrorObservation)]  # type: ignore[attr-defined]
    assert told == ["cells_not_read"]
    assert "# END" in "".join(saved(file)["cells"][0]["source"])


async def test_searching_and_reading_on(
    begin: Begin, file: Path, model_server: ModelServer
) -> None:
    lines = "".join(f"line {n}\n" for n in range(3000))
    output = {"output_type": "stream", "name": "stdout", "text": lines}
    write(file, notebook(code("long-cell", "show()", output)))
    model_server.play(
        call("nb_read", path=NAME, outputs="full"),
        call("read_output", path=NAME, handle="out:long-cell/0", first_line=2000, lines=2),
        call("read_output", path=NAME, handle="out:long-cell/0", grep="line 2999"),
        call("nb_search", path=NAME, pattern="sho.", regex=True),
        call("read_output", path=NAME, handle="out:long-cell/1"),
        DONE,
    )
    session = await begin()
    await until(session, "finished")
    read, page, found, searched, missing = results(model_server)
    assert "read_output out:long-cell/0" in read
    assert page.split("\n")[2:4] == ["  2000\tline 1999", "  2001\tline 2000"]
    assert "out:long-cell/0:3000: line 2999" in found
    assert "long-cell:1: show()" in searched
    assert "output_not_found" in missing


async def test_a_notebook_is_made_once(
    begin: Begin, open_tab: OpenTab, root: Path, model_server: ModelServer
) -> None:
    cells = [{"type": "markdown", "source": "# New"}, {"type": "code", "source": "x = 1"}]
    make = call("nb_create", path="new.ipynb", cells=cells, open=True)
    model_server.play(make, make, call("nb_create", path="../new.ipynb"), DONE)
    async with open_tab(PATH, USUAL) as tab:
        session = await begin()
        await until(session, "finished")
    # What was not made is not opened.
    assert tab.asked == ["open"]
    assert "It is open in the person's JupyterLab, behind" in results(model_server)[0]
    (action, *_) = events(session, NotebookCreateAction)
    assert action.risk is not None
    assert any(reason.startswith("Opens it in your JupyterLab") for reason in action.risk.reasons)
    made = saved(root / "work" / "new.ipynb")
    assert ["".join(cell["source"]) for cell in made["cells"]] == ["# New", "x = 1"]
    assert made["metadata"]["kernelspec"]["name"] == "python3"
    assert made["cells"][0]["metadata"]["openhands"]["session"] == session.id
    assert [e.code for e in events(session, ErrorObservation)] == [  # type: ignore[attr-defined]
        "notebook_exists",
        "notebook_out_of_reach",
    ]
    (done,) = events(session, NotebookEditObservation)
    assert isinstance(done, NotebookEditObservation)
    assert [type(cell) for cell in done.cells] == [CellEdit, CellEdit]
    assert not (root / "new.ipynb").exists()


async def test_stopping_while_a_tab_does_not_answer(
    begin: Begin, open_tab: OpenTab, file: Path, model_server: ModelServer
) -> None:
    model_server.play(READ, edit(PATCH), DONE)
    async with open_tab(PATH, USUAL) as tab:
        session = await begin()
        action = await asked(session)
        tab.silent = {"read", "change"}
        session.confirm(action.id, "approve")
        async with asyncio.timeout(PATIENCE):
            await wait_until(lambda: "unanswered" in tab.asked)
        session.command("stop")
        await until(session, "stopped", after=action.id)
    (error,) = events(session, ErrorObservation)
    assert isinstance(error, ErrorObservation)
    assert (error.cause, error.code) == (action.id, "stopped")


async def test_outputs_that_came_after_the_question_are_not_removed(
    begin: Begin, open_tab: OpenTab, model_server: ModelServer
) -> None:
    clear = {"op": "clear_outputs", "id": "first", "expect_rev": rev(FIRST)}
    split = {"op": "split", "id": "third-cell", "expect_rev": rev(THIRD), "lines": [2]}
    model_server.play(
        call("nb_read", path=NAME, cells=["third"]), edit(clear, split), edit(clear), DONE
    )
    async with open_tab(PATH, USUAL) as tab:
        session = await begin()
        action = await asked(session)
        newer = {"output_type": "stream", "name": "stdout", "text": "just now\n"}
        tab.put_out("first-cell", newer)
        confirmed, _ = session.confirm(action.id, "approve")
        again = await asked(session, after=confirmed)
        assert tab.cell("first-cell")["outputs"] == [newer]
        assert tab.sources() == [cell["source"] for cell in USUAL["cells"]]
        # The person runs nothing meanwhile.
        session.confirm(again.id, "approve")
        await until(session, "finished")
        assert tab.cell("first-cell")["outputs"] == []
    _, refused, made = results(model_server)
    assert "run since you asked for this, with new outputs: first-cell" in refused
    assert "first-cell: changed" in made
    # Of no other cell the browser had to send what is in it.
    assert None not in tab.whole
    assert {id for whole in tab.whole for id in whole or ()} <= {
        *("first", "first-cell", "third", "third-cell")
    }
