"""The gate on what is done in kernels of the person's."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest

from openhands_jupyter.events import KernelCodeAction, KernelInspectAction, Mode
from openhands_jupyter.security import Gate

HARMLESS = KernelCodeAction(path="a.ipynb", code="rows")
KEEPS = KernelCodeAction(path="a.ipynb", code="x = 1", keep=["x"])
DELETES = KernelCodeAction(path="a.ipynb", code="import shutil; shutil.rmtree('data')")
UNREADABLE = KernelCodeAction(path="a.ipynb", code="a b")


@pytest.mark.parametrize("mode", get_args(Mode))
@pytest.mark.parametrize(
    ("action", "reason"),
    [
        (HARMLESS, "Runs in your own kernel, outside the sandbox"),
        (KEEPS, "Binds names of your kernel: x"),
        (DELETES, "Deletes files: data"),
        (UNREADABLE, "cannot be parsed"),
    ],
)
def test_code_in_the_persons_kernel_is_asked_for_in_every_mode(
    tmp_path: Path, action: KernelCodeAction, reason: str, mode: Mode
) -> None:
    verdict = Gate(tmp_path).check(action, mode=mode, isolated=True)
    assert (verdict.outcome, verdict.risk.level) == ("ask", "high")
    assert any(reason in told for told in verdict.risk.reasons)


@pytest.mark.parametrize("mode", get_args(Mode))
@pytest.mark.parametrize(
    ("action", "outcome"),
    [
        (KernelInspectAction(names=["x"]), "run"),
        (KernelInspectAction(whose="user", path="a.ipynb"), "run"),
        (KernelInspectAction(whose="user", path="../a.ipynb"), "ask"),
    ],
)
def test_variables_are_looked_at_unasked_but_outside_of_the_workspace(
    tmp_path: Path, action: KernelInspectAction, outcome: str, mode: Mode
) -> None:
    for isolated in (True, False):
        verdict = Gate(tmp_path).check(action, mode=mode, isolated=isolated)
        assert verdict.outcome == outcome
