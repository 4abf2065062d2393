"""A copy of a folder: what is in it, and what is known of its use."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from openhands_jupyter.notebooks.cleanroom.clean_folder import CleanFolder


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "source"
    (folder / "data" / "empty").mkdir(parents=True)
    (folder / "data" / "a.csv").write_text("a\n1\n")
    (folder / "data" / "b.csv").write_text("b\n2\n")
    (folder / "run.sh").write_text("#!/bin/sh\n")
    (folder / "run.sh").chmod(0o750)
    (folder / "link").symlink_to("data/a.csv")
    (folder / "out").symlink_to("/etc")
    (folder / "env" / "bin").mkdir(parents=True)
    (folder / "env" / "pyvenv.cfg").write_text("home = /usr\n")
    os.mkfifo(folder / "pipe")
    return folder


def test_it_holds_what_the_folder_holds(source: Path, tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listening:
        # The whole path may be too long for a socket.
        here = os.open(source, os.O_RDONLY)
        listening.bind(f"/proc/self/fd/{here}/socket")
        copy = CleanFolder(source, tmp_path / "copy")
        os.close(here)
    assert sorted(os.listdir(copy.path)) == ["data", "link", "out", "run.sh"]
    assert (copy.path / "data" / "empty").is_dir()
    assert (copy.path / "data" / "b.csv").read_text() == "b\n2\n"
    assert (copy.path / "run.sh").stat().st_mode & 0o777 == 0o750
    assert os.readlink(copy.path / "link") == "data/a.csv"
    assert os.readlink(copy.path / "out") == "/etc"
    assert (copy.path / "run.sh").stat().st_mtime_ns == (source / "run.sh").stat().st_mtime_ns
    assert copy.left_out == []


def test_it_tells_what_was_used(source: Path, tmp_path: Path) -> None:
    copy = CleanFolder(source, tmp_path / "copy")
    assert copy.used().read in ([], None)
    (copy.path / "link").read_text()
    (copy.path / "data" / "b.csv").write_text("b\n3\n")
    (copy.path / "run.sh").unlink()
    (copy.path / "new").mkdir()
    (copy.path / "new" / "c.csv").write_text("c")
    (copy.path / "__pycache__").mkdir()
    (copy.path / "__pycache__" / "x.pyc").write_text("")
    used = copy.used()
    assert used.created == ["new/c.csv"]
    assert used.changed == ["data/b.csv"]
    assert used.deleted == ["run.sh"]
    if used.read is None:
        pytest.skip("the file system does not keep when files were read")
    assert used.read == ["data/a.csv"]


def test_the_folder_itself_stays_as_it_is(source: Path, tmp_path: Path) -> None:
    copy = CleanFolder(source, tmp_path / "copy")
    (copy.path / "data" / "a.csv").write_text("other")
    assert (source / "data" / "a.csv").read_text() == "a\n1\n"


def test_what_cannot_be_read_is_left_out(source: Path, tmp_path: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root reads everything")
    (source / "data" / "a.csv").chmod(0)
    assert CleanFolder(source, tmp_path / "copy").left_out == ["data/a.csv"]


def test_folders_that_may_not_be_written_are_copied_with_what_is_in_them(
    source: Path, tmp_path: Path
) -> None:
    (source / "data").chmod(0o500)
    copy = CleanFolder(source, tmp_path / "copy")
    assert (copy.path / "data").stat().st_mode & 0o777 == 0o500
    assert (copy.path / "data" / "a.csv").exists()
    (copy.path / "data").chmod(0o700)
    (source / "data").chmod(0o700)
