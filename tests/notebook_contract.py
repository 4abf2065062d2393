"""What holds for a notebook in whatever way it is reached: run on files and in a real browser."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, NamedTuple

import nbformat
import pytest

from openhands_jupyter.errors import Invalid
from openhands_jupyter.notebooks.changes import (
    Applied,
    Change,
    DeleteCell,
    InsertCell,
    Mismatch,
    MoveCell,
    SetCell,
)
from openhands_jupyter.notebooks.delivery.document import Document, Snapshot
from openhands_jupyter.notebooks.delivery.lean import lean
from openhands_jupyter.notebooks.delivery.notebooks import Notebooks
from openhands_jupyter.notebooks.revisions import cell_rev, notebook_rev

STREAM = {"output_type": "stream", "name": "stdout", "text": "1\n"}
HTML = {"output_type": "display_data", "data": {"text/html": "<b>x</b>"}, "metadata": {}}


def code(id: str, source: str, *outputs: dict[str, Any], **more: Any) -> dict[str, Any]:
    cell = {"id": id, "cell_type": "code", "source": source, "metadata": {}}
    return {**cell, "outputs": list(outputs), "execution_count": None, **more}


def text(id: str, source: str, kind: str = "markdown", **more: Any) -> dict[str, Any]:
    return {"id": id, "cell_type": kind, "source": source, "metadata": {}, **more}


def notebook(*cells: dict[str, Any], minor: int = 5, **metadata: Any) -> dict[str, Any]:
    kernelspec = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return {
        "nbformat": 4,
        "nbformat_minor": minor,
        "metadata": {"kernelspec": kernelspec, "language_info": {"name": "python"}, **metadata},
        "cells": list(cells),
    }


FIRST = code(
    "first-cell", "x = 1\n", STREAM, HTML, execution_count=3, metadata={"tags": ["a"], "mine": {}}
)
SECOND = text(
    "second-cell",
    "# Überschrift 🚀\n![](attachment:a.png)",
    attachments={"a.png": {"image/png": "iVBORw0KGgo="}},
)
THIRD = code("third-cell", "for i in range(3):\n    print(i)")
FOURTH = text("fourth-cell", "raw", "raw")
USUAL = notebook(FIRST, SECOND, THIRD, FOURTH, widgets={"state": {"of": "others"}})


class World(NamedTuple):
    """Where a case takes place.

    Attributes
    ----------
    notebooks
        The way to notebooks.
    path
        The notebook of this case.
    file
        Its file.
    """

    notebooks: Notebooks
    path: str
    file: Path

    async def open(self) -> Document:
        return await self.notebooks.open(self.path)

    async def read(self) -> Snapshot:
        return await (await self.open()).read()

    async def change(self, *steps: Any, nb_rev: str | None = None) -> Applied | Mismatch:
        return await (await self.open()).change(Change(steps=list(steps), nb_rev=nb_rev))

    async def saved(self) -> dict[str, Any]:
        """What the file holds once the notebook is saved."""
        await (await self.open()).save()
        found: dict[str, Any] = json.loads(await asyncio.to_thread(self.file.read_text))
        for cell in found["cells"]:
            cell["source"] = "".join(cell["source"])
        return found


class Case(NamedTuple):
    """A test of the contract, and what its notebook holds at the beginning."""

    notebook: dict[str, Any]
    run: Callable[[World], Awaitable[None]]


CASES: dict[str, Case] = {}


def case(content: dict[str, Any]) -> Callable[[Callable[[World], Awaitable[None]]], None]:
    def add(run: Callable[[World], Awaitable[None]]) -> None:
        CASES[run.__name__] = Case(content, run)

    return add


def rev(cell: dict[str, Any], source: str | None = None) -> str:
    return cell_rev(cell if source is None else {**cell, "source": source})


@case(USUAL)
async def everything_is_read(world: World) -> None:
    found = await world.read()
    assert found.cells == USUAL["cells"]
    assert found.metadata["widgets"] == USUAL["metadata"]["widgets"]
    assert (found.nbformat, found.nbformat_minor) == (4, 5)
    assert found.nb_rev == notebook_rev(USUAL["cells"])
    assert found.path == found.state.path == world.path
    assert not found.state.read_only
    assert not found.state.trusted


LONG = "A" * 100_000
HEAVY = notebook(
    code(
        "first-cell",
        "print('ü')",
        {**STREAM, "text": LONG},
        {"output_type": "error", "ename": "Error", "evalue": "why", "traceback": [LONG]},
        execution_count=1,
    ),
    code(
        "second-cell",
        "plot()",
        {
            "output_type": "display_data",
            "data": {"image/png": LONG, "text/html": LONG, "application/json": {"a": [1e-7, LONG]}},
            "metadata": {"image/png": {"width": 1}},
        },
        execution_count=2,
    ),
    text("third-cell", "![](attachment:a.png)", attachments={"a.png": {"image/png": LONG}}),
    widgets={"state": {"large": LONG}},
)


@case(HEAVY)
async def what_is_not_asked_for_is_not_sent(world: World) -> None:
    all_of_it = await world.read()
    document = await world.open()
    found = await document.read(["second-cell", "no-such-cell"])
    first, second, third = found.cells
    assert second == all_of_it.cells[1] == HEAVY["cells"][1]
    beginning = LONG[:200]
    assert first == {
        **HEAVY["cells"][0],
        "outputs": [
            {**STREAM, "text": beginning},
            {"output_type": "error", "ename": "Error", "evalue": "why", "traceback": []},
        ],
    }
    assert third == {**HEAVY["cells"][2], "attachments": {"a.png": {}}}
    assert found.metadata == {k: v for k, v in all_of_it.metadata.items() if k != "widgets"}
    assert found.nb_rev == all_of_it.nb_rev
    lightest = (await document.read(())).cells[1]["outputs"]
    data = {"image/png": beginning, "text/html": beginning, "application/json": ""}
    assert lightest == [{"output_type": "display_data", "data": data, "metadata": {}}]


@case(USUAL)
async def what_is_read_again_is_what_is_there(world: World) -> None:
    async def expect_same() -> None:
        document = await world.open()
        read = await document.read(["second-cell"])
        everything = await document.read()
        assert read.cells == [
            cell if cell["id"] == "second-cell" else lean(cell) for cell in everything.cells
        ]
        assert read.nb_rev == everything.nb_rev

    await expect_same()
    new = code("new-cell", "1", HTML)
    for steps in (
        [SetCell(id="first-cell", rev=rev(FIRST), source="other", metadata={"tags": ["b"]})],
        [MoveCell(id="first-cell", after="third-cell"), InsertCell(after=None, cell=new)],
        [SetCell(id="third-cell", rev=rev(THIRD), outputs=[STREAM], execution_count=2)],
        [SetCell(id="second-cell", rev=rev(SECOND), cell_type="raw")],
        [DeleteCell(id="fourth-cell", rev=rev(FOURTH)), DeleteCell(id="new-cell", rev=rev(new))],
    ):
        assert isinstance(await world.change(*steps), Applied)
        await expect_same()


@case(HEAVY)
async def only_outputs_that_are_known_are_removed(world: World) -> None:
    document = await world.open()
    cells = (await document.read(())).cells
    revs = (await document.read(["first-cell", "second-cell"])).outputs_revs
    assert set(revs) == {"first-cell", "second-cell"}
    run = SetCell(id="second-cell", rev=rev(cells[1]), outputs=[STREAM], execution_count=2)
    assert isinstance(await world.change(run), Applied)
    clear = [
        SetCell(
            id=cell["id"],
            rev=rev(cell),
            outputs=[],
            execution_count=None,
            outputs_rev=revs[cell["id"]],
        )
        for cell in cells[:2]
    ]
    result = await world.change(*clear)
    assert isinstance(result, Mismatch)
    assert [(cell.id, cell.reason) for cell in result.cells] == [("second-cell", "outputs")]
    assert len((await world.read()).cells[0]["outputs"]) == 2
    assert isinstance(await world.change(clear[0]), Applied)
    assert [len(cell["outputs"]) for cell in (await world.read()).cells[:2]] == [0, 1]


@case(USUAL)
async def a_source_is_set_and_all_else_stays(world: World) -> None:
    changed = {**FIRST, "source": "x = 2\n"}
    result = await world.change(SetCell(id="first-cell", rev=rev(FIRST), source="x = 2\n"))
    after = [changed, SECOND, THIRD, FOURTH]
    assert result == Applied(nb_rev=notebook_rev(after), revs={"first-cell": rev(changed)})
    assert (await world.read()).cells == after
    saved = await world.saved()
    assert [cell["id"] for cell in saved["cells"]] == [cell["id"] for cell in after]
    assert saved["cells"][0]["source"] == "x = 2\n"
    assert saved["cells"][0]["outputs"][1] == {**HTML, "data": {"text/html": ["<b>x</b>"]}}
    assert saved["cells"][1]["attachments"] == SECOND["attachments"]
    assert saved["metadata"]["widgets"] == USUAL["metadata"]["widgets"]


@case(notebook(code("first-cell", "x", STREAM), THIRD))
async def outputs_take_the_place_of_others_of_their_kind(world: World) -> None:
    for printed in ("1\n2\n", "3\n"):
        cell = (await world.read()).cells[0]
        output = {**STREAM, "text": printed}
        step = SetCell(id="first-cell", rev=rev(cell), outputs=[output], execution_count=4)
        assert isinstance(await world.change(step), Applied)
        assert (await world.read()).cells[0]["outputs"] == [output]
    [saved] = (await world.saved())["cells"][0]["outputs"]
    assert "".join(saved["text"]) == "3\n"


@case(USUAL)
async def many_steps_are_one_change(world: World) -> None:
    new = code("new-cell", "print('new')")
    result = await world.change(
        InsertCell(after=None, cell=new),
        SetCell(id="new-cell", rev=rev(new), source="print('newer')"),
        MoveCell(id="fourth-cell", after="new-cell"),
        DeleteCell(id="third-cell", rev=rev(THIRD)),
        SetCell(id="second-cell", rev=rev(SECOND), cell_type="raw", source="🎉"),
        SetCell(id="first-cell", rev=rev(FIRST), outputs=[], execution_count=None),
        SetCell(
            id="first-cell", rev=rev(FIRST), metadata={"tags": None, "openhands": {"event": 1}}
        ),
        nb_rev=notebook_rev(USUAL["cells"]),
    )
    first = code("first-cell", "x = 1\n", metadata={"mine": {}, "openhands": {"event": 1}})
    after = [
        {**new, "source": "print('newer')"},
        FOURTH,
        first,
        {**SECOND, "cell_type": "raw", "source": "🎉"},
    ]
    assert isinstance(result, Applied)
    assert (await world.read()).cells == after
    assert result.nb_rev == notebook_rev(after)


@case(USUAL)
async def one_wrong_revision_and_nothing_is_changed(world: World) -> None:
    result = await world.change(
        DeleteCell(id="first-cell", rev=rev(FIRST)),
        InsertCell(after="second-cell", cell=code("new-cell", "")),
        SetCell(id="third-cell", rev="00000000", source="lost"),
        MoveCell(id="fourth-cell", after="no-such-cell"),
    )
    assert isinstance(result, Mismatch)
    assert {cell.id: (cell.reason, cell.source) for cell in result.cells} == {
        "third-cell": ("changed", THIRD["source"]),
        "no-such-cell": ("gone", None),
    }
    assert result.nb_rev == notebook_rev(USUAL["cells"])
    result = await world.change(DeleteCell(id="first-cell", rev=rev(FIRST)), nb_rev="00000000")
    assert result == Mismatch(cells=[], nb_rev=notebook_rev(USUAL["cells"]))
    assert (await world.read()).cells == USUAL["cells"]


@case(USUAL)
async def a_change_that_comes_again_is_not_made_again(world: World) -> None:
    steps = (
        InsertCell(after="first-cell", cell=code("new-cell", "print(1)")),
        SetCell(id="third-cell", rev=rev(THIRD), source="changed"),
    )
    assert isinstance(await world.change(*steps), Applied)
    before = await world.read()
    result = await world.change(*steps)
    assert isinstance(result, Mismatch)
    assert {cell.id: cell.reason for cell in result.cells} == {
        "new-cell": "exists",
        "third-cell": "changed",
    }
    assert (await world.read()).cells == before.cells


@case(USUAL)
async def changes_at_the_same_time_all_count(world: World) -> None:
    document = await world.open()
    names = [f"cell-{number}" for number in range(10)]
    steps = [InsertCell(after="first-cell", cell=code(name, name)) for name in names]
    results = await asyncio.gather(*(document.change(Change(steps=[step])) for step in steps))
    assert all(isinstance(result, Applied) for result in results)
    found = await world.read()
    assert {cell["id"] for cell in found.cells} >= set(names)
    assert found.nb_rev in {result.nb_rev for result in results}


@case(notebook(code("big-cell", "# a long line of code\n" * 48_000), THIRD))
async def a_source_of_a_megabyte(world: World) -> None:
    [big, _] = (await world.read()).cells
    assert len(big["source"]) > 1_000_000
    source = big["source"].replace("long", "short").upper() + "the end 🎉"
    result = await world.change(SetCell(id="big-cell", rev=rev(big), source=source))
    assert isinstance(result, Applied)
    assert (await world.read()).cells == [{**big, "source": source}, THIRD]


@case(notebook(*(code(f"cell-{i}", f"x{i} = {i}", STREAM) for i in range(2000))))
async def two_thousand_cells(world: World) -> None:
    before = (await world.read()).cells
    assert len(before) == 2000
    result = await world.change(
        SetCell(id="cell-1999", rev=rev(before[1999]), source="the last"),
        MoveCell(id="cell-1999", after=None),
        DeleteCell(id="cell-1000", rev=rev(before[1000])),
    )
    assert isinstance(result, Applied)
    after = [{**before[1999], "source": "the last"}, *before[:1000], *before[1001:1999]]
    assert (await world.read()).cells == after


@case(
    notebook(
        {k: v for k, v in code("", "a = 1").items() if k != "id"},
        {k: v for k, v in code("", "a = 1").items() if k != "id"},
        {k: v for k, v in text("", "words").items() if k != "id"},
        minor=2,
    )
)
async def cells_of_old_notebooks_get_ids(world: World) -> None:
    cells = (await world.read()).cells
    ids = [cell["id"] for cell in cells]
    assert len(set(ids)) == 3
    assert [cell["id"] for cell in (await world.read()).cells] == ids
    result = await world.change(SetCell(id=ids[1], rev=rev(cells[1]), source="a = 2"))
    assert isinstance(result, Applied)
    found = await world.read()
    assert [cell["id"] for cell in found.cells] == ids
    assert [cell["source"] for cell in found.cells] == ["a = 1", "a = 2", "words"]
    saved = await world.saved()
    assert [cell["id"] for cell in saved["cells"]] == ids
    assert saved["nbformat_minor"] == 5


WIDGET = {
    "output_type": "display_data",
    "data": {"application/vnd.jupyter.widget-view+json": {"model_id": "m", "version_major": 2}},
    "metadata": {"theirs": [1]},
}


def of_minor(minor: int) -> dict[str, Any]:
    """A notebook of this minor format, with whatever others may have put there."""
    attached = {"attachments": {"a.png": {"image/png": "AAAA"}}} if minor >= 1 else {}
    cells = [
        # JupyterLab throws away what no text refers to.
        text("", "# Title\n![](attachment:a.png)", metadata={"theirs": {"a": 1}}, **attached),
        code("", "x = 1\ny = 2", STREAM, WIDGET, execution_count=1, metadata={"theirs": 2}),
        text("", "raw", "raw", metadata={"format": "text/x"}),
    ]
    old = [{k: v for k, v in cell.items() if k != "id"} for cell in cells]
    return notebook(*old, minor=minor, theirs={"kept": True}, widgets={"state": {"of": "others"}})


def _others_are_kept(content: dict[str, Any]) -> Callable[[World], Awaitable[None]]:
    async def run(world: World) -> None:
        cells = (await world.read()).cells
        other = "# Other\n![](attachment:a.png)"
        result = await world.change(
            SetCell(id=cells[0]["id"], rev=rev(cells[0]), source=other),
            SetCell(id=cells[1]["id"], rev=rev(cells[1]), metadata={"openhands": {"a": 1}}),
        )
        assert isinstance(result, Applied)
        saved = await world.saved()
        nbformat.validate(saved)
        for key in ("theirs", "widgets"):
            assert saved["metadata"][key] == content["metadata"][key]
        first, second, third = (
            {key: value for key, value in cell.items() if key != "id"} for cell in saved["cells"]
        )
        before = content["cells"]
        assert first == {**before[0], "source": other}
        second["outputs"][0]["text"] = "".join(second["outputs"][0]["text"])
        assert second == {**before[1], "metadata": {"theirs": 2, "openhands": {"a": 1}}}
        assert third == before[2]

    return run


for _minor in (0, 1, 3, 4):
    _content = of_minor(_minor)
    _name = f"what_others_put_into_format_4_{_minor}_stays"
    CASES[_name] = Case(_content, _others_are_kept(_content))


async def cells_of_unknown_types_stay(world: World) -> None:
    """No case: JupyterLab itself opens no notebook with such a cell, so it is never in a tab."""
    odd, third = (await world.read()).cells
    assert odd == UNKNOWN
    result = await world.change(SetCell(id="third-cell", rev=rev(third), source="two"))
    assert isinstance(result, Applied)
    saved = (await world.saved())["cells"]
    assert [cell["source"] for cell in saved] == ["a", "two"]
    assert saved[0] == UNKNOWN


UNKNOWN = {"id": "odd", "cell_type": "widget", "source": "a", "metadata": {}, "more": [1]}


@case(notebook(code("twice", "a"), code("twice", "b"), code("once", "c")))
async def an_id_that_two_cells_have_is_the_first_ones(world: World) -> None:
    cells = (await world.read()).cells
    ids = [cell["id"] for cell in cells]
    assert (ids[0], ids[2], len(set(ids))) == ("twice", "once", 3)
    assert [cell["id"] for cell in (await world.read()).cells] == ids
    result = await world.change(SetCell(id=ids[1], rev=rev(cells[1]), source="b changed"))
    assert isinstance(result, Applied)
    found = (await world.read()).cells
    assert [(cell["id"], cell["source"]) for cell in found] == [
        ("twice", "a"),
        (ids[1], "b changed"),
        ("once", "c"),
    ]


@case(USUAL)
async def what_nbformat_does_not_allow_is_refused(world: World) -> None:
    for step in (
        InsertCell(after=None, cell={**THIRD, "id": "new-cell", "cell_type": "widget"}),
        InsertCell(after=None, cell={**THIRD, "id": "new-cell", "surplus": 1}),
        InsertCell(after=None, cell={**THIRD, "id": "not an id!"}),
        SetCell(id="third-cell", rev=rev(THIRD), outputs=[{"output_type": "none"}]),
    ):
        with pytest.raises(Invalid) as caught:
            await world.change(step)
        assert caught.value.code == "invalid_cell"
    assert (await world.read()).cells == USUAL["cells"]


@case(USUAL)
async def a_change_makes_no_output_trusted(world: World) -> None:
    trusted = {"metadata": {"trusted": True}}
    result = await world.change(
        InsertCell(after=None, cell=code("new-cell", "1", HTML, **trusted)),
        SetCell(id="third-cell", rev=rev(THIRD), outputs=[HTML], metadata={"trusted": True}),
    )
    assert isinstance(result, Applied)
    assert not (await world.read()).state.trusted
    for cell in (await world.saved())["cells"]:
        assert "trusted" not in cell["metadata"]
    again = await world.read()
    assert not again.state.trusted
    assert again.cells[0] == code("new-cell", "1", HTML)


@case(USUAL)
async def lines_end_as_browsers_end_them(world: World) -> None:
    result = await world.change(
        SetCell(id="third-cell", rev=rev(THIRD), source="a\r\nb\rc\n"),
        InsertCell(after="third-cell", cell=code("new-cell", "d\r\ne")),
    )
    assert isinstance(result, Applied)
    cells = (await world.read()).cells
    assert [cell["source"] for cell in cells[2:4]] == ["a\nb\nc\n", "d\ne"]
