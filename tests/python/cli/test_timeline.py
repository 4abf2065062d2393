"""Events as lines on a terminal: what runs on, and what searches found."""

from __future__ import annotations

import io

import pytest

from openhands_jupyter.cli.terminal import Terminal
from openhands_jupyter.cli.timeline import Timeline
from openhands_jupyter.events import (
    BackgroundJob,
    CmdOutputObservation,
    CmdRunAction,
    Event,
    FileGlobAction,
    FileGlobObservation,
    FileGrepAction,
    FileGrepObservation,
    GrepMatch,
)

JOB = BackgroundJob(id=1, pid=42, status="running", command="serve\u202e &")
MATCH = GrepMatch(path="a.py", line=7, text="x = 1")


@pytest.mark.parametrize(
    ("event", "lines"),
    [
        (CmdRunAction(command="make"), ["-1  Runs a command", "$ make"]),
        (CmdRunAction(command=""), ["-1  Waits for the running command"]),
        (
            CmdRunAction(command="y", is_input=True),
            ["-1  Types into the running command", "< y"],
        ),
        (
            CmdOutputObservation(content="Sure?", running=True, jobs=[JOB]),
            ["Sure?", "-1  Command still running", "Job 1, pid 42, running: serve\\u{202e} &"],
        ),
        (FileGlobAction(pattern="*.py"), ["-1  Finds files: *.py in ."]),
        (
            FileGlobObservation(path=".", pattern="*", files=["a", "b"], total=2),
            ["a", "b", "-1  Found 2 files."],
        ),
        (
            FileGrepAction(pattern="x", path="src", include="*.py"),
            ["-1  Searches files: x in src, files *.py"],
        ),
        (
            FileGrepObservation(path=".", pattern="x", matches=[MATCH], total=1, files=1),
            ["a.py:7: x = 1", "-1  Found 1 lines in 1 files."],
        ),
    ],
)
def test_lines(event: Event, lines: list[str]) -> None:
    out = io.StringIO()
    Timeline(Terminal(io.StringIO(), out)).show(event)
    assert [line.strip() for line in out.getvalue().splitlines()] == lines
