"""The panel's event types are generated from ours; what is committed must be what comes out."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

LABEXTENSION = Path(__file__).resolve().parents[2] / "labextension"


@pytest.mark.skipif(shutil.which("node") is None, reason="needs Node.js")
@pytest.mark.skipif(
    not (LABEXTENSION / "node_modules").exists(), reason="needs the labextension's packages: jlpm"
)
def test_typescript_event_types_are_current() -> None:
    answer = subprocess.run(
        ["node", "scripts/types.mjs", "--check"],
        cwd=LABEXTENSION,
        env={**os.environ, "PYTHON": sys.executable},
        capture_output=True,
        text=True,
    )
    assert answer.returncode == 0, answer.stderr
