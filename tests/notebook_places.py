"""A notebook as the agent's tools reach it: in a browser tab, in a shared room, in its file.

What a person does there, and what becomes of it, is asked for in the same way of all three.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

import pytest
from notebook_sessions import PATH, OpenTab, Tab
from waiting import PATIENCE

from openhands_jupyter.notebooks.addresses import with_ids

YDOC = "jupyter_server_ydoc"

DELIVERIES = [
    "tab",
    pytest.param("room", marks=pytest.mark.skipif(not find_spec(YDOC), reason="no rooms here")),
    "disk",
]
"""Rooms are there in the environment that ``tests/packaging/test_collaboration.py`` makes."""


class Place(Protocol):
    """A notebook at `PATH`, where somebody else works too."""

    async def cells(self) -> list[dict[str, Any]]:
        """What there is now."""

    async def type_into(self, id: str, source: str) -> None:
        """Somebody else writes into a cell."""

    async def move(self, path: str) -> None:
        """Somebody else gives it another path."""

    async def delete(self) -> None:
        """Somebody else deletes it."""

    async def written(self, id: str, source: str) -> None:
        """Another program writes a cell of the file, and whoever looks at that has seen it."""

    async def broken(self, text: str) -> None:
        """Another program writes what is no notebook."""


class TabPlace:
    """Open in a tab; its file is as it was saved."""

    def __init__(self, tab: Tab, root: Path) -> None:
        self.tab = tab
        self._root = root

    async def cells(self) -> list[dict[str, Any]]:
        return list(self.tab.cells)

    async def type_into(self, id: str, source: str) -> None:
        self.tab.type_into(id, source)

    async def move(self, path: str) -> None:
        (self._root / PATH).rename(self._root / path)
        await self.tab.renamed(path)

    async def delete(self) -> None:
        (self._root / PATH).unlink()
        # JupyterLab closes it then.
        await self.tab.renamed(None)

    async def written(self, id: str, source: str) -> None:
        _write(self._root / PATH, id, source)
        self.tab.refused["save"] = "changed_on_disk"

    async def broken(self, text: str) -> None:
        (self._root / PATH).write_text(text)
        self.tab.refused["save"] = "changed_on_disk"


def _write(file: Path, id: str, source: str) -> None:
    content = json.loads(file.read_text())
    for cell in content["cells"]:
        if cell["id"] == id:
            cell["source"] = source
    file.write_text(json.dumps(content))


class FilePlace:
    """A file that other programs write too."""

    def __init__(self, serverapp: Any) -> None:
        self._root = Path(serverapp.root_dir)
        self._contents = serverapp.contents_manager
        self.path = PATH

    async def cells(self) -> list[dict[str, Any]]:
        found = json.loads((self._root / self.path).read_text())["cells"]
        return [{**cell, "source": "".join(cell["source"])} for cell in found]

    async def type_into(self, id: str, source: str) -> None:
        _write(self._root / self.path, id, source)

    async def move(self, path: str) -> None:
        await self._contents.rename(self.path, path)
        self.path = path

    async def delete(self) -> None:
        await self._contents.delete(self.path)

    async def written(self, id: str, source: str) -> None:
        _write(self._root / self.path, id, source)

    async def broken(self, text: str) -> None:
        (self._root / self.path).write_text(text)


class RoomPlace(FilePlace):
    """Shared by people whose tabs are elsewhere."""

    def __init__(self, serverapp: Any, shared: Any) -> None:
        super().__init__(serverapp)
        self.shared = shared

    async def cells(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.shared.get(deduplicate=False)["cells"]
        return found

    async def type_into(self, id: str, source: str) -> None:
        [text] = [cell["source"] for cell in self.shared.ycells if cell["id"] == id]
        text.clear()
        text += source

    async def written(self, id: str, source: str) -> None:
        await super().written(id, source)
        async with asyncio.timeout(PATIENCE):
            while source not in [cell["source"] for cell in await self.cells()]:
                await asyncio.sleep(0.05)


Put = Callable[[dict[str, Any] | None], AbstractAsyncContextManager[Any]]


@pytest.fixture(params=DELIVERIES)
def delivery(request: pytest.FixtureRequest) -> str:
    """The way to the notebook."""
    found: str = request.param
    return found


@pytest.fixture
def jp_server_config(
    delivery: str, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> dict[str, Any]:
    """The extension, where there are rooms with that of jupyter-collaboration, which saves soon."""
    # Where rooms are kept.
    monkeypatch.chdir(tmp_path)
    names = ["openhands_jupyter"]
    if delivery == "room":
        names += [YDOC, "jupyter_server_fileid"]
    return {
        "ServerApp": {
            "jpserver_extensions": {**dict.fromkeys(names, True), "jupyter_server_terminals": False}
        },
        "BaseFileIdManager": {"db_path": str(tmp_path / "file-ids.db")},
        "YDocExtension": {"document_save_delay": 0.1, "file_poll_interval": 0.2},
        "OpenHandsExtension": {"prewarm": 0},
    }


@pytest.fixture
def put(delivery: str, root: Path, jp_serverapp: Any, open_tab: OpenTab) -> Put:
    """Puts a notebook where the agent finds it: ``async with put(USUAL) as place``.

    Without a content, it is what stands in the file already.
    """

    @asynccontextmanager
    async def put(content: dict[str, Any] | None) -> AsyncIterator[Place]:
        if content is None:
            content = json.loads((root / PATH).read_text())
        else:
            (root / PATH).write_text(json.dumps(content))
        if delivery == "tab":
            # Jupyter itself gives each cell that it opens an id of its own.
            async with open_tab(PATH, {**content, "cells": with_ids(content["cells"])}) as tab:
                if not os.access(root / PATH, os.W_OK):
                    tab.refused = dict.fromkeys(("change", "save"), "read_only")
                yield TabPlace(tab, root)
        elif delivery == "room":
            yield RoomPlace(jp_serverapp, await share(jp_serverapp, PATH))
        else:
            yield FilePlace(jp_serverapp)

    return put


async def share(serverapp: Any, path: str) -> Any:
    """The shared document of a notebook, as a person's browser makes it."""
    extension = serverapp.web_app.settings[YDOC]
    getting: Awaitable[Any] = extension.get_document(
        path=path, content_type="notebook", file_format="json", copy=False, create=True
    )
    return await getting
