"""kill -9 at any moment: no half checkpoint, and a restore that the same call completes."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from openhands_jupyter.runtime.checkpoints import CheckpointStore

ROUNDS = 8

RUN = """
    from pathlib import Path
    from openhands_jupyter.runtime.checkpoints import CheckpointStore
    folder, workspace, *restore = sys.argv[1:]
    store = CheckpointStore(Path(folder), Path(workspace), size_cap=1 << 30, free_floor=0)
    print("ready", flush=True)
    if restore:
        store.restore(restore[0], expected=restore[1])
    else:
        store.take()
    print("done", flush=True)
"""


def run(command: list[str], seconds: float | None = None) -> float:
    """Kill it when it has worked for some time, or wait until it is done; gives the time."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        started = time.monotonic()
        if seconds is not None:
            time.sleep(seconds)
            process.kill()
        else:
            assert process.stdout.readline() == "done\n"
        return time.monotonic() - started


def fill(workspace: Path, files: int = 300) -> None:
    for number in range(files):
        folder = workspace / f"{number % 20}"
        folder.mkdir(exist_ok=True)
        (folder / f"{number}").write_bytes(os.urandom(30_000))


def reachable(store: CheckpointStore) -> set[str]:
    """Names of all objects that the checkpoints lead to."""
    objects = store._repository.objects()
    live: dict[bytes, int] = {}
    for checkpoint in store.checkpoints():
        live |= objects.reach(checkpoint.root, live)
    return {digest.hex() for digest in live}


@pytest.mark.slow
def test_a_killed_take_leaves_no_half_checkpoint(
    store: CheckpointStore, workspace: Path, tmp_path: Path, python: Callable
) -> None:
    command = python(RUN, tmp_path / "store", workspace)
    fill(workspace)
    whole = run(command)
    for round in range(ROUNDS):
        fill(workspace)
        known = [checkpoint.id for checkpoint in store.checkpoints()]
        run(command, random.Random(round).uniform(0, whole))
        found = [checkpoint.id for checkpoint in store.checkpoints()]
        assert found[: len(known)] == known and len(found) <= len(known) + 1
        latest = store.take()
        assert store.diff(latest.id) == []
        objects = {path.name for path in (tmp_path / "store" / "objects").iterdir()}
        assert objects == reachable(store)


@pytest.mark.slow
def test_a_killed_restore_is_completed_by_the_same_call(
    store: CheckpointStore,
    workspace: Path,
    tmp_path: Path,
    picture: Callable,
    python: Callable,
) -> None:
    fill(workspace)
    (workspace / "read-only").mkdir()
    (workspace / "read-only" / "file").write_text("before")
    (workspace / "read-only").chmod(0o555)
    (workspace / "type").write_text("before")
    before, first = store.take(), picture(workspace)

    def act() -> str:
        """What an agent does in a turn."""
        fill(workspace, 150)
        for number in range(10):
            shutil.rmtree(workspace / f"{number}")
            (workspace / f"new {number}").mkdir()
            (workspace / f"new {number}" / "file").write_text("after")
        (workspace / "read-only").chmod(0o755)
        (workspace / "read-only" / "file").write_text("after")
        (workspace / "type").unlink()
        (workspace / "type").mkdir()
        return store.take().id

    after = act()
    command = python(RUN, tmp_path / "store", workspace, before.id, after)
    whole = run(command)
    assert picture(workspace) == first
    cut_short = 0
    for round in range(ROUNDS):
        after = act()
        (workspace / "person's").write_text("kept")
        command = python(RUN, tmp_path / "store", workspace, before.id, after)
        run(command, random.Random(round).uniform(0, whole))
        report = store.restore(before.id, expected=after)
        cut_short += bool(report.restored)
        assert [note.path for note in report.conflicts] == ["person's"]
        assert report.failed == []
        (workspace / "person's").unlink()
        assert picture(workspace) == first
    assert cut_short > 0
