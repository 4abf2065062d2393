"""What a checkpoint holds, what it leaves out, and what it notices."""

from __future__ import annotations

import os
import socket
import time
from pathlib import Path

import pytest

from openhands_jupyter.errors import Invalid, NotFound
from openhands_jupyter.runtime.checkpoints import (
    CheckpointError,
    CheckpointStore,
    StoreFull,
)


def kinds(store: CheckpointStore, before: str, after: str | None = None) -> dict[str, str]:
    return {change.path: change.kind for change in store.diff(before, after)}


def test_tells_what_it_took(store: CheckpointStore, workspace: Path) -> None:
    (workspace / "a.txt").write_text("hello")
    (workspace / "copy.txt").write_text("hello")
    (workspace / "empty").mkdir()
    checkpoint = store.take()
    assert (checkpoint.files, checkpoint.size, checkpoint.left_out) == (2, 10, [])
    assert store.checkpoints() == [checkpoint]


def test_same_content_is_stored_once(store: CheckpointStore, workspace: Path) -> None:
    content = os.urandom(3_000_000)
    (workspace / "a").write_bytes(content)
    (workspace / "b").write_bytes(content)
    assert 3_000_000 <= store.take().stored < 3_001_000
    (workspace / "c").write_bytes(content)
    assert store.take().stored < 1000


def test_an_unchanged_workspace_gives_the_same_checkpoint(
    store: CheckpointStore, workspace: Path
) -> None:
    (workspace / "a").write_text("a")
    first = store.take()
    os.utime(workspace / "a", (1, 1))
    assert store.take() == first
    assert store.checkpoints() == [first]


def test_tells_kinds_of_changes(store: CheckpointStore, workspace: Path) -> None:
    for name in ("edited", "gone", "mode", "type"):
        (workspace / name).write_text("old")
    (workspace / "link").symlink_to("edited")
    (workspace / "same").mkdir()
    (workspace / "same" / "file").write_text("same")
    before = store.take()
    (workspace / "edited").write_text("new!")
    (workspace / "gone").unlink()
    (workspace / "mode").chmod(0o700)
    (workspace / "type").unlink()
    (workspace / "type").mkdir()
    (workspace / "link").unlink()
    (workspace / "link").symlink_to("mode")
    (workspace / "new").mkdir()
    (workspace / "new" / "file").write_text("new")
    expected = {
        "edited": "modified",
        "gone": "deleted",
        "link": "link",
        "mode": "mode",
        "new": "added",
        "new/file": "added",
        "type": "type",
    }
    assert kinds(store, before.id) == expected
    after = store.take()
    assert kinds(store, before.id, after.id) == expected
    (edited,) = (change for change in store.diff(before.id) if change.path == "edited")
    assert edited.before and edited.after
    assert (edited.before.size, edited.after.size) == (3, 4)


def test_gives_text_of_both_sides(store: CheckpointStore, workspace: Path) -> None:
    (workspace / "folder").mkdir()
    file = workspace / "folder" / "file"
    file.write_text("old ü")
    before = store.take()
    file.write_text("new ü")
    (change,) = store.diff(before.id)
    assert change.before and change.after
    assert store.text(change.path, change.before) == "old ü"
    assert store.text(change.path, change.after) == "new ü"
    with pytest.raises(Invalid):
        store.text(change.path, change.before, limit=5)
    file.write_text("newer")
    with pytest.raises(CheckpointError, match="changed since it was compared"):
        store.text(change.path, change.after)
    with pytest.raises(CheckpointError):
        store.text("../outside", change.after)
    file.write_bytes(b"\xff\x00")
    (change,) = store.diff(before.id)
    assert change.after and store.text(change.path, change.after) is None


def test_leaves_out_what_is_no_content(
    store: CheckpointStore, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(workspace)  # The path of a socket must be short.
    os.mkfifo(workspace / "pipe")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("socket")
        checkpoint = store.take()
    reason = "It is a pipe, a socket or a device."
    assert {note.path: note.reason for note in checkpoint.left_out} == {
        "pipe": reason,
        "socket": reason,
    }


def test_leaves_out_what_is_too_large(make_store, workspace: Path) -> None:
    store = make_store(file_cap=2_000_000)
    (workspace / "fits").write_bytes(bytes(2_000_000))
    with (workspace / "sparse").open("wb") as file:
        file.truncate(1 << 40)
    checkpoint = store.take()
    assert [(note.path, note.reason) for note in checkpoint.left_out] == [
        ("sparse", "It is larger than 2 MB.")
    ]
    assert checkpoint.size == 2_000_000


def test_leaves_out_environments_and_caches(make_store, workspace: Path) -> None:
    store = make_store(exclude=["__pycache__", "*.tmp", "data/raw"])
    for path in (
        "pkg/__pycache__/x.pyc",
        "env/pyvenv.cfg",
        "env/lib/huge",
        "x.tmp",
        "data/raw/1",
        "data/cooked/1",
        "raw/1",
    ):
        (workspace / path).parent.mkdir(parents=True, exist_ok=True)
        (workspace / path).write_text("x")
    checkpoint = store.take()
    assert {note.path for note in checkpoint.left_out} == {
        "pkg/__pycache__",
        "env",
        "x.tmp",
        "data/raw",
    }
    assert checkpoint.files == 2


def test_a_marker_does_not_hide_what_was_known(store: CheckpointStore, workspace: Path) -> None:
    (workspace / "src").mkdir()
    (workspace / "src" / "main.py").write_text("good")
    before = store.take()
    (workspace / "src" / "pyvenv.cfg").write_text("")
    (workspace / "src" / "main.py").write_text("bad")
    after = store.take()
    assert after.left_out == []
    store.restore(before.id, expected=after.id)
    assert (workspace / "src" / "main.py").read_text() == "good"
    assert not (workspace / "src" / "pyvenv.cfg").exists()


def test_links_are_not_followed(store: CheckpointStore, workspace: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("the secret")
    (workspace / "out").symlink_to(tmp_path)
    (workspace / "file").symlink_to("../secret")
    (workspace / "loop").symlink_to("loop")
    checkpoint = store.take()
    assert checkpoint.files == 0
    stored = b"".join(path.read_bytes() for path in (tmp_path / "store/objects").iterdir())
    assert b"the secret" not in stored and b"../secret" in stored


def test_very_deep_folders_are_said(
    store: CheckpointStore, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(workspace)
    for _ in range(300):
        os.mkdir("d")
        os.chdir("d")
    (note,) = store.take().left_out
    assert note.reason == "It could not be read: it lies in too many folders."


def test_notices_an_edit_with_size_and_time_put_back(
    store: CheckpointStore, workspace: Path
) -> None:
    file = workspace / "file"
    file.write_text("old")
    old = file.stat()
    time.sleep(2.1)  # Until the file is old enough to be taken from the cache.
    before = store.take()
    file.write_text("new")
    os.utime(file, ns=(old.st_atime_ns, old.st_mtime_ns))
    assert kinds(store, before.id) == {"file": "modified"}
    assert store.take() != before


def test_notices_edits_within_one_tick_of_the_clock(
    store: CheckpointStore, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a file system that keeps whole seconds, as some network file systems do."""

    def coarse(info: os.stat_result) -> tuple[int, int, int, int]:
        second = 1_000_000_000
        modified, changed = info.st_mtime_ns // second, info.st_ctime_ns // second
        return info.st_dev, info.st_size, modified * second, changed * second

    monkeypatch.setattr("openhands_jupyter.runtime.checkpoints.scan.stamp_of", coarse)
    file = workspace / "file"
    for number in range(100):
        file.write_bytes(b"a%06d" % number)
        first = store.take()
        with file.open("r+b") as handle:
            handle.write(b"b")
        assert store.take() != first


def test_reads_nothing_again_that_is_old(
    store: CheckpointStore, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (workspace / "file").write_bytes(bytes(100))
    time.sleep(2.1)
    first = store.take()
    monkeypatch.delattr("openhands_jupyter.runtime.checkpoints.objects.Hasher.put_file")
    assert store.take() == first
    (workspace / "file").write_bytes(bytes(101))
    with pytest.raises(AttributeError):
        store.take()


def test_shows_progress_and_can_be_cancelled(
    store: CheckpointStore, workspace: Path, tmp_path: Path
) -> None:
    for number in range(50):
        (workspace / f"{number}").write_bytes(os.urandom(1 << 20))
    seen: list[tuple[int, int]] = []

    def cancel(done: int, total: int) -> None:
        seen.append((done, total))
        if done > 40 << 20:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        store.take(cancel)
    assert store.checkpoints() == []
    assert list((tmp_path / "store/objects").iterdir()) == []
    seen.clear()
    store.take(lambda done, total: seen.append((done, total)))
    assert seen[-1] == (50 << 20, 50 << 20)
    assert {total for done, total in seen} == {0, 50 << 20}


def test_the_store_is_not_part_of_the_workspace(workspace: Path) -> None:
    with pytest.raises(Invalid):
        CheckpointStore(workspace / "store", workspace, size_cap=1)


def test_unknown_checkpoints_and_workspaces(store: CheckpointStore, workspace: Path) -> None:
    for id in ("", "..", "../cache", "00000001-00000000"):
        with pytest.raises(NotFound):
            store.diff(id)
        with pytest.raises(NotFound):
            store.restore(id)
    workspace.rmdir()
    with pytest.raises(CheckpointError) as caught:
        store.take()
    assert caught.value.code == "checkpoint_no_workspace"


def test_too_much_is_refused_and_removed(make_store, workspace: Path, tmp_path: Path) -> None:
    store = make_store(size_cap=1_000_000)
    for number in range(11):
        (workspace / f"{number}").write_bytes(os.urandom(100_000))
    with pytest.raises(StoreFull) as caught:
        store.take()
    assert caught.value.code == "checkpoint_too_large"
    assert list((tmp_path / "store/objects").iterdir()) == []


def test_leaves_room_on_the_disk(make_store, workspace: Path) -> None:
    (workspace / "file").write_text("x")
    with pytest.raises(StoreFull) as caught:
        make_store(free_floor=1 << 60).take()
    assert caught.value.code == "checkpoint_disk_full"
