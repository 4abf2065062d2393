"""The plugin that looks for what a test run leaves: a run that leaves everything must fail."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import leftovers
import psutil

LEAVE = """
import subprocess, tempfile
import leftovers
from openhands_jupyter.runtime import cgroups
from openhands_jupyter.runtime.rundir import RunDirectory
leftovers.PATIENCE = 0.5
def test_that_leaves():
    subprocess.run("setsid sleep {seconds} &", shell=True, check=True)
    tempfile.mkstemp(prefix="left-")
    RunDirectory.create()
    cgroups.create("left", 2**30, 100, None)
"""
KEEP = "def test_that_leaves_nothing(): pass\n"


def run(folder: Path, test: str) -> subprocess.CompletedProcess[str]:
    (folder / "test_it.py").write_text(test)
    packages = os.pathsep.join([str(Path(leftovers.__file__).parent), *sys.path])
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "leftovers", "-p", "no:cacheprovider", "test_it.py"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": packages},
        capture_output=True,
        text=True,
        timeout=100,
    )


def test_what_a_run_leaves_is_told_and_removed(tmp_path):
    seconds = f"{200000 + os.getpid()}"
    ran = run(tmp_path, LEAVE.replace("{seconds}", seconds))
    assert ran.returncode == leftovers.EXIT_CODE, ran.stdout + ran.stderr
    assert "1 passed" in ran.stdout
    assert f"sleep {seconds}" in ran.stdout
    (folder,) = {line for line in ran.stdout.splitlines() if line.startswith("run directory ")}
    assert not Path(folder.removeprefix("run directory ")).parent.parent.exists()
    (file,) = {line for line in ran.stdout.splitlines() if line.startswith("temporary ")}
    assert "/tmp/left-" in file
    assert not any(
        process.info["cmdline"] == ["sleep", seconds]
        for process in psutil.process_iter(["cmdline"])
    )
    for line in ran.stdout.splitlines():
        if line.startswith("control group "):
            assert not Path(line.removeprefix("control group ")).parent.exists()


def test_a_run_that_leaves_nothing_passes(tmp_path):
    ran = run(tmp_path, KEEP)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "left over" not in ran.stdout
