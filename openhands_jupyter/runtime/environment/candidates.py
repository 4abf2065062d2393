"""The Pythons that a person may choose from, and the trial of the chosen one."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import msgspec
from jupyter_client.kernelspec import KernelSpecManager

from ...errors import Invalid
from ..backends import Isolation
from ..sandbox import Sandbox
from .choice import KernelPython, choose, explain_failure
from .settings import EnvironmentSettings

Kind = Literal["server", "kernelspec", "environment", "conda"]

_IN_ROOT = (".venv", "venv", "env")
_CONDA_LIST = Path(".conda", "environments.txt")
_LONGEST_LIST = 100_000


class Candidate(msgspec.Struct, frozen=True, kw_only=True):
    """A Python to choose.

    Attributes
    ----------
    value
        What the setting has to be; empty for the server's own.
    label
        A name for people.
    kind
        What it was found as.
    path
        Its folder; empty where it is not known.
    version
        Such as ``3.11``; empty where it is not known.
    problem
        Why it cannot be used, so far as its files tell; empty if it can.
    """

    value: str
    label: str
    kind: Kind
    path: str = ""
    version: str = ""
    problem: str = ""


def candidates(root: Path) -> list[Candidate]:
    """The Pythons of this person, the server's own first.

    It reads many files, so it is not to be called on the event loop; it executes nothing.

    Parameters
    ----------
    root
        The folder whose environments are looked at.
    """
    found = [_candidate("", "The one that Jupyter runs in", "server", root)]
    found += [
        _candidate(name, label, "kernelspec", root) for name, label in sorted(_python_kernelspecs())
    ]
    for name in _IN_ROOT:
        if (root / name / "pyvenv.cfg").is_file():
            found.append(_candidate(str(root / name), name, "environment", root))
    found += [
        _candidate(str(folder), folder.name, "conda", root) for folder in _conda_environments()
    ]
    return found


async def try_python(asked: str, isolation: Isolation) -> KernelPython:
    """Run a Python in a sandbox of its own, to see whether a kernel can.

    Parameters
    ----------
    asked
        As in `EnvironmentSettings`.
    isolation
        What the agent's code runs in. A container has another Python, so that one is tried in
        whatever else works here.

    Raises
    ------
    Invalid
        When it cannot be used, with what to do about it.
    SandboxUnavailable
        When no sandbox can be started.
    """
    chosen: Isolation = "auto" if isolation == "docker" else isolation
    with tempfile.TemporaryDirectory(prefix="openhands-") as folder:
        sandbox = Sandbox(Path(folder), chosen, environment=EnvironmentSettings(python=asked))
        try:
            await sandbox.start()
            python = sandbox.environment.python
            if python.problem:
                raise python.problem
            found = await sandbox.request("python.examine", {})
        finally:
            await sandbox.close()
    if not found.get("ipykernel"):
        message, hint = explain_failure(python, found, "")
        raise Invalid("python_unusable", message, hint)
    return python


def _candidate(value: str, label: str, kind: Kind, root: Path) -> Candidate:
    found = choose(value, root)
    python = found.python
    return Candidate(
        value=value,
        label=label,
        kind=kind,
        path=python.prefix if python else "",
        version=python.version if python else "",
        problem=found.problem.message if found.problem else "",
    )


def _python_kernelspecs() -> Iterator[tuple[str, str]]:
    for name, entry in KernelSpecManager().get_all_specs().items():
        spec = entry["spec"]
        if spec.get("language", "").lower() == "python":
            yield name, spec.get("display_name") or name


def _conda_environments() -> Iterator[Path]:
    """Those that conda wrote down (see its ``conda.core.envs_manager``) and that still exist."""
    try:
        with (Path.home() / _CONDA_LIST).open(encoding="utf-8", errors="replace") as file:
            lines = file.read(_LONGEST_LIST).splitlines()
    except OSError:
        return
    for folder in dict.fromkeys(map(Path, filter(None, map(str.strip, lines)))):
        if folder.is_absolute() and (folder / "conda-meta").is_dir():
            yield folder
