"""Events as lines on a terminal: what runs on, and what searches found."""

from __future__ import annotations

import io

import pytest

from openhands_jupyter.cli.terminal import Terminal
from openhands_jupyter.cli.timeline import Timeline
from openhands_jupyter.events import (
    AgentDelegateAction,
    AgentDelegateObservation,
    AwaitRunAction,
    BackgroundJob,
    BrowseInteractiveAction,
    BrowserOutputObservation,
    BrowseURLAction,
    CellEdit,
    CellResult,
    CmdOutputObservation,
    CmdRunAction,
    Event,
    FileGlobAction,
    FileGlobObservation,
    FileGrepAction,
    FileGrepObservation,
    GrepMatch,
    MCPAction,
    MCPObservation,
    NotebookEditAction,
    NotebookEditObservation,
    NotebookReadAction,
    NotebookRunAction,
    NotebookRunObservation,
    Output,
    PlanHandOverAction,
    StopRunAction,
)
from openhands_jupyter.events.notebook_runs import PlannedRun

JOB = BackgroundJob(id=1, pid=42, status="running", command="serve\u202e &")
MATCH = GrepMatch(path="a.py", line=7, text="x = 1")
CELLS = [
    CellEdit(id="c0ffee", what="changed", cell_type="code", before="x = 1", after="x = 2"),
    CellEdit(id="decade", what="moved", cell_type="code", before="y", after="y", notes=["moved"]),
    CellEdit(id="facade", what="deleted", cell_type="raw", before="\u202egone"),
]
PLANNED = PlannedRun(id="c0ffee", rev="1", source="x\u202e", position=3)
RAN = CellResult(
    id="c0ffee", rev="1", position=3, status="done", outputs=[Output(kind="stream", text="printed")]
)


@pytest.mark.parametrize(
    ("event", "lines"),
    [
        (
            AgentDelegateAction(agent="readonly", task="Look\u202e."),
            ["-1  Gives a task to readonly:", "Look\\u{202e}."],
        ),
        (CmdRunAction(command="make", agent_path=[3]), ["-1    | Runs a command", "| $ make"]),
        (
            PlanHandOverAction(path="PLAN.md", plan="1. x\u202e"),
            ["-1  Asks to hand the plan in PLAN.md to codeact", "1. x\\u{202e}"],
        ),
        (
            AgentDelegateObservation(agent="readonly", content="No.", status="rejected"),
            ["-1  readonly declined the task", "No."],
        ),
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
        (BrowseURLAction(url="http://a.test/\u202e"), ["-1  Fetches http://a.test/\\u{202e}"]),
        (
            BrowserOutputObservation(url="http://a.test/", title="Rivers", status=200, total=9),
            ["-1  Read http://a.test/: Rivers (9 characters, status 200)"],
        ),
        (
            BrowseInteractiveAction(
                do="type", ref="e1", element='textbox "\u202e"', text="Ada", page="http://a.test/"
            ),
            ['-1  In the browser: type textbox "\\u{202e}", Ada', "On http://a.test/"],
        ),
        (
            BrowserOutputObservation(url="http://a.test/", total=9, notes=["It asked."]),
            ["It asked.", "-1  Read http://a.test/ (9 characters)"],
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
        (NotebookReadAction(path="a.ipynb"), ["-1  Reads in the notebook a.ipynb: all cells"]),
        (
            NotebookEditAction(path="a.ipynb", operations=[], why="Tidy.", cells=CELLS),
            [
                "-1  Edits the notebook a.ipynb. Tidy.",
                "c0ffee: changed",
                "- x = 1",
                "+ x = 2",
                "decade: moved (moved)",
                "facade: deleted",
                "- \\u{202e}gone",
            ],
        ),
        (
            NotebookEditObservation(
                path="a.ipynb", delivery="tab", nb_rev="0", cells=CELLS, rejected=["cafe"]
            ),
            ["-1  Notebook a.ipynb: 3 cells edited, 1 rejected"],
        ),
        (
            NotebookRunAction(path="a.ipynb", why="To see.", planned=[PLANNED]),
            ["-1  Runs cells of a.ipynb in your kernel. To see.", "@3 c0ffee", "> x\\u{202e}"],
        ),
        (AwaitRunAction(run="1f"), ["-1  Waits for the run 1f"]),
        (StopRunAction(run="1f"), ["-1  Stops the run 1f"]),
        (
            NotebookRunObservation(
                path="a.ipynb",
                state="kernel_dead",
                kernel="sandbox",
                cells=[RAN],
                content="@3 c0ffee: done",
            ),
            ["@3 c0ffee: done", "printed", "-1  Cells of a.ipynb: kernel dead"],
        ),
        (
            MCPAction(
                server="db", tool="se\x1b[31mlect", arguments={"q": "\u202e1"}, where="npx db"
            ),
            [
                "-1  Calls select of db, outside the sandbox",
                "> {",
                '>   "q": "\\u{202e}1"',
                "> }",
                "Server: npx db",
            ],
        ),
        (
            MCPObservation(
                server="db",
                tool="select",
                ok=False,
                outputs=[Output(kind="display_data", data={"text/plain": "no such table"})],
            ),
            ["no such table", "-1  select of db ended: error"],
        ),
    ],
)
def test_lines(event: Event, lines: list[str]) -> None:
    out = io.StringIO()
    Timeline(Terminal(io.StringIO(), out)).show(event)
    assert [line.strip() for line in out.getvalue().splitlines()] == lines
