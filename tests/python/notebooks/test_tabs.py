"""Browser tabs as a real server sees them; the tabs are clients that behave, or do not."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from notebook_contract import FIRST, USUAL, rev
from tornado.httpclient import HTTPRequest
from tornado.websocket import WebSocketClientConnection, websocket_connect
from waiting import PATIENCE, wait_until

from openhands_jupyter.errors import Conflict, OpenHandsError
from openhands_jupyter.notebooks.changes import Applied, Change, Mismatch, SetCell
from openhands_jupyter.notebooks.delivery.document import OutcomeUnknown
from openhands_jupyter.notebooks.delivery.notebooks import Notebooks
from openhands_jupyter.notebooks.revisions import notebook_rev

PATH = "notebook.ipynb"
CHANGE = Change(steps=[SetCell(id="first-cell", rev=rev(FIRST), source="changed")])
APPLIED = {"type": "applied", "nb_rev": "0" * 8, "revs": {"first-cell": "1" * 8}}


@pytest.fixture
def jp_server_config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The extension alone."""
    monkeypatch.setenv("OPENHANDS_HOME", str(tmp_path / "openhands-home"))
    return {
        "ServerApp": {
            "jpserver_extensions": {"openhands_jupyter": True, "jupyter_server_terminals": False},
            "allow_unauthenticated_access": False,
        },
        "OpenHandsExtension": {"prewarm": 0},
    }


@pytest.fixture
def notebooks(jp_serverapp: Any) -> Notebooks:
    """The server's notebooks; one of them is in a file."""
    Path(jp_serverapp.root_dir, PATH).write_text(json.dumps(USUAL))
    found: Notebooks = jp_serverapp.web_app.settings["openhands"].notebooks
    return found


class Client:
    """A browser tab that is the test itself."""

    def __init__(self, connection: WebSocketClientConnection) -> None:
        self.connection = connection

    def send(self, **frame: Any) -> None:
        self.connection.write_message(json.dumps(frame))

    def announce(self, *paths: str, **state: Any) -> None:
        self.send(type="notebooks", notebooks=[{"path": path, **state} for path in paths])

    async def request(self) -> dict[str, Any]:
        message = await asyncio.wait_for(self.connection.read_message(), PATIENCE)
        assert message is not None
        found: dict[str, Any] = json.loads(message)
        return found

    async def pinged(self) -> None:
        """Wait until what was sent has been received: the answer to a ping comes after it."""
        pong = asyncio.get_running_loop().create_future()
        assert self.connection.protocol
        self.connection.on_pong = pong.set_result  # type: ignore[method-assign]
        self.connection.ping(b"here")
        await asyncio.wait_for(pong, PATIENCE)

    async def closed(self) -> int | None:
        while await asyncio.wait_for(self.connection.read_message(), PATIENCE) is not None:
            pass
        return self.connection.close_code


Connect = Callable[..., Awaitable[Client]]


@pytest.fixture
def connect(
    http_server: Any, jp_http_port: int, jp_base_url: str, jp_auth_header: dict[str, str]
) -> Iterator[Connect]:
    """Connects as the tab with this id: ``await connect("tab-1234")``."""
    opened = []

    async def connect(id: str) -> Client:
        address = f"ws://localhost:{jp_http_port}{jp_base_url}openhands/api/tabs?tab={id}"
        opened.append(await websocket_connect(HTTPRequest(address, headers=jp_auth_header)))
        return Client(opened[-1])

    yield connect
    for connection in opened:
        connection.close()


async def opened(connect: Connect, notebooks: Notebooks, id: str = "tab-1234") -> Client:
    client = await connect(id)
    client.announce(PATH)
    await wait_until(lambda: notebooks.tabs.notebooks())
    return client


async def test_a_tab_with_the_notebook_comes_before_its_file(
    connect: Connect, notebooks: Notebooks
) -> None:
    assert (await notebooks.open(PATH)).delivery == "disk"
    client = await opened(connect, notebooks)
    document = await notebooks.open(f"/{PATH}")
    assert (document.delivery, document.path) == ("tab", PATH)
    changing = asyncio.create_task(document.change(CHANGE))
    request = await client.request()
    assert (request["type"], request["method"]) == ("request", "change")
    assert request["params"]["path"] == PATH
    [step] = request["params"]["change"]["steps"]
    assert step == {
        "type": "set",
        "id": "first-cell",
        "rev": rev(FIRST),
        "source": "changed",
        "cell_type": None,
        "metadata": None,
        "outputs": None,
        "outputs_rev": None,
    }
    client.send(type="answer", id=request["id"], result=APPLIED)
    assert await changing == Applied(nb_rev="0" * 8, revs={"first-cell": "1" * 8})
    client.announce()
    await wait_until(lambda: not notebooks.tabs.notebooks())
    assert (await notebooks.open(PATH)).delivery == "disk"


async def test_a_mismatch_and_refusals_are_told(connect: Connect, notebooks: Notebooks) -> None:
    client = await opened(connect, notebooks)
    document = await notebooks.open(PATH)

    async def answered(**answer: Any) -> Any:
        changing = asyncio.create_task(document.change(CHANGE))
        client.send(type="answer", id=(await client.request())["id"], **answer)
        return await changing

    mismatch = {"type": "mismatch", "cells": [], "nb_rev": "2" * 8}
    assert await answered(result=mismatch) == Mismatch(cells=[], nb_rev="2" * 8)
    for code, told in {
        "not_open": "notebook_closed",
        "read_only": "notebook_read_only",
        "changed_on_disk": "notebook_changed_on_disk",
        "not_saved": "notebook_not_saved",
        "failed": "tab_failed",
    }.items():
        with pytest.raises(OpenHandsError) as caught:
            await answered(error={"code": code, "message": "because"})
        assert caught.value.code == told


async def test_the_tab_on_the_screen_is_asked_then_the_newest(
    connect: Connect, notebooks: Notebooks
) -> None:
    tabs = [await connect(f"tab-{number}-abcd") for number in (1, 2)]

    async def expect_asked(asked: Client) -> None:
        changing = asyncio.create_task((await notebooks.open(PATH)).change(CHANGE))
        asked.send(type="answer", id=(await asked.request())["id"], result=APPLIED)
        await changing
        assert len(notebooks.open_in_browser()) == 1

    for tab in tabs:
        tab.announce(PATH, visible=True, dirty=True)
        await wait_until(lambda: notebooks.tabs.notebooks())
    await tabs[1].pinged()
    await expect_asked(tabs[1])
    tabs[1].announce(PATH, visible=False)
    await tabs[1].pinged()
    await expect_asked(tabs[0])
    tabs[0].announce(PATH, visible=False)
    await tabs[0].pinged()
    await expect_asked(tabs[1])
    tabs[1].announce()
    await tabs[1].pinged()
    await expect_asked(tabs[0])


async def test_a_large_notebook_comes_in_parts(connect: Connect, notebooks: Notebooks) -> None:
    client = await opened(connect, notebooks)
    reading = asyncio.create_task((await notebooks.open(PATH)).read())
    request = await client.request()
    output = {"output_type": "stream", "name": "stdout", "text": "x" * 12_000_000}
    cells = [{**FIRST, "outputs": [output]}]
    text = json.dumps({**USUAL, "cells": cells, "state": {"path": PATH, "dirty": True}})
    for start in range(0, len(text), 4_000_000):
        part = text[start : start + 4_000_000]
        client.send(type="part", id=request["id"], text=part)
    client.send(type="answer", id=request["id"])
    found = await reading
    assert found.cells == cells
    assert found.state.dirty


async def test_a_tab_sends_only_what_is_another_since_it_was_read_last(
    connect: Connect, notebooks: Notebooks
) -> None:
    client = await opened(connect, notebooks)
    cells = USUAL["cells"]

    async def read(known: str | None, **answer: Any) -> list[str]:
        reading = asyncio.create_task((await notebooks.open(PATH)).read(["first-cell"]))
        request = await client.request()
        assert request["params"]["known"] == known
        client.send(
            type="answer", id=request["id"], result={**USUAL, "state": {"path": PATH}, **answer}
        )
        found = await reading
        assert found.nb_rev == notebook_rev(found.cells)
        return [cell["source"] for cell in found.cells]

    sources = [cell["source"] for cell in cells]
    assert await read(None, version="a:1") == sources
    other = {**cells[2], "source": "other"}
    sources[2] = "other"
    assert await read("a:1", version="a:2", since="a:1", cells=[cells[0], other]) == sources
    order = ["third-cell", "first-cell"]
    found = await read("a:2", version="a:3", since="a:2", cells=[cells[0]], order=order)
    assert found == ["other", cells[0]["source"]]
    # A page that was loaded anew knows of nothing, and what it cannot tell is not kept.
    assert await read("a:3") == [cell["source"] for cell in cells]
    assert await read(None, version="b:1") == [cell["source"] for cell in cells]
    client.announce()
    client.announce(PATH)
    await client.pinged()
    assert await read(None, version="b:2") == [cell["source"] for cell in cells]


async def test_a_request_is_sent_again_to_a_tab_that_comes_back(
    connect: Connect, notebooks: Notebooks
) -> None:
    client = await opened(connect, notebooks)
    changing = asyncio.create_task((await notebooks.open(PATH)).change(CHANGE))
    request = await client.request()
    client.connection.close()
    again = await connect("tab-1234")
    assert await again.request() == request
    again.send(type="answer", id=request["id"], result=APPLIED)
    assert isinstance(await changing, Applied)


async def test_an_answer_that_is_lost_leaves_the_outcome_unknown(
    connect: Connect, notebooks: Notebooks
) -> None:
    notebooks.tabs.returns_within = 0.2
    client = await opened(connect, notebooks)
    document = await notebooks.open(PATH)
    changing = asyncio.create_task(document.change(CHANGE))
    await client.request()
    client.connection.close()
    with pytest.raises(OutcomeUnknown):
        await changing
    with pytest.raises(Conflict) as caught:
        await document.read()
    assert caught.value.code == "notebook_closed"
    assert (await notebooks.open(PATH)).delivery == "disk"


async def test_a_tab_that_is_silent_is_not_waited_for_for_ever(
    connect: Connect, notebooks: Notebooks
) -> None:
    notebooks.tabs.answers_within = 0.2
    client = await opened(connect, notebooks)
    document = await notebooks.open(PATH)
    with pytest.raises(OutcomeUnknown):
        await document.change(CHANGE)
    with pytest.raises(Conflict) as caught:
        await document.read()
    assert caught.value.code == "tab_does_not_answer"
    # An answer that comes too late hurts nobody.
    client.send(type="answer", id=(await client.request())["id"], result=APPLIED)
    client.announce(PATH, dirty=True)
    await wait_until(lambda: notebooks.open_in_browser()[0].dirty)


async def test_a_tab_that_may_come_back_is_waited_for(
    connect: Connect, notebooks: Notebooks
) -> None:
    notebooks.tabs.returns_within = PATIENCE
    client = await opened(connect, notebooks)
    client.connection.close()
    await wait_until(lambda: not notebooks.tabs.notebooks())
    opening = asyncio.create_task(notebooks.open(PATH))
    await asyncio.sleep(0.1)
    assert not opening.done()
    (await connect("tab-1234")).announce(PATH)
    assert (await opening).delivery == "tab"


async def test_a_tab_that_is_back_and_says_nothing_is_asked(
    connect: Connect, notebooks: Notebooks
) -> None:
    notebooks.tabs.returns_within = PATIENCE
    client = await opened(connect, notebooks)
    client.connection.close()
    await wait_until(lambda: not notebooks.tabs.notebooks())
    notebooks.tabs.returns_within = 0.2
    opening = asyncio.create_task(notebooks.open(PATH))
    await asyncio.sleep(0)
    again = await connect("tab-1234")
    reading = asyncio.create_task((await opening).read())
    assert (await again.request())["method"] == "read"
    reading.cancel()


async def test_a_reloaded_tab_may_have_it_open_no_more(
    connect: Connect, notebooks: Notebooks
) -> None:
    notebooks.tabs.returns_within = 0.2
    client = await opened(connect, notebooks)
    client.connection.close()
    await wait_until(lambda: not notebooks.tabs.notebooks())
    assert (await notebooks.open(PATH)).delivery == "disk"


@pytest.mark.parametrize("frame", ["no json", "{}", '{"type": "answer"}', '{"type": "other"}'])
async def test_what_no_tab_sends_ends_the_connection(
    connect: Connect, notebooks: Notebooks, frame: str
) -> None:
    client = await opened(connect, notebooks)
    client.connection.write_message(frame)
    assert await client.closed() == 4400


async def test_a_server_that_ends_leaves_nobody_waiting(
    connect: Connect, notebooks: Notebooks
) -> None:
    client = await opened(connect, notebooks)
    changing = asyncio.create_task((await notebooks.open(PATH)).change(CHANGE))
    await client.request()
    notebooks.close()
    with pytest.raises(OutcomeUnknown):
        await changing


async def test_a_notebook_is_only_opened_where_one_can_be_opened_behind_others(
    connect: Connect, notebooks: Notebooks
) -> None:
    # As Notebook 7 says it.
    await opened(connect, notebooks)
    with pytest.raises(Conflict) as caught:
        await notebooks.tabs.show("new.ipynb")
    assert caught.value.code == "no_jupyterlab"
