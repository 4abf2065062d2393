"""Sessions that work on notebooks of a real server, with a scripted model, and a tab for them.

The tab is a client of the server's own socket that holds a notebook and does what it is asked.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest
from model_server.script import call
from model_server.server import ModelServer
from notebook_contract import USUAL
from session_tools import SECRET
from shared_gateway import SharedGateway
from tornado.httpclient import HTTPRequest
from tornado.websocket import websocket_connect
from waiting import wait_until

from openhands_jupyter.notebooks.changes import Change, apply
from openhands_jupyter.notebooks.delivery.lean import lean
from openhands_jupyter.notebooks.revisions import outputs_rev
from openhands_jupyter.server.base import Services
from openhands_jupyter.session import Session

PATH = "work/analysis.ipynb"
NAME = "analysis.ipynb"
READ = call("nb_read", path=NAME)
DONE = call("finish", message="Done.")


@pytest.fixture
def home(
    tmp_path: Path,
    model_server: ModelServer,
    shared_gateway: SharedGateway,
    monkeypatch: pytest.MonkeyPatch,
) -> Path:
    """A home of the test's own; the model is the scripted one."""
    folder = tmp_path / "openhands-home"
    monkeypatch.setattr("openhands_jupyter.session.manager.ModelGateway", shared_gateway.lend)
    for name, value in {
        "OPENHANDS_HOME": str(folder),
        "LLM_MODEL": "openai/scripted",
        "LLM_BASE_URL": model_server.url,
        "LLM_API_KEY": SECRET,
    }.items():
        monkeypatch.setenv(name, value)
    return folder


@pytest.fixture
def root(jp_root_dir: Path) -> Path:
    """The server's folder; sessions work in a folder of it."""
    (jp_root_dir / "work").mkdir()
    return jp_root_dir


@pytest.fixture
def file(root: Path) -> Path:
    """A notebook in the workspace."""
    path = root / PATH
    path.write_text(json.dumps(USUAL))
    return path


Begin = Callable[..., Awaitable[Session]]


@pytest.fixture
def begin(root: Path, services: Services) -> Begin:
    """Begins a session in the workspace and gives it something to do."""

    async def begin(mode: str = "agent") -> Session:
        session = await services.sessions.create(workspace="work", mode=mode)
        session.send_message("Tidy the notebook")
        return session

    return begin


class Tab:
    """A browser tab with one notebook open.

    Attributes
    ----------
    silent, mute
        Methods that it does not do, and that it does without saying so.
    refused
        Methods that it refuses, and why.
    whole
        Which cells it was asked for with all that is in them, at each reading.
    """

    def __init__(self, path: str, content: dict[str, Any]) -> None:
        self.path = path
        self.content = content
        self.cells: list[Any] = [dict(cell) for cell in content["cells"]]
        self.asked: list[str] = []
        self.whole: list[list[str] | None] = []
        self.silent: set[str] = set()
        self.mute: set[str] = set()
        self.refused: dict[str, str] = {}
        self.visible = True
        self.typed_last: tuple[str, str] | None = None
        self.renamed: Callable[[str | None], Awaitable[None]]
        self.die: Callable[[], Awaitable[None]]

    def cell(self, id: str) -> dict[str, Any]:
        found: dict[str, Any] = next(cell for cell in self.cells if cell["id"] == id)
        return found

    def type_into(self, id: str, source: str) -> None:
        self.cells = [{**c, "source": source} if c["id"] == id else c for c in self.cells]

    def put_out(self, id: str, *outputs: dict[str, Any]) -> None:
        self.cells = [{**c, "outputs": list(outputs)} if c["id"] == id else c for c in self.cells]

    def sources(self) -> list[str]:
        return [cell["source"] for cell in self.cells]

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        self.asked.append(request["method"])
        if why := self.refused.get(request["method"]):
            return {"type": "answer", "id": request["id"], "error": {"code": why, "message": ""}}
        result: Any = None
        if request["method"] == "read":
            result = self.read(request["params"]["whole"])
        elif request["method"] == "change":
            if self.typed_last:
                self.type_into(*self.typed_last)
            change = msgspec.convert(request["params"]["change"], Change)
            result = msgspec.to_builtins(apply(self.cells, change))
        return {"type": "answer", "id": request["id"], "result": result}

    def read(self, whole: list[str] | None) -> dict[str, Any]:
        self.whole.append(whole)
        wanted = [cell["id"] for cell in self.cells] if whole is None else whole
        return {
            **self.content,
            "cells": [cell if cell["id"] in wanted else lean(cell) for cell in self.cells],
            "outputs_revs": {
                cell["id"]: outputs_rev(cell) for cell in self.cells if cell["id"] in wanted
            },
            "state": self.state(),
        }

    def state(self) -> dict[str, Any]:
        return {
            "path": self.path,
            "dirty": True,
            "visible": self.visible,
            "active_cell": "third-cell",
        }


OpenTab = Callable[..., Any]


@pytest.fixture
def open_tab(
    http_server: Any, services: Services, address: str, jp_auth_header: dict[str, str]
) -> OpenTab:
    """Opens a notebook in a tab: ``async with open_tab(PATH, USUAL) as tab``."""

    @asynccontextmanager
    async def open_tab(
        path: str, content: dict[str, Any], *, name: str = "tab-of-the-test", visible: bool = True
    ) -> AsyncIterator[Tab]:
        tab = Tab(path, content)
        tab.visible = visible
        url = f"ws://{address}/tabs?tab={name}"
        connection = await websocket_connect(HTTPRequest(url, headers=jp_auth_header))

        async def rename(path: str | None) -> None:
            tab.path = path or ""
            notebooks = [tab.state()] if path else []
            frame = {"type": "notebooks", "notebooks": notebooks, "opens": True}
            connection.write_message(json.dumps(frame))
            await wait_until(
                lambda: [n.path for n in services.notebooks.tabs.notebooks()] == [path] * bool(path)
            )

        async def die() -> None:
            connection.close()
            await wait_until(lambda: not services.notebooks.tabs.notebooks())

        tab.renamed, tab.die = rename, die

        async def serve() -> None:
            while (message := await connection.read_message()) is not None:
                request = json.loads(message)
                if request["method"] in tab.mute:
                    tab.answer(request)
                elif request["method"] in tab.silent:
                    tab.asked.append("unanswered")
                else:
                    connection.write_message(json.dumps(tab.answer(request)))

        serving = asyncio.create_task(serve())
        await rename(path)
        yield tab
        serving.cancel()
        connection.close()

    return open_tab


def saved(file: Path) -> Any:
    """What a file holds."""
    return json.loads(file.read_text())


def write(file: Path, content: dict[str, Any]) -> None:
    """Write a notebook, as other programs do."""
    file.write_text(json.dumps(content))


def results(model_server: ModelServer, request: int = -1) -> list[str]:
    """What the model was told of its calls, as of one of its requests."""
    messages = model_server.requests[request].body["messages"]
    return [message["content"] for message in messages if message["role"] == "tool"]
