"""The store's own life: limits, what is dropped, damage, and a disk that is full."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from openhands_jupyter.errors import NotFound
from openhands_jupyter.runtime.checkpoints import (
    CheckpointDamaged,
    CheckpointError,
    CheckpointStore,
    StoreFull,
)


def size_of(store: Path) -> int:
    return sum(path.stat().st_size for path in (store / "objects").iterdir())


def test_the_oldest_go_when_the_store_is_full(make_store, workspace: Path, tmp_path: Path) -> None:
    store = make_store(size_cap=1_000_000)
    taken = []
    for _ in range(30):
        (workspace / "file").write_bytes(os.urandom(90_000))
        (workspace / "kept").write_text("the same all the time")
        taken.append(store.take(keep=[taken[0].id] if taken else []))
        assert size_of(tmp_path / "store") <= 1_000_000
    left = store.checkpoints()
    assert left[0] == taken[0], "it was to be kept"
    assert left[1:] == taken[-len(left) + 1 :]
    assert 7 <= len(left) <= 11
    store.restore(left[1].id)
    assert store.diff(left[1].id) == []
    with pytest.raises(NotFound):
        store.restore(taken[1].id)


def test_the_newest_two_stay_whatever_their_size(make_store, workspace: Path) -> None:
    store = make_store(size_cap=1_000_000)
    for _ in range(4):
        (workspace / "file").write_bytes(os.urandom(900_000))
        store.take()
    assert len(store.checkpoints()) == 2


def test_prune(store: CheckpointStore, workspace: Path, tmp_path: Path) -> None:
    taken = []
    for _ in range(6):
        (workspace / "file").write_bytes(os.urandom(100_000))
        taken.append(store.take())
    store.prune(keep=[taken[1].id, "unknown"])
    assert store.checkpoints() == [taken[1], taken[4], taken[5]]
    assert size_of(tmp_path / "store") < 302_000
    assert store.take() == taken[5]


def test_a_failed_checkpoint_leaves_nothing(make_store, workspace: Path, tmp_path: Path) -> None:
    (workspace / "a").write_text("a")
    make_store().take()
    before = sorted(path.name for path in (tmp_path / "store" / "objects").iterdir())
    for number in range(5):
        (workspace / f"{number}").write_bytes(os.urandom(300_000))
    with pytest.raises(StoreFull):
        make_store(size_cap=1_000_000).take()
    assert sorted(path.name for path in (tmp_path / "store" / "objects").iterdir()) == before


def test_after_a_crash_of_the_system_the_next_one_is_whole(
    store: CheckpointStore, workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files that were not on the disk yet come back empty, or with their end missing."""
    for number in range(10):
        (workspace / f"{number}").write_text(f"content {number}")
    first = store.take()
    objects = sorted((tmp_path / "store" / "objects").iterdir())
    for path in objects[::2]:
        os.truncate(path, path.stat().st_size // 2)
    for path in objects[1::4]:
        path.unlink()
    (workspace / "0").write_text("changed")
    with pytest.raises(CheckpointDamaged):
        store.restore(first.id)
    monkeypatch.setattr(
        "openhands_jupyter.runtime.checkpoints.repository._boot_id", lambda: "next boot"
    )
    (workspace / "0").write_text("content 0")
    assert store.take() == first
    (workspace / "0").write_text("changed")
    store.restore(first.id)
    assert store.diff(first.id) == []


@pytest.mark.parametrize("content", [b"", b"\xc1rubbish"])
def test_damaged_records_and_caches_are_no_obstacle(
    store: CheckpointStore, workspace: Path, tmp_path: Path, content: bytes
) -> None:
    (workspace / "file").write_text("one")
    first = store.take()
    (workspace / "file").write_text("two")
    second = store.take()
    (tmp_path / "store" / "checkpoints" / second.id).write_bytes(content)
    (tmp_path / "store" / "cache").write_bytes(content)
    assert store.checkpoints() == [first]
    with pytest.raises(NotFound):
        store.restore(second.id)
    assert store.take().root == second.root
    store.prune(keep=[])
    assert store.diff(second.id) == []


def test_an_unwritable_store_is_said(store: CheckpointStore, tmp_path: Path) -> None:
    (tmp_path / "store").write_text("a file in the way")
    with pytest.raises(CheckpointError) as caught:
        store.take()
    assert caught.value.code == "checkpoint_unwritable"


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 2 MB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=2m", "none", str(folder)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True).returncode != 0:
        pytest.skip("cannot mount a small file system")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_a_full_disk(small_disk: Path, workspace: Path) -> None:
    store = CheckpointStore(small_disk / "store", workspace, size_cap=1 << 30, free_floor=0)
    (workspace / "small").write_text("before")
    before = store.take()
    (workspace / "small").write_text("after")
    (workspace / "large").write_bytes(os.urandom(3_000_000))
    with pytest.raises(StoreFull) as caught:
        store.take()
    assert caught.value.code == "checkpoint_disk_full"
    (small_disk / "filler").write_bytes(bytes(os.statvfs(small_disk).f_bavail * 4096))
    store.restore(before.id)
    assert store.diff(before.id) == []
    store.prune(keep=[])
    assert store.checkpoints() == [before]


def test_a_full_workspace_disk_loses_nothing(small_disk: Path, tmp_path: Path) -> None:
    workspace = small_disk / "workspace"
    workspace.mkdir()
    store = CheckpointStore(tmp_path / "store", workspace, size_cap=1 << 30, free_floor=0)
    (workspace / "file").write_bytes(os.urandom(500_000))
    before = store.take()
    (workspace / "file").write_bytes(b"after")
    (small_disk / "filler").write_bytes(bytes(os.statvfs(small_disk).f_bavail * 4096))
    report = store.restore(before.id)
    (note,) = report.failed
    assert "No space left" in note.reason
    assert (workspace / "file").read_bytes() == b"after"
    assert [path.name for path in workspace.iterdir()] == ["file"]
    (small_disk / "filler").unlink()
    assert store.restore(before.id).restored == ["file"]


def test_a_read_only_workspace_is_said(small_disk: Path, tmp_path: Path) -> None:
    store = CheckpointStore(tmp_path / "store", small_disk, size_cap=1 << 30, free_floor=0)
    (small_disk / "file").write_text("before")
    before = store.take()
    (small_disk / "file").write_text("after")
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    assert store.diff(before.id) != []
    (note,) = store.restore(before.id).failed
    assert "Read-only file system" in note.reason
