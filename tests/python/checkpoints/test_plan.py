"""What a restore would do, and a store that is removed."""

from __future__ import annotations

import threading
from pathlib import Path

from openhands_jupyter.runtime.checkpoints import CheckpointStore, Shelf
from openhands_jupyter.runtime.checkpoints.repository import Repository


def test_a_plan_says_what_a_restore_does(store: CheckpointStore, workspace: Path, picture) -> None:
    for name in ("a", "b", "c"):
        (workspace / name).write_text("old")
    target = store.take()
    (workspace / "a").write_text("agent")
    (workspace / "b").write_text("agent")
    (workspace / "folder").mkdir()
    expected = store.take()
    (workspace / "b").write_text("mine")
    (workspace / "c").write_text("mine")
    before = picture(workspace)
    effects = store.effects("session", target.id, expected.id)
    plan = store.plan(target.id, effects, expected=expected.id)
    assert picture(workspace) == before
    assert {(change.path, change.kind) for change in plan.changes} == {
        ("a", "modified"),
        ("b", "modified"),
        ("folder", "deleted"),
    }
    assert (set(plan.conflicts), plan.failed, plan.others) == ({"b"}, [], [])
    report = store.restore(target.id, effects, expected=expected.id)
    assert {*report.restored, *report.removed} == {"a", "folder"}
    assert [note.path for note in report.conflicts] == ["b"]


def test_who_waits_for_a_store_that_is_removed_begins_anew(
    make_store, workspace: Path, tmp_path: Path
) -> None:
    (workspace / "file").write_text("x")
    store = make_store()
    store.take()
    folder = tmp_path / "store"
    taken = []
    with Repository(folder, 0, 0).locked(alone=True):
        waiting = threading.Thread(target=lambda: taken.append(store.take()))
        waiting.start()
        waiting.join(0.3)
        assert waiting.is_alive(), "it waits for the lock"
        for path in sorted(folder.rglob("*"), reverse=True):
            path.rmdir() if path.is_dir() else path.unlink()
        folder.rmdir()
    waiting.join(30)
    assert store.checkpoints() == taken
    assert store.diff(taken[0].id) == []


def test_a_shelf_keeps_what_others_refer_to(workspace: Path, tmp_path: Path) -> None:
    shelves = {name: Shelf(tmp_path / "home", workspace, name) for name in ("one", "two", "dead")}
    store = CheckpointStore(shelves["one"].folder, workspace, size_cap=1 << 30, free_floor=0)
    taken = []
    for number in range(6):
        (workspace / "file").write_text(f"{number}")
        taken.append(store.take().id)
        shelves["two" if number == 1 else "dead" if number == 2 else "one"].note(taken[-1])
    shelves["one"].leave(lambda name: name != "dead")
    assert [checkpoint.id for checkpoint in store.checkpoints()] == [taken[1], *taken[4:]]
    shelves["two"].leave(lambda name: name != "dead")
    assert not shelves["one"].folder.exists()
    shelves["two"].leave(lambda name: False)
