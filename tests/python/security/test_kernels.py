"""The gate on what is done in kernels of the person's."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest

from openhands_jupyter.events import (
    Action,
    KernelCodeAction,
    KernelControlAction,
    KernelCopyAction,
    KernelInspectAction,
    KernelLookAction,
    Mode,
)
from openhands_jupyter.security import Gate
from openhands_jupyter.security.gate import Outcome

HARMLESS = KernelCodeAction(path="a.ipynb", code="rows")
KEEPS = KernelCodeAction(path="a.ipynb", code="x = 1", keep=["x"])
DELETES = KernelCodeAction(path="a.ipynb", code="import shutil; shutil.rmtree('data')")
INTERRUPT = KernelControlAction(what="interrupt", whose="user", path="a.ipynb")
COPY = KernelCopyAction(path="a.ipynb", variable="frame", rows=10)
RESTART = KernelControlAction(what="restart", whose="user", path="a.ipynb")
UNREADABLE = KernelCodeAction(path="a.ipynb", code="a b")


@pytest.mark.parametrize(
    ("mode", "outcome"), [("ask", "refuse"), ("agent", "ask"), ("auto", "ask")]
)
@pytest.mark.parametrize(
    ("action", "reason"),
    [
        (HARMLESS, "Runs in your own kernel, outside the sandbox"),
        (KEEPS, "Binds names of your kernel: x"),
        (DELETES, "Deletes files: data"),
        (UNREADABLE, "cannot be parsed"),
        (COPY, "Copies your data into the sandbox"),
        (INTERRUPT, "Interrupts what your own kernel does"),
        (RESTART, "whose variables are lost"),
    ],
)
def test_what_is_done_in_the_persons_kernel_is_asked_for_and_in_ask_mode_refused(
    tmp_path: Path, action: Action, reason: str, mode: Mode, outcome: Outcome
) -> None:
    verdict = Gate(tmp_path).check(action, mode=mode, isolated=True)
    assert (verdict.outcome, verdict.risk.level) == (outcome, "high")
    assert any(reason in told for told in verdict.risk.reasons)


@pytest.mark.parametrize("mode", get_args(Mode))
@pytest.mark.parametrize(
    ("action", "outcome"),
    [
        (KernelInspectAction(names=["x"]), "run"),
        (KernelInspectAction(whose="user", path="a.ipynb"), "run"),
        (KernelInspectAction(whose="user", path="../a.ipynb"), "ask"),
        (KernelLookAction(whose="user", path="a.ipynb"), "run"),
    ],
)
def test_variables_are_looked_at_unasked_but_outside_of_the_workspace(
    tmp_path: Path, action: Action, outcome: str, mode: Mode
) -> None:
    for isolated in (True, False):
        verdict = Gate(tmp_path).check(action, mode=mode, isolated=isolated)
        assert verdict.outcome == outcome


def test_the_sandboxs_own_kernel_is_restarted_unasked_but_not_in_ask_mode(tmp_path: Path) -> None:
    restart = KernelControlAction(what="restart")
    outcomes = [
        Gate(tmp_path).check(restart, mode=mode, isolated=True).outcome for mode in get_args(Mode)
    ]
    assert dict(zip(get_args(Mode), outcomes, strict=True)) == {
        "ask": "refuse",
        "agent": "run",
        "auto": "run",
    }
