"""Which files are told of those that changed while code ran."""

from __future__ import annotations

from openhands_jupyter.controller.touched import MOST, touched
from openhands_jupyter.events import TouchedFiles
from openhands_jupyter.runtime.checkpoints import Change, Entry

FILE = Entry("file", 0o644, 1, b"a")
OTHER = Entry("file", 0o644, 1, b"b")
FOLDER = Entry("folder", 0o755, 0, b"t")


def test_files_are_told_and_not_the_folders_that_hold_them() -> None:
    changes = [
        Change("new", "added", None, FOLDER),
        Change("new/a.csv", "added", None, FILE),
        Change("b.csv", "modified", FILE, OTHER),
        Change("c.csv", "deleted", FILE, None),
        Change("d", "type", FILE, FOLDER),
        Change("e\udcff", "mode", FILE, FILE),
    ]
    assert touched(changes) == TouchedFiles(
        created=["new/a.csv"], changed=["b.csv", "d", "e\\xff"], deleted=["c.csv"]
    )


def test_of_many_the_first_are_told_and_the_others_counted() -> None:
    many = [Change(f"{number:03}", "added", None, FILE) for number in range(MOST + 5)]
    told = touched([*many, Change("z", "deleted", FILE, None)])
    assert told.created == [f"{number:03}" for number in range(MOST)]
    assert (told.deleted, told.left_out) == (["z"], 5)
