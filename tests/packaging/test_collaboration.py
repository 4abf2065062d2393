"""Shared notebooks, in an environment with jupyter-collaboration, which no other test has."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

pytestmark = [pytest.mark.packaging, pytest.mark.timeout(900)]


def test_the_contract_of_notebooks_with_collaboration(tmp_path: Path) -> None:
    venv = tmp_path / "venv"
    run(sys.executable, "-m", "venv", "--without-pip", venv)
    python = venv / "bin" / "python"
    [folder] = venv.glob("lib/*/site-packages")
    # All else as it is here, this package included.
    (folder / "here.pth").write_text(f"{sysconfig.get_path('purelib')}\n")
    pip = (sys.executable, "-m", "pip", "--python", python)
    run(*pip, "install", "--quiet", "jupyter-collaboration>=5,<6")
    path = os.pathsep.join(f"{prefix}/share/jupyter" for prefix in (sys.prefix, venv))
    # Browsers and sessions of a server in one process do not go together.
    for tests in (
        ("python/notebooks/test_room.py", "python/server/test_notebook_faults.py"),
        ("ui/test_shared_notebooks.py",),
    ):
        printed = run(
            *(
                python,
                "-m",
                "pytest",
                "-p",
                "no:cacheprovider",
                "-rs",
                "-k",
                "room or shared",
            ),
            *(ROOT / "tests" / test for test in tests),
            JUPYTER_PATH=path,
        )
        assert "skipped" not in printed


def run(*command: str | Path, **environ: str) -> str:
    """What a command prints, on both streams; fails the test when the command fails."""
    answer = subprocess.run(
        [str(word) for word in command],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environ},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        text=True,
    )
    assert answer.returncode == 0, answer.stdout
    return answer.stdout
