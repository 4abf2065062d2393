"""Cells that a real kernel runs, of notebooks that nobody has open."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from notebook_contract import STREAM, World, code, notebook
from notebook_runs import CASES, WAIT, RunWorld
from read_only import read_only
from waiting import wait_until

from openhands_jupyter.errors import Conflict
from openhands_jupyter.notebooks.running import listening
from openhands_jupyter.notebooks.running import printed as printed_module
from openhands_jupyter.notebooks.running.printed import Printed
from openhands_jupyter.notebooks.running.runs import CellRun

PATH = "notebook.ipynb"
WAITING = notebook(code("first-cell", WAIT), code("second-cell", "x = 1", STREAM))


@pytest.mark.parametrize(
    ("text", "more", "kept"),
    [
        ("10%", "\r20%", "20%"),
        ("10%\r", "\r20%\n", "20%\n"),
        ("done\r", "\nnext", "done\r\nnext"),
        ("a\nab", "\bc\b\b\bd", "a\n\bd"),
        ("x" * 1_000_000, "\r" * 1_000_000 + "end", "end"),
        ("x" * 1_000_000, "\b" * 1_000_000 + "end", "end"),
        ("", "x" * 1_000_000, "x" * 1_000_000),
    ],
    ids=[
        "written over",
        "returned before",
        "end of line",
        "rubbed out",
        "returns",
        "backs",
        "long",
    ],
)
def test_what_is_printed_over_a_line_takes_time_by_its_length_alone(
    text: str, more: str, kept: str
) -> None:
    # The long ones would take minutes, with the server at a stand, if the time grew by its square.
    printed = Printed()
    printed.write(text)
    printed.write(more)
    assert printed.text == kept


PIECES = st.text("ab\r\b\n", max_size=6)


@given(st.lists(PIECES), st.integers(1, 4), st.integers(1, 4))
def test_a_text_is_the_same_however_it_is_kept(pieces: list[str], most: int, near: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(printed_module, "MOST_PIECES", most)
        patch.setattr(printed_module, "NEAR", near)
        printed, plain = Printed(), ""
        for piece in pieces:
            printed.write(piece)
            start = plain.rfind("\n") + 1
            lines = (plain[start:] + piece).split("\n")
            plain = plain[:start] + "\n".join(over(rubbed_out(line)) for line in lines)
            assert printed.text == plain


def rubbed_out(line: str) -> str:
    kept: list[str] = []
    for character in line:
        if character == "\b" and kept:
            kept.pop()
        else:
            kept.append(character)
    return "".join(kept)


def over(line: str) -> str:
    return line[line.rstrip("\r").rfind("\r") + 1 :]


@pytest.mark.parametrize("piece", ["x", "x\n", "x\b", "\r", "\rx", "\b"])
def test_many_pieces_take_time_by_their_number_alone(piece: str) -> None:
    def seconds(number: int) -> float:
        printed = Printed()
        # A long line, of which something may be rubbed out.
        printed.write("y" * 50 * number)
        before = time.process_time()
        for _ in range(number):
            printed.write(piece)
        return time.process_time() - before

    assert seconds(80_000) < 8 * seconds(20_000) + 0.1


def test_what_nobody_follows_yet_is_kept_within_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listening, "LONGEST", 1_000)
    early = listening._Early()
    text = {"msg_type": "stream", "content": {"name": "stdout", "text": "x" * 100}}
    for _ in range(50):
        early.keep("of the person", text)
    begins = {"msg_type": "execute_input", "content": {"code": "y" * 2_000}}
    early.keep("ours", begins)
    assert len(early.of("of the person")) == 10
    assert early.of("ours") == [begins]
    monkeypatch.setattr(listening, "KEPT_FOR", -1.0)
    early.keep("ours", text)
    assert early.of("ours") == [text]


@pytest.mark.parametrize("data", [{"application/json": ["x" * 1_000] * 100}, {}])
def test_what_is_no_text_is_kept_up_to_the_limit_too(
    data: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listening, "LONGEST", 1_000_000)
    cell = CellRun("a-cell", "00000000", "show()")
    outputs = listening._Outputs([cell], lambda cell: None)
    outputs.begin(cell)
    message = {
        "msg_type": "display_data",
        "header": {"msg_type": "display_data"},
        "parent_header": {},
        "content": {"data": data, "metadata": {}, "transient": {}},
    }
    for _ in range(20_000):
        outputs.take(message, cell)
    shown = cell.outputs or []
    assert len(json.dumps(shown)) < 2_000_000
    assert "is not kept" in shown[-1]["text"]


@pytest.fixture
def jp_server_config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The extension alone."""
    monkeypatch.setenv("OPENHANDS_HOME", str(tmp_path / "openhands-home"))
    return {
        "ServerApp": {
            "jpserver_extensions": {"openhands_jupyter": True, "jupyter_server_terminals": False},
        },
        "OpenHandsExtension": {"prewarm": 0},
    }


@pytest.fixture
def world(jp_serverapp: Any) -> RunWorld:
    """A notebook of a real server, which is not written yet."""
    services = jp_serverapp.web_app.settings["openhands"]
    world = World(services.notebooks, PATH, Path(jp_serverapp.root_dir, PATH))
    return RunWorld(world, services.runs, jp_serverapp.kernel_manager)


@pytest.mark.parametrize("name", CASES)
async def test_the_contract_holds_for_files(world: RunWorld, name: str) -> None:
    world.world.file.write_text(json.dumps(CASES[name].notebook))
    assert (await world.world.open()).delivery == "disk"
    await CASES[name].run(world)


def write(world: RunWorld, content: dict[str, Any]) -> None:
    world.world.file.write_text(json.dumps(content))


async def test_the_kernel_is_that_of_the_notebook(world: RunWorld, jp_serverapp: Any) -> None:
    write(world, WAITING)
    with world.held() as let_go:
        let_go()
        first, second = await world.start(), await world.start("second-cell")
        assert [await world.ended(run) for run in (first, second)] == ["done", "done"]
    [session] = await jp_serverapp.session_manager.list_sessions()
    assert (session["path"], session["name"], session["type"]) == (PATH, PATH, "notebook")
    assert session["kernel"]["name"] == "python3"
    assert session["kernel"]["id"] == first.kernel == second.kernel
    assert session["kernel"]["connections"] == 0


async def test_a_kernel_that_is_not_installed(world: RunWorld, jp_serverapp: Any) -> None:
    kernelspec = {"name": "no-such", "display_name": "No such", "language": "none"}
    write(world, notebook(code("first-cell", "1"), kernelspec=kernelspec))
    run = await world.start()
    assert await world.ended(run) == "error"
    assert "'no-such', which is not installed" in str(run.problem)
    assert run.cells[0].status == "not_run"
    assert await jp_serverapp.session_manager.list_sessions() == []


async def test_what_a_person_runs_is_not_interrupted(world: RunWorld, jp_serverapp: Any) -> None:
    lasts = code("first-cell", "while True: time.sleep(0.05)")
    write(world, notebook(lasts, code("second-cell", "import time")))
    first = await world.start("second-cell")
    await world.ended(first)
    person = jp_serverapp.kernel_manager.get_kernel(first.kernel).client()
    person.start_channels()
    try:
        with world.held() as let_go:
            began = world.world.file.with_name("began")
            # That the kernel is busy would not say with whose cell.
            person.execute(f"open('{began}', 'w').close()\n{WAIT}")
            await wait_until(began.exists)
            run = await world.start("first-cell")
            await wait_until(lambda: run.cells[0].status == "waiting")
            run.stop()
            # It does not begin before the person's own cell has ended, and is stopped then.
            assert await run.wait(0.5) == "running"
            assert run.cells[0].status == "waiting"
            let_go()
            reply = await person.get_shell_msg(timeout=60)
            while reply["msg_type"] != "execute_reply":
                reply = await person.get_shell_msg(timeout=60)
            assert reply["content"]["status"] == "ok"
            assert await world.ended(run) == "interrupted"
    finally:
        person.stop_channels()


async def test_a_notebook_that_is_deleted_meanwhile(world: RunWorld) -> None:
    write(world, WAITING)
    with world.held() as let_go:
        run = await world.start("first-cell")
        await wait_until(lambda: "begun" in str(run.cells[0].outputs))
        world.world.file.unlink()
        let_go()
        assert await world.ended(run) == "done"
    assert "There is no notebook" in str(run.problem)
    assert not run.cells[0].written
    assert "ended" in str(run.cells[0].outputs)


async def test_a_cell_that_is_deleted_meanwhile(world: RunWorld) -> None:
    write(world, WAITING)
    with world.held() as let_go:
        run = await world.start("first-cell")
        await wait_until(lambda: "begun" in str(run.cells[0].outputs))
        write(world, {**WAITING, "cells": WAITING["cells"][1:]})
        let_go()
        assert await world.ended(run) == "done"
    assert not run.cells[0].written
    assert len((await world.world.read()).cells) == 1


async def test_more_than_can_be_kept(world: RunWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listening, "LONGEST", 1_000)
    write(world, notebook(code("first-cell", "for i in range(99): print('x' * 99, flush=True)")))
    run = await world.start()
    assert await world.ended(run) == "done"
    text = await world.text("first-cell")
    assert text.count("x") <= 1_000
    assert text.count("what follows is not kept") == 1


async def test_a_notebook_that_takes_no_outputs(world: RunWorld, jp_serverapp: Any) -> None:
    with read_only(Path(jp_serverapp.root_dir, "fixed"), {PATH: json.dumps(WAITING)}):
        world = world._replace(world=world.world._replace(path=f"fixed/{PATH}"))
        with pytest.raises(Conflict) as caught:
            await world.start("second-cell")
        assert caught.value.code == "notebook_read_only"


async def test_a_server_that_stops_keeps_what_it_has_heard(world: RunWorld) -> None:
    write(world, WAITING)
    run = await world.start()
    await wait_until(lambda: "begun" in str(run.cells[0].outputs))
    await world.runs.close()
    assert run.state == "unknown"
    assert await world.text("first-cell") == "begun\n"
