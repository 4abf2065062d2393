"""Paths as they are given, and what is wrong with them in words."""

from __future__ import annotations

import errno
import os

from .errors import ActionError

_HINTS = {
    errno.EROFS: ("read_only", "is read-only here", "Work inside the workspace."),
    errno.EBUSY: ("read_only", "is protected here", "Leave it as it is."),
    errno.EACCES: ("permission_denied", "may not be accessed", "Work inside the workspace."),
    errno.EPERM: ("permission_denied", "may not be changed", "Work inside the workspace."),
    errno.ENOSPC: ("no_space", "does not fit: the disk is full", "Delete what is not needed."),
    errno.EDQUOT: ("no_space", "does not fit: the quota is used up", "Delete what is not needed."),
    errno.ENAMETOOLONG: ("bad_path", "has too long a name", "Choose a shorter name."),
    errno.ELOOP: ("bad_path", "is a symbolic link that leads in a circle", "Remove the link."),
}


def resolve(workspace: str, path: str) -> str:
    """Where a path leads, links followed, so that a write replaces the file behind a link.

    Raises
    ------
    ActionError
        When it can be no path.
    """
    if not path or "\0" in path:
        raise ActionError("bad_path", "The path is empty or holds a null character.")
    return os.path.realpath(os.path.join(workspace, os.path.expanduser(path)))


def explained(error: OSError, path: str) -> ActionError:
    """An error of the system as one that the agent is told."""
    if isinstance(error, FileNotFoundError):
        return ActionError(
            "file_not_found", f"{path} does not exist.", "List the folder to see what is there."
        )
    if isinstance(error, IsADirectoryError):
        return ActionError("is_a_folder", f"{path} is a folder.", "Name a file in it.")
    if isinstance(error, (NotADirectoryError, FileExistsError)):
        return ActionError(
            "file_exists",
            f"A folder in {path} is a file already.",
            "Choose another path, or move that file away.",
        )
    code, what, hint = _HINTS.get(error.errno or 0, ("file_error", f"failed: {error}", ""))
    return ActionError(code, f"{path} {what}.", hint)
