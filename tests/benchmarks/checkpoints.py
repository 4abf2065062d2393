"""What checkpoints of a workspace take, next to copying it with ``cp -a``."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from measure import Row, medians

from openhands_jupyter.runtime.checkpoints import CheckpointStore

FOLDERS, FILES, SIZE = 100, 50, 20_000


def rows(rounds: int = 5) -> list[Row]:
    """5,000 files of 20 kB: the first checkpoint, later ones, and the way back."""
    with tempfile.TemporaryDirectory() as folder:
        return Checkpoints(Path(folder)).rows(rounds)


class Checkpoints:
    """A workspace with a store, and each thing to measure, in milliseconds."""

    def __init__(self, base: Path) -> None:
        self.base = base
        self.workspace = base / "workspace"
        for folder in range(FOLDERS):
            (self.workspace / f"{folder}").mkdir(parents=True)
            for number in range(FILES):
                (self.workspace / f"{folder}" / f"{number}").write_bytes(os.urandom(SIZE))
        time.sleep(2.1)  # Until the files are old enough not to be read again.
        self.store = self.new_store("store")
        self.start = self.store.take()
        self.edits = 0

    def rows(self, rounds: int) -> list[Row]:
        subjects = {
            "copy": self.copy,
            "first": self.first,
            "unchanged": self.unchanged,
            "edit": self.edit,
            "restore": self.restore,
            "look": self.look,
        }
        times = medians(subjects, rounds)
        return [
            Row("first checkpoint against cp -a", times["first"], times["copy"], "ms"),
            Row("unchanged against cp -a", times["unchanged"], times["copy"], "ms", "≤ 100 ms"),
            Row("one file edited against cp -a", times["edit"], times["copy"], "ms"),
            Row("edit undone against cp -a", times["restore"], times["copy"], "ms"),
            Row("unchanged against walk and stat", times["unchanged"], times["look"], "ms"),
        ]

    def new_store(self, name: str) -> CheckpointStore:
        return CheckpointStore(self.base / name, self.workspace, size_cap=1 << 30)

    def copy(self) -> float:
        target = self.base / "copy"
        taken = timed(lambda: subprocess.run(["cp", "-a", self.workspace, target], check=True))
        shutil.rmtree(target)
        return taken

    def first(self) -> float:
        taken = timed(self.new_store("new").take)
        shutil.rmtree(self.base / "new")
        return taken

    def unchanged(self) -> float:
        return timed(self.store.take)

    def edit(self) -> float:
        self.edits += 1
        (self.workspace / "7" / "7").write_text(f"edit {self.edits}")
        return timed(self.store.take)

    def restore(self) -> float:
        expected = self.store.checkpoints()[-1].id
        return timed(lambda: self.store.restore(self.start.id, expected=expected))

    def look(self) -> float:
        def walk() -> None:
            for folder, _, files in os.walk(self.workspace):
                for name in files:
                    os.lstat(os.path.join(folder, name))

        return timed(walk)


def timed(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return (time.perf_counter() - started) * 1000
