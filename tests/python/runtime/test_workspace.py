"""Which folders may be a workspace."""

from __future__ import annotations

import sys
import sysconfig
from pathlib import Path

import pytest

from openhands_jupyter.errors import Invalid, SandboxUnavailable
from openhands_jupyter.runtime import SandboxRuntime, check_workspace


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "people" / "ada"
    folder.mkdir(parents=True)
    monkeypatch.setenv("HOME", str(folder))
    for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR"):
        monkeypatch.delenv(name, raising=False)
    return folder


def test_a_folder_below_home_is_fine(home):
    project = home / "prö ject"
    project.mkdir()
    assert check_workspace(project) == project
    assert check_workspace("~/prö ject") == project


def test_a_link_is_followed(home, tmp_path):
    (home / "project").mkdir()
    (tmp_path / "link").symlink_to(home / "project")
    assert check_workspace(tmp_path / "link") == home / "project"
    (tmp_path / "to-home").symlink_to(home)
    with pytest.raises(Invalid, match="your home folder"):
        check_workspace(tmp_path / "to-home")


@pytest.mark.parametrize("path", [".", "..", "../..", ".ssh", ".openhands/sessions", ".jupyter"])
def test_home_what_holds_it_and_private_folders_are_refused(home, path):
    folder = home / path
    folder.mkdir(parents=True, exist_ok=True)
    with pytest.raises(Invalid) as caught:
        check_workspace(folder)
    assert caught.value.code == "workspace_unsafe"
    assert caught.value.hint


@pytest.mark.parametrize(
    "name", ["JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "OPENHANDS_HOME"]
)
@pytest.mark.parametrize("path", [".", "data", "data/below"])
def test_folders_that_are_set_in_the_environment_are_refused(home, monkeypatch, name, path):
    project = home / "project"
    (project / "data" / "below").mkdir(parents=True)
    monkeypatch.setenv(name, str(project / "data"))
    with pytest.raises(Invalid, match="private data"):
        check_workspace(project / path)


@pytest.mark.parametrize("path", ["/", "/tmp", "/home", "/usr/share", "/etc", "/proc/self", "/run"])
def test_the_system_is_refused(home, path):
    with pytest.raises(Invalid):
        check_workspace(path)


@pytest.mark.parametrize("path", [sys.prefix, sys.base_prefix, sysconfig.get_path("purelib")])
def test_the_servers_python_is_refused(home, path):
    with pytest.raises(Invalid, match="belongs to"):
        check_workspace(path)


def test_a_missing_folder_and_a_file_are_refused(home):
    (home / "file").touch()
    for name in ("file", "nothing"):
        with pytest.raises(Invalid) as caught:
            check_workspace(home / name)
        assert caught.value.code == "workspace_missing"


@pytest.mark.sandbox
async def test_a_workspace_that_became_a_link_is_not_entered(tmp_path: Path) -> None:
    workspace, elsewhere = tmp_path / "w", tmp_path / "elsewhere"
    workspace.mkdir()
    elsewhere.mkdir()
    (elsewhere / "secret").write_text("untouched")
    runtime = SandboxRuntime(check_workspace(workspace))
    workspace.rmdir()
    workspace.symlink_to(elsewhere)
    try:
        with pytest.raises(SandboxUnavailable) as caught:
            await runtime.start()
        assert str(elsewhere) in caught.value.message
    finally:
        await runtime.close()
    assert (elsewhere / "secret").read_text() == "untouched"
