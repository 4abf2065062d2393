"""The Python environment of the shell and the kernels, and the folder that packages go to.

That folder is a virtual environment of its own on top of the chosen Python, so that pip installs
into it, upgrades in it and removes from it as usual, and never touches what is below. It is made
here, inside, because the programs in the sandbox may change all of it at any time.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Sequence

from .errors import ActionError
from .pythons import Python, describe, site_folders

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

EXAMINE_TIMEOUT = 30.0

_EXAMINE = (
    "import importlib.util, json, sys; "
    "print(json.dumps([list(sys.version_info[:2]), "
    "importlib.util.find_spec('ipykernel') is not None]))"
)
_PIP = '#!/bin/sh\nexec "$(dirname "$0")/python" -m pip "$@"\n'
_BELOW = "_openhands_below"
_MODULE = """\
import os, site, sys

for folder in {folders!r}:
    site.addsitedir(folder)
sys.path += {pip!r}


def listable(folder):
    try:
        os.scandir(folder or ".").close()
    except PermissionError:
        return False
    except OSError:
        pass
    return True


# pip gives up on a project that was installed in place and that the sandbox does not show.
sys.path[:] = filter(listable, sys.path)
"""


class Environment:
    """The Python that the shell and the kernels have.

    Parameters
    ----------
    python
        The fields of the chosen `Python`; None for the one that runs this.
    packages
        A writable folder for packages; None for none.
    layers
        Folders like it that are only read, the first before the others.

    Attributes
    ----------
    executable
        The program; it may not exist.
    problem
        Why there is no folder for packages, where there should be one; else empty.
    """

    def __init__(
        self,
        python: dict[str, Any] | None = None,
        packages: str | None = None,
        layers: Sequence[str] = (),
    ) -> None:
        self.problem = ""
        self._variables: dict[str, str] = {}
        self._bins = [os.path.join(layer, "bin") for layer in layers]
        self.executable = below = sys.executable
        try:
            found = Python.of(python) if python else describe(_own())
            self.executable = below = found.executable
            if os.path.isdir(os.path.join(found.prefix, "conda-meta")):
                self._variables["CONDA_PREFIX"] = found.prefix
            if packages:
                self._prepare(packages, found, layers)
        except ActionError as error:
            self.problem = error.message
        except OSError as error:
            self.problem = error.strerror or str(error)
        self._bins.append(os.path.dirname(below))

    def variables(self, environ: dict[str, str]) -> dict[str, str]:
        """What to add to these environment variables."""
        path = environ.get("PATH", os.defpath).split(":")
        path = [folder for folder in self._bins if folder not in path] + path
        return {**self._variables, "PATH": ":".join(path), "PIP_DISABLE_PIP_VERSION_CHECK": "1"}

    def _prepare(self, folder: str, python: Python, layers: Sequence[str]) -> None:
        library = os.path.join(folder, "lib", f"python{python.version}", "site-packages")
        bin_folder = os.path.join(folder, "bin")
        for needed in (library, bin_folder):
            os.makedirs(needed, exist_ok=True)
        _link("lib", os.path.join(folder, "lib64"))
        _link(python.executable, os.path.join(bin_folder, "python"))
        for name in ("python3", f"python{python.version}"):
            _link("python", os.path.join(bin_folder, name))
        for name in ("pip", "pip3"):
            _write(_PIP, os.path.join(bin_folder, name), 0o755)
        _write(_below(python, layers), os.path.join(library, f"{_BELOW}.py"))
        _write(f"import {_BELOW}\n", os.path.join(library, f"{_BELOW}.pth"))
        isolated = python.is_environment and python.isolated
        marker = (
            f"home = {python.home}\n"
            f"include-system-site-packages = {'false' if isolated else 'true'}\n"
            f"version = {python.version}\n"
        )
        _write(marker, os.path.join(folder, "pyvenv.cfg"))
        self.executable = os.path.join(bin_folder, "python")
        self._bins.insert(0, bin_folder)
        self._variables["VIRTUAL_ENV"] = folder


def examine(executable: str, environ: dict[str, str]) -> dict[str, Any]:
    """Run a Python to find out what keeps a kernel from starting in it.

    Returns
    -------
    dict
        ``version`` (major and minor) and ``ipykernel``, whether it is there; or ``error``, the last
        line that it wrote.
    """
    import subprocess

    try:
        ran = subprocess.run(
            [executable, "-c", _EXAMINE],
            env=environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=EXAMINE_TIMEOUT,
            check=False,
        )
    except OSError as error:
        return {"error": error.strerror or str(error)}
    except subprocess.TimeoutExpired:
        return {"error": f"it did not answer within {EXAMINE_TIMEOUT:.0f} seconds"}
    lines = ran.stdout.decode("utf-8", "replace").strip().splitlines()
    with contextlib.suppress(ValueError, IndexError):
        version, has_ipykernel = json.loads(lines[-1])
        return {"version": version, "ipykernel": has_ipykernel}
    last = lines[-1] if lines else "it said nothing"
    return {"error": f"{last} (exit code {ran.returncode})"}


def _own() -> str:
    import shutil

    return shutil.which("python3") or sys.executable


def _below(python: Python, layers: Sequence[str]) -> str:
    """The module that puts what is below on the module path, with ``.pth`` files in it."""
    folders = [folder for layer in layers for folder in site_folders(layer, python.version)]
    if python.is_environment:
        folders += python.site_folders()
    pip = []
    installed = any(os.path.isdir(os.path.join(folder, "pip")) for folder in folders)
    if python.is_environment and python.isolated and not installed:
        pip = _bundled_pip(python)
    return _MODULE.format(folders=folders, pip=pip)


def _bundled_pip(python: Python) -> list[str]:
    """The pip that Python brings along for environments, which need not have one."""
    folder = os.path.join(python.base, "lib", f"python{python.version}", "ensurepip", "_bundled")
    with contextlib.suppress(OSError):
        return [
            os.path.join(folder, name)
            for name in sorted(os.listdir(folder))
            if name.startswith("pip-") and name.endswith(".whl")
        ]
    return []


def _link(target: str, path: str) -> None:
    if not os.path.islink(path) or os.readlink(path) != target:
        _clear(path)
        os.symlink(target, path)


def _write(content: str, path: str, mode: int = 0o644) -> None:
    if os.path.isfile(path) and not os.path.islink(path):
        with open(path, encoding="utf-8", errors="replace") as file:
            if file.read(len(content) + 1) == content:
                return
    _clear(path)
    with open(path, "w", encoding="utf-8") as file:
        file.write(content)
    os.chmod(path, mode)


def _clear(path: str) -> None:
    if os.path.isdir(path) and not os.path.islink(path):
        import shutil

        shutil.rmtree(path)
    elif os.path.lexists(path):
        os.unlink(path)
