"""Undo of a turn through a session: what comes back, what is left alone, and when."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from model_server.script import call
from session_tools import events, until
from tree_picture import take_picture
from undo_tools import answer_to, turn, turn_end, undo
from waiting import wait_until

from openhands_jupyter.errors import Conflict, NotFound
from openhands_jupyter.events import (
    CheckpointObservation,
    CmdRunAction,
    ErrorObservation,
    FileReadAction,
    FilesRestoredObservation,
    NoCheckpointObservation,
    UndoAction,
)

FINISH = call("finish", message="Done.")


def make_repositories(*folders: Path) -> None:
    git = ["git", "-c", "user.name=n", "-c", "user.email=e"]
    for folder in folders:
        folder.mkdir(exist_ok=True)
        (folder / "file").write_text("kept\n")
        for step in (["init", "-q"], ["add", "file"], ["commit", "-qm", "first"]):
            subprocess.run([*git, *step], cwd=folder, check=True)


def commits(folder: Path) -> str:
    log = ["git", "log", "--format=%s"]
    return subprocess.run(log, cwd=folder, capture_output=True, text=True).stdout


def bash(command: str):
    return call("execute_bash", command=command)


async def test_a_turn_is_undone_and_the_undo_too(manager, model_server, workspace):
    (workspace / "old.txt").write_text("one\n")
    model_server.play(
        call("read_file", path="old.txt"),
        call("write_file", path="new.txt", content="new\n"),
        bash("echo two >> old.txt; rm -f gone.txt; mkdir -p deep/er; echo 3 > deep/er/x"),
        FINISH,
    )
    (workspace / "gone.txt").write_text("gone\n")
    before = take_picture(workspace)
    async with manager() as sessions:
        session = await sessions.create(mode="auto")
        end = await turn(session)
        after = take_picture(workspace)
        taken = [e for e in events(session, CheckpointObservation) if not e.since]
        (read,) = events(session, FileReadAction)
        assert read.id not in [event.action for event in taken], "reading changes nothing"
        assert len(taken) == 2 and end.action == taken[0].action
        assert end.changed == 6  # new.txt, old.txt, gone.txt, deep, deep/er, deep/er/x

        preview = await session.files.undo_preview(None)
        kinds = {change.path: change.kind for change in preview.changes}
        assert kinds == {
            "new.txt": "deleted",
            "old.txt": "modified",
            "gone.txt": "added",
            "deep": "deleted",
            "deep/er": "deleted",
            "deep/er/x": "deleted",
        }
        assert take_picture(workspace) == after, "a preview changes nothing"

        done = await undo(session)
        assert take_picture(workspace) == before
        assert (done.restored, done.removed, done.conflicts, done.failed) == (2, 4, [], [])
        (action,) = events(session, UndoAction)
        assert action.source == "user" and action.turn == end.action
        with pytest.raises(Conflict, match="nothing"):
            session.undo()
        with pytest.raises(Conflict, match="already"):
            session.undo(end.action)

        await undo(session, action.id)
        assert take_picture(workspace) == after
        await undo(session)
        assert take_picture(workspace) == before


async def test_what_the_person_changed_since_is_left_alone_unless_forced(
    manager, model_server, workspace
):
    for name in ("a", "b", "c"):
        (workspace / name).write_text("old\n")
    (workspace / "untouched").write_text("old\n")
    model_server.play(bash("for f in a b c; do echo agent > $f; done; echo x > d"), FINISH)
    async with manager() as sessions:
        session = await sessions.create(mode="auto")
        await turn(session)
        (workspace / "a").write_text("mine\n")
        (workspace / "b").write_text("mine too\n")
        (workspace / "untouched").write_text("mine\n")
        (workspace / "d").unlink()

        preview = await session.files.undo_preview(None)
        conflicts = {change.path: bool(change.conflict) for change in preview.changes}
        assert conflicts == {"a": True, "b": True, "c": False}
        done = await undo(session, force=["b", "no such path"])
        assert [note.path for note in done.conflicts] == ["a"]
        texts = {name: (workspace / name).read_text() for name in ("a", "b", "c", "untouched")}
        assert texts == {"a": "mine\n", "b": "old\n", "c": "old\n", "untouched": "mine\n"}


async def test_an_earlier_turn_is_undone_where_nothing_came_after(manager, model_server, workspace):
    model_server.play(
        bash("echo 1 > first; echo 1 > both"),
        FINISH,
        bash("echo 2 > second; echo 2 > both"),
        FINISH,
    )
    async with manager() as sessions:
        session = await sessions.create(mode="auto")
        first = await turn(session)
        second = await turn(session)
        assert second.changed == 2
        done = await undo(session, first.action)
        assert [note.path for note in done.conflicts] == ["both"]
        assert sorted(path.name for path in workspace.iterdir()) == ["both", "second"]
        await undo(session)
        assert (workspace / "both").read_text() == "1\n"
        with pytest.raises(NotFound):
            session.undo(first.action + 1)


async def test_repositories_modes_links_and_empty_folders_come_back(
    manager, model_server, workspace
):
    make_repositories(workspace, workspace / "nested")
    (workspace / "empty").mkdir(mode=0o750)
    (workspace / "run.sh").write_text("#!/bin/sh\n")
    (workspace / "run.sh").chmod(0o755)
    (workspace / "link").symlink_to("run.sh")
    odd = os.fsdecode(b"\xff odd \\ name")
    (workspace / odd).write_text("kept\n")
    before = take_picture(workspace)
    model_server.play(
        bash(
            "rmdir empty; chmod 600 run.sh; rm link; echo x > nested/file; rm -rf nested/.git/refs;"
            " cd nested; rm -rf ../*odd*; git init -q ../other 2>/dev/null; mkdir ../other/x; true"
        ),
        FINISH,
    )
    async with manager() as sessions:
        session = await sessions.create(mode="auto")
        await turn(session)
        assert take_picture(workspace) != before
        preview = await session.files.undo_preview(None)
        json.dumps([change.path for change in preview.changes]).encode()
        done = await undo(session)
    assert done.failed == []
    assert take_picture(workspace) == before
    assert commits(workspace / "nested") == "first\n"


async def test_days_later_and_after_a_restart(manager, model_server, workspace):
    model_server.play(bash("echo agent > file"), FINISH)
    (workspace / "file").write_text("old\n")
    async with manager() as sessions:
        session = await sessions.create(mode="auto")
        await turn(session)
    async with manager() as sessions:
        again = await sessions.open(session.id)
        preview = await again.files.undo_preview(None)
        assert [(c.path, c.conflict) for c in preview.changes] == [("file", "")]
        assert not preview.uncertain
        await undo(again)
    assert (workspace / "file").read_text() == "old\n"
    async with manager() as sessions:
        again = await sessions.open(session.id)
        (action,) = events(again, UndoAction)
        await undo(again, action.id)
    assert (workspace / "file").read_text() == "agent\n"


async def test_not_while_the_agent_works_or_waits(manager, model_server, workspace):
    (workspace / "data").mkdir()
    model_server.play(
        bash("echo x > file"),
        bash("rm -rf data"),
        bash("sleep 60"),
        FINISH,
    )
    async with manager() as sessions:
        session = await sessions.create()
        session.send_message("Go")
        asked = await until(session, "awaiting_user_confirmation")
        for refused in (session.undo, lambda: session.rewind(0)):
            with pytest.raises(Conflict) as error:
                refused()
            assert error.value.code == "wrong_state"
        session.confirm(asked.cause, "approve")
        await wait_until(lambda: len(events(session, CmdRunAction)) == 3)
        with pytest.raises(Conflict):
            session.undo()
        session.command("stop")
        await until(session, "stopped", after=asked.id)
        end = await turn_end(session)
        # The approval is part of the same turn.
        assert end.changed == 2 and end.action == events(session, CmdRunAction)[0].id
        await undo(session)
    assert [path.name for path in workspace.iterdir()] == ["data"]


async def test_the_agent_is_told(manager, model_server, workspace):
    model_server.play(bash("echo x > file"), FINISH, call("finish", message="I see."))
    async with manager() as sessions:
        session = await sessions.create(mode="auto")
        await turn(session)
        await undo(session)
        after = session.send_message("What now?")
        await until(session, "finished", after=after)
    told = [m["content"] for m in model_server.requests[-1].body["messages"] if m["role"] == "user"]
    assert len(told) == 3
    assert "The user undid the changes" in told[1] and "echo x > file" in told[1]
    assert "file" in told[1] and "variables in the kernel" in told[1]


async def test_without_room_the_agent_goes_on_and_it_is_told_once(manager, model_server, workspace):
    for n in range(3):
        (workspace / f"{n}").write_bytes(os.urandom(5_000_000))
    model_server.play(bash("echo 1 > a"), bash("echo 2 > b"), FINISH, bash("echo 3 > c"), FINISH)
    async with manager(checkpoint_limit=0.01) as sessions:
        session = await sessions.create(mode="auto")
        for _ in range(2):
            id = session.send_message("Go")
            await until(session, "finished", after=id)
        assert sorted(p.name for p in workspace.iterdir()) == ["0", "1", "2", "a", "b", "c"]
        (told,) = events(session, NoCheckpointObservation)
        assert told.code == "checkpoint_too_large"
        assert told.message.startswith("What is changed in files from here on cannot be undone.")
        assert events(session, CheckpointObservation) == []
        with pytest.raises(Conflict):
            session.undo()
        with pytest.raises(Conflict):
            session.rewind(told.action)


async def test_excluded_and_switched_off(manager, model_server, workspace):
    model_server.play(bash("mkdir data; echo 1 > data/x; echo 1 > y"), FINISH, bash("rm y"), FINISH)
    async with manager(checkpoint_exclude=["data"]) as sessions:
        session = await sessions.create(mode="auto")
        assert (await turn(session)).changed == 1
        await undo(session)
    assert (workspace / "data" / "x").exists() and not (workspace / "y").exists()
    (workspace / "y").write_text("")
    async with manager(checkpoints=False) as sessions:
        session = await sessions.create(mode="auto")
        id = session.send_message("Go")
        await until(session, "finished", after=id)
        assert events(session, CheckpointObservation, NoCheckpointObservation) == []
        with pytest.raises(Conflict) as error:
            session.undo()
        assert error.value.code == "no_checkpoints"


async def test_checkpoints_go_with_their_sessions(manager, model_server, workspace, home: Path):
    model_server.play(*[bash("date +%N > file"), FINISH] * 5)
    async with manager() as sessions:
        first, second = await sessions.create(mode="auto"), await sessions.create(mode="auto")
        for session in (first, first, second, second):
            await turn(session)
        (store,) = (home / "checkpoints").iterdir()
        await sessions.delete(first.id)
        kept = {event.checkpoint for event in events(second, CheckpointObservation)}
        left = {path.name for path in (store / "checkpoints").iterdir()}
        assert kept <= left
        assert len(left - kept) <= 2, "and the newest two"
        await undo(second)
        await sessions.delete(second.id)
        assert list((home / "checkpoints").iterdir()) == []
        third = await sessions.create(mode="auto")
        await turn(third)
        await undo(third)


async def test_two_sessions_of_two_servers_share_a_store(manager, model_server, workspace, home):
    model_server.play(*[bash("echo $RANDOM$RANDOM >> file"), FINISH] * 2)
    async with manager() as one, manager() as other:
        mine, theirs = await one.create(mode="auto"), await other.create(mode="auto")
        await turn(mine)
        await turn(theirs)
        assert len(list((home / "checkpoints").iterdir())) == 1
        assert len((workspace / "file").read_text().split()) == 2
        await undo(theirs)
        assert len((workspace / "file").read_text().split()) == 1
        await undo(mine)
        assert not (workspace / "file").exists()


async def test_an_undo_whose_checkpoint_went_changes_nothing(
    manager, model_server, workspace, home
):
    model_server.play(bash("echo x > file"), FINISH)
    async with manager() as sessions:
        session = await sessions.create(mode="auto")
        end = await turn(session)
        (store,) = (home / "checkpoints").iterdir()
        (store / "checkpoints" / end.since).unlink()
        answer = await answer_to(session, session.undo())
        assert isinstance(answer, ErrorObservation) and answer.code == "checkpoint_not_found"
        await until(session, "awaiting_user_input", after=answer.id)
        assert (workspace / "file").exists()
        assert events(session, FilesRestoredObservation) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="root alone can give files away")
async def test_root_restores_files_to_their_owner(manager, model_server, workspace):
    (workspace / "file").write_text("old\n")
    for path in (workspace, workspace / "file"):
        os.chown(path, 65534, 65534)
    # So that root without its rights, as in the sandbox of this test, may change it.
    workspace.chmod(0o777)
    model_server.play(bash("rm -f file; mkdir made"), FINISH)
    async with manager() as sessions:
        session = await sessions.create(mode="auto")
        await turn(session)
        assert not (workspace / "file").exists()
        await undo(session)
    info = (workspace / "file").stat()
    assert (info.st_uid, info.st_gid) == (65534, 65534)
