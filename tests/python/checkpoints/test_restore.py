"""What comes back, what is left alone, and what is said about it."""

from __future__ import annotations

import contextlib
import os
import subprocess
import tempfile
import traceback
from collections.abc import Callable
from pathlib import Path

import pytest

from openhands_jupyter.runtime.checkpoints import CheckpointDamaged, CheckpointStore, RestoreReport


def paths(notes: list) -> set[str]:
    return {note.path for note in notes}


def git(folder: Path, *arguments: str) -> str:
    command = ["git", "-c", "user.name=x", "-c", "user.email=x@example.org", *arguments]
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout


def test_everything_comes_back(store: CheckpointStore, workspace: Path, picture: Callable) -> None:
    (workspace / "a" / "b").mkdir(parents=True)
    (workspace / "a" / "b" / "script").write_text("#!/bin/sh")
    (workspace / "a" / "b" / "script").chmod(0o751)
    (workspace / "a" / "large").write_bytes(os.urandom(5_000_000))
    (workspace / "a" / "to b").symlink_to("b")
    (workspace / "a" / "dangling").symlink_to("/dev/null/nothing")
    (workspace / "empty").mkdir(mode=0o700)
    (workspace / "read-only").mkdir()
    (workspace / "read-only" / "file").write_text("kept")
    (workspace / "read-only").chmod(0o555)
    os.link(workspace / "a" / "large", workspace / "hard link")
    with open(os.fsencode(workspace) + b"/\xff\xfe\n\x01odd", "w") as file:
        file.write("odd")
    before, checkpoint = picture(workspace), store.take()

    (workspace / "read-only").chmod(0o755)
    subprocess.run(["rm", "-rf", "a", "empty", "read-only", "hard link"], cwd=workspace, check=True)
    (workspace / "a").write_text("now a file")
    (workspace / "empty").symlink_to("a")
    (workspace / "new" / "folder").mkdir(parents=True)
    (workspace / "new" / "folder" / "file").write_text("new")
    os.mkfifo(workspace / "new" / "pipe")
    os.unlink(os.fsencode(workspace) + b"/\xff\xfe\n\x01odd")

    report = store.restore(checkpoint.id)
    assert picture(workspace) == before
    assert report.conflicts == report.failed == []
    assert set(report.removed) == {"new", "new/folder", "new/folder/file", "new/pipe"}
    assert "a/b/script" in report.restored and "\udcff\udcfe\n\x01odd" in report.restored
    assert store.restore(checkpoint.id) == RestoreReport()


def test_a_commit_is_undone_and_nested_repositories_are_whole(
    store: CheckpointStore, workspace: Path, picture: Callable
) -> None:
    nested = workspace / "nested"
    for folder in (workspace, nested):
        folder.mkdir(exist_ok=True)
        git(folder, "init", "-q")
        (folder / "file").write_text("one")
        git(folder, "add", "file")
        git(folder, "commit", "-qm", "one")
    before, checkpoint = picture(workspace), store.take()
    (nested / "file").write_text("two")
    git(nested, "commit", "-qam", "two")
    git(nested, "gc", "-q")
    store.restore(checkpoint.id)
    assert picture(workspace) == before
    assert git(nested, "log", "--format=%s") == "one\n"
    assert git(nested, "fsck") == ""


def test_later_edits_are_conflicts(store: CheckpointStore, workspace: Path) -> None:
    for name in ("agent", "both", "person", "moved"):
        (workspace / name).write_text("before")
    before = store.take()
    for name in ("agent", "both", "moved"):
        (workspace / name).write_text("agent's")
    (workspace / "made").mkdir()
    (workspace / "made" / "by agent").write_text("agent's")
    (workspace / "made" / "by both").write_text("agent's")
    expected = store.take()
    for name in ("both", "person", "made/by both", "made/by person"):
        (workspace / name).write_text("person's")
    (workspace / "moved").rename(workspace / "moved away")

    report = store.restore(before.id, expected=expected.id)
    assert paths(report.conflicts) == {
        "both",
        "made/by both",
        "made/by person",
        "moved",
        "moved away",
        "person",
    }
    assert (report.restored, report.removed) == (["agent"], ["made/by agent"])
    assert paths(report.failed) == {"made"}
    assert (workspace / "agent").read_text() == "before"
    for name in ("both", "person", "made/by both", "made/by person"):
        assert (workspace / name).read_text() == "person's"

    report = store.restore(before.id, expected=expected.id, force_paths=["both", "made", "moved"])
    assert paths(report.conflicts) == {"moved away", "person"}
    assert report.failed == []
    assert not (workspace / "made").exists()
    assert (workspace / "both").read_text() == (workspace / "moved").read_text() == "before"


def test_a_folder_in_place_of_a_file_and_the_other_way_round(
    store: CheckpointStore, workspace: Path
) -> None:
    (workspace / "file").write_text("before")
    (workspace / "folder").mkdir()
    (workspace / "folder" / "inner").write_text("before")
    before = store.take()
    (workspace / "file").unlink()
    (workspace / "file").mkdir()
    (workspace / "file" / "inner").write_text("agent's")
    (workspace / "folder" / "inner").unlink()
    (workspace / "folder").rmdir()
    (workspace / "folder").write_text("agent's")
    expected = store.take()
    (workspace / "file" / "person's").write_text("person's")
    (workspace / "folder").write_text("person's")
    report = store.restore(before.id, expected=expected.id)
    assert paths(report.conflicts) == {"file/person's", "folder"}
    assert paths(report.failed) == {"file", "folder/inner"}
    assert (workspace / "file" / "person's").read_text() == "person's"
    assert (workspace / "folder").read_text() == "person's"


def test_only_what_changed_in_a_span(store: CheckpointStore, workspace: Path) -> None:
    for name in ("a/1", "a/2", "b/1", "c/d/e/f", "c/d/g", "ab"):
        (workspace / name).parent.mkdir(parents=True, exist_ok=True)
        (workspace / name).write_text("before")
    before = store.take()
    subprocess.run(["rm", "-rf", "a", "b/1", "c/d/e"], cwd=workspace, check=True)
    effects = store.effects("session", before.id, store.take().id)
    subprocess.run(["rm", "-rf", "b", "c", "ab"], cwd=workspace, check=True)
    (workspace / "b").write_text("in the way")
    (workspace / "new").write_text("new")
    report = store.restore(before.id, effects)
    found = {path.relative_to(workspace).as_posix() for path in workspace.rglob("*")}
    assert found == {"a", "a/1", "a/2", "b", "c", "c/d", "c/d/e", "c/d/e/f", "new"}
    assert paths(report.failed) == {"b/1"}


def test_excluded_files_stay_but_caches_go_with_their_folder(
    store: CheckpointStore, workspace: Path
) -> None:
    checkpoint = store.take()
    for path in ("pkg/x.py", "pkg/__pycache__/x.pyc", "web/a.js", "web/node_modules/b.js"):
        (workspace / path).parent.mkdir(parents=True, exist_ok=True)
        (workspace / path).write_text("x")
    report = store.restore(checkpoint.id)
    assert not (workspace / "pkg").exists()
    assert (workspace / "web" / "node_modules" / "b.js").exists()
    assert not (workspace / "web" / "a.js").exists()
    assert paths(report.failed) == {"web"}


def test_what_was_left_out_is_left_alone(make_store, workspace: Path) -> None:
    store = make_store(file_cap=100)
    (workspace / "large").write_bytes(bytes(101))
    (workspace / "large, gone").write_bytes(bytes(101))
    (workspace / "grows").write_bytes(b"small")
    checkpoint = store.take()
    (workspace / "large").unlink()
    (workspace / "large").mkdir()
    (workspace / "large" / "file").write_text("x")
    (workspace / "large, gone").unlink()
    (workspace / "grows").write_bytes(bytes(101))
    (workspace / "new and large").write_bytes(bytes(101))
    expected = store.take()
    report = store.restore(checkpoint.id, expected=expected.id)
    assert paths(report.failed) == {"large", "large, gone"}
    assert (workspace / "large" / "file").read_text() == "x"
    assert (workspace / "grows").read_bytes() == b"small"
    assert not (workspace / "new and large").exists()


def test_hard_links_to_the_outside_are_not_written_through(
    store: CheckpointStore, workspace: Path, tmp_path: Path
) -> None:
    (workspace / "file").write_text("before")
    checkpoint = store.take()
    outside = tmp_path / "outside"
    outside.write_text("precious")
    outside.chmod(0o600)
    (workspace / "file").unlink()
    os.link(outside, workspace / "file")
    store.restore(checkpoint.id)
    assert (workspace / "file").read_text() == "before"
    assert outside.read_text() == "precious"
    assert outside.stat().st_mode & 0o777 == 0o600


def test_set_user_id_bits_do_not_come_back(store: CheckpointStore, workspace: Path) -> None:
    (workspace / "tool").write_text("x")
    (workspace / "tool").chmod(0o4755)
    checkpoint = store.take()
    (workspace / "tool").unlink()
    store.restore(checkpoint.id)
    assert (workspace / "tool").stat().st_mode & 0o7777 == 0o755


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_restored_by_root_they_belong_to_whom_the_folder_does(
    store: CheckpointStore, workspace: Path
) -> None:
    os.chown(workspace, 1234, 4321)
    (workspace / "folder").mkdir()
    (workspace / "folder" / "file").write_text("x")
    checkpoint = store.take()
    subprocess.run(["rm", "-rf", "folder"], cwd=workspace, check=True)
    store.restore(checkpoint.id)
    for path in (workspace / "folder", workspace / "folder" / "file"):
        assert (path.stat().st_uid, path.stat().st_gid) == (1234, 4321)


def test_damage_is_found_before_anything_is_changed(
    store: CheckpointStore, workspace: Path, tmp_path: Path, picture: Callable
) -> None:
    (workspace / "a").write_text("before")
    (workspace / "b").write_text("the damaged one")
    checkpoint = store.take()
    (workspace / "a").write_text("after")
    (workspace / "b").write_text("after")
    after = picture(workspace)
    damage(tmp_path / "store", b"the damaged one", b"the")
    with pytest.raises(CheckpointDamaged):
        store.restore(checkpoint.id)
    assert picture(workspace) == after


def test_wrong_content_is_not_restored(
    store: CheckpointStore, workspace: Path, tmp_path: Path
) -> None:
    (workspace / "a").write_text("before")
    (workspace / "b").write_text("the damaged one")
    checkpoint = store.take()
    (workspace / "b").write_text("after")
    damage(tmp_path / "store", b"the damaged one", b"the DAMAGED one")
    report = store.restore(checkpoint.id)
    assert paths(report.failed) == {"b"}
    assert (workspace / "b").read_text() == "after"
    assert {path.name for path in workspace.iterdir()} == {"a", "b"}


def damage(store: Path, content: bytes, instead: bytes) -> None:
    (path,) = (path for path in (store / "objects").iterdir() if path.read_bytes() == content)
    path.write_bytes(instead)


def test_what_a_killed_restore_left_goes(
    store: CheckpointStore, workspace: Path, picture: Callable
) -> None:
    (workspace / "file").write_text("x")
    before, checkpoint = picture(workspace), store.take()
    (workspace / ".openhands-restoring-0123456789abcdef").write_text("half")
    (workspace / ".openhands-restoring-fedcba9876543210").mkdir()
    assert store.take() == checkpoint
    store.restore(checkpoint.id)
    assert picture(workspace) == before


def lock_and_restore(base: Path) -> None:
    """Lock folders and files in all ways, and have them restored."""
    workspace = base / "workspace"
    workspace.mkdir()
    store = CheckpointStore(base / "store", workspace, size_cap=1 << 20, free_floor=0)
    for name in ("hidden/inner/file", "listed/file", "closed/file", "plain"):
        (workspace / name).parent.mkdir(parents=True, exist_ok=True)
        (workspace / name).write_text("before")
    (workspace / "closed").chmod(0o555)
    before = store.take()
    assert before.left_out == [], before
    (workspace / "closed").chmod(0o755)
    (workspace / "closed" / "file").write_text("after")
    (workspace / "closed").chmod(0o555)
    (workspace / "hidden" / "inner" / "file").write_text("after")
    (workspace / "hidden" / "inner").chmod(0)
    (workspace / "hidden").chmod(0)
    (workspace / "listed").chmod(0o600)
    (workspace / "plain").chmod(0)
    (workspace / "made" / "x").mkdir(parents=True)
    (workspace / "made").chmod(0)
    after = store.take()
    reasons = {note.path: note.reason for note in after.left_out}
    assert reasons.keys() == {"hidden", "listed/file", "plain", "made"}, reasons
    assert reasons["plain"] == "It could not be read: Permission denied."
    report = store.restore(before.id, expected=after.id)
    assert report.conflicts == report.failed == [], report
    assert store.diff(before.id) == []
    assert (workspace / "hidden" / "inner" / "file").read_text() == "before"
    assert not (workspace / "made").exists()
    assert (workspace / "closed").stat().st_mode & 0o777 == 0o555
    assert (workspace / "closed" / "file").read_text() == "before"


def test_locked_folders_are_opened_by_their_owner() -> None:
    """Run as somebody whom permissions count for."""
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        child = os.fork()
        if child == 0:
            with contextlib.suppress(BaseException):
                if os.geteuid() == 0:
                    os.chown(folder, 65534, 65534)
                    os.setgroups([])
                    os.setgid(65534)
                    os.setuid(65534)
                try:
                    lock_and_restore(Path(folder))
                    os._exit(0)
                except BaseException:
                    traceback.print_exc()
            os._exit(1)
        assert os.waitpid(child, 0)[1] == 0
