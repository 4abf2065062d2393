"""Which Python a choice in the settings means, and what is wrong with it."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

from openhands_jupyter.runtime.environment import choose
from openhands_jupyter.runtime.owner import Owner


def refused(asked, workspace, owner=None):
    found = choose(str(asked), workspace, owner)
    assert found.problem is not None
    assert found.python is None
    return found.problem


def test_the_servers_python_is_the_default(tmp_path):
    found = choose("", tmp_path)
    assert found.problem is None
    assert found.python.executable == sys.executable
    assert list(found.folders()) == []


@pytest.mark.parametrize("part", ["", "bin/python", "bin/python3"])
def test_an_environment_is_chosen_by_its_folder_or_its_python(pythons, tmp_path, part):
    folder = pythons.environment()
    python = choose(str(folder / part), tmp_path / "work").python
    assert python.prefix == str(folder)
    assert os.path.realpath(python.base) == os.path.realpath(sys.base_prefix)
    assert python.version == pythons.version
    assert python.isolated
    mounted = {name for _, name in choose(str(folder), tmp_path / "work").folders()}
    assert {str(folder), os.path.realpath(sys.base_prefix)} <= mounted


def test_an_environment_is_chosen_by_the_name_of_its_kernelspec(pythons, tmp_path):
    folder = pythons.environment()
    argv = [str(folder / "bin/python"), "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    pythons.kernelspec("mine", argv)
    assert choose("mine", tmp_path / "work").python.prefix == str(folder)


def test_python_in_a_kernelspec_is_the_servers(pythons, tmp_path):
    pythons.kernelspec("plain", ["python", "-m", "ipykernel_launcher"])
    assert choose("plain", Path("/w")).python.executable == sys.executable


def test_a_conda_prefix_is_an_installation_of_its_own(pythons, tmp_path):
    folder = pythons.conda()
    python = choose(str(folder), tmp_path / "work").python
    assert (python.prefix, python.base) == (str(folder), str(folder))
    assert not python.is_environment


def test_kernels_of_other_languages_are_refused(pythons, tmp_path):
    pythons.kernelspec("ir", ["R", "--slave"], "R")
    problem = refused("ir", tmp_path)
    assert problem.code == "python_only"
    assert "Python kernels only" in problem.message
    pythons.kernelspec("xeus", ["/opt/bin/xpython", "-f"], "python")
    assert refused("xeus", tmp_path).code == "python_only"


def test_an_unknown_kernelspec_is_said_to_be_unknown(pythons, tmp_path):
    assert refused("nothing", tmp_path).code == "python_unknown"


def test_a_link_that_leads_nowhere_is_named(pythons, tmp_path):
    folder = pythons.environment()
    program = folder / "bin" / "python"
    program.unlink()
    program.symlink_to("/opt/gone/bin/python3")
    assert "a link to /opt/gone/bin/python3, which does not exist" in (
        refused(folder, tmp_path).message
    )


def test_an_environment_whose_python_was_removed_is_named(pythons, tmp_path):
    folder = pythons.environment()
    (folder / "pyvenv.cfg").write_text("home = /opt/gone/bin\nversion = 3.11.1\n")
    assert "was made with the Python in /opt/gone/bin" in refused(folder, tmp_path).message


@pytest.mark.parametrize(
    ("content", "expected"),
    [(None, "There is no Python at"), ("", "has no bin/python"), ("3.7", "3.8 or newer")],
)
def test_what_is_no_usable_python_is_refused(tmp_path, content, expected):
    folder = tmp_path / "env"
    if content is not None:
        folder.mkdir()
    if content:
        (folder / "bin").mkdir()
        shutil.copy2("/bin/true", folder / "bin" / f"python{content}")
        (folder / "bin" / "python").symlink_to(f"python{content}")
        (folder / "lib" / f"python{content}").mkdir(parents=True)
        (folder / "lib" / f"python{content}" / "os.py").touch()
    assert expected in refused(folder, tmp_path / "work").message


def test_a_program_that_is_no_python_is_refused(tmp_path):
    assert "is no Python" in refused("/bin/true", tmp_path).message


def test_an_environment_must_not_show_more_than_a_python(pythons, tmp_path, monkeypatch):
    """One in the workspace may claim that its Python is in the person's home."""
    home = tmp_path / "home"
    (home / "bin").mkdir(parents=True)
    library = home / "lib" / f"python{pythons.version}"
    library.mkdir(parents=True)
    (library / "os.py").touch()
    monkeypatch.setenv("HOME", str(home))
    folder = pythons.environment()
    (folder / "pyvenv.cfg").write_text(f"home = {home}/bin\nversion = {pythons.version}.1\n")
    assert refused(folder, tmp_path / "work").code == "python_unsafe"


def test_the_workspace_must_not_lie_in_the_environment(pythons):
    folder = pythons.environment()
    assert refused(folder, folder / "share" / "work").code == "python_unsafe"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can try this")
def test_an_environment_that_the_workspaces_owner_cannot_read_is_said_to_be_so(pythons, tmp_path):
    folder = pythons.environment()
    folder.chmod(0o700)
    problem = refused(folder, tmp_path / "work", Owner(1000, 1000))
    assert problem.code == "python_unreadable"
    assert "user 1000" in problem.message
