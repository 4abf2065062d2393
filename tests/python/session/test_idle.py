"""What nobody uses is let go, is said so, and is there again when it is needed."""

from __future__ import annotations

import asyncio

import pytest
from model_server.script import call
from session_tools import events, kernels, until
from waiting import PATIENCE, wait_until

from openhands_jupyter.events import (
    CmdOutputObservation,
    IPythonOutputObservation,
    SandboxReleasedObservation,
)

pytestmark = pytest.mark.sandbox

SOON = 0.02
"""Minutes without use."""


@pytest.fixture
def idle(manager):
    """Opens a manager whose sandboxes are released after about a second."""
    return lambda **options: manager(
        **{"isolation": "bubblewrap", "idle_timeout": SOON, "prewarm": 0, **options}
    )


async def run(session, model_server, *calls):
    model_server.play(*calls, call("finish", message="Done."))
    last = session.send_message("Go")
    await until(session, "finished", after=last)


async def released(session, times=1):
    async with asyncio.timeout(PATIENCE):
        while len(events(session, SandboxReleasedObservation)) < times:
            await asyncio.sleep(0.05)


async def keep_watching(session):
    async for _ in session.stream.subscribe():
        pass


async def test_a_sandbox_is_released_and_wakes(idle, model_server):
    async with idle() as sessions:
        session = await sessions.create()
        watching = asyncio.create_task(keep_watching(session))
        await run(
            session,
            model_server,
            call("run_code", code="x = 41"),
            call("execute_bash", command="export y=1"),
        )
        await released(session)
        await wait_until(lambda: kernels() == set())
        info = session.info()
        assert (info.asleep, info.isolation, info.state) == (True, None, "finished")
        (event,) = events(session, SandboxReleasedObservation)
        assert event.time > info.updated, "it does not come to the top of the list for that"
        await asyncio.sleep(3)
        assert len(events(session, SandboxReleasedObservation)) == 1, "it is released once"

        await run(
            session,
            model_server,
            call("execute_bash", command="echo ${y-gone}"),
            call("run_code", code="print('x' in globals())"),
        )
        info = session.info()
        assert not info.asleep and info.isolation is not None
        command = events(session, CmdOutputObservation)[-1]
        cell = events(session, IPythonOutputObservation)[-1]
        for told in (command.content, str(cell.outputs)):
            assert "was released after 0.02 minutes without use" in told
        assert command.content.endswith("gone\n")
        assert "False" in str(cell.outputs)
        watching.cancel()


@pytest.mark.parametrize(
    "kept_busy",
    [
        call("execute_bash", command="sleep 600 &"),
        call("execute_bash", command="setsid nohup sleep 600 >/dev/null 2>&1 &"),
        call(
            "run_code",
            code="import subprocess; p = subprocess.Popen(['sleep', '600'])",
        ),
    ],
)
async def test_what_works_in_the_background_keeps_it_awake(idle, model_server, kept_busy):
    async with idle() as sessions:
        session = await sessions.create()
        await run(session, model_server, kept_busy)
        await asyncio.sleep(4)
        assert events(session, SandboxReleasedObservation) == []
        await run(
            session,
            model_server,
            call("execute_bash", command="pkill sleep; jobs -p | xargs -r kill; true"),
            call("run_code", code="'p' in globals() and p.wait()"),
        )
        await released(session)


async def test_helpers_of_multiprocessing_do_not(idle, model_server):
    code = "from multiprocessing import resource_tracker; resource_tracker.ensure_running()"
    async with idle() as sessions:
        session = await sessions.create()
        await run(session, model_server, call("run_code", code=code))
        await released(session)


async def test_an_action_that_waits_for_approval_keeps_it_awake(idle, model_server):
    async with idle() as sessions:
        session = await sessions.create()
        model_server.play(
            call("run_code", code="x = 41"),
            call("execute_bash", command="rm -rf ~"),
            call("run_code", code="print(x + 1)"),
            call("finish", message="Done."),
        )
        session.send_message("Go")
        await until(session, "awaiting_user_confirmation")
        await asyncio.sleep(4)
        session.confirm(session.info().pending, "reject")
        await until(session, "finished")
        assert events(session, SandboxReleasedObservation) == []
        assert "42" in str(events(session, IPythonOutputObservation)[-1].outputs)


async def test_zero_is_never(idle, model_server):
    async with idle(idle_timeout=0) as sessions:
        session = await sessions.create()
        await run(session, model_server, call("run_code", code="x = 41"))
        await asyncio.sleep(4)
        assert len(kernels()) == 1


async def test_a_session_that_nobody_looks_at_is_closed_and_opened_again(idle, model_server):
    async with idle() as sessions:
        session = await sessions.create("Kept")
        await run(session, model_server, call("execute_bash", command="echo 1"))
        await wait_until(lambda: session.closed)
        log = events(session)
        (listed,) = await sessions.list()
        assert (listed.open, listed.title, listed.state) == (False, "Kept", "finished")
        again = await sessions.open(session.id)
        assert again is not session
        assert events(again) == log, "nothing is lost, and closing adds nothing"
        await run(again, model_server, call("execute_bash", command="echo 2"))
        assert events(again, CmdOutputObservation)[-1].content.endswith("2\n")


async def test_a_session_that_is_watched_stays_open(idle, model_server):
    async with idle() as sessions:
        session = await sessions.create()
        watching = asyncio.create_task(keep_watching(session))
        await run(session, model_server, call("execute_bash", command="echo 1"))
        await released(session)
        await asyncio.sleep(3)
        assert not session.closed
        watching.cancel()
        await wait_until(lambda: session.closed)


async def test_auto_mode_and_pauses_are_not_forgotten(idle, model_server):
    async with idle() as sessions:
        session = await sessions.create(mode="auto")
        await run(session, model_server, call("execute_bash", command="echo 1"))
        await released(session)
        await asyncio.sleep(3)
        assert not session.closed and session.info().mode == "auto"


async def test_opening_while_it_is_closed_gives_a_working_session(idle, model_server):
    async with idle() as sessions:
        session = await sessions.create()
        await run(session, model_server, call("execute_bash", command="echo 1"))
        for _ in range(20):
            await asyncio.sleep(0.2)
            found = await sessions.open(session.id)
            assert not found.closed
            found.rename("Used")
