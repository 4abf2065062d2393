"""Sessions are made, listed, found again, kept apart and removed."""

from __future__ import annotations

import asyncio
import os

import pytest
from session_tools import events, until
from waiting import PATIENCE, wait_until

from openhands_jupyter.config import Config
from openhands_jupyter.errors import Conflict, Invalid, NotFound, OpenHandsError
from openhands_jupyter.events import (
    AgentStateChangedObservation,
    CmdRunAction,
    ErrorObservation,
    UserMessageAction,
)
from openhands_jupyter.session import SessionManager


async def test_a_session_is_found_again_with_all_that_happened(manager, workspace):
    async with manager(model="tour") as sessions:
        session = await sessions.create()
        session.send_message("Write a Python script that computes Fibonacci numbers and run it")
        await until(session, "finished")
        before = session.info()
        log = events(session)
    async with manager() as sessions:
        (listed,) = await sessions.list()
        assert not listed.open
        again = await sessions.open(before.id)
        after = again.info()
        assert events(again)[: len(log)] == log
        for name in ("title", "state", "mode", "model", "steps", "workspace", "created"):
            assert getattr(after, name) == getattr(before, name) == getattr(listed, name)
        last = again.send_message("Write a Python script that computes Fibonacci numbers")
        await until(again, "finished", after=last)
    assert (workspace / "fib.py").exists()


async def test_the_first_message_gives_the_title_and_the_person_can_change_it(manager):
    async with manager(model="tour") as sessions:
        session = await sessions.create()
        session.send_message("count\n the   files " + "very " * 30 + "quickly")
        title = session.info().title
        assert title.startswith("count the files very")
        assert len(title) <= 60
        session.rename("Counting")
        session.send_message("and more")
        assert session.info().title == "Counting"
    async with manager() as sessions:
        assert [info.title for info in await sessions.list()] == ["Counting"]


async def test_the_newest_comes_first(manager):
    async with manager(model="tour") as sessions:
        first = await sessions.create("first")
        second = await sessions.create("second")
        assert [info.title for info in await sessions.list()] == ["second", "first"]
        first.send_message("hello")
        assert [info.id for info in await sessions.list()] == [first.id, second.id]


async def test_a_session_stays_with_its_folder(manager, workspace, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    async with manager(model="tour") as sessions:
        made = await sessions.create("here")
    async with manager(root=elsewhere) as sessions:
        assert await sessions.list() == []
        for attempt in (sessions.open, sessions.delete):
            with pytest.raises(NotFound) as caught:
                await attempt(made.id)
            assert str(workspace) in caught.value.message
    async with manager(root=tmp_path) as sessions:
        assert [info.title for info in await sessions.list()] == ["here"]
        assert (await sessions.open(made.id)).id == made.id


async def test_two_processes_never_have_one_session(manager):
    async with manager() as one, manager() as two:
        session = await one.create("mine")
        with pytest.raises(Conflict) as caught:
            await two.open(session.id)
        assert caught.value.code == "session_in_use"
        assert caught.value.hint
        with pytest.raises(Conflict):
            await two.delete(session.id)
        assert [info.title for info in await two.list()] == ["mine"]
        await one.close()
        assert (await two.open(session.id)).info().title == "mine"


async def test_opening_at_once_gives_one_session(manager):
    async with manager() as sessions:
        made = await sessions.create()
    async with manager() as sessions:
        opened = await asyncio.gather(*(sessions.open(made.id) for _ in range(5)))
        assert len({id(session) for session in opened}) == 1


async def test_deleting_removes_everything_but_the_workspace(manager, workspace, tmp_path):
    (workspace / "kept.txt").write_text("kept")
    async with manager(model="tour") as sessions:
        session = await sessions.create()
        session.send_message("show me what you can do")
        await until(session, "running")
        await sessions.delete(session.id)
        assert await sessions.list() == []
        with pytest.raises(NotFound):
            await sessions.open(session.id)
        with pytest.raises(NotFound):
            await sessions.delete(session.id)
    assert list((tmp_path / "home" / "sessions").iterdir()) == []
    assert (workspace / "kept.txt").read_text() == "kept"


@pytest.mark.parametrize("name", ["nope", "", "..", "../../etc", "0" * 31, "g" * 32])
async def test_an_unknown_session_is_not_found(manager, name):
    async with manager() as sessions:
        with pytest.raises(NotFound):
            await sessions.open(name)


@pytest.mark.parametrize("given", ["../", "/", "/etc", "nowhere", "link"])
async def test_a_workspace_elsewhere_is_refused(manager, workspace, given):
    (workspace / "link").symlink_to("/etc")
    async with manager() as sessions:
        with pytest.raises(Invalid):
            await sessions.create(workspace=given)
        assert await sessions.list() == []


async def test_home_itself_is_no_workspace_but_a_folder_in_it_is(
    manager, workspace, monkeypatch, tmp_path
):
    monkeypatch.setenv("HOME", str(workspace))
    async with manager() as sessions:
        assert (await sessions.create()).info().workspace == str(workspace / "openhands")
        with pytest.raises(Invalid) as caught:
            await sessions.create(workspace=".")
        assert caught.value.hint


async def test_settings_are_the_sessions_own(manager):
    async with manager(model="tour", step_limit=7) as sessions:
        one, two = await sessions.create(mode="ask"), await sessions.create()
        two.change_settings(mode="auto", step_limit=3)
        assert (one.info().mode, one.info().step_limit) == ("ask", 7)
        assert (two.info().mode, two.info().step_limit) == ("auto", 3)


async def test_changes_are_told(manager):
    async with manager(model="tour") as sessions:
        session = await sessions.create()
        told = []

        async def watch() -> None:
            async for info in session.keeping.changed():
                told.append((info.title, info.mode))

        watching = asyncio.create_task(watch())
        await asyncio.sleep(0)
        for title in ("a", "b"):
            session.rename(title)
            await wait_until(lambda title=title: told[-1:] == [(title, "agent")])
        session.change_settings(mode="ask")
        # Told when it is safe on the disk.
        await wait_until(lambda: len(told) > 2)
        assert told == [("a", "agent"), ("b", "agent"), ("b", "ask")]
        await sessions.close()
        await asyncio.wait_for(watching, PATIENCE)


async def test_commands_that_make_no_sense_are_refused(manager):
    async with manager(model="tour") as sessions:
        session = await sessions.create()
        for command in ("run", "pause", "stop"):
            with pytest.raises(Conflict):
                session.command(command)
        with pytest.raises(Invalid):
            session.send_message(" \n ")
        with pytest.raises(NotFound):
            session.confirm(10_000, "approve")
        with pytest.raises(Conflict):
            session.confirm(0, "approve")
        assert events(session, UserMessageAction) == []


async def test_a_decision_can_be_repeated_but_not_changed(manager, workspace):
    (workspace / "a.tmp").write_text("x")
    async with manager(model="tour") as sessions:
        session = await sessions.create()
        session.send_message("delete the temporary files here")
        await until(session, "awaiting_user_confirmation")
        action = session.info().pending
        assert isinstance(session.stream.read(action - 1, limit=1)[0], CmdRunAction)
        first, new = session.confirm(action, "reject", "keep")
        assert new
        assert session.confirm(action, "reject") == (first, False)
        with pytest.raises(Conflict):
            session.confirm(action, "approve")
        await until(session, "finished")
        assert session.confirm(action, "reject") == (first, False)
    assert (workspace / "a.tmp").exists()


async def test_a_torn_log_is_mended_and_says_so(manager, tmp_path):
    async with manager(model="tour") as sessions:
        session = await sessions.create()
        whole = events(session)
    path = tmp_path / "home" / "sessions" / session.id / "events.jsonl"
    with path.open("ab") as file:
        file.write(b'{"type":"UserMessageAction","v":1,"id":')
    async with manager() as sessions:
        again = await sessions.open(session.id)
        assert events(again)[: len(whole)] == whole
        (repaired,) = events(again, ErrorObservation)
        assert repaired.code == "log_repaired"
        last = again.send_message("hello")
        await until(again, "awaiting_user_input", "finished", after=last)


async def test_a_damaged_session_can_be_deleted(manager, tmp_path):
    async with manager(model="tour") as sessions:
        session = await sessions.create()
        session.send_message("Cure the common cold")
        await until(session, "awaiting_user_input", after=2)
    folder = tmp_path / "home" / "sessions" / session.id
    lines = (folder / "events.jsonl").read_bytes().splitlines(keepends=True)
    (folder / "events.jsonl").write_bytes(b"".join([lines[0], b"garbage\n", *lines[2:]]))
    async with manager() as sessions:
        with pytest.raises(OpenHandsError) as caught:
            await sessions.open(session.id)
        assert caught.value.code == "log_damaged"
        await sessions.delete(session.id)
        assert await sessions.list() == []
    assert not folder.exists()


async def test_a_session_keeps_the_isolation_it_was_begun_with(manager):
    async with manager(model="tour", isolation="bubblewrap") as sessions:
        made = await sessions.create()
    async with manager(model="tour", isolation="none") as sessions:
        session = await sessions.open(made.id)
        assert session.info().sandbox == "bubblewrap"
        first = session.send_message("Write a Python script that computes Fibonacci numbers")
        await until(session, "finished", after=first)
        assert session.info().isolation.backend == "bubblewrap"


async def test_what_is_locked_counts_for_old_sessions_too(manager, workspace, tmp_path):
    async with manager(model="tour") as sessions:
        made = await sessions.create(mode="auto")
        made.change_settings(mode="agent", step_limit=500)
    environ = {**os.environ, "OPENHANDS_HOME": str(tmp_path / "home")}
    traits = {"mode": "ask", "step_limit": 5, "locked": ["mode", "step_limit"]}
    sessions = SessionManager(Config(workspace, traits=traits, environ=environ))
    try:
        info = (await sessions.open(made.id)).info()
        assert (info.mode, info.step_limit) == ("ask", 5)
    finally:
        await sessions.close()


async def test_a_damaged_info_file_hides_one_session_and_not_all(manager, tmp_path):
    async with manager(model="tour") as sessions:
        one, two = await sessions.create("one"), await sessions.create("two")
    (tmp_path / "home" / "sessions" / one.id / "session.json").write_text("{")
    async with manager() as sessions:
        assert [info.id for info in await sessions.list()] == [two.id]


async def test_closing_stops_what_runs(manager):
    async with manager(model="tour") as sessions:
        assert isinstance(sessions, SessionManager)
        session = await sessions.create()
        session.send_message("show me what you can do")
        await until(session, "running")
    stream_ended = [e async for e in session.stream.events()]
    last = [e for e in stream_ended if isinstance(e, AgentStateChangedObservation)][-1]
    assert last.state in ("stopped", "awaiting_user_input")
