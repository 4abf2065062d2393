"""Notebooks that are shared through jupyter-collaboration, in a real server with its extension."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from notebook_contract import (
    CASES,
    FIRST,
    THIRD,
    UNKNOWN,
    USUAL,
    World,
    cells_of_unknown_types_stay,
    notebook,
    rev,
)
from notebook_places import share
from notebook_runs import CASES as RUN_CASES
from notebook_runs import RunWorld

from openhands_jupyter.errors import Conflict, NotFound
from openhands_jupyter.notebooks.changes import Applied, Change, MoveCell, SetCell
from openhands_jupyter.notebooks.delivery.notebooks import Notebooks
from openhands_jupyter.notebooks.delivery.room import Rooms

pytest.importorskip("jupyter_server_ydoc", reason="jupyter-collaboration is not installed")

PATH = "notebook.ipynb"


@pytest.fixture
def jp_server_config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The extension, and that of jupyter-collaboration, which saves soon."""
    monkeypatch.setenv("OPENHANDS_HOME", str(tmp_path / "openhands-home"))
    # Where rooms are kept.
    monkeypatch.chdir(tmp_path)
    extensions = ("openhands_jupyter", "jupyter_server_ydoc", "jupyter_server_fileid")
    return {
        "ServerApp": {
            "jpserver_extensions": {
                **dict.fromkeys(extensions, True),
                "jupyter_server_terminals": False,
            }
        },
        "BaseFileIdManager": {"db_path": str(tmp_path / "file-ids.db")},
        "YDocExtension": {"document_save_delay": 0.1, "file_poll_interval": 0.2},
        "OpenHandsExtension": {"prewarm": 0},
    }


@pytest.fixture
def root(jp_serverapp: Any) -> Path:
    """The server's root folder."""
    return Path(jp_serverapp.root_dir)


@pytest.fixture
def notebooks(jp_serverapp: Any) -> Notebooks:
    """The server's notebooks."""
    found: Notebooks = jp_serverapp.web_app.settings["openhands"].notebooks
    return found


@pytest.mark.filterwarnings("ignore::nbformat.warnings.DuplicateCellId")
async def test_the_contract_holds_for_shared_notebooks(
    jp_serverapp: Any, root: Path, notebooks: Notebooks
) -> None:
    for name, case in CASES.items():
        path = f"{name}.ipynb"
        (root / path).write_text(json.dumps(case.notebook))
        await share(jp_serverapp, path)
        assert (await notebooks.open(path)).delivery == "room"
        await case.run(World(notebooks, path, root / path))


async def test_cells_of_unknown_types_stay(
    jp_serverapp: Any, root: Path, notebooks: Notebooks
) -> None:
    (root / PATH).write_text(json.dumps(notebook(UNKNOWN, THIRD)))
    await share(jp_serverapp, PATH)
    await cells_of_unknown_types_stay(World(notebooks, PATH, root / PATH))


@pytest.mark.parametrize("name", RUN_CASES)
async def test_cells_of_shared_notebooks_are_run(
    jp_serverapp: Any, root: Path, notebooks: Notebooks, name: str
) -> None:
    (root / PATH).write_text(json.dumps(RUN_CASES[name].notebook))
    await share(jp_serverapp, PATH)
    assert (await notebooks.open(PATH)).delivery == "room"
    runs = jp_serverapp.web_app.settings["openhands"].runs
    world = World(notebooks, PATH, root / PATH)
    await RUN_CASES[name].run(RunWorld(world, runs, jp_serverapp.kernel_manager))


async def test_others_see_only_what_changed(
    jp_serverapp: Any, root: Path, notebooks: Notebooks
) -> None:
    (root / PATH).write_text(json.dumps(USUAL))
    shared = await share(jp_serverapp, PATH)
    [first, *_] = shared.ycells
    events: list[Any] = []
    kept = first["source"].observe(lambda event: events.append(event.delta))
    step = SetCell(id="first-cell", rev=rev(FIRST), source="x = ü1\n", metadata={"mine": None})
    move = MoveCell(id="first-cell", after="second-cell")
    document = await notebooks.open(PATH)
    assert isinstance(await document.change(Change(steps=[step])), Applied)
    assert kept and events == [[{"retain": 4}, {"insert": "ü"}]]
    assert isinstance(await document.change(Change(steps=[move])), Applied)
    ids = [cell["id"] for cell in (await document.read()).cells]
    assert ids == ["second-cell", "first-cell", "third-cell", "fourth-cell"]


async def test_outputs_come_beside_what_others_type(
    jp_serverapp: Any, root: Path, notebooks: Notebooks
) -> None:
    (root / PATH).write_text(json.dumps(USUAL))
    shared = await share(jp_serverapp, PATH)
    source = shared.ycells[0]["source"]
    stream = {"output_type": "stream", "name": "stdout", "text": "new"}
    document = await notebooks.open(PATH)
    step = SetCell(id="first-cell", rev=rev(FIRST), outputs=[stream], execution_count=4)
    assert isinstance(await document.change(Change(steps=[step])), Applied)
    # The very text that others have their cursors in.
    source.insert(0, "# typed\n")
    [first, *_] = (await document.read()).cells
    assert first["source"] == "# typed\nx = 1\n"
    assert (first["outputs"], first["execution_count"]) == ([stream], 4)


async def test_a_notebook_that_nobody_shares_is_a_file(root: Path, notebooks: Notebooks) -> None:
    (root / PATH).write_text(json.dumps(USUAL))
    assert (await notebooks.open(PATH)).delivery == "disk"
    assert (await notebooks.open("nothing.ipynb")).delivery == "disk"


async def test_a_shared_notebook_whose_file_is_gone_is_gone(
    jp_serverapp: Any, root: Path, notebooks: Notebooks
) -> None:
    (root / PATH).write_text(json.dumps(USUAL))
    await share(jp_serverapp, PATH)
    document = await notebooks.open(PATH)
    (root / PATH).unlink()
    for attempt in (document.read(), document.change(Change(steps=[])), document.save()):
        with pytest.raises(NotFound):
            await attempt


async def test_a_room_that_is_not_had_is_not_waited_for_for_ever(
    jp_serverapp: Any, root: Path
) -> None:
    (root / PATH).write_text(json.dumps(USUAL))
    shared = await share(jp_serverapp, PATH)
    settings = jp_serverapp.web_app.settings
    extension = settings["jupyter_server_ydoc"]
    # As while its room is made from something that does not come.
    [lock] = [extension._room_locks[name] for name in extension.ywebsocket_server.rooms]
    async with lock:
        with pytest.raises(Conflict) as caught:
            await Rooms(settings, found_within=0.2).find(PATH)
    assert caught.value.code == "room_does_not_answer"
    assert await Rooms(settings).find(PATH) is shared
