"""What holds for cells that are run, in whatever way their notebook is reached."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import pytest
from notebook_contract import FOURTH, SECOND, STREAM, World, code, notebook, rev
from waiting import PATIENCE, wait_until

from openhands_jupyter.errors import Invalid, NotFound
from openhands_jupyter.notebooks.changes import Mismatch, SetCell
from openhands_jupyter.notebooks.running.driving import Runs
from openhands_jupyter.notebooks.running.runs import CellToRun, Run

ON = "go-on"
"""The file that a cell waits for, where it has to wait for something."""

WAIT = f"""import os, time
print('begun', flush=True)
while not os.path.exists('{ON}'):
    time.sleep(0.05)
print('ended')"""


SEEN, UNSEEN = "x = 1  # 53040", "x = 2  # 32300"
"""Sources of cells with the same revision, of the many that are found in a second."""


class RunWorld(NamedTuple):
    """Where a case takes place; the notebook is where its kernel works.

    Attributes
    ----------
    kernels
        Jupyter's own manager of kernels.
    """

    world: World
    runs: Runs
    kernels: Any

    async def start(self, *ids: str, stop_on_error: bool = True) -> Run:
        """Run cells as they are."""
        cells = {cell["id"]: cell for cell in (await self.world.read()).cells}
        wanted = [CellToRun(id=id, rev=rev(cells[id])) for id in ids or cells]
        run = await self.runs.start(self.world.path, wanted, stop_on_error)
        assert isinstance(run, Run)
        return run

    async def ended(self, run: Run) -> str:
        await run.wait(PATIENCE)
        assert run.ended, (run.state, [cell.status for cell in run.cells])
        return run.state

    async def cell(self, id: str) -> dict[str, Any]:
        [found] = [cell for cell in (await self.world.read()).cells if cell["id"] == id]
        return found

    async def text(self, id: str) -> str:
        """What a cell has printed."""
        outputs = (await self.cell(id))["outputs"]
        return "".join(
            "".join(output["text"]) for output in outputs if output["output_type"] == "stream"
        )

    @contextmanager
    def held(self) -> Iterator[Callable[[], None]]:
        """Cells with `WAIT` end when what this gives is called."""
        file = self.world.file.parent / ON
        try:
            yield file.touch
        finally:
            file.unlink(missing_ok=True)


class RunCase(NamedTuple):
    """A test, and what its notebook holds at the beginning."""

    notebook: dict[str, Any]
    run: Callable[[RunWorld], Awaitable[None]]


CASES: dict[str, RunCase] = {}


def case(*cells: dict[str, Any]) -> Callable[[Callable[[RunWorld], Awaitable[None]]], None]:
    def add(run: Callable[[RunWorld], Awaitable[None]]) -> None:
        CASES[run.__name__] = RunCase(notebook(*cells), run)

    return add


SHOWN = """from IPython.display import display, HTML, clear_output
print('gone'); clear_output()
handle = display('first', display_id=True)
display(HTML('<b>x</b>'))
print('a', end=''); print('b', flush=True); print('c')
for i in range(3): print(f'\\r{i}/3', end='', flush=True)
handle.update('second')
6 * 7"""


@case(code("first-cell", "x = 1", STREAM), SECOND, code("third-cell", SHOWN), FOURTH)
async def outputs_are_in_the_notebook(world: RunWorld) -> None:
    await (await world.world.open()).read(())
    run = await world.start()
    assert await world.ended(run) == "done", run.problem
    assert [cell.status for cell in run.cells] == ["done", "skipped", "done", "skipped"]
    first, third = await world.cell("first-cell"), await world.cell("third-cell")
    assert first["outputs"] == []
    assert third["execution_count"] == first["execution_count"] + 1 == run.cells[2].execution_count
    shown, html, text, result = third["outputs"]
    assert shown["data"]["text/plain"] == "'second'"
    assert html["data"]["text/html"] == "<b>x</b>"
    assert (text["name"], "".join(text["text"])) == ("stdout", "ab\nc\n2/3")
    assert result["data"]["text/plain"] == "42"
    assert result["execution_count"] == third["execution_count"]
    assert all(0 <= (run.cells[n].seconds or -1) < PATIENCE for n in (0, 2))
    assert run.cells[2].outputs == third["outputs"]
    # So they are for whoever has read it before.
    again = (await (await world.world.open()).read(["third-cell"])).cells
    assert (again[0]["outputs"], again[2]) == ([], third)
    # All else is as it was, in the file too.
    saved = (await world.world.saved())["cells"]
    assert "".join(saved[2]["outputs"][2]["text"]) == "ab\nc\n2/3"
    assert saved[1]["attachments"] == SECOND["attachments"]


@case(code("first-cell", "1 / 0"), code("second-cell", "x = 'not run'", STREAM))
async def an_error_ends_the_run(world: RunWorld) -> None:
    run = await world.start()
    assert await world.ended(run) == "error"
    assert [cell.status for cell in run.cells] == ["error", "not_run"]
    [output] = (await world.cell("first-cell"))["outputs"]
    assert (output["output_type"], output["ename"]) == ("error", "ZeroDivisionError")
    assert (await world.cell("second-cell"))["outputs"] == [STREAM]


@case(
    code("first-cell", "1 / 0"),
    code("second-cell", "2 / 0", metadata={"tags": ["raises-exception"]}),
    code("third-cell", "print('run')"),
)
async def an_error_that_may_be_ends_nothing(world: RunWorld) -> None:
    run = await world.start("second-cell", "third-cell")
    assert await world.ended(run) == "done"
    assert [cell.status for cell in run.cells] == ["error", "done"]
    run = await world.start("first-cell", "third-cell", stop_on_error=False)
    assert await world.ended(run) == "error"
    assert [cell.status for cell in run.cells] == ["error", "done"]


@case(code("first-cell", "print('a')"), code("second-cell", "print('b')"))
async def a_cell_that_is_another_one_is_not_run(world: RunWorld) -> None:
    wanted = [CellToRun(id="first-cell", rev="0" * 8), CellToRun(id="no-cell", rev="0" * 8)]
    answer = await world.runs.start(world.world.path, wanted)
    assert isinstance(answer, Mismatch)
    assert [(cell.id, cell.reason) for cell in answer.cells] == [
        ("first-cell", "changed"),
        ("no-cell", "gone"),
    ]
    assert answer.cells[0].source == "print('a')"
    assert (await world.cell("first-cell"))["outputs"] == []


@case(code("first-cell", WAIT), code("second-cell", SEEN, STREAM))
async def a_cell_that_is_changed_meanwhile_is_not_run(world: RunWorld) -> None:
    with world.held() as let_go:
        run = await world.start()
        await wait_until(lambda: "begun" in str(run.cells[0].outputs))
        second = await world.cell("second-cell")
        # Its outputs still come to the first one, whose run the person watches.
        first = await world.cell("first-cell")
        await world.world.change(
            SetCell(id="second-cell", rev=rev(second), source=UNSEEN),
            SetCell(id="first-cell", rev=rev(first), source="another one"),
        )
        # What is known of a file is at most a second old.
        await asyncio.sleep(1.1)
        let_go()
        assert await world.ended(run) == "changed"
    assert [cell.status for cell in run.cells] == ["done", "changed"]
    assert rev(second) == rev(second, UNSEEN)
    assert [(wrong.id, wrong.source) for wrong in run.mismatch] == [("second-cell", UNSEEN)]
    assert (await world.cell("second-cell"))["outputs"] == [STREAM]
    first = await world.cell("first-cell")
    assert first["source"] == "another one"
    assert await world.text("first-cell") == "begun\nended\n"
    assert run.problem is None and run.cells[0].written


@case(code("first-cell", WAIT), code("second-cell", "print('next')"))
async def a_long_run_tells_how_far_it_is(world: RunWorld) -> None:
    with world.held() as let_go:
        run = await world.start("first-cell")
        assert world.runs.get(run.id) is run
        await wait_until(lambda: "begun" in str(run.cells[0].outputs))
        assert await run.wait(0.01) == "running"
        assert run.cells[0].status == "running"
        # What there is so far comes to the notebook too.
        while "begun" not in await world.text("first-cell"):
            assert not run.ended
            await asyncio.sleep(0.1)
        # Another run of this notebook comes behind it, and one that is stopped is none.
        other, stopped = await world.start("second-cell"), await world.start("second-cell")
        stopped.stop()
        assert await other.wait(0.2) == "queued"
        assert stopped.state == "interrupted"
        let_go()
        assert await world.ended(run) == "done"
        assert await world.ended(other) == "done"
    assert stopped.cells[0].status == "not_run"
    assert await world.text("first-cell") == "begun\nended\n"
    assert other.cells[0].execution_count == (run.cells[0].execution_count or 0) + 1
    with pytest.raises(NotFound):
        world.runs.get("no-such-run")


@case(code("first-cell", WAIT), code("second-cell", "x = 1", STREAM))
async def a_run_is_stopped(world: RunWorld) -> None:
    run = await world.start()
    await wait_until(lambda: "begun" in str(run.cells[0].outputs))
    run.stop()
    assert await world.ended(run) == "interrupted"
    assert [cell.status for cell in run.cells] == ["interrupted", "not_run"]
    outputs = (await world.cell("first-cell"))["outputs"]
    assert [output["output_type"] for output in outputs] == ["stream", "error"]
    assert outputs[1]["ename"] == "KeyboardInterrupt"


@case(
    code("first-cell", "print('so far', flush=True)\nimport os, signal\nos.kill(os.getpid(), 9)"),
    code("second-cell", "print('again')"),
)
async def a_kernel_that_dies_ends_the_run(world: RunWorld) -> None:
    run = await world.start()
    assert await world.ended(run) == "kernel_dead"
    assert [cell.status for cell in run.cells] == ["unknown", "not_run"]
    # Jupyter starts it again, with nothing in it.
    run = await world.start("second-cell")
    assert await world.ended(run) == "done"
    assert run.cells[0].execution_count == 1


@case(code("first-cell", WAIT), code("second-cell", "print('again')", STREAM))
async def a_kernel_that_the_person_restarts_ends_the_run(world: RunWorld) -> None:
    run = await world.start()
    await wait_until(lambda: "begun" in str(run.cells[0].outputs))
    await world.kernels.restart_kernel(run.kernel, now=True)
    assert await world.ended(run) == "kernel_dead"
    assert [cell.status for cell in run.cells] == ["unknown", "not_run"]
    assert await world.text("first-cell") == "begun\n"
    assert (await world.cell("second-cell"))["outputs"] == [STREAM]
    run = await world.start("second-cell")
    assert await world.ended(run) == "done"
    assert run.cells[0].execution_count == 1


@case(code("first-cell", "name = input('Your name? ')"), code("second-cell", "x = 1"))
async def a_cell_that_asks_can_be_stopped(world: RunWorld) -> None:
    run = await world.start()
    assert await run.wait(PATIENCE) == "awaiting_input"
    # In a tab it is the page that asks.
    in_tab = (await world.world.open()).delivery == "tab"
    assert run.prompt == (None if in_tab else "Your name? ")
    run.stop()
    await wait_until(lambda: run.ended)
    assert run.state == "interrupted"
    assert [cell.status for cell in run.cells] == ["interrupted", "not_run"]
    assert run.prompt is None


@case(code("first-cell", "for i in range(20000): print(i, 'x' * 80)"))
async def a_long_output_is_kept(world: RunWorld) -> None:
    run = await world.start()
    assert await world.ended(run) == "done"
    text = await world.text("first-cell")
    assert text == "".join(f"{i} {'x' * 80}\n" for i in range(20000))


@case(*(code(f"cell-{i}", f"print({i})") for i in range(200)))
async def two_hundred_quick_cells(world: RunWorld) -> None:
    run = await world.start()
    assert await world.ended(run) == "done"
    assert {cell.status for cell in run.cells} == {"done"}
    assert run.problem is None
    cells = (await world.world.read()).cells
    assert [cell.outputs for cell in run.cells] == [cell["outputs"] for cell in cells]
    assert ["".join(cell["outputs"][0]["text"]) for cell in cells] == [f"{i}\n" for i in range(200)]
    counts = [cell["execution_count"] for cell in cells]
    assert counts == list(range(counts[0], counts[0] + 200))


@case(
    code("first-cell", "%%openhands\ntidy this up"),
    code("second-cell", "%openhands inject more"),
    code("third-cell", "get_ipython().run_cell_magic('openhands', '', 'task')"),
    code("fourth-cell", "openhands = '100 %openhands'"),
)
async def no_agent_is_started(world: RunWorld) -> None:
    for id in ("first-cell", "second-cell", "third-cell"):
        with pytest.raises(Invalid) as caught:
            await world.start("fourth-cell", id)
        assert caught.value.code == "cell_runs_agent"
    run = await world.start("fourth-cell")
    assert await world.ended(run) == "done"
