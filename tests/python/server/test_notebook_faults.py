"""What may go wrong with a notebook while the agent works on it, in each of the ways to it.

Beside these: `notebook_contract` says what holds below the agent's tools, in real browsers too.
"""

from __future__ import annotations

import json
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from model_server.script import call
from model_server.server import ModelServer
from notebook_contract import FIRST, FOURTH, THIRD, USUAL, code, notebook, rev
from notebook_places import DELIVERIES, Put, delivery, jp_server_config, put
from notebook_sessions import (
    DONE,
    NAME,
    PATH,
    READ,
    Begin,
    OpenTab,
    begin,
    home,
    open_tab,
    results,
    root,
)
from read_only import read_only
from session_tools import events, until
from waiting import wait_until

from openhands_jupyter.events import ErrorObservation, NotebookEditObservation
from openhands_jupyter.notebooks.addresses import with_ids
from openhands_jupyter.server.base import Services
from openhands_jupyter.session import Session

pytestmark = pytest.mark.sandbox

# The fixtures have to be here to be found.
__all__ = ["begin", "delivery", "home", "jp_server_config", "open_tab", "put", "root"]

DELETE = {"op": "delete", "id": "fourth-cell", "expect_rev": rev(FOURTH)}
SOURCES = [cell["source"] for cell in USUAL["cells"]]


def edit(*ops: dict[str, Any], path: str = NAME) -> Any:
    return call("nb_edit", path=path, ops=list(ops))


def patch(cell: dict[str, Any], old: str, new: str, now: str | None = None) -> dict[str, Any]:
    """A patch of a cell that the agent has read with this source."""
    return {"op": "patch", "id": cell["id"], "expect_rev": rev(cell, now), "old": old, "new": new}


def codes(session: Session) -> list[str]:
    return [e.code for e in events(session, ErrorObservation)]  # type: ignore[attr-defined]


async def sources(place: Any) -> list[str]:
    return [cell["source"] for cell in await place.cells()]


async def asked(session: Session, after: int = -1) -> int:
    waiting = await until(session, "awaiting_user_confirmation", after=after)
    assert waiting.cause is not None
    return waiting.cause


async def go_on(session: Session, text: str = "Go on") -> None:
    """Have a session do what the model is played next."""
    id = session.send_message(text)
    await until(session, "finished", after=id)


async def test_somebody_types_into_the_very_cell_while_it_is_edited(
    begin: Begin, put: Put, delivery: str, model_server: ModelServer
) -> None:
    typed = "x = 1\nz = 3\n"
    # To delete is asked for in a file too.
    model_server.play(
        READ,
        edit(patch(FIRST, "1", "2"), DELETE),
        edit(patch(FIRST, "1", "2")),
        READ,
        edit(patch(FIRST, "1", "2", typed)),
        DONE,
    )
    async with put(USUAL) as place:
        session = await begin()
        card = await asked(session)
        await place.type_into("first-cell", typed)
        session.change_settings(mode="auto")
        session.confirm(card, "approve")
        await until(session, "finished", after=card)
        found = await sources(place)
    _, first, second, _, made = results(model_server)
    assert codes(session) == ["cells_changed", "cells_changed"]
    for told in (first, second):
        assert "first-cell (now " + rev(FIRST, typed) in told
        assert "+z = 3" in told
    assert found == ["x = 2\nz = 3\n", *SOURCES[1:]]
    (done,) = events(session, NotebookEditObservation)
    assert isinstance(done, NotebookEditObservation) and done.delivery == delivery
    assert "first-cell: changed" in made


# A file has no tab that could die: it is what is left when one does.
@pytest.mark.parametrize("delivery", DELIVERIES[:2], indirect=True)
async def test_the_tab_dies_before_it_says_what_it_did(
    begin: Begin,
    put: Put,
    delivery: str,
    open_tab: OpenTab,
    services: Services,
    model_server: ModelServer,
) -> None:
    services.notebooks.tabs.returns_within = 0.2
    insert = edit({"op": "insert", "type": "code", "source": "y = x", "after": "first-cell"})
    model_server.play(READ, insert, insert, READ, edit(patch(THIRD, "3", "4")), DONE)
    async with put(USUAL) as place, AsyncExitStack() as stack:
        if delivery == "room":
            tab = await stack.enter_async_context(open_tab(PATH, USUAL))
        else:
            tab = place.tab
        tab.mute = {"change"}
        session = await begin()
        card = await asked(session)
        session.change_settings(mode="auto")
        session.confirm(card, "approve")
        await wait_until(lambda: "change" in tab.asked)
        # What it did was shared already, or is lost with it.
        if delivery == "room":
            await place.type_into("first-cell", "from the tab")
        await tab.die()
        await until(session, "finished", after=card)
        found = await sources(place) if delivery == "room" else []
    assert codes(session) == ["outcome_unknown", "notebook_not_read"]
    assert ("from the tab" in results(model_server)[3]) == (delivery == "room")
    (done,) = events(session, NotebookEditObservation)
    assert isinstance(done, NotebookEditObservation)
    assert done.delivery == ("room" if delivery == "room" else "disk")
    assert found in ([], ["from the tab", SOURCES[1], SOURCES[2].replace("3", "4"), SOURCES[3]])


async def test_two_sessions_edit_one_notebook(
    begin: Begin, put: Put, model_server: ModelServer
) -> None:
    model_server.play(READ, DONE)
    async with put(USUAL) as place:
        one = await begin(mode="auto")
        await until(one, "finished")
        insert = {"op": "insert", "type": "code", "source": "of the other", "after": "third-cell"}
        model_server.play(READ, edit(patch(FIRST, "1", "1  # of the other"), insert, DELETE), DONE)
        other = await begin(mode="auto")
        await until(other, "finished")
        theirs = "x = 1  # of the other\n"
        model_server.play(
            # Nothing of a list is done where one cell of it is another one's by now.
            edit(patch(FIRST, "x", "y"), patch(THIRD, "3", "4")),
            edit({"op": "replace", **{**DELETE, "op": "replace"}, "source": "mine"}),
            # What the other has left alone needs no new look.
            edit(patch(THIRD, "3", "4")),
            READ,
            edit(patch(FIRST, "x", "y", theirs)),
            DONE,
        )
        await go_on(one)
        found = await place.cells()
        told = results(model_server)
        # What the one takes back leaves the other's alone.
        id = one.undo()
        await until(one, "awaiting_user_input", "finished", after=id)
        undone = await sources(place)
    assert [cell["source"] for cell in found] == [
        "y = 1  # of the other\n",
        SOURCES[1],
        SOURCES[2].replace("3", "4"),
        "of the other",
    ]
    marks = [cell["metadata"].get("openhands", {}).get("session") for cell in found]
    assert marks == [one.id, None, one.id, other.id]
    _, _, stale, gone, *_ = told
    assert f"first-cell (now {rev(FIRST, theirs)})" in stale
    assert "third-cell" not in stale.split("\n")[0]
    assert "+x = 1  # of the other" in stale
    assert "gone: fourth-cell" in gone
    assert codes(one) == ["cells_changed", "cells_changed"]
    assert undone == [theirs, *SOURCES[1:3], "of the other"]


async def test_it_is_renamed_while_the_agent_works_on_it(
    begin: Begin, put: Put, delivery: str, model_server: ModelServer
) -> None:
    new = "renamed.ipynb"
    model_server.play(
        READ,
        edit(patch(FIRST, "1", "2"), DELETE),
        READ,
        call("nb_list"),
        # It was not read by this name.
        edit(patch(FIRST, "1", "2"), path=new),
        call("nb_read", path=new),
        edit(patch(FIRST, "1", "2"), path=new),
        DONE,
    )
    async with put(USUAL) as place:
        session = await begin()
        card = await asked(session)
        await place.move(f"work/{new}")
        session.change_settings(mode="auto")
        session.confirm(card, "approve")
        await until(session, "finished", after=card)
        found = await sources(place)
    listed = results(model_server)[3]
    assert codes(session) == ["notebook_not_found", "notebook_not_found", "cells_not_read"]
    assert new in listed and NAME not in listed
    assert found == ["x = 2\n", *SOURCES[1:]]
    (done,) = events(session, NotebookEditObservation)
    assert isinstance(done, NotebookEditObservation) and done.delivery == delivery


async def test_it_is_deleted_while_the_agent_works_on_it(
    begin: Begin, put: Put, root: Path, model_server: ModelServer
) -> None:
    model_server.play(READ, edit(patch(FIRST, "1", "2"), DELETE), DONE)
    async with put(USUAL) as place:
        session = await begin()
        card = await asked(session)
        await place.delete()
        session.confirm(card, "approve")
        await until(session, "finished", after=card)
    assert codes(session) == ["notebook_not_found"]
    # It is not made anew.
    assert not (root / PATH).exists()


async def test_its_file_is_written_by_something_else(
    begin: Begin, put: Put, delivery: str, root: Path, model_server: ModelServer
) -> None:
    theirs = "x = 1  # of another program\n"
    steps = [edit(patch(FIRST, "1", "2")), call("nb_save", path=NAME), DONE]
    model_server.play(READ, DONE)
    async with put(USUAL) as place:
        session = await begin(mode="auto")
        await until(session, "finished")
        await place.written("first-cell", theirs)
        model_server.play(*steps)
        await go_on(session)
        found = await sources(place)
    on_disk = "".join(json.loads((root / PATH).read_text())["cells"][0]["source"])
    assert on_disk == theirs
    if delivery == "tab":
        # Which of both stays is the person's to say.
        assert codes(session) == ["notebook_changed_on_disk"]
        assert found == ["x = 2\n", *SOURCES[1:]]
    else:
        assert codes(session) == ["cells_changed"]
        assert found == [theirs, *SOURCES[1:]]


async def test_its_file_is_no_notebook_any_more(
    begin: Begin, put: Put, delivery: str, root: Path, model_server: ModelServer
) -> None:
    broken = json.dumps(USUAL)[:300]
    model_server.play(READ, DONE)
    async with put(USUAL) as place:
        session = await begin(mode="auto")
        await until(session, "finished")
        await place.broken(broken)
        model_server.play(edit(patch(FIRST, "1", "2")), call("nb_save", path=NAME), READ, DONE)
        await go_on(session)
        found = await sources(place) if delivery != "disk" else SOURCES
    on_disk = (root / PATH).read_text()
    if delivery == "room":
        # It saves what people share, as it does when one of them types.
        assert (codes(session), found[0]) == ([], "x = 2\n")
        assert "".join(json.loads(on_disk)["cells"][0]["source"]) == "x = 2\n"
        return
    assert on_disk == broken
    if delivery == "tab":
        assert (codes(session), found[0]) == (["notebook_changed_on_disk"], "x = 2\n")
    else:
        assert codes(session) == ["not_a_notebook"] * 3


ODD = notebook(
    code("twin-cell-1", "a = 1"),
    code("twin-cell-2", "b = 2"),
    code("twice", "c = 3"),
    code("twice", "d = 4"),
)


@pytest.mark.filterwarnings("ignore::nbformat.warnings.DuplicateCellId")
async def test_ids_that_are_no_cells_or_several(
    begin: Begin, put: Put, model_server: ModelServer
) -> None:
    [*_, again] = with_ids(ODD["cells"])
    twice = {"op": "replace", "expect_rev": rev(again), "source": "d = 5"}
    model_server.play(
        READ,
        edit({**DELETE, "id": "twin-cell"}),
        edit({**DELETE, "id": "no-such-cell"}),
        call("nb_read", path=NAME, cells=["twin-cell", "no-such-cell"]),
        edit(twice | {"id": "twice"}),
        edit(twice | {"id": "@3"}),
        DONE,
    )
    async with put(ODD) as place:
        session = await begin(mode="auto")
        await until(session, "finished")
        found = await sources(place)
    _, several, none, _, first, _ = results(model_server)
    assert codes(session) == [
        "cell_ambiguous",
        "cell_not_found",
        "cell_ambiguous",
        "wrong_revision",
    ]
    assert "twin-cell-1, twin-cell-2" in several
    assert "The ids are: twin-cell-1, twin-cell-2, twice, " in none
    assert f"twice is at {rev(ODD['cells'][2])}" in first
    assert found == ["a = 1", "b = 2", "c = 3", "d = 5"]


async def test_a_source_of_a_megabyte(begin: Begin, put: Put, model_server: ModelServer) -> None:
    line = "x = 'a long line of code'\n"
    big = code("big-cell", line * 42_000 + "needle = 1\n", FIRST["outputs"][0])
    at_end = {"op": "move", "id": "big-cell", "after": "third-cell"}
    clear = {"op": "clear_outputs", "id": "big-cell", "expect_rev": rev(big)}
    new = line.upper() * 42_000
    insert = {"op": "insert", "type": "code", "source": new, "after": "big-cell"}
    model_server.play(
        READ,
        call("nb_search", path=NAME, pattern="needle"),
        edit(patch(big, "needle", "thread")),
        edit(at_end, clear),
        edit(insert).but(piece=200_000),
        # The call with so much in it does not stay in the history, which is condensed.
        final=DONE.saying("So far."),
    )
    async with put(notebook(big, THIRD)) as place:
        session = await begin(mode="auto")
        await until(session, "finished")
        found = await place.cells()
    told = results(model_server, 4)
    assert all(len(text) < 40_000 for text in told)
    read, searched, _, moved = told
    assert "first_line=" in read
    assert "big-cell:42001: needle = 1" in searched
    # Of so much, it has to read all before it may overwrite some, and it may not write so much.
    assert codes(session) == ["cells_not_read", "source_too_long"]
    assert [cell["source"] for cell in found] == [THIRD["source"], big["source"]]
    assert found[1]["outputs"] == []
    assert "after third-cell" in moved


async def test_what_is_read_only_stays_as_it_is(
    begin: Begin, put: Put, root: Path, model_server: ModelServer
) -> None:
    model_server.play(READ, edit(patch(FIRST, "1", "2")), call("nb_save", path=NAME), DONE)
    with read_only(root / "work", {NAME: json.dumps(USUAL)}):
        async with put(None) as place:
            session = await begin(mode="auto")
            await until(session, "finished")
            found = await sources(place)
    assert found == SOURCES
    assert set(codes(session)) == {"notebook_read_only"}


async def test_an_edit_makes_no_output_trusted_and_takes_no_trust(
    begin: Begin, put: Put, model_server: ModelServer
) -> None:
    delete = {"op": "delete", "id": "first-cell", "expect_rev": rev(FIRST)}
    model_server.play(READ, edit(patch(THIRD, "3", "4")), edit(delete), DONE)
    async with put(USUAL) as place:
        session = await begin(mode="auto")
        await until(session, "finished")
        id = session.undo()
        await until(session, "awaiting_user_input", "finished", after=id)
        found = await place.cells()
    assert [cell["source"] for cell in found] == SOURCES
    assert found[0]["outputs"] == FIRST["outputs"]
    assert not any(cell["metadata"].get("trusted") for cell in found)
