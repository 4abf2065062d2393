"""Others change the workspace while a checkpoint is taken or restored."""

from __future__ import annotations

import contextlib
import os
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from openhands_jupyter.runtime.checkpoints import CheckpointStore
from openhands_jupyter.runtime.checkpoints.objects import ObjectStore

SECONDS = 4

SWAP = """
    # Put a folder and a link to the outside in each other's place, again and again.
    import ctypes, os
    os.chdir(sys.argv[1])
    libc, here, exchange = ctypes.CDLL(None), -100, 2
    print("swaps", flush=True)
    while True:
        for name in (b"folder", b"file"):
            libc.renameat2(here, name, here, name + b".link", exchange)
"""


@contextmanager
def running(command: list[str]) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        process.stdout.readline()
        yield process
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


@pytest.mark.slow
def test_nothing_outside_is_read_or_changed_while_folders_are_swapped_for_links(
    store: CheckpointStore,
    workspace: Path,
    tmp_path: Path,
    picture: Callable,
    python: Callable,
) -> None:
    outside = tmp_path / "outside"
    for folder in (outside, workspace / "folder"):
        folder.mkdir()
        for number in range(30):
            (folder / f"{number}").write_text(f"{folder.name} {number}")
    (outside / "only outside").write_text("outside")
    (outside / "secret").write_text("outside secret")
    (workspace / "file").write_text("mine")
    (workspace / "folder.link").symlink_to(outside)
    (workspace / "file.link").symlink_to(outside / "secret")
    before, checkpoint = picture(outside), store.take()
    with running(python(SWAP, workspace)) as swapper:
        ends = time.monotonic() + SECONDS
        rounds = 0
        while time.monotonic() < ends or rounds <= 10:
            edit_inside(workspace, f"{rounds % 30}")
            store.restore(checkpoint.id)
            store.take()
            rounds += 1
        assert swapper.poll() is None
    assert picture(outside) == before
    stored = [path.read_bytes() for path in (tmp_path / "store" / "objects").iterdir()]
    assert not [content for content in stored if content.startswith(b"outside")]
    store.restore(checkpoint.id)
    assert store.diff(checkpoint.id) == []


def edit_inside(workspace: Path, name: str) -> None:
    """Give the restore something to do, without going through a link ourselves."""
    with contextlib.suppress(OSError):
        folder = os.open(workspace / "folder", os.O_RDONLY | os.O_NOFOLLOW)
        with contextlib.suppress(OSError):
            os.unlink(name, dir_fd=folder)
            os.close(os.open(f"new {name}", os.O_WRONLY | os.O_CREAT, dir_fd=folder))
        os.close(folder)


def test_an_edit_at_the_last_moment_is_kept(
    store: CheckpointStore, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody saves a file after the restore has looked at it and before it is replaced."""
    (workspace / "file").write_text("before")
    before = store.take()
    (workspace / "file").write_text("agent's")
    read = ObjectStore.read

    def read_while_it_is_saved(self: ObjectStore, digest: bytes) -> Iterator[bytes]:
        for chunk in read(self, digest):
            if chunk == b"before":
                (workspace / "file").write_text("person's")
            yield chunk

    monkeypatch.setattr(ObjectStore, "read", read_while_it_is_saved)
    report = store.restore(before.id)
    assert [note.path for note in report.conflicts] == ["file"]
    assert (workspace / "file").read_text() == "person's"
    assert {path.name for path in workspace.iterdir()} == {"file"}


TAKE = """
    from pathlib import Path
    from openhands_jupyter.runtime.checkpoints import CheckpointStore
    store = CheckpointStore(Path(sys.argv[1]), Path(sys.argv[2]), size_cap=1 << 30, free_floor=0)
    print("ready", flush=True)
    for number in range(20):
        (Path(sys.argv[2]) / f"{sys.argv[3]} {number}").write_text(sys.argv[3] * 100)
        store.take()
"""


def test_two_processes_use_one_store(
    store: CheckpointStore, workspace: Path, tmp_path: Path, python: Callable
) -> None:
    commands = [python(TAKE, tmp_path / "store", workspace, name) for name in "ab"]
    processes = [subprocess.Popen(command, stdout=subprocess.DEVNULL) for command in commands]
    assert [process.wait() for process in processes] == [0, 0]
    checkpoints = store.checkpoints()
    assert len(checkpoints) >= 20
    for checkpoint in checkpoints:
        assert store.restore(checkpoint.id).failed == []
        assert store.diff(checkpoint.id) == []
