"""Sandboxes stand ready before they are needed, a few at most."""

from __future__ import annotations

import asyncio

import pytest
from leftovers import processes_below
from model_server.script import call
from session_tools import events, kernels, until
from waiting import wait_until

from openhands_jupyter.events import CmdRunAction, ErrorObservation, IPythonOutputObservation

pytestmark = pytest.mark.sandbox

CELL = "import os; print(os.getpid())"


async def test_the_first_cell_runs_in_the_kernel_that_stands_ready(manager, model_server):
    model_server.play(call("run_code", code=CELL), call("finish", message="Done."))
    async with manager(isolation="bubblewrap") as sessions:
        session = await sessions.create()
        before = session.info()
        sessions.prewarm(session)
        await wait_until(lambda: len(kernels()) == 1)
        ready = kernels()
        assert session.info() == before, "nothing is on the log of a sandbox that did nothing"
        session.send_message("Go")
        await until(session, "finished")
        (cell,) = events(session, IPythonOutputObservation)
        assert cell.ok
        assert "ended" not in str(cell.outputs), "there is no news of a sandbox before"
        assert kernels() == ready
    assert kernels() == set()


async def test_the_one_that_was_opened_last_stands_ready(manager):
    async with manager(isolation="bubblewrap", prewarm=1) as sessions:
        older, newer = await sessions.create(), await sessions.create()
        sessions.prewarm(older)
        await wait_until(lambda: len(kernels()) == 1)
        first = kernels()
        sessions.prewarm(newer)
        await wait_until(lambda: len(kernels()) == 1 and not kernels() & first)
        # Asked for again while it stands ready, it stays.
        second = kernels()
        sessions.prewarm(newer)
        await asyncio.sleep(0.5)
        assert kernels() == second
    assert kernels() == set()


async def test_a_sandbox_that_was_used_is_not_ended_for_another(manager, model_server):
    model_server.play(
        call("run_code", code="x = 41"),
        call("finish", message="Done."),
        call("run_code", code="print(x + 1)"),
        call("finish", message="Done."),
    )
    async with manager(isolation="bubblewrap", prewarm=1) as sessions:
        used, other = await sessions.create(), await sessions.create()
        sessions.prewarm(used)
        used.send_message("Go")
        await until(used, "finished")
        sessions.prewarm(used)
        sessions.prewarm(other)
        await wait_until(lambda: len(kernels()) == 2)
        last = used.send_message("And now?")
        await until(used, "finished", after=last)
        assert "42" in str(events(used, IPythonOutputObservation)[-1].outputs)


async def test_none_is_started_ahead_where_none_may(manager):
    async with manager(isolation="bubblewrap", prewarm=0) as sessions:
        sessions.prewarm(await sessions.create())
        await asyncio.sleep(0.5)
        assert kernels() == set()


async def test_that_it_cannot_start_is_told_by_the_first_action(
    manager, model_server, monkeypatch, caplog
):
    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere/docker.sock")
    model_server.play(call("execute_bash", command="ls"), call("finish", message="Done."))
    async with manager(isolation="docker") as sessions:
        session = await sessions.create()
        sessions.prewarm(session)
        await asyncio.sleep(1)
        assert session.info().state == "awaiting_user_input"
        assert caplog.text == ""
        session.send_message("Go")
        failed = await until(session, "error")
        assert failed.code == "sandbox_unavailable"
        (action,), (answer,) = events(session, CmdRunAction), events(session, ErrorObservation)
        assert answer.cause == action.id


async def test_closing_while_it_starts_leaves_nothing(manager):
    before = set(processes_below())
    for delay in (0, 0.02, 0.1, 0.3):
        async with manager(isolation="bubblewrap") as sessions:
            sessions.prewarm(await sessions.create())
            await asyncio.sleep(delay)
        await wait_until(lambda: set(processes_below()) <= before)
