"""Which notebook a path of the agent means, and whether it may be reached."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

from ..errors import Invalid, NotFound
from ..security.paths import Places, is_within

SUFFIX = ".ipynb"


class NotebookPlace(NamedTuple):
    """Where a notebook is.

    Attributes
    ----------
    path
        As Jupyter's contents API has it.
    in_workspace
        Whether it is in the session's workspace, links followed.
    """

    path: str
    in_workspace: bool


class NotebookPlaces:
    """Maps the paths that an agent writes to those of the server's contents.

    Parameters
    ----------
    root
        The server's folder.
    workspace
        The session's, which relative paths are read from.
    """

    def __init__(self, root: Path, workspace: Path) -> None:
        self._root = os.path.realpath(root)
        self._workspace = os.path.realpath(workspace)
        self._places = Places(workspace)

    def find(self, path: str) -> NotebookPlace:
        """Where a path leads, which must be to a notebook within the server's folder.

        Raises
        ------
        Invalid
            When it is no path of a notebook.
        NotFound
            When it leads elsewhere, or to what is protected from the agent.
        """
        if not path.endswith(SUFFIX) or "\0" in path:
            raise Invalid(
                "not_a_notebook_path",
                f"{path!r} is no path of a notebook.",
                f"It has to end in {SUFFIX}. For other files there are the file tools.",
            )
        written = self.contents_path(path)
        real = os.path.realpath(os.path.join(self._root, written or ""))
        if written is None or not is_within(real, self._root):
            raise _out_of_reach(path, "is not in the folder of the Jupyter server")
        places = self._places
        protected = places.is_protected, places.is_credential, places.is_kernel
        if any(check(name) for check in protected for name in (real, path)):
            raise _out_of_reach(path, "is protected from the agent")
        return NotebookPlace(written, is_within(real, self._workspace))

    def contents_path(self, path: str) -> str | None:
        """A path as the contents API has it, links not followed; None outside of the root."""
        full = self.absolute(path)
        return os.path.relpath(full, self._root) if is_within(full, self._root) else None

    def absolute(self, path: str) -> str:
        """A path in full, links not followed: it stays when the server gets another folder."""
        return os.path.normpath(os.path.join(self._workspace, path))

    def shown(self, path: str) -> str:
        """A path of the contents API, or one in full, as the agent is to write it."""
        return os.path.relpath(os.path.join(self._root, path), self._workspace)

    @property
    def folder(self) -> str:
        """The workspace as the contents API has it; where that is not in the root, the root."""
        return (self.contents_path(".") or "").removeprefix(".")


def out_of_workspace(path: str) -> NotFound:
    """The error for a notebook that the person would have to open first."""
    return NotFound(
        "notebook_out_of_reach",
        f"{path} is outside the workspace, and the person does not have it open.",
        "Ask the person to open it, or to put it into the workspace.",
    )


def _out_of_reach(path: str, why: str) -> NotFound:
    return NotFound("notebook_out_of_reach", f"{path} {why}.", "Work with the notebooks there are.")
