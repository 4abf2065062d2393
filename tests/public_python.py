"""A Python with our dependencies that every user of this machine can execute."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

SYSTEM_PYTHON = "/usr/bin/python3"


class NoPublicPython(Exception):
    """There is none, and why."""


def make_public_python(folder: Path, packages: list[str]) -> Path:
    """Make an environment of the system's Python with some of this environment's packages.

    Parameters
    ----------
    folder
        Where to make it; everybody can read it afterwards, if its parents allow.
    packages
        Distributions to put into it, with what they depend on.

    Returns
    -------
    Path
        Its Python.

    Raises
    ------
    NoPublicPython
        When the system has no Python of this version.
    """
    version = "import sys; print(sys.version_info[:2])"
    try:
        found = subprocess.run([SYSTEM_PYTHON, "-c", version], capture_output=True, check=True)
        create = [SYSTEM_PYTHON, "-m", "venv", "--without-pip", str(folder)]
        subprocess.run(create, capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise NoPublicPython("needs a Python that every user can execute") from error
    if found.stdout.decode().strip() != str(sys.version_info[:2]):
        raise NoPublicPython("needs a Python of this version that every user can execute")
    python = folder / "bin" / "python"
    ask = "import sysconfig; print(sysconfig.get_path('purelib'))"
    answer = subprocess.run([python, "-c", ask], capture_output=True, check=True, text=True)
    target = Path(answer.stdout.strip())
    for name in needed(packages):
        copy(name, target)
    folder.chmod(0o755)
    return python


def needed(packages: list[str]) -> dict[str, Distribution]:
    """Installed distributions by name: these, and what they depend on."""
    found: dict[str, Distribution] = {}
    left = list(packages)
    while left:
        requirement = left.pop()
        name = re.split(r"[^\w.-]", requirement, maxsplit=1)[0].lower().replace("_", "-")
        if name in found or "extra ==" in requirement:
            continue
        try:
            found[name] = distribution(name)
        except PackageNotFoundError:
            continue
        left += found[name].requires or []
    return found


def copy(name: str, target: Path) -> None:
    """Put a distribution's files into another environment."""
    source = Path(sysconfig.get_path("purelib"))
    tops = {file.parts[0] for file in distribution(name).files or [] if file.parts[0] != ".."}
    for top in tops - {"__pycache__"}:
        if (source / top).is_dir():
            shutil.copytree(source / top, target / top, copy_function=link, dirs_exist_ok=True)
        elif (source / top).exists():
            link(str(source / top), str(target / top))


def link(source: str, target: str) -> None:
    """A second name for a file, or a copy where it would cross file systems."""
    if os.path.exists(target):
        return
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)
