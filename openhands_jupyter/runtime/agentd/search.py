"""Finding files and lines, each search in a process of its own that can be ended."""

from __future__ import annotations

import errno
import json
import os
from typing import Any

from . import finder
from .errors import ActionError
from .paths import explained, resolve
from .program import Program, source_of

LONGEST = finder.PATIENCE + 10.0
"""Seconds after which a search that does not even look at the clock is ended."""

_PROGRAM = source_of("finder")


class Search:
    """The searches.

    Parameters
    ----------
    workspace
        What relative paths are relative to. What may be read is for the sandbox to enforce, not
        for this class.
    """

    def __init__(self, workspace: str) -> None:
        self._workspace = workspace
        self._finder = Program(_PROGRAM, "search")

    def glob(self, pattern: str, path: str) -> dict[str, Any]:
        """Find files by name.

        Parameters
        ----------
        pattern
            With ``*``, ``?``, ``[abc]``, ``{a,b}``, and ``**`` for any folders. Without a slash it
            fits in every folder.
        path
            The folder to search in.

        Returns
        -------
        dict
            ``files`` (the newest `SHOWN_FILES`), ``total``, ``notice`` (what was not searched).

        Raises
        ------
        ActionError
            ``bad_pattern``, ``search_timeout``, ``stopped``, or that the path is no folder.
        """
        _check_pattern(pattern)
        full = self._existing(path)
        if not os.path.isdir(full):
            raise ActionError("not_a_folder", f"{path} is a file.", "Name a folder to search in.")
        return self._find({"kind": "glob", "pattern": pattern, "path": full})

    def grep(self, pattern: str, path: str, include: str, ignore_case: bool) -> dict[str, Any]:
        """Find lines in text files.

        Parameters
        ----------
        pattern
            A regular expression.
        path
            The folder to search in, or a file.
        include
            A pattern that a file must fit; empty for all.
        ignore_case
            Whether letters fit in either case.

        Returns
        -------
        dict
            ``matches`` (the first `SHOWN_LINES`: ``path``, ``line``, ``text``), ``total`` (lines),
            ``files``, ``notice``.

        Raises
        ------
        ActionError
            As for `glob`.
        """
        if not pattern:
            raise ActionError("bad_pattern", "The expression is empty.", "Say what to look for.")
        if include:
            _check_pattern(include)
        return self._find(
            {
                "kind": "grep",
                "pattern": pattern,
                "path": self._existing(path),
                "include": include,
                "ignore_case": ignore_case,
            }
        )

    def stop(self) -> None:
        """End the search that runs, if any."""
        self._finder.stop()

    def _existing(self, path: str) -> str:
        full = resolve(self._workspace, path)
        if not os.path.exists(full):
            raise explained(FileNotFoundError(errno.ENOENT, "", path), path)
        return full

    def _find(self, request: dict[str, Any]) -> dict[str, Any]:
        ended = self._finder.ask(request, LONGEST)
        if ended is None:
            raise ActionError(
                "search_timeout",
                f"The search did not end in {LONGEST:.0f} seconds.",
                "Use a simpler expression, or search a smaller folder.",
            )
        code, output = ended
        if code != 0:
            raise ActionError(
                "search_failed",
                f"The search ended early (code {code}).",
                "Search a smaller folder.",
            )
        answer: dict[str, Any] = json.loads(output)
        if "bad_pattern" in answer:
            raise ActionError(
                "bad_pattern",
                f"{request['pattern']} is no regular expression: {answer['bad_pattern']}.",
                "Put a backslash before characters that are meant as they are.",
            )
        return answer


def _check_pattern(pattern: str) -> None:
    if not pattern or pattern.startswith(("/", "~")) or ".." in pattern.split("/"):
        raise ActionError(
            "bad_pattern",
            "A pattern for files starts at the path, and leads to what is below it.",
            "Give the folder as the path, and a pattern such as **/*.py.",
        )
