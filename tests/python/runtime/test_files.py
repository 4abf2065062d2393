"""File actions: what they do to a file, and what they refuse."""

from __future__ import annotations

import os
import stat

import pytest

from openhands_jupyter.events import (
    ErrorObservation,
    FileEditAction,
    FileEditObservation,
    FileReadAction,
    FileReadObservation,
    FileWriteAction,
    FileWriteObservation,
)
from openhands_jupyter.runtime.agentd.errors import ActionError
from openhands_jupyter.runtime.agentd.files import Files


@pytest.fixture
def files(workspace):
    return Files(str(workspace))


def replace(files, path, old, new):
    return files.edit(path, "str_replace", old, new, 0)


def undo(files, path):
    return files.edit(path, "undo", "", "", 0)


def code_of(action, *arguments):
    with pytest.raises(ActionError) as caught:
        action(*arguments)
    assert caught.value.message
    return caught.value.code


@pytest.mark.sandbox
@pytest.mark.contract
async def test_actions_become_observations(bench):
    async with bench() as b:
        assert await b.act(FileWriteAction(path="a/b.py", content="x = 1\n")) == (
            FileWriteObservation(path="a/b.py", created=True, content="x = 1\n")
        )
        assert (b.workspace / "a" / "b.py").read_text() == "x = 1\n"
        edit = FileEditAction(path="a/b.py", command="str_replace", old_str="1", new_str="2")
        assert await b.act(edit) == FileEditObservation(
            path="a/b.py", content="x = 2\n", old_content="x = 1\n"
        )
        assert await b.act(FileReadAction(path=str(b.workspace / "a/b.py"))) == (
            FileReadObservation(path=str(b.workspace / "a/b.py"), content="x = 2\n", total_lines=1)
        )
        assert await b.act(FileReadAction(path="a")) == (
            FileReadObservation(path="a", content="b.py\n", is_dir=True)
        )
        missing = await b.act(FileReadAction(path="nothing"))
        assert isinstance(missing, ErrorObservation)
        assert (missing.code, missing.message) == ("file_not_found", "nothing does not exist.")


@pytest.mark.sandbox
async def test_outside_the_workspace_nothing_can_be_written(bench, tmp_path):
    (tmp_path / "outside.txt").write_text("old")
    async with bench() as b:
        (b.workspace / "link").symlink_to(tmp_path / "outside.txt")
        assert isinstance(await b.act(FileReadAction(path="../outside.txt")), ErrorObservation)
        for path in ("/usr/new", "/new/file", "/etc/passwd", "/home/new"):
            observation = await b.act(FileWriteAction(path=path, content="new"))
            assert isinstance(observation, ErrorObservation), path
            assert observation.code in ("read_only", "permission_denied")
        # Where the sandbox has a /tmp of its own, these paths lead there.
        for path in ("../outside.txt", "link", str(tmp_path / "new.txt")):
            await b.act(FileWriteAction(path=path, content="new"))
    assert (tmp_path / "outside.txt").read_text() == "old"
    assert not (tmp_path / "new.txt").exists()


@pytest.mark.sandbox
@pytest.mark.contract
async def test_an_undecodable_file_name_is_listed(bench):
    async with bench() as b:
        os.close(os.open(os.fsencode(b.workspace) + b"/bad\xff", os.O_CREAT | os.O_WRONLY))
        listing = await b.act(FileReadAction(path="."))
        assert isinstance(listing, FileReadObservation)
        assert listing.content == "bad?\n"


def test_read_lines(files, workspace):
    (workspace / "f").write_text("".join(f"line {n}\n" for n in range(1, 11)))
    answer = files.read("f", 3, 4)
    assert (answer["content"], answer["start"], answer["total_lines"]) == (
        "line 3\nline 4\n",
        3,
        10,
    )
    assert files.read("f", 9, 99)["content"] == "line 9\nline 10\n"
    for start, end in ((0, 1), (11, None), (4, 3)):
        assert code_of(files.read, "f", start, end) == "bad_range"


def test_an_empty_file_is_read(files, workspace):
    (workspace / "f").touch()
    assert files.read("f", None, None)["content"] == ""


def test_a_long_file_is_shown_in_part(files, workspace):
    (workspace / "f").write_text("".join(f"{n}\n" for n in range(1, 30_001)))
    content = files.read("f", None, None)["content"]
    *_, last_shown, note = content.splitlines()
    assert len(content) < 61_000
    assert f"read from line {int(last_shown) + 1} to go on" in note
    (workspace / "wide").write_text("x" * 100_000)
    assert "it has 100,000 characters" in files.read("wide", None, None)["content"]


def test_folders_are_listed(files, workspace):
    (workspace / "b").mkdir()
    (workspace / "a").touch()
    (workspace / "b" / "c" / "d").mkdir(parents=True)
    for folder in (".git", "venv", "node_modules"):
        (workspace / folder).mkdir()
        (workspace / folder / "pyvenv.cfg").touch()
    (workspace / "circle").symlink_to(".")
    assert files.read(".", None, None)["content"].splitlines() == [
        ".git/",
        "a",
        "b/",
        "b/c/",
        "circle/",
        "node_modules/",
        "venv/",
    ]


def test_a_long_listing_is_shown_in_part(files, workspace):
    for number in range(1100):
        (workspace / f"{number:04}").touch()
    *shown, note = files.read(".", None, None)["content"].splitlines()
    assert (len(shown), note) == (1000, "[... 100 more entries ...]")


def test_binary_huge_and_special_files_are_refused(files, workspace):
    (workspace / "binary").write_bytes(b"\x89PNG\0\1")
    with (workspace / "huge").open("wb") as file:
        file.truncate(9_000_000)
    os.mkfifo(workspace / "pipe")
    assert code_of(files.read, "binary", None, None) == "not_text"
    assert code_of(files.read, "huge", None, None) == "too_large"
    assert code_of(files.read, "pipe", None, None) == "not_a_file"
    assert code_of(files.write, "pipe", "") == "not_a_file"
    assert code_of(replace, files, "binary", "P", "Q") == "not_text"


def test_a_binary_file_may_be_overwritten(files, workspace):
    (workspace / "binary").write_bytes(b"\0")
    answer = files.write("binary", "text")
    assert (answer["created"], answer["old_content"]) == (False, None)
    undo(files, "binary")
    assert (workspace / "binary").read_bytes() == b"\0"


@pytest.mark.parametrize(
    ("raw", "edited"),
    [
        (b"\xef\xbb\xbfold\n", b"\xef\xbb\xbfn\xc3\xa9w\n"),
        ("old\n".encode("utf-16"), "néw\n".encode("utf-16")),
        (b"old\r\n\xc3\xa4\r\n", b"n\xc3\xa9w\r\n\xc3\xa4\r\n"),
        (b"old \xe4\n", b"n\xe9w \xe4\n"),
        (b"old\r\nmixed\n", b"n\xc3\xa9w\r\nmixed\n"),
        (b"old", b"n\xc3\xa9w"),
    ],
    ids=["bom", "utf-16", "crlf", "latin-1", "mixed newlines", "no newline at end"],
)
def test_encoding_and_newlines_stay(files, workspace, raw, edited):
    (workspace / "f").write_bytes(raw)
    replace(files, "f", "old", "néw")
    assert (workspace / "f").read_bytes() == edited
    undo(files, "f")
    assert (workspace / "f").read_bytes() == raw


def test_an_edit_that_the_encoding_cannot_hold_changes_nothing(files, workspace):
    raw = "été 日本".encode("shift_jis", "ignore")
    (workspace / "f").write_bytes(raw)
    assert code_of(files.edit, "f", "insert", "", "日", 0) == "wrong_encoding"
    assert (workspace / "f").read_bytes() == raw
    # A whole new text needs nothing of the old one.
    files.write("f", "日")
    assert (workspace / "f").read_text("utf-8") == "日"


def test_lines_are_counted_as_editors_do(files, workspace):
    (workspace / "f").write_text("a\x0cb\u2028c\nd\x85e\n")
    assert files.read("f", 2, 2)["content"] == "d\x85e\n"
    assert files.read("f", None, None)["total_lines"] == 2
    assert files.edit("f", "insert", "", "new", 1)["content"] == "a\x0cb\u2028c\nnew\nd\x85e\n"


def test_mode_and_link_stay(files, workspace):
    script = workspace / "script"
    script.write_text("old")
    script.chmod(0o750)
    (workspace / "link").symlink_to("script")
    files.write("link", "new")
    assert (workspace / "link").is_symlink()
    assert script.read_text() == "new"
    assert stat.S_IMODE(script.stat().st_mode) == 0o750
    assert sorted(path.name for path in workspace.iterdir()) == ["link", "script"]


def test_a_new_file_has_the_usual_mode(files, workspace):
    files.write("new", "x")
    (workspace / "usual").touch()
    assert (workspace / "new").stat().st_mode == (workspace / "usual").stat().st_mode


def test_replace_needs_exactly_one_match(files, workspace):
    (workspace / "f").write_text("a\nb\na\n")
    assert code_of(replace, files, "f", "c", "x") == "no_match"
    assert code_of(replace, files, "f", "", "x") == "no_match"
    with pytest.raises(ActionError, match="from lines 1, 3") as caught:
        replace(files, "f", "a", "x")
    assert caught.value.code == "many_matches"
    assert replace(files, "f", "b\na", "x")["content"] == "a\nx\n"


@pytest.mark.parametrize(
    ("line", "result"), [(0, "new\na\nb"), (1, "a\nnew\nb"), (2, "a\nb\nnew\n")]
)
def test_insert_after_a_line(files, workspace, line, result):
    (workspace / "f").write_text("a\nb")
    assert files.edit("f", "insert", "", "new", line)["content"] == result
    assert code_of(files.edit, "f", "insert", "", "new", 9) == "bad_line"


def test_undo_goes_back_step_by_step(files, workspace):
    files.write("f", "1")
    files.write("f", "2")
    replace(files, "f", "2", "3")
    assert undo(files, "f")["content"] == "2"
    assert undo(files, "f")["content"] == "1"
    assert undo(files, "f") == {
        "path": str(workspace / "f"),
        "content": "",
        "old_content": "1",
    }
    assert not (workspace / "f").exists()
    assert code_of(undo, files, "f") == "nothing_to_undo"


def test_undo_keeps_off_what_something_else_changed(files, workspace):
    files.write("f", "ours")
    (workspace / "f").write_text("theirs")
    assert code_of(undo, files, "f") == "changed_since"
    assert (workspace / "f").read_text() == "theirs"


def test_undo_keeps_off_a_file_that_was_deleted(files, workspace):
    files.write("f", "ours")
    (workspace / "f").unlink()
    assert code_of(undo, files, "f") == "changed_since"
    assert not (workspace / "f").exists()


def test_undo_forgets_the_oldest_and_stays_small(files, workspace):
    for number in range(60):
        files.write("f", str(number))
    for _ in range(50):
        undo(files, "f")
    assert (workspace / "f").read_text() == "9"
    assert code_of(undo, files, "f") == "nothing_to_undo"
    for number in range(12):
        files.write("random", os.urandom(1_000_000).hex() + str(number))
    kept = sum(step.size for steps in files._undo.values() for step in steps)
    assert 8_000_000 < kept <= 16_000_000


def test_paths_that_cannot_be(files, workspace):
    (workspace / "file").touch()
    (workspace / "folder").mkdir()
    (workspace / "circle").symlink_to("circle")
    assert code_of(files.write, "", "x") == "bad_path"
    assert code_of(files.write, "a\0b", "x") == "bad_path"
    assert code_of(files.write, "file/below", "x") == "file_exists"
    assert code_of(files.write, "folder", "x") == "is_a_folder"
    assert code_of(files.write, "circle", "x") == "bad_path"
    assert code_of(files.write, "n" * 300, "x") == "bad_path"
    assert code_of(replace, files, "nothing", "a", "b") == "file_not_found"


def test_a_failed_write_leaves_the_old_file_and_no_other(files, workspace, monkeypatch):
    (workspace / "f").write_text("old")

    def full_disk(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full_disk)
    assert code_of(files.write, "f", "new") == "no_space"
    assert (workspace / "f").read_text() == "old"
    assert list(workspace.iterdir()) == [workspace / "f"]
