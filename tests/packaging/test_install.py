"""A clean clone, installed with pip into an empty environment, gives both halves by itself."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

pytestmark = [
    pytest.mark.packaging,
    pytest.mark.timeout(1500),
    pytest.mark.skipif(not (ROOT / ".git").exists(), reason="needs a git clone to clone from"),
    pytest.mark.skipif(shutil.which("node") is None, reason="needs Node.js"),
]


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The ``bin`` folder of a new environment into which a clone of the last commit is installed.

    Nothing is configured for jlpm, as on a machine whose owner only knows npm.
    """
    folder = tmp_path_factory.mktemp("packaging")
    clone, venv = folder / "clone", folder / "venv"
    run("git", "clone", "--quiet", "--depth=1", ROOT.as_uri(), clone)
    run(sys.executable, "-m", "venv", venv)
    run(venv / "bin" / "python", "-m", "pip", "install", "--quiet", clone)
    yield venv / "bin"
    shutil.rmtree(folder)


def run(*command: str | Path) -> str:
    """What a command prints, on both streams; fails the test when the command fails."""
    hidden = ("JUPYTER_", "PYTHON", "VIRTUAL_ENV", "YARN_")
    env = {name: value for name, value in os.environ.items() if not name.startswith(hidden)}
    answer = subprocess.run(
        [str(word) for word in command],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        text=True,
        env=env,
    )
    assert answer.returncode == 0, answer.stdout
    return without_colours(answer.stdout)


def without_colours(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


def test_server_extension_is_enabled(environment: Path) -> None:
    listing = run(environment / "jupyter", "server", "extension", "list")
    assert re.search(r"openhands_jupyter\s+enabled", listing)
    assert re.search(r"openhands_jupyter\s+\S+\s+OK", listing)


def test_labextension_is_enabled(environment: Path) -> None:
    listing = run(environment / "jupyter", "labextension", "list")
    assert re.search(r"openhands-jupyter v\S+ enabled OK \(python, openhands-jupyter\)", listing)


def test_command_line_is_there(environment: Path) -> None:
    assert "run" in run(environment / "jupyter", "openhands", "--help")


def test_a_kernel_in_a_sandbox_is_offered(environment: Path) -> None:
    assert "openhands-sandbox" in run(environment / "jupyter", "kernelspec", "list")


@pytest.mark.parametrize("name", ["openhands-sandbox", "openhands-bubblewrap"])
def test_the_kernel_provisioners_can_be_loaded(environment: Path, name: str) -> None:
    code = (
        "from importlib.metadata import entry_points\n"
        "[point] = entry_points(\n"
        f"    group='jupyter_client.kernel_provisioners', name='{name}'\n"
        ")\n"
        "print(point.load().__module__)"
    )
    assert run(environment / "python", "-c", code).startswith("openhands_jupyter.")
