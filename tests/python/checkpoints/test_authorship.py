"""Whose a change is, where several sessions work in one folder; cases of the table in the docs."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from openhands_jupyter.runtime.checkpoints import Checkpoint, CheckpointStore, Effects, Worker
from openhands_jupyter.runtime.checkpoints.authorship import AFTERWARDS, AT_ONCE, THEIRS
from openhands_jupyter.runtime.checkpoints.repository import Repository


class Session:
    """A session at work, with a store of its own on the shared folder."""

    def __init__(self, name: str, store: CheckpointStore, workspace: Path) -> None:
        self.name = name
        self.store = store
        self._workspace = workspace
        self.before = self.after = ""

    def begins(self, path: str | None = None) -> None:
        checkpoint = self.store.take(begin=Worker(self.name, path)).id
        self.before = self.before or checkpoint

    def ends(self) -> None:
        if not self.store.end(self.name):
            self.store.take(end=self.name)

    def runs(self, command: str, path: str | None = None) -> None:
        """One action, from its checkpoint to its end."""
        self.begins(path)
        self.shell(command)
        self.ends()

    def shell(self, command: str) -> None:
        subprocess.run(["sh", "-c", command], cwd=self._workspace, check=True)

    def ends_turn(self) -> Checkpoint:
        end = self.store.take(end=self.name)
        self.after = end.id
        return end

    @property
    def effects(self) -> Effects:
        return self.store.effects(self.name, self.before, self.after)

    def undo(self, force: tuple[str, ...] = ()) -> dict[str, str]:
        """Undo the turn; what was left alone, and why."""
        self.store.take(begin=Worker(self.name))
        report = self.store.restore(
            self.before, self.effects, expected=self.after, force_paths=force
        )
        self.store.take(end=self.name)
        assert report.failed == []
        return {note.path: note.reason for note in report.conflicts}


@pytest.fixture
def mine(make_store, workspace: Path) -> Session:
    return Session("mine", make_store(), workspace)


@pytest.fixture
def theirs(make_store, workspace: Path) -> Session:
    return Session("theirs", make_store(), workspace)


@pytest.fixture
def texts(workspace: Path) -> Callable[[], dict[str, str]]:
    return lambda: {path.name: path.read_text() for path in sorted(workspace.iterdir())}


def test_what_another_session_alone_changed_stays(mine, theirs, texts) -> None:
    mine.runs("echo 1 > a")
    theirs.runs("echo 2 > b; mkdir -p d/e 2>/dev/null; rmdir d/e d")
    mine.runs("echo 3 > c")
    mine.ends_turn()
    assert set(mine.effects.targets) == {"a", "c"}
    assert set(mine.effects.others) == {"b"}
    assert mine.effects.doubts == {}
    assert mine.undo() == {}
    assert texts() == {"b": "2\n"}
    theirs.ends_turn()
    assert set(theirs.effects.targets) == {"b"}, "and the undo was not theirs"


def test_mine_on_top_of_theirs_goes_back_to_theirs(mine, theirs, workspace, texts) -> None:
    (workspace / "file").write_text("0\n")
    mine.runs("true")
    theirs.runs("echo theirs >> file")
    mine.runs("echo mine >> file")
    mine.ends_turn()
    assert mine.undo() == {}
    assert texts() == {"file": "0\ntheirs\n"}


@pytest.mark.parametrize("again", ["", "echo again >> file"])
def test_theirs_on_top_of_mine_is_a_conflict(mine, theirs, texts, again: str) -> None:
    mine.runs("echo mine > file")
    theirs.runs("echo theirs >> file")
    mine.runs(again or "true")
    mine.ends_turn()
    before = texts()
    assert mine.undo() == {"file": AFTERWARDS}
    assert texts() == before
    assert mine.undo(force=("file",)) == {}
    assert texts() == {}


def test_at_the_same_moment_nobody_knows(mine, theirs, texts) -> None:
    mine.begins()
    mine.shell("echo alone > first")
    theirs.begins()
    mine.shell("echo ? > both")
    theirs.ends()
    mine.shell("echo alone > last")
    mine.ends()
    mine.ends_turn()
    theirs.ends_turn()
    assert mine.undo() == {"both": AT_ONCE}
    assert texts() == {"both": "?\n"}
    assert theirs.effects.doubts == {"both": AT_ONCE}
    assert set(theirs.effects.others) == {"last"}


def test_an_action_that_names_its_file_changed_that_one(mine, theirs, texts) -> None:
    mine.begins()
    theirs.runs("mkdir folder; echo theirs > folder/file; mv folder/file .; rmdir folder", "file")
    theirs.runs("mkdir d; echo theirs > d/x", "d/x")
    mine.shell("echo mine > model; rm -r d")
    mine.ends()
    mine.ends_turn()
    assert mine.effects.targets.keys() == {"model", "d", "d/x"}
    assert set(mine.effects.others) == {"file"}
    mine.undo()
    assert "model" not in os.listdir(mine._workspace)
    assert (mine._workspace / "d" / "x").read_text() == "theirs\n"


def test_two_that_named_the_same_file_at_once(mine, theirs, texts) -> None:
    mine.begins("file")
    theirs.begins("file")
    mine.shell("echo ? > file")
    mine.ends()
    theirs.ends()
    mine.ends_turn()
    assert mine.undo() == {"file": AT_ONCE}


def test_what_both_took_back_is_no_change(mine, theirs, workspace) -> None:
    (workspace / "file").write_text("0\n")
    mine.runs("echo 1 > file; echo 1 > other")
    theirs.runs("echo 0 > file; rm other")
    mine.runs("true")
    mine.ends_turn()
    assert mine.effects == Effects({}, {}, {})


def test_their_file_keeps_my_folder(mine, theirs, workspace) -> None:
    mine.runs("mkdir folder; echo 1 > folder/mine")
    theirs.runs("echo 2 > folder/theirs")
    mine.runs("true")
    mine.ends_turn()
    plan = mine.store.plan(mine.before, mine.effects, expected=mine.after)
    assert plan.conflicts == {"folder/theirs": THEIRS}
    report = mine.store.restore(mine.before, mine.effects, expected=mine.after)
    assert report.removed == ["folder/mine"]
    assert [note.path for note in report.failed] == ["folder"]
    assert [note.path for note in report.conflicts] == ["folder/theirs"]
    assert os.listdir(workspace / "folder") == ["theirs"]


def test_what_came_after_my_turn_is_a_conflict_as_ever(mine, theirs, workspace) -> None:
    mine.runs("echo 1 > file; echo 1 > other")
    mine.ends_turn()
    theirs.runs("echo 2 > file")
    (workspace / "other").write_text("a person's\n")
    assert set(mine.undo()) == {"file", "other"}


def test_a_turn_that_was_cut_off(mine, theirs, workspace) -> None:
    mine.begins()
    mine.shell("echo 1 > mine")
    theirs.runs("echo 2 > both")
    mine.store.give_up("mine")
    theirs.runs("echo 3 > theirs")
    effects = mine.store.effects("mine", mine.before)
    assert effects.targets.keys() == {"mine", "both"}
    assert effects.doubts == {"both": AT_ONCE}
    assert effects.others.keys() == {"theirs"}


def test_a_session_whose_process_died_is_not_at_work(
    mine, workspace, tmp_path, python, make_store
) -> None:
    code = """
    import os, sys
    from pathlib import Path
    from openhands_jupyter.runtime.checkpoints import CheckpointStore, Worker
    store = CheckpointStore(Path(sys.argv[1]), Path(sys.argv[2]), size_cap=1 << 30, free_floor=0)
    store.take(begin=Worker("theirs"))
    print("begun", flush=True)
    sys.stdin.read(1)
    Path(sys.argv[2], "file").write_text("theirs")
    os._exit(9)
    """
    command = python(code, tmp_path / "store", workspace)
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"begun\n"
        mine.begins("a")
        mine.shell("echo mine > a")
        assert not mine.store.end("mine"), "they are at work"
        mine.store.take(end="mine")
        process.stdin.write(b"x")
        process.stdin.flush()
        process.wait(30)
    mine.runs("echo mine > b")
    assert mine.store.end("mine"), "nobody else is"
    mine.ends_turn()
    assert mine.effects.doubts == {}
    assert set(mine.effects.targets) == {"a", "b"}
    assert set(mine.effects.others) == {"file"}


def test_a_dropped_checkpoint_leaves_doubt_not_blame(mine, theirs, tmp_path) -> None:
    mine.runs("echo 1 > a")
    theirs.runs("echo 2 > b")
    mine.runs("echo 3 > c")
    mine.ends_turn()
    repository = Repository(tmp_path / "store", 1 << 30, 0)
    (first, second, third) = mine.store.between(mine.before, mine.after)
    with repository.writing():
        repository.drop(first)
        repository.drop(second)
    assert mine.store.between(mine.before, mine.after) == [third]
    assert mine.effects.doubts == dict.fromkeys("abc", AT_ONCE)


def test_checkpoints_from_before_who_was_noted(mine, workspace, tmp_path) -> None:
    mine.runs("echo 1 > a")
    mine.ends_turn()
    record = tmp_path / "store" / "checkpoints" / mine.after
    plain = msgspec.msgpack.decode(record.read_bytes())
    del plain["by"]
    record.write_bytes(msgspec.msgpack.encode(plain))
    assert mine.undo() == {}
    assert os.listdir(workspace) == []


def test_a_store_removed_under_a_session_at_work(mine, tmp_path) -> None:
    mine.begins()
    subprocess.run(["rm", "-r", tmp_path / "store"], check=True)
    mine.begins()
    mine.ends()
    mine.ends_turn()
    assert list((tmp_path / "store" / "workers").iterdir()) == []
