"""Files in a workspace that programs outside the sandbox execute later, when the person uses them.

A sandbox cannot protect what does not exist yet, and without mounts it protects none of it. So
they are looked at before and after each action.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
from fnmatch import fnmatchcase
from pathlib import Path

from ..beneath import open_beneath, read_beneath

NAMES = ("jupyter_*config.*",)
"""At the top, where a server may be started."""

FOLDERS = (".vscode", ".idea")
IN_EVERY_FOLDER = (".envrc", ".git", *FOLDERS)
MOST_SUBFOLDERS = 200
MOST_NAMED = 5
LONGEST_CONFIGURATION = 1_000_000

_NEVER_EXECUTED = ".sample"
_GIT_EXECUTES = re.compile(
    rb"^[^\S\n]*\[\s*(alias|include|includeif|filter|diff|merge|credential|difftool|mergetool)\b"
    rb"|^[^\S\n]*(fsmonitor|hookspath|pager|editor|sshcommand|gitproxy|askpass|attributesfile"
    rb"|program|external|textconv|helper|worktree)\s*=",
    re.IGNORECASE | re.MULTILINE,
)
_Print = tuple[int, ...]


def pictures(workspace: Path) -> dict[str, _Print]:
    """What there is of such files at the top of the workspace and in its folders, and its state.

    Returns
    -------
    dict
        For each path, from the workspace, what changes when the file does.
    """
    found: dict[str, _Print] = {}
    top = f"{workspace}/"
    names, folders = _listed_once(top)
    for name in names:
        if any(fnmatchcase(name, pattern) for pattern in NAMES):
            _take(found, top, name)
    for folder in ("", *(f"{name}/" for name in folders)):
        for name in IN_EVERY_FOLDER:
            # A look at each name is faster than a list of the folder.
            if os.path.lexists(top + folder + name):
                _take_all(found, top, folder + name)
    return found


def difference(workspace: Path, before: dict[str, _Print], after: dict[str, _Print]) -> str:
    """A sentence on what was created or changed; empty if nothing was."""
    created = [path for path in after if path not in before and _matters(workspace, path)]
    changed = [path for path in after if path in before and after[path] != before[path]]
    done = [
        f"{verb} {_listed(paths)}"
        for verb, paths in (("created", created), ("changed", changed))
        if paths
    ]
    if not done:
        return ""
    return (
        f"This {' and '.join(done)}, which programs outside the sandbox may execute later. "
        "Look at it before you use it."
    )


def _listed_once(folder: str) -> tuple[list[str], list[str]]:
    """The names in a folder, and those of its folders."""
    names: list[str] = []
    folders: list[str] = []
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            names.append(entry.name)
            if entry.is_dir(follow_symlinks=False) and len(folders) < MOST_SUBFOLDERS:
                folders.append(entry.name)
    return sorted(names), sorted(folders)


def _take_all(found: dict[str, _Print], top: str, path: str) -> None:
    name = path.rpartition("/")[2]
    if name in FOLDERS:
        for inner in _names(top, path):
            _take(found, top, f"{path}/{inner}")
    elif name == ".git" and stat.S_ISDIR(os.lstat(top + path).st_mode):
        _take(found, top, f"{path}/config")
        for hook in _names(top, f"{path}/hooks"):
            if not hook.endswith(_NEVER_EXECUTED):
                _take(found, top, f"{path}/hooks/{hook}")
    else:
        # Also a .git that is a file or a link and leads to the real one.
        _take(found, top, path)


def _take(found: dict[str, _Print], top: str, path: str) -> None:
    with contextlib.suppress(OSError):
        info = os.lstat(top + path)
        found[path] = (info.st_ino, info.st_mode, info.st_size, info.st_ctime_ns)


def _names(top: str, folder: str) -> list[str]:
    # A link to a folder elsewhere is not followed: what is there is not the workspace's.
    try:
        fd = open_beneath(top, folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return []
    try:
        return sorted(os.listdir(fd))
    finally:
        os.close(fd)


def _matters(workspace: Path, path: str) -> bool:
    """Whether a new file can have something executed: most git configurations do not."""
    if path.split("/")[-2:] != [".git", "config"]:
        return True
    try:
        content = read_beneath(workspace, path, LONGEST_CONFIGURATION, os.O_NOFOLLOW)
    except OSError:
        return True
    return bool(_GIT_EXECUTES.search(content))


def _listed(paths: list[str]) -> str:
    named = ", ".join(paths[:MOST_NAMED])
    return named if len(paths) <= MOST_NAMED else f"{named} and {len(paths) - MOST_NAMED} more"
