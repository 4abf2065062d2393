"""Task of the tour: a plan, a command, a cell and a question, to show how the panel looks."""

from __future__ import annotations

from typing import Literal

from .conversation import Result
from .failing_cell import WHY_REQUEST
from .script import Call, Script, call, finish, reply, setback
from .temporary_files import PRACTICE_REQUEST
from .tidying import TIDY_REQUEST

FIBONACCI_REQUEST = "Write a Python script that computes Fibonacci numbers and run it"
CSV_REQUEST = "Load a CSV and plot it"
REQUESTS = (FIBONACCI_REQUEST, CSV_REQUEST, TIDY_REQUEST, WHY_REQUEST, PRACTICE_REQUEST)
"""Requests that the tour understands, as it offers them."""

ENOUGH = "That is all, thanks"

_STEPS = ("Look around in the workspace", "Run a cell in the sandbox", "Ask what comes next")
_CELL = """\
import platform
import sys

from IPython.display import Markdown

Markdown(f"**Python {platform.python_version()}** runs in the sandbox, from `{sys.executable}`.")
"""


def show_around(request: str) -> Script:
    """Show each kind of step once, then ask what to do next."""
    yield reply(
        "I am the guided tour: no AI, but every step you see is a real one.",
        call(
            "think",
            thought="A short round first: a plan, a command, a cell and a question. "
            "All of it stays in the sandbox, so nothing needs approval.",
        ),
    )
    _, command = yield reply(
        "Here is the plan. The first step is a command in the sandbox's shell.",
        _plan(done=0),
        call("execute_bash", command="pwd && ls -A | head -n 20", security_risk="low"),
    )
    _, cell = yield reply(
        "Next, a cell in the sandbox's own kernel; your notebooks' kernels are not touched.",
        _plan(done=1),
        call("run_code", code=_CELL, security_risk="low"),
    )
    _, answer = yield reply(
        _seen(command, cell),
        _plan(done=2),
        call("ask_user", question="What shall I do next?", options=[*REQUESTS, ENOUGH]),
    )
    return finish(
        (setback(answer, "the question") or "That was the short tour.")
        + "\n\nEvery step is on the session's log and can be read again at any time. "
        "To work with a real model, open the OpenHands settings and choose a model and its key."
    )


def _plan(done: int) -> Call:
    def status(index: int) -> Literal["todo", "in_progress", "done"]:
        if index == done:
            return "in_progress"
        return "done" if index < done else "todo"

    return call(
        "update_plan",
        tasks=[{"title": title, "status": status(i)} for i, title in enumerate(_STEPS)],
    )


def _seen(command: Result, cell: Result) -> str:
    problems = [setback(command, "the command"), setback(cell, "the cell")]
    if command.exit_code not in (0, None):
        problems.append(f"The command ended with exit code {command.exit_code}.")
    if cell.raised:
        problems.append("The cell ended with an error; its output says which.")
    return " ".join(filter(None, problems)) or "Both worked. Now it is your turn."
