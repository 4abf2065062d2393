"""Workspaces that take long to be kept: progress, a way to stop, and an end to the patience."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable

import pytest
from model_server.script import call
from session_tools import events, until
from waiting import PATIENCE

from openhands_jupyter.controller import checkpointing
from openhands_jupyter.events import (
    CheckpointObservation,
    CmdOutputObservation,
    CmdRunAction,
    ErrorObservation,
    NoCheckpointObservation,
)
from openhands_jupyter.runtime.checkpoints import CheckpointStore

FINISH = call("finish", message="Done.")
COMMAND = call("execute_bash", command="echo x > made")


@pytest.fixture
def slow(monkeypatch):
    """Makes every checkpoint take until it is set, as if there were always more to read."""
    done = threading.Event()
    take = CheckpointStore.take

    def slow_take(self, progress: Callable[[int, int], None], **options):
        megabytes = 0
        while not done.is_set():
            megabytes += 1
            progress(megabytes * 1_000_000, 900_000_000)
            time.sleep(0.01)
        return take(self, progress, **options)

    monkeypatch.setattr(CheckpointStore, "take", slow_take)
    yield done
    done.set()


async def shown(session) -> str:
    """What is shown live at the first action, once anything is."""
    async with asyncio.timeout(PATIENCE):
        async for items in session.stream.live.subscribe():
            for item in items:
                if item.kind == "output" and item.text:
                    return item.text
    raise AssertionError("nothing was shown")


async def test_progress_is_shown_and_the_action_waits(manager, model_server, workspace, slow):
    model_server.play(COMMAND, FINISH)
    async with manager() as sessions:
        session = await sessions.create()
        session.send_message("Go")
        text = await shown(session)
        assert text.startswith("[Keeping the files as they are, for undo: ")
        assert text.rstrip().endswith("of 900 MB]")
        assert not (workspace / "made").exists()
        slow.set()
        await until(session, "finished")
        assert (workspace / "made").exists()
        assert events(session, CheckpointObservation)


async def test_it_is_stopped_before_the_action_begins(manager, model_server, workspace, slow):
    model_server.play(COMMAND, FINISH)
    async with manager() as sessions:
        session = await sessions.create()
        session.send_message("Go")
        await shown(session)
        session.command("stop")
        stopped = await until(session, "stopped")
        (answer,) = events(session, ErrorObservation)
        assert (answer.code, answer.message) == ("stopped", "Stopped before it was executed.")
        assert not (workspace / "made").exists()
        assert events(session, NoCheckpointObservation) == []
        slow.set()
        model_server.play(COMMAND, FINISH)
        session.send_message("Go on")
        await until(session, "finished", after=stopped.id)
        assert (workspace / "made").exists()
        assert events(session, CheckpointObservation)


async def test_after_some_time_the_agent_goes_on_without(
    manager, model_server, workspace, slow, monkeypatch
):
    monkeypatch.setattr(checkpointing, "LONGEST_TAKE", 0.3)
    model_server.play(COMMAND, COMMAND, FINISH, COMMAND, FINISH)
    async with manager() as sessions:
        session = await sessions.create()
        for _ in range(2):
            id = session.send_message("Go")
            await until(session, "finished", after=id)
        (told,) = events(session, NoCheckpointObservation)
        assert told.code == "checkpoint_too_slow"
        assert told.action == events(session, CmdRunAction)[0].id
        assert [e.exit_code for e in events(session, CmdOutputObservation)] == [0, 0, 0]
        assert (workspace / "made").exists()


async def test_a_session_is_closed_while_files_are_kept(manager, model_server, workspace, slow):
    model_server.play(COMMAND, FINISH)
    async with manager() as sessions:
        session = await sessions.create()
        session.send_message("Go")
        await shown(session)
        async with asyncio.timeout(PATIENCE):
            await session.close()
        assert not (workspace / "made").exists()
        assert session.controller.state.open_calls == {}


async def test_an_undo_waits_until_the_end_of_the_turn_is_kept(
    manager, model_server, workspace, monkeypatch
):
    goes_on = threading.Event()
    take = CheckpointStore.take

    def slow_at_the_end(self, progress: Callable[[int, int], None], **options):
        if options.get("end"):
            assert goes_on.wait(PATIENCE)
        return take(self, progress, **options)

    monkeypatch.setattr(CheckpointStore, "take", slow_at_the_end)
    model_server.play(COMMAND, FINISH)
    async with manager() as sessions:
        session = await sessions.create(mode="auto")
        session.send_message("Go")
        await until(session, "finished")
        looking = asyncio.create_task(session.files.undo_preview(None))
        # With what was kept last, before the only action, it would find nothing.
        done, _ = await asyncio.wait([looking], timeout=0.3)
        assert not done
        goes_on.set()
        assert [change.path for change in (await looking).changes] == ["made"]
