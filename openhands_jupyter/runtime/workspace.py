"""Which folders may be a workspace."""

from __future__ import annotations

import os
import site
import sys
import sysconfig
from collections.abc import Iterable
from pathlib import Path

from jupyter_core.paths import jupyter_config_dir, jupyter_data_dir, jupyter_runtime_dir

from ..errors import Invalid, SandboxUnavailable

SYSTEM = ("/bin", "/boot", "/dev", "/etc", "/lib", "/proc", "/run", "/sbin", "/sys", "/usr")
SHARED = ("/", "/home", "/media", "/mnt", "/opt", "/srv", "/tmp", "/var", "/var/tmp")
CHOOSE = "Choose a folder that holds just the files to work on."


def private_folders() -> list[Path]:
    """Folders that hold what no agent may see, whether or not they exist."""
    home = Path.home()
    jupyter = (jupyter_config_dir(), jupyter_data_dir(), jupyter_runtime_dir())
    own = Path(os.environ.get("OPENHANDS_HOME") or home / ".openhands")
    return [home / ".ssh", own, *map(Path, jupyter)]


def check_workspace(path: str | Path) -> Path:
    """Say whether a folder may be an agent's workspace.

    The agent may change everything in its workspace. So it must not hold the person's home, the
    data of Jupyter or of this extension, or the code that the server runs.

    Returns
    -------
    Path
        The folder, absolute, with links resolved.

    Raises
    ------
    Invalid
        When it may not, or does not exist.
    """
    folder = Path(path).expanduser().resolve()
    if not folder.is_dir():
        raise Invalid("workspace_missing", f"There is no folder {folder}.", CHOOSE)
    _refuse_around(folder, [Path.home()], "your home folder")
    _refuse_around(folder, private_folders(), "private data of Jupyter or OpenHands")
    _refuse_inside(folder, private_folders(), "private data of Jupyter or OpenHands")
    _refuse_inside(folder, map(Path, SYSTEM), "the system")
    # An environment inside the workspace is fine: the sandbox makes it read-only.
    _refuse_inside(folder, _code_folders(), "the server's own Python")
    if str(folder) in SHARED:
        raise Invalid("workspace_unsafe", f"{folder} is shared by all users and programs.", CHOOSE)
    return folder


def check_unchanged(workspace: Path) -> None:
    """See that the workspace is still the folder that was checked when the session began.

    An agent that works in a folder above may have put a link to somewhere else in its place.

    Raises
    ------
    SandboxUnavailable
        When it is not.
    """
    try:
        found = check_workspace(workspace)
    except Invalid as error:
        raise SandboxUnavailable(error.message, error.hint) from error
    if found != workspace:
        raise SandboxUnavailable(
            f"The workspace {workspace} has become a link to {found}.",
            "Put the folder back in its place, or begin a new session in the other one.",
        )


def identity(workspace: Path) -> tuple[int, int] | None:
    """What tells a folder from another one that took its place; None if there is none."""
    try:
        info = workspace.stat()
    except OSError:
        return None
    return info.st_dev, info.st_ino


def _code_folders() -> list[Path]:
    """Where the server's Python and its packages are."""
    return [
        Path(sys.prefix),
        Path(sys.base_prefix),
        Path(sysconfig.get_path("purelib")),
        Path(site.getusersitepackages()),
    ]


def _refuse_around(folder: Path, kept: Iterable[Path], what: str) -> None:
    for path in kept:
        if path.resolve().is_relative_to(folder):
            raise Invalid("workspace_unsafe", f"{folder} holds {what} ({path}).", CHOOSE)


def _refuse_inside(folder: Path, kept: Iterable[Path], what: str) -> None:
    for path in kept:
        if folder.is_relative_to(path.resolve()):
            raise Invalid("workspace_unsafe", f"{folder} belongs to {what} ({path}).", CHOOSE)
