"""What may happen to a file while it is read and changed."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import threading
import time
from pathlib import Path
from typing import Any

import nbformat
import pytest
from notebook_contract import (
    FIRST,
    THIRD,
    UNKNOWN,
    USUAL,
    World,
    cells_of_unknown_types_stay,
    code,
    notebook,
    rev,
)
from read_only import read_only

from openhands_jupyter.errors import Conflict, Invalid, NotFound, OpenHandsError
from openhands_jupyter.events import Masker
from openhands_jupyter.notebooks.changes import Applied, Change, InsertCell, Mismatch, SetCell
from openhands_jupyter.notebooks.delivery.disk import LARGEST
from openhands_jupyter.notebooks.showing.texts import cells_text, outline_text

PATH = "notebook.ipynb"
TO_TWO = Change(steps=[SetCell(id="third-cell", rev=rev(THIRD), source="two")])


async def read(folder: Any, path: str = PATH) -> Any:
    return await (await folder.notebooks.open(path)).read()


async def change(folder: Any, change: Change, path: str = PATH) -> Any:
    return await (await folder.notebooks.open(path)).change(change)


def write_before_next_check(folder: Any, monkeypatch: pytest.MonkeyPatch, *contents: Any) -> None:
    """Let something else write the file between what a change reads and what it writes."""
    waiting = list(contents)
    get = folder.contents.get

    async def get_late(path: str, content: bool = True, **more: Any) -> Any:
        # What asks for the size alone comes before anything is read.
        if not content and more.get("require_hash") and waiting:
            folder.write(path, waiting.pop(0))
        return await get(path, content=content, **more)

    monkeypatch.setattr(folder.contents, "get", get_late)


async def test_what_is_written_meanwhile_elsewhere_in_the_notebook_stays(
    folder: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = folder.write(PATH, USUAL)
    others = {**USUAL, "cells": [{**FIRST, "source": "of others"}, *USUAL["cells"][1:]]}
    write_before_next_check(folder, monkeypatch, others)
    assert isinstance(await change(folder, TO_TWO), Applied)
    found = json.loads(file.read_text())["cells"]
    assert [found[0]["source"], found[2]["source"]] == [["of others"], ["two"]]


async def test_what_is_written_meanwhile_in_the_same_cell_is_a_mismatch(
    folder: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = folder.write(PATH, USUAL)
    others = {**USUAL, "cells": [{**THIRD, "source": "of others"}]}
    write_before_next_check(folder, monkeypatch, others)
    result = await change(folder, TO_TWO)
    assert isinstance(result, Mismatch)
    assert result.cells[0].source == "of others"
    assert json.loads(file.read_text()) == others


async def test_a_file_that_is_written_all_the_time_is_left_alone(
    folder: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = folder.write(PATH, USUAL)
    versions = [{**USUAL, "metadata": {"version": number}} for number in range(20)]
    write_before_next_check(folder, monkeypatch, *versions)
    with pytest.raises(Conflict) as caught:
        await change(folder, TO_TWO)
    assert caught.value.code == "notebook_changes_on_disk"
    assert json.loads(file.read_text()) in versions


async def test_a_notebook_that_is_moved_or_deleted_is_not_made_anew(folder: Any) -> None:
    file = folder.write(PATH, USUAL)
    document = await folder.notebooks.open(PATH)
    await document.read()
    file.rename(folder.root / "moved.ipynb")
    for attempt in (document.read(), document.change(TO_TWO)):
        with pytest.raises(NotFound) as caught:
            await attempt
        assert caught.value.code == "notebook_not_found"
        assert PATH in caught.value.message
    assert not file.exists()
    assert isinstance(await change(folder, TO_TWO, "moved.ipynb"), Applied)


async def test_a_file_that_is_too_large_is_not_read(
    folder: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = folder.write(PATH, USUAL)
    os.truncate(file, LARGEST + 1)
    get = folder.contents.get

    async def get_no_content(path: str, content: bool = True, **more: Any) -> Any:
        assert not content
        return await get(path, content=content, **more)

    monkeypatch.setattr(folder.contents, "get", get_no_content)
    for attempt in (read(folder), change(folder, TO_TWO)):
        with pytest.raises(Invalid) as caught:
            await attempt
        assert caught.value.code == "notebook_too_large"
        assert "100 MiB" in caught.value.message


@pytest.mark.parametrize("text", ["{not json", "[1]", "", '{"nbformat": 9}'])
async def test_what_is_no_notebook_is_left_as_it_is(folder: Any, text: str) -> None:
    file = folder.root / PATH
    file.write_text(text)
    for attempt in (read(folder), change(folder, TO_TWO)):
        with pytest.raises(Invalid) as caught:
            await attempt
        assert caught.value.code == "not_a_notebook"
    assert file.read_text() == text


async def test_a_file_that_is_just_being_written_is_read_once_it_is_whole(
    folder: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = folder.root / PATH
    file.write_text(json.dumps(USUAL)[:100])
    get = folder.contents.get

    async def get_and_go_on_writing(*args: Any, **more: Any) -> Any:
        try:
            return await get(*args, **more)
        finally:
            file.write_text(json.dumps(USUAL))

    monkeypatch.setattr(folder.contents, "get", get_and_go_on_writing)
    assert (await read(folder)).cells == USUAL["cells"]


async def test_a_file_that_the_server_is_just_writing_is_not_taken_for_broken(
    folder: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder.write(PATH, USUAL)
    write = nbformat.write
    writing = threading.Event()

    def write_slowly(*args: Any, **more: Any) -> None:
        writing.set()
        # The file is empty now: time for a reader that does not wait.
        time.sleep(0.5)
        write(*args, **more)

    monkeypatch.setattr(nbformat, "write", write_slowly)
    changing = asyncio.create_task(change(folder, TO_TWO))
    await asyncio.to_thread(writing.wait)
    found = await read(folder)
    assert isinstance(await changing, Applied)
    assert found.cells[2]["source"] == "two"
    assert (await read(folder)).cells[2]["source"] == "two"


async def test_a_folder_is_no_notebook(folder: Any) -> None:
    (folder.root / "a.ipynb").mkdir()
    with pytest.raises(Invalid):
        await read(folder, "a.ipynb")


async def test_a_read_only_file_is_read_and_not_changed(folder: Any) -> None:
    with read_only(folder.root / "fixed", {PATH: json.dumps(USUAL)}):
        assert (await read(folder, f"fixed/{PATH}")).state.read_only
        with pytest.raises(Conflict) as caught:
            await change(folder, TO_TWO, f"fixed/{PATH}")
        assert caught.value.code == "notebook_read_only"


async def test_a_full_disk_is_said_and_nothing_is_lost(
    folder: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = folder.write(PATH, USUAL)

    async def fail(*args: Any, **more: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(folder.contents, "_save_notebook", fail)
    with pytest.raises(OpenHandsError) as caught:
        await change(folder, TO_TWO)
    assert caught.value.code == "notebook_not_saved"
    assert json.loads(file.read_text()) == USUAL


@pytest.mark.parametrize("link", ["file", "folder"])
async def test_a_link_leads_nowhere_outside(folder: Any, tmp_path: Path, link: str) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / PATH).write_text(json.dumps(USUAL))
    if link == "file":
        (folder.root / PATH).symlink_to(outside / PATH)
        path = PATH
    else:
        (folder.root / "way").symlink_to(outside)
        path = f"way/{PATH}"
    for attempt in (read(folder, path), change(folder, TO_TWO, path)):
        with pytest.raises(NotFound):
            await attempt
    assert json.loads((outside / PATH).read_text()) == USUAL


@pytest.mark.parametrize(
    "beside", [f".~{PATH}", ".ipynb_checkpoints/notebook-checkpoint.ipynb", ".ipynb_checkpoints"]
)
@pytest.mark.parametrize("target", ["a file", "nothing"])
async def test_nothing_is_written_through_a_link_beside_a_notebook(
    folder: Any, tmp_path: Path, beside: str, target: str
) -> None:
    file = folder.write(PATH, USUAL)
    others = tmp_path / "of others"
    link = folder.root / beside
    link.parent.mkdir(exist_ok=True)
    if beside.endswith("checkpoints"):
        others.mkdir()
    elif target == "a file":
        others.write_text("of others")
    link.symlink_to(others)
    before = _all_below(others)
    with pytest.raises(Conflict) as caught:
        await change(folder, TO_TWO)
    assert caught.value.code == "link_beside_notebook"
    assert _all_below(others) == before
    assert json.loads(file.read_text()) == USUAL


def _all_below(path: Path) -> list[tuple[str, str]]:
    """What is at a path, and below it."""
    found = [path, *path.rglob("*")] if path.exists() else []
    return [(str(p), p.read_text() if p.is_file() else "") for p in found]


@pytest.mark.parametrize("link", [False, True])
async def test_a_pipe_beside_a_notebook_holds_up_nobody(folder: Any, link: bool) -> None:
    file = folder.write("there/b.ipynb" if link else PATH, USUAL)
    if link:
        (folder.root / PATH).symlink_to("there/b.ipynb")
    os.mkfifo(file.parent / f".~{file.name}")
    with pytest.raises(Conflict):
        await change(folder, TO_TWO)


@pytest.mark.parametrize("path", ["../outside.ipynb", "/../outside.ipynb", ".hidden/a.ipynb"])
async def test_nothing_outside_and_nothing_hidden_is_read(folder: Any, path: str) -> None:
    for place in ("../outside.ipynb", ".hidden/a.ipynb"):
        folder.write(place, USUAL)
    with pytest.raises(NotFound):
        await read(folder, path)


async def test_cells_of_unknown_types_stay_as_they_are(folder: Any) -> None:
    file = folder.write(PATH, notebook(UNKNOWN, THIRD))
    await cells_of_unknown_types_stay(World(folder.notebooks, PATH, file))


async def test_a_notebook_of_version_3_becomes_one_of_version_4(folder: Any) -> None:
    cell = {"cell_type": "code", "language": "python", "input": "a", "outputs": [], "metadata": {}}
    old = {
        "nbformat": 3,
        "nbformat_minor": 0,
        "metadata": {"name": ""},
        "worksheets": [{"cells": [cell], "metadata": {}}],
    }
    file = folder.write(PATH, old)
    [found] = (await read(folder)).cells
    step = SetCell(id=found["id"], rev=rev(found), source="b")
    assert isinstance(await change(folder, Change(steps=[step])), Applied)
    nbformat.validate(json.loads(file.read_text()))


async def test_trust_stays_where_no_outputs_come(folder: Any) -> None:
    file = folder.write(PATH, USUAL)
    await folder.contents.trust_notebook(PATH)
    assert (await read(folder)).state.trusted
    await change(folder, TO_TWO)
    assert (await read(folder)).state.trusted
    await change(folder, Change(steps=[InsertCell(after=None, cell=code("new", "1"))]))
    assert json.loads(file.read_text())["cells"][0]["source"] == ["1"]


async def test_a_copy_has_ids_of_its_own_while_both_are_read(folder: Any) -> None:
    old = notebook({k: v for k, v in THIRD.items() if k != "id"}, minor=4)
    file = folder.write(PATH, old)
    shutil.copy(file, folder.root / "copy.ipynb")
    [one] = (await read(folder)).cells
    step = SetCell(id=one["id"], rev=rev(one), source="changed")
    assert isinstance(await change(folder, Change(steps=[step])), Applied)
    [other] = (await read(folder, "copy.ipynb")).cells
    assert other["source"] == THIRD["source"]


async def test_a_notebook_says_nothing_outside_of_what_is_marked_as_data(folder: Any) -> None:
    evil = {**FIRST, "id": "a\nEVIL", "cell_type": "code\nEVIL"}
    folder.write(PATH, notebook(evil, THIRD))
    found = await read(folder)
    text = cells_text(found, [], "summary", 1, Masker())[0] + outline_text(found, Masker())
    assert "EVIL" not in re.sub(r"<output>.*?</output>", "", text, flags=re.DOTALL)
    with pytest.raises(NotFound) as caught:
        cells_text(found, ["nowhere"], "summary", 1, Masker())
    assert "EVIL" not in caught.value.message + caught.value.hint
