"""What the programs in every sandbox get to see: the system, the Python, the environment, and what
of the workspace is protected."""

from __future__ import annotations

import os
import site
import sys
from collections.abc import Iterator
from pathlib import Path

from .launch import AGENTD

ETC = (
    "R",
    "alternatives",
    "chromium.d",
    "debian_version",
    "fonts",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "localtime",
    "lsb-release",
    "magic",
    "mime.types",
    "nsswitch.conf",
    "os-release",
    "protocols",
    "services",
    "ssl/certs",
    "ssl/openssl.cnf",
    "terminfo",
    "texmf",
)
"""Of ``/etc``: what programs need, and no secret is in."""

DEVICES = tuple(
    f"/dev/{name}"
    for name in ("full", "null", "ptmx", "pts", "random", "shm", "tty", "urandom", "zero")
)
"""What programs may write to of ``/dev``; the locks of multiprocessing need its shared memory."""

# What a program outside the sandbox, run later by the person, would execute. What does not exist
# yet cannot be protected: mounting over it would leave an empty file in the real folder.
_GIT_PROTECTED = ("hooks", "config")
_PROTECTED = (".envrc", ".vscode", "jupyter_*config.*")


def python_folders() -> Iterator[tuple[str, str]]:
    """The server's Python: each folder, and a name that it has to be found by."""
    folders = [sys.base_prefix, sys.prefix]
    if site.ENABLE_USER_SITE and Path(site.getusersitepackages()).is_dir():
        folders.append(site.getusersitepackages())
    for folder in folders:
        # By the name that it is known by too: links on the way to it do not exist inside.
        for name in dict.fromkeys((str(Path(folder).resolve()), folder)):
            yield folder, name


def environment(home: str, temporary: str) -> dict[str, str]:
    """Environment variables, from nothing.

    Parameters
    ----------
    home, temporary
        The home folder inside, and the folder for temporary files.
    """
    time_zone = {"TZ": os.environ["TZ"]} if "TZ" in os.environ else {}
    return {
        **time_zone,
        "HOME": home,
        "USER": "agent",
        "LOGNAME": "agent",
        "SHELL": "/bin/bash",
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "TMPDIR": temporary,
        "IPYTHONDIR": f"{home}/.ipython",
        "JUPYTER_RUNTIME_DIR": f"{home}/.jupyter-runtime",
        "PYTHONUSERBASE": site.getuserbase(),
        # It may name helpers and passwords, and git gives up where it exists but is not readable.
        "GIT_CONFIG_NOSYSTEM": "1",
        # The workspace may belong to another user than the one that git sees here.
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "safe.directory",
        "GIT_CONFIG_VALUE_0": "*",
    }


def protected_in(workspace: Path) -> Iterator[tuple[Path, bool]]:
    """What is to be mounted over the workspace, in this order: each path, and whether read-only."""
    git = workspace / ".git"
    if git.is_dir() and not git.is_symlink():
        # Mounted itself, so that it cannot be renamed away with what is protected in it.
        yield git, False
        for name in _GIT_PROTECTED:
            yield from _read_only(git / name)
    for pattern in _PROTECTED:
        for path in sorted(workspace.glob(pattern)):
            yield from _read_only(path)
    for marker in sorted(workspace.glob("*/pyvenv.cfg")):
        yield from _read_only(marker.parent)
    package = AGENTD.parent.parent
    if package.is_relative_to(workspace):
        yield from _read_only(package)


def _read_only(path: Path) -> Iterator[tuple[Path, bool]]:
    if path.exists() and not path.is_symlink():
        yield path, True
