"""The gate on what is done to notebooks."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest

from openhands_jupyter.events import (
    Action,
    AwaitRunAction,
    CellEdit,
    Mode,
    NotebookCreateAction,
    NotebookEditAction,
    NotebookListAction,
    NotebookReadAction,
    NotebookRunAction,
    NotebookSaveAction,
    NotebookUndoAction,
    RiskLevel,
    StopRunAction,
    UserKernel,
)
from openhands_jupyter.events.notebook_runs import PlannedRun, RunPlace
from openhands_jupyter.security import Gate, risk
from openhands_jupyter.security.gate import Outcome

PATCH = [{"op": "patch"}]
GONE = [CellEdit(id="c0ffee", what="deleted", cell_type="code", before="x")]

LIST = NotebookListAction()
READ = NotebookReadAction(path="a.ipynb")
READ_OUTSIDE = NotebookReadAction(path="../a.ipynb")
CREATE = NotebookCreateAction(path="a.ipynb")
EDIT_CLOSED = NotebookEditAction(path="a.ipynb", operations=PATCH, delivery="disk")
EDIT_OPEN = NotebookEditAction(path="a.ipynb", operations=PATCH, delivery="tab")
EDIT_SHARED = NotebookEditAction(path="a.ipynb", operations=PATCH, delivery="room")
EDIT_OUTSIDE = NotebookEditAction(path="../a.ipynb", operations=PATCH, delivery="tab")
DELETE = NotebookEditAction(
    path="a.ipynb", operations=[{"op": "delete"}], delivery="disk", cells=GONE
)
MERGE = NotebookEditAction(
    path="a.ipynb", operations=[{"op": "merge"}], delivery="disk", cells=GONE
)
UNDO_CLOSED = NotebookUndoAction(path="a.ipynb", cells=GONE, delivery="disk")
UNDO_OPEN = NotebookUndoAction(path="a.ipynb", cells=GONE, delivery="tab")
UNDO_OUTSIDE = NotebookUndoAction(path="../a.ipynb", delivery="room")


def run(source: str, kernel: RunPlace = "user", language: str = "python") -> NotebookRunAction:
    """Have a cell run."""
    return NotebookRunAction(
        path="sub/a.ipynb",
        kernel=kernel,
        planned=[PlannedRun(id="c0ffee", rev="1", source=source, position=0)],
        found=UserKernel(id="", name="x", language=language) if kernel == "user" else None,
    )


SAVE_OPEN = NotebookSaveAction(path="a.ipynb", delivery="tab")


@pytest.mark.parametrize(
    ("action", "level", "ask", "agent", "auto"),
    [
        (LIST, "low", "run", "run", "run"),
        (READ, "low", "run", "run", "run"),
        (READ_OUTSIDE, "high", "ask", "ask", "ask"),
        (CREATE, "low", "refuse", "run", "run"),
        (EDIT_CLOSED, "low", "refuse", "run", "run"),
        (EDIT_OPEN, "medium", "ask", "ask", "run"),
        (EDIT_SHARED, "medium", "ask", "ask", "run"),
        (EDIT_OUTSIDE, "high", "ask", "ask", "ask"),
        (DELETE, "high", "refuse", "ask", "run"),
        (MERGE, "low", "refuse", "run", "run"),
        (UNDO_CLOSED, "low", "refuse", "run", "run"),
        (UNDO_OPEN, "medium", "ask", "ask", "run"),
        (UNDO_OUTSIDE, "high", "ask", "ask", "ask"),
        (SAVE_OPEN, "medium", "ask", "ask", "run"),
        (run("x = 1"), "medium", "refuse", "ask", "ask"),
        (run("import os; os.remove('x')"), "high", "refuse", "ask", "ask"),
        (run("open('/usr/include/stdio.h')"), "high", "refuse", "ask", "ask"),
        (run("open('../data.csv')"), "medium", "refuse", "ask", "ask"),
        (run("x <- 1", language="r"), "high", "refuse", "ask", "ask"),
        (run("x = 1", language=""), "high", "refuse", "ask", "ask"),
        (run("x = 1", "sandbox"), "low", "refuse", "run", "run"),
        (run("import os; os.remove('x')", "sandbox"), "high", "refuse", "ask", "run"),
        (AwaitRunAction(run="1"), "low", "run", "run", "run"),
        (StopRunAction(run="1"), "low", "run", "run", "run"),
    ],
)
def test_each_mode(
    tmp_path: Path, action: Action, level: RiskLevel, ask: Outcome, agent: Outcome, auto: Outcome
) -> None:
    gate = Gate(tmp_path)
    outcomes: dict[Mode, Outcome] = {"ask": ask, "agent": agent, "auto": auto}
    for mode, outcome in outcomes.items():
        verdict = gate.check(action, mode=mode, isolated=True)
        assert (verdict.outcome, verdict.risk.level) == (outcome, level), mode


def test_the_reasons_name_what_is_deleted(tmp_path: Path) -> None:
    verdict = Gate(tmp_path).check(DELETE, mode="agent", isolated=True)
    assert verdict.risk.reasons == ["Deletes cells: c0ffee"]


def test_what_cells_name_is_known_in_the_kernel_that_they_ran_in(tmp_path: Path) -> None:
    gate = Gate(tmp_path)
    gate.check(run("from os import remove as r"), mode="agent", isolated=True)
    uses = gate.check(run("r('x')"), mode="agent", isolated=True)
    assert "Deletes files: x" in uses.risk.reasons
    elsewhere = gate.check(run("r('x')", "sandbox"), mode="agent", isolated=True)
    assert elsewhere.risk.level == "low"


def test_without_a_sandbox_only_reading_is_not_asked_for(tmp_path: Path) -> None:
    gate = Gate(tmp_path)
    assert gate.check(READ, mode="auto", isolated=False).outcome == "run"
    assert gate.check(StopRunAction(run="1"), mode="auto", isolated=False).outcome == "run"
    for action in (CREATE, EDIT_CLOSED, EDIT_OPEN, SAVE_OPEN, run("x", "sandbox")):
        assert gate.check(action, mode="auto", isolated=False).outcome == "ask"


def test_what_cannot_be_judged_is_asked_for_in_every_mode(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*args: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(risk.Scene, "touch", fail)
    for action in (READ, EDIT_OPEN):
        for mode in get_args(Mode):
            verdict = Gate(tmp_path).check(action, mode=mode, isolated=True)
            assert (verdict.outcome, verdict.risk.level) == ("ask", "high"), mode


def test_the_servers_notebooks_are_here_where_the_sandbox_is_elsewhere(tmp_path: Path) -> None:
    gate = Gate(tmp_path)
    gate.work_elsewhere("/remote/folder")
    assert gate.check(READ, mode="agent", isolated=True).outcome == "run"
    assert gate.check(READ_OUTSIDE, mode="agent", isolated=True).outcome == "ask"


@pytest.mark.parametrize(
    "path",
    ["way/../../a.ipynb", "~/../../a.ipynb", "sub/../../a.ipynb", "way/../../work/../a.ipynb"],
)
def test_a_path_is_judged_as_the_server_takes_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    """A link of the agent's must not make what is outside look as if it were inside."""
    workspace = tmp_path / "work"
    (workspace / "deep" / "er" / "still").mkdir(parents=True)
    (workspace / "way").symlink_to(workspace / "deep" / "er" / "still")
    monkeypatch.setenv("HOME", str(workspace / "deep" / "er" / "still"))
    gate = Gate(workspace)
    for action in (
        NotebookReadAction(path=path),
        NotebookEditAction(path=path, operations=PATCH, delivery="tab"),
        NotebookSaveAction(path=path, delivery="tab"),
    ):
        verdict = gate.check(action, mode="auto", isolated=True)
        assert verdict.outcome == "ask"
        assert any("../a.ipynb" in reason for reason in verdict.risk.reasons)
