"""The check of a notebook, with a kernel that answers what the test wants."""

from __future__ import annotations

from typing import Any

from openhands_jupyter.notebooks.cleanroom.checking import FileTrouble, Ran, Report, check
from openhands_jupyter.notebooks.names.graph import OutOfOrder, UsedEarly


def code(id: str, source: str, *printed: str, count: int | None = 1, **more: Any) -> dict[str, Any]:
    outputs = [out(text) for text in printed]
    cell = {"cell_type": "code", "id": id, "metadata": {}, "source": source}
    return {**cell, "outputs": outputs, "execution_count": count, **more}


def out(text: str) -> dict[str, Any]:
    return {"output_type": "stream", "name": "stdout", "text": text}


def error(name: str, value: str) -> dict[str, Any]:
    return {"output_type": "error", "ename": name, "evalue": value, "traceback": []}


async def checked(cells: list[dict[str, Any]], **answers: Ran) -> Report:
    async def run(source: str) -> Ran:
        return answers.get(source, Ran())

    return await check(cells, run, {"/copy": "/mine"})


async def test_what_is_told_of_each_cell() -> None:
    cells = [
        {"cell_type": "markdown", "id": "text", "metadata": {}, "source": "# x"},
        code("same", "a", "/mine/1"),
        code("other", "b\n1", "1", "\n2"),
        code("silent", "c"),
        code("fresh", "d", count=None),
        code("empty", "  "),
    ]
    report = await checked(cells, a=Ran(outputs=[out("/copy/1")]), d=Ran(outputs=[out("1")]))
    assert [(cell.number, cell.outcome) for cell in report.cells] == [
        (2, "same"),
        (3, "different"),
        (4, "same"),
        (5, "not_compared"),
    ]
    assert report.cells[1].title == "b"
    assert report.cells[1].diff == "@@ -1,2 +1 @@\n-1\n-2\n+"
    assert report.outcome == "different"


async def test_it_ends_where_a_cell_fails() -> None:
    cells = [code("one", "a"), code("two", "b"), code("three", "c")]
    failing = Ran(outputs=[error("FileNotFoundError", "[Errno 2] No such file: '/x/y.csv'")])
    report = await checked(cells, b=failing)
    assert [cell.outcome for cell in report.cells] == ["same", "failed", "not_run"]
    assert report.cells[1].problem == "FileNotFoundError: [Errno 2] No such file: '/x/y.csv'"
    assert report.troubles == [FileTrouble(path="/x/y.csv", why="No such file")]
    assert report.outcome == "failed"


async def test_a_cell_that_does_not_end_failed() -> None:
    report = await checked([code("one", "a")], a=Ran(stopped="It did not end in time."))
    assert report.cells[0].problem == "It did not end in time."


async def test_errors_that_are_expected() -> None:
    cells = [
        code("saved", "a", outputs=[error("ValueError", "bad")]),
        code("tagged", "b", metadata={"tags": ["raises-exception"]}),
        code("another", "c", outputs=[error("ValueError", "bad")]),
    ]
    report = await checked(
        cells,
        a=Ran(outputs=[error("ValueError", "worse")]),
        b=Ran(outputs=[error("KeyError", "x")]),
        c=Ran(outputs=[error("KeyError", "x")]),
    )
    assert [cell.outcome for cell in report.cells] == ["different", "different", "failed"]


async def test_hidden_state_is_told_from_what_is_saved() -> None:
    cells = [code("use", "print(x)", count=3), code("define", "x = 1", count=2)]
    report = await checked(cells)
    assert report.used_early == [UsedEarly(id="use", name="x", defined_in="define")]
    assert report.out_of_order == [OutOfOrder(id="define", count=2, count_above=3)]
    assert report.outcome == "same"
