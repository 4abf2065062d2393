"""A checkpoint of a workspace in which nothing changed costs little more than looking at it."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from openhands_jupyter.runtime.checkpoints import CheckpointStore


def seconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def look_at_all(workspace: Path) -> None:
    for folder, _, files in os.walk(workspace):
        for name in files:
            os.lstat(os.path.join(folder, name))


@pytest.mark.slow
def test_an_unchanged_workspace_of_5000_files(store: CheckpointStore, workspace: Path) -> None:
    for folder in range(100):
        (workspace / f"{folder}").mkdir()
        for number in range(50):
            (workspace / f"{folder}" / f"{number}").write_bytes(b"x" * number)
    time.sleep(2.1)  # Until the files are old enough not to be read again.
    first = store.take()
    ours, floor = [], []
    for _ in range(7):
        ours.append(seconds(lambda: store.take()))
        floor.append(seconds(lambda: look_at_all(workspace)))
    assert store.checkpoints() == [first]
    assert statistics.median(ours) < 6 * statistics.median(floor)
