"""The Pythons that are offered, and the trial of the chosen one."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from openhands_jupyter.errors import Invalid
from openhands_jupyter.runtime.environment.candidates import candidates, try_python


def by_value(root):
    return {found.value: found for found in candidates(root)}


def test_the_servers_python_and_its_kernelspec_are_offered(tmp_path, pythons):
    found = candidates(tmp_path)
    assert (found[0].value, found[0].kind) == ("", "server")
    assert found[0].version == pythons.version
    assert "python3" in [one.value for one in found]


def test_kernelspecs_environments_and_conda_environments_are_offered(tmp_path, pythons):
    root = pythons.folder
    local = pythons.environment(".venv")
    pythons.kernelspec("theirs", [str(local / "bin/python"), "-m", "ipykernel_launcher"])
    pythons.kernelspec("ir", ["R"], "R")
    conda = tmp_path / "miniconda3" / "envs" / "data"
    (conda / "conda-meta").mkdir(parents=True)
    listed = Path.home() / ".conda" / "environments.txt"
    listed.parent.mkdir()
    listed.write_text(f"{conda}\n/opt/removed\n")
    found = by_value(root)
    assert found["theirs"].label == "The theirs"
    assert found["theirs"].path == found[str(local)].path == str(local)
    assert found[str(local)].kind == "environment"
    assert found[str(conda)].kind == "conda"
    assert "has no bin/python" in found[str(conda)].problem
    assert "ir" not in found
    assert "/opt/removed" not in found


def test_looking_for_them_executes_nothing(pythons, tmp_path):
    """What is in the workspace may have been made by an agent."""
    local = pythons.environment(".venv")
    trap = local / "bin" / "python"
    trap.unlink()
    trap.write_text(f"#!/bin/sh\ntouch {tmp_path}/sprung\n")
    trap.chmod(0o755)
    assert str(local) in by_value(pythons.folder)
    assert not (tmp_path / "sprung").exists()


@pytest.mark.sandbox
async def test_a_trap_is_only_executed_in_a_sandbox(pythons, tmp_path):
    if shutil.which("bwrap") is None:
        pytest.skip("needs bubblewrap")
    local = pythons.environment(".venv")
    trap = local / "bin" / "python"
    trap.unlink()
    trap.write_text(f"#!/bin/sh\ntouch {tmp_path}/sprung && echo sprung\n")
    trap.chmod(0o755)
    with pytest.raises(Invalid, match="sprung"):
        await try_python(str(local), "bubblewrap")
    assert not (tmp_path / "sprung").exists()


@pytest.mark.sandbox
async def test_a_python_that_works_is_accepted(pythons):
    folder = pythons.environment()
    assert (await try_python(str(folder), "auto")).where == str(folder)


@pytest.mark.sandbox
async def test_a_python_without_ipykernel_is_refused_with_the_command_that_mends_it(pythons):
    folder = pythons.environment(packages=False)
    with pytest.raises(Invalid) as caught:
        await try_python(str(folder), "auto")
    assert caught.value.code == "python_unusable"
    assert f"{folder}/bin/python -m pip install ipykernel" in caught.value.hint
