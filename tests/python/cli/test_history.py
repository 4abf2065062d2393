"""``jupyter openhands checkpoints``, ``diff``, ``undo`` and ``rewind``, while no server runs."""

from __future__ import annotations

import io
import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from openhands_jupyter.cli import history
from openhands_jupyter.cli.main import _parser
from openhands_jupyter.cli.terminal import Terminal
from openhands_jupyter.config import Config
from openhands_jupyter.events.jsonl import take_lease

FIBONACCI = "Write a Python script that computes Fibonacci numbers and run it"


class Place:
    """A workspace, OpenHands' folder, and a session that has changed files."""

    def __init__(self, folder: Path) -> None:
        self.workspace = folder / "my wörk space"
        self.workspace.mkdir()
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("LLM_", "SANDBOX_"))}
        self.environment = {**kept, "OPENHANDS_HOME": str(folder / "home")}
        # Not in the workspace: a session is found wherever one is.
        self._elsewhere = folder
        assert self.command("run", "--model", "tour", FIBONACCI, cwd=self.workspace).returncode == 0
        (self.session,) = [path.name for path in (folder / "home" / "sessions").iterdir()]
        self.folder = folder / "home" / "sessions" / self.session

    def command(self, *arguments: str, cwd: Path | None = None):
        return subprocess.run(
            [sys.executable, "-m", "openhands_jupyter.cli", *arguments],
            cwd=cwd or self._elsewhere,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=100,
        )

    def files(self) -> set[str]:
        found = self.workspace.rglob("*")
        return {path.name for path in found if path.is_file()}

    def events(self, kind: str) -> list[dict]:
        lines = (self.folder / "events.jsonl").read_text().splitlines()
        return [event for event in map(json.loads, lines) if event["type"] == kind]


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> Place:
    return Place(tmp_path_factory.mktemp("place"))


async def at_terminal(place: Place, monkeypatch, typed: str, *arguments: str) -> tuple[int, str]:
    """The exit code and what is printed, for somebody who types."""
    monkeypatch.setenv("OPENHANDS_HOME", place.environment["OPENHANDS_HOME"])
    keyboard, source = pty.openpty()
    os.write(keyboard, typed.encode())
    sink = io.StringIO()
    with os.fdopen(source) as typing:
        options = _parser().parse_args(arguments)
        code = await history.run(options, Config(place.workspace), Terminal(typing, sink))
    os.close(keyboard)
    return code, sink.getvalue()


async def test_looking_taking_back_and_again(place: Place, monkeypatch) -> None:
    assert place.files() == {"fib.py"}
    (turn,) = [e for e in place.events("CheckpointObservation") if e.get("since")]

    listed = place.command("checkpoints", place.session)
    assert listed.returncode == 0, listed.stderr
    first = listed.stdout.splitlines()[0]
    assert first.startswith(turn["checkpoint"]) and "changed 1 path" in first
    # The beginning of the id is enough.
    found = place.command("diff", place.session[:12])
    assert found.stdout == "  added       fib.py\n", found
    lines = place.command("diff", place.session, "fib.py", "--from", turn["since"]).stdout
    assert lines.startswith("--- a/fib.py\n+++ b/fib.py\n@@") and "+import sys" in lines

    refused = place.command("undo", place.session)
    assert refused.returncode == 3 and "--yes" in refused.stdout
    code, printed = await at_terminal(place, monkeypatch, "n\n", "undo", place.session)
    assert code == 0 and "is removed  fib.py" in printed
    assert place.files() == {"fib.py"} and place.events("UndoAction") == []

    (place.workspace / "fib.py").write_text("mine now")
    left = place.command("undo", place.session, "--yes")
    assert left.returncode == 0 and "left alone  fib.py: Somebody changed it" in left.stdout
    assert "Nothing is to be done" in left.stdout and place.files() == {"fib.py"}
    forcing = ("undo", place.session, "--force", "fib.py", "nothing")
    code, printed = await at_terminal(place, monkeypatch, "y\n", *forcing)
    assert code == 0 and "removed 1" in printed, printed
    assert "--force nothing: that would not be restored" in printed
    assert place.files() == set()

    assert "nothing that could be undone" in place.command("undo", place.session).stderr
    (action,) = place.events("UndoAction")
    again = place.command("undo", place.session, "--turn", str(action["id"]), "--yes")
    assert again.returncode == 0, again
    assert (place.workspace / "fib.py").read_text() == "mine now"

    (place.workspace / "other").write_text("mine too")
    (message,) = place.events("UserMessageAction")
    back = place.command("rewind", place.session, str(message["id"]), "--replay", "--yes")
    assert back.returncode == 0, back
    assert "Cells that are run again: 0" in back.stdout and "Ran 0 of 0 cells" in back.stdout
    assert place.files() == {"other"}


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["undo", "{}", "--turn", "99999"], "No turn that can be undone begins with event 99999"),
        (["rewind", "{}", "99999", "--yes"], "no checkpoint"),
        (["diff", "{}", "--to", "00000001-00000000"], "--from"),
        (["diff", "{}", "--from", "00000001-00000000"], "no such checkpoint"),
        (["checkpoints", "nothing"], "There is no session nothing"),
        (["checkpoints", "../../etc"], "There is no session"),
    ],
)
def test_what_cannot_be_done(place: Place, arguments: list[str], says: str) -> None:
    filled = [argument.format(place.session) for argument in arguments]
    refused = place.command(*filled)
    assert refused.returncode == 1 and says in refused.stderr, refused
    assert "Traceback" not in refused.stderr


def test_not_while_another_process_has_it_open(place: Place) -> None:
    lease = take_lease(place.folder)
    try:
        for arguments in (["checkpoints"], ["undo", "--yes"]):
            refused = place.command(arguments[0], place.session, *arguments[1:])
            assert refused.returncode == 1
            assert "open in another process" in refused.stderr and "Close it" in refused.stderr
    finally:
        os.close(lease)
