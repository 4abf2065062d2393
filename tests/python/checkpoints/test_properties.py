"""Any tree comes back exactly, whatever happened to it in between."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, invariant, rule
from tree_picture import Picture, take_picture

from openhands_jupyter.runtime.checkpoints import CheckpointStore

NAMES = st.sampled_from([b"a", b"\xff\n"])
PATHS = st.lists(NAMES, min_size=1, max_size=3).map(b"/".join)
CONTENT = st.binary(max_size=3) | st.sampled_from([b"x" * (1 << 20), b"y" * ((1 << 20) + 1)])
MODES = st.sampled_from([0o400, 0o500, 0o600, 0o644, 0o700, 0o755, 0o777])
FOLDER_MODES = st.sampled_from([0o500, 0o700, 0o755, 0o1777, 0o2755])


class Workspace(RuleBasedStateMachine):
    """Edits at random, with checkpoints and restores between them, against pictures of it all."""

    checkpoints = Bundle("checkpoints")

    def __init__(self) -> None:
        super().__init__()
        self.base = Path(tempfile.mkdtemp())
        self.workspace = self.base / "workspace"
        self.workspace.mkdir()
        self.outside = self.base / "outside"
        self.outside.mkdir()
        (self.outside / "a").write_text("precious")
        (self.outside / "a").chmod(0o644)
        self.store = CheckpointStore(
            self.base / "store", self.workspace, size_cap=1 << 30, free_floor=0
        )
        self.pictures: dict[str, Picture] = {}

    def teardown(self) -> None:
        subprocess.run(["chmod", "-R", "u+rwx", self.base], check=True)
        shutil.rmtree(self.base)

    def at(self, path: bytes) -> bytes:
        """Where a path is; no edit goes through a link, or it could change the machine itself."""
        place = os.fsencode(self.workspace)
        for name in path.split(b"/"):
            if os.path.islink(place):
                raise NotADirectoryError(place)
            place = os.path.join(place, name)
        return place

    @rule(path=PATHS, content=CONTENT, mode=MODES)
    def write(self, path: bytes, content: bytes, mode: int) -> None:
        with contextlib.suppress(OSError):
            place = self.at(path)
            os.makedirs(os.path.dirname(place), exist_ok=True)
            file = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW)
            os.write(file, content)
            os.fchmod(file, mode)
            os.close(file)

    @rule(path=PATHS, mode=FOLDER_MODES)
    def make_folder(self, path: bytes, mode: int) -> None:
        with contextlib.suppress(OSError):
            place = self.at(path)
            os.makedirs(place, exist_ok=True)
            if not os.path.islink(place):
                os.chmod(place, mode)

    @rule(path=PATHS, to=st.sampled_from([b"a", b"../outside", b"\xff/gone"]))
    def link(self, path: bytes, to: bytes) -> None:
        with contextlib.suppress(OSError):
            os.symlink(to, self.at(path))

    @rule(path=PATHS)
    def remove(self, path: bytes) -> None:
        with contextlib.suppress(OSError):
            place = self.at(path)
            if os.path.isdir(place) and not os.path.islink(place):
                shutil.rmtree(place)
            else:
                os.unlink(place)

    @rule(old=PATHS, new=PATHS)
    def rename(self, old: bytes, new: bytes) -> None:
        with contextlib.suppress(OSError):
            os.rename(self.at(old), self.at(new))

    @rule(old=PATHS, new=PATHS)
    def hard_link(self, old: bytes, new: bytes) -> None:
        with contextlib.suppress(OSError):
            os.link(self.at(old), self.at(new), follow_symlinks=False)

    @rule(target=checkpoints)
    def take(self) -> str:
        checkpoint = self.store.take()
        self.pictures[checkpoint.id] = self.picture()
        assert self.store.diff(checkpoint.id) == []
        return checkpoint.id

    @rule(id=checkpoints)
    def restore(self, id: str) -> None:
        changes = self.store.diff(id)
        report = self.store.restore(id)
        assert report.failed == report.conflicts == []
        assert {change.path for change in changes} == {*report.restored, *report.removed}
        assert self.picture() == self.pictures[id]

    @rule(before=checkpoints, after=checkpoints)
    def compare(self, before: str, after: str) -> None:
        changed = {os.fsencode(change.path) for change in self.store.diff(before, after)}
        old, new = self.pictures[before], self.pictures[after]
        assert changed == {key for key in old.keys() | new.keys() if old.get(key) != new.get(key)}

    @rule(before=checkpoints, expected=checkpoints)
    def undo(self, before: str, expected: str) -> None:
        """No content that was changed since is touched; all else is as it was, or named."""
        now, old, assumed = self.picture(), self.pictures[before], self.pictures[expected]
        report = self.store.restore(before, expected=expected)
        then = self.picture()
        told = {note.path for note in (*report.conflicts, *report.failed)}
        for key in now.keys() | old.keys():
            shown = key.decode(errors="backslashreplace")
            if now.get(key) == assumed.get(key):
                assert then.get(key) == old.get(key) or shown in told
            else:
                holds_nothing = key not in now or now[key][0] == "folder"
                assert then.get(key) == now.get(key) or holds_nothing
                assert then.get(key) == old.get(key) or shown in told

    @invariant()
    def the_outside_is_as_it_was(self) -> None:
        assert list(take_picture(self.outside).values()) == [("file", 0o644, b"precious")]

    def picture(self) -> Picture:
        return take_picture(self.workspace)


TestWorkspace = pytest.mark.slow(Workspace.TestCase)
TestWorkspace.settings = settings(
    max_examples=100,
    stateful_step_count=50,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
