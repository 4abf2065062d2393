"""Searches for files and lines: what they find, what they leave out, and that they always end."""

from __future__ import annotations

import asyncio
import os
import re
import threading
import time

import pytest

from openhands_jupyter.events import (
    CmdRunAction,
    ErrorObservation,
    FileGlobAction,
    FileGlobObservation,
    FileGrepAction,
    FileGrepObservation,
    GrepMatch,
)
from openhands_jupyter.runtime.agentd import finder, search
from openhands_jupyter.runtime.agentd.errors import ActionError
from openhands_jupyter.runtime.agentd.finder import matcher
from openhands_jupyter.runtime.agentd.search import Search

CATASTROPHE = "(a+)+$"
VICTIM = "a" * 60 + "b\n"


@pytest.fixture
def tree(workspace):
    """A workspace with a little of everything."""
    files = {
        "a.py": "import os\nprint('é')\n",
        "b.txt": "nothing\nimport re\r\nIMPORT\n",
        "src/c.py": "x = 1\fy = 2\nimport sys",
        "src/deep/er/d.ts": "import x\n",
        ".hidden/e.py": "import hidden\n",
        ".git/f.py": "import git\n",
        "node_modules/g.py": "import node\n",
        "venv/pyvenv.cfg": "",
        "venv/lib/h.py": "import venv\n",
    }
    for path, text in files.items():
        (workspace / path).parent.mkdir(parents=True, exist_ok=True)
        (workspace / path).write_text(text)
    (workspace / "binary.py").write_bytes(b"\0import")
    (workspace / "latin.py").write_bytes(b"import caf\xe9\n")
    os.mkfifo(workspace / "pipe.py")
    (workspace / "circle").symlink_to(".")
    return workspace


@pytest.fixture
def found(tree):
    return Search(str(tree))


def files(found, pattern, path="."):
    return sorted(found.glob(pattern, path)["files"])


def lines(found, pattern, path=".", include="", ignore_case=False):
    answer = found.grep(pattern, path, include, ignore_case)
    return [(match["path"], match["line"]) for match in answer["matches"]]


@pytest.mark.parametrize(
    ("pattern", "fits", "does_not"),
    [
        ("*.py", ["a.py", "x/y/a.py"], ["a.pyc", "a.py/b"]),
        ("src/*.py", ["src/a.py"], ["src/x/a.py", "a.py", "x/src/a.py"]),
        ("./src/*.py", ["src/a.py"], ["a.py"]),
        ("src/**", ["src/a", "src/x/a"], ["src", "b/a"]),
        ("**/test_?.py", ["test_1.py", "x/y/test_a.py"], ["test_12.py"]),
        ("a/**/b", ["a/b", "a/x/y/b"], ["ab", "a/xb"]),
        ("*.{ts,tsx}", ["a.ts", "x/a.tsx"], ["a.js"]),
        ("{a,b}{1,2}", ["a1", "b2"], ["a3", "{a,b}1"]),
        ("[a-c].x", ["b.x"], ["d.x", "/.x"]),
        ("[!a].x", ["b.x"], ["a.x"]),
        ("[]a]", ["]", "a"], ["b"]),
        ("[x", ["[x"], ["x"]),
        ("a+(b).c", ["a+(b).c"], ["aab.c"]),
        ("*a*b*c*", ["abc", "xaxbxcx"], ["acb"]),
    ],
)
def test_patterns_mean_what_they_do_elsewhere(pattern, fits, does_not):
    expression = matcher(pattern)
    assert [path for path in fits if not expression.fullmatch(path)] == []
    assert [path for path in does_not if expression.fullmatch(path)] == []


def test_a_pattern_of_many_stars_does_not_take_forever():
    started = time.monotonic()
    assert not matcher("*" * 200 + "x").fullmatch("y" * 200)
    assert time.monotonic() - started < 5


def test_files_are_found_by_name(found):
    assert files(found, "*.py") == ["a.py", "binary.py", "latin.py", "pipe.py", "src/c.py"]
    assert files(found, "src/**/*.ts") == ["src/deep/er/d.ts"]
    assert files(found, "*.py", "src") == ["c.py"]
    assert files(found, "nothing*") == []


def test_what_is_hidden_is_found_where_it_is_asked_for(found):
    assert files(found, "*.py", ".hidden") == ["e.py"]
    assert files(found, ".hidden/*") == [".hidden/e.py"]
    assert files(found, "*.py", ".git") == ["f.py"]
    assert files(found, "*.py", "venv") == ["lib/h.py"]
    assert files(found, ".git/*") == []


def test_the_newest_file_comes_first(found, tree):
    os.utime(tree / "src" / "c.py", (2**33, 2**33))
    assert found.glob("*.py", ".")["files"][0] == "src/c.py"


def test_lines_are_found(found):
    assert lines(found, "^import") == [
        ("a.py", 1),
        ("b.txt", 2),
        ("latin.py", 1),
        ("src/c.py", 2),
        ("src/deep/er/d.ts", 1),
    ]
    assert lines(found, "import", include="*.{txt,ts}") == [("b.txt", 2), ("src/deep/er/d.ts", 1)]
    assert lines(found, "import", "b.txt", ignore_case=True) == [("", 2), ("", 3)]
    assert lines(found, "import", ".hidden") == [("e.py", 1)]
    assert found.grep("y =", ".", "", False) == {
        "matches": [{"path": "src/c.py", "line": 1, "text": "x = 1\fy = 2"}],
        "total": 1,
        "files": 1,
        "notice": "",
    }


def test_many_results_are_counted_and_the_first_shown(found, tree):
    for number in range(600):
        (tree / f"{number:03}.log").write_text("hit\nhit\n")
    answer = found.glob("*.log", ".")
    assert (len(answer["files"]), answer["total"]) == (finder.SHOWN_FILES, 600)
    answer = found.grep("hit", ".", "", False)
    assert len(answer["matches"]) == finder.SHOWN_LINES
    assert (answer["total"], answer["files"]) == (1200, 600)


def test_a_long_line_is_shown_around_the_match(found, tree):
    (tree / "long").write_text("x" * 5000 + "needle" + "y" * 5000)
    (match,) = found.grep("needle", "long", "", False)["matches"]
    assert "needle" in match["text"]
    assert len(match["text"]) == finder.SHOWN_CHARACTERS + 2


def test_what_was_not_searched_is_said(found, tree):
    with (tree / "huge").open("wb") as file:
        file.truncate(finder.LARGEST_FILE + 1)
    answer = found.grep("import", ".", "", False)
    assert answer["notice"] == "Files not searched, over 20,000,000 bytes: 1."


@pytest.mark.parametrize(
    ("code", "call"),
    [
        ("bad_pattern", lambda s: s.grep("(", ".", "", False)),
        ("bad_pattern", lambda s: s.grep("", ".", "", False)),
        ("bad_pattern", lambda s: s.grep("x", ".", "../*", False)),
        ("bad_pattern", lambda s: s.glob("", ".")),
        ("bad_pattern", lambda s: s.glob("/etc/*", ".")),
        ("bad_pattern", lambda s: s.glob("a/../../*", ".")),
        ("file_not_found", lambda s: s.glob("*", "nothing")),
        ("file_not_found", lambda s: s.grep("x", "nothing", "", False)),
        ("not_a_folder", lambda s: s.glob("*", "a.py")),
        ("bad_path", lambda s: s.glob("*", "")),
    ],
)
def test_what_cannot_be_searched_is_refused(found, code, call):
    with pytest.raises(ActionError) as caught:
        call(found)
    assert caught.value.code == code
    assert caught.value.message.endswith(".")


def test_an_expression_that_never_ends_is_ended(found, tree, monkeypatch):
    (tree / "victim").write_text(VICTIM)
    monkeypatch.setattr(search, "LONGEST", 1.0)
    with pytest.raises(ActionError) as caught:
        found.grep(CATASTROPHE, "victim", "", False)
    assert caught.value.code == "search_timeout"
    assert lines(found, "^aaa", "victim") == [("", 1)]


def test_a_search_can_be_stopped(found, tree):
    (tree / "victim").write_text(VICTIM)
    codes = []

    def run():
        try:
            found.grep(CATASTROPHE, "victim", "", False)
        except ActionError as error:
            codes.append(error.code)

    thread = threading.Thread(target=run)
    thread.start()
    while thread.is_alive():
        found.stop()
        time.sleep(0.02)
    assert codes == ["stopped"]


@pytest.mark.sandbox
@pytest.mark.contract
async def test_searches_are_actions(bench):
    async with bench() as b:
        (b.workspace / "sub").mkdir()
        (b.workspace / "sub" / "é.py").write_text("x = 1\n")
        assert await b.act(FileGlobAction(pattern="*.py")) == (
            FileGlobObservation(path=".", pattern="*.py", files=["sub/é.py"], total=1)
        )
        assert await b.act(FileGrepAction(pattern="= [0-9]", path="sub")) == (
            FileGrepObservation(
                path="sub",
                pattern="= [0-9]",
                matches=[GrepMatch(path="é.py", line=1, text="x = 1")],
                total=1,
                files=1,
            )
        )
        refused = await b.act(FileGrepAction(pattern="("))
        assert isinstance(refused, ErrorObservation)
        assert re.match(r"\( is no regular expression: ", refused.message)


@pytest.mark.sandbox
@pytest.mark.contract
async def test_stop_ends_a_search_and_leaves_the_sandbox(bench):
    async with bench() as b:
        await b.act(CmdRunAction(command="x=kept"))
        (b.workspace / "victim").write_text(VICTIM)
        task = asyncio.ensure_future(b.act(FileGrepAction(pattern=CATASTROPHE)))
        await asyncio.sleep(0.3)
        await b.runtime.interrupt()
        observation = await task
        assert isinstance(observation, ErrorObservation)
        assert observation.code == "stopped"
        assert (await b.sh("echo $x")).content == "kept\n"
