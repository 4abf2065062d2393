"""What the agent does with files, and what comes of it."""

from __future__ import annotations

from typing import ClassVar, Literal

import msgspec

from .event import Action, Blob, Observation

EditCommand = Literal["str_replace", "insert", "undo"]


class FileReadAction(Action, frozen=True, kw_only=True, tag=True):
    """Read a text file, or list a folder, of the workspace.

    Attributes
    ----------
    path
        Relative to the workspace, or absolute.
    start, end
        First and last line, counted from 1, both included; None for the whole file.
    """

    runnable: ClassVar[bool] = True
    changes_files: ClassVar[bool] = False

    path: str
    start: int | None = None
    end: int | None = None


class FileWriteAction(Action, frozen=True, kw_only=True, tag=True):
    """Write a whole text file, creating it and its folders as needed."""

    runnable: ClassVar[bool] = True

    path: str
    content: str | Blob


class FileEditAction(Action, frozen=True, kw_only=True, tag=True):
    """Change part of a text file.

    Attributes
    ----------
    command
        ``str_replace`` (``old_str`` must occur exactly once), ``insert`` (``new_str`` after line
        ``insert_line``, 0 for the top) or ``undo`` (the last write or edit of this file).
    """

    runnable: ClassVar[bool] = True

    path: str
    command: EditCommand
    old_str: str = ""
    new_str: str = ""
    insert_line: int = 0


class FileGlobAction(Action, frozen=True, kw_only=True, tag=True):
    """Find files by name.

    Attributes
    ----------
    pattern
        Such as ``*.py`` (in every folder below) or ``src/**/test_*.py`` (from ``path``).
    path
        The folder to search in.
    """

    runnable: ClassVar[bool] = True
    changes_files: ClassVar[bool] = False

    pattern: str
    path: str = "."


class FileGrepAction(Action, frozen=True, kw_only=True, tag=True):
    """Find lines in text files.

    Attributes
    ----------
    pattern
        A regular expression of Python's, looked for in each line.
    path
        The folder to search in, or a file.
    include
        A pattern, as of `FileGlobAction`, that a file must fit; empty for all files.
    ignore_case
        Whether letters fit in either case.
    """

    runnable: ClassVar[bool] = True
    changes_files: ClassVar[bool] = False

    pattern: str
    path: str = "."
    include: str = ""
    ignore_case: bool = False


class FileReadObservation(Observation, frozen=True, kw_only=True, tag=True):
    """The text of a file, without line numbers, or the listing of a folder.

    Attributes
    ----------
    content
        The lines asked for, or one entry a line (folders end in ``/``).
    start
        Number of the first line in ``content``.
    total_lines
        Lines in the whole file; 0 for a folder.
    is_dir
        Whether ``path`` is a folder.
    """

    path: str
    content: str
    start: int = 1
    total_lines: int = 0
    is_dir: bool = False


class FileWriteObservation(Observation, frozen=True, kw_only=True, tag=True):
    """A file was written.

    Attributes
    ----------
    created
        Whether the file is new.
    old_content
        What stood there before; None if the file is new or was not text.
    content
        What stands there now.
    """

    path: str
    created: bool
    content: str | Blob = ""
    old_content: str | Blob | None = None


class FileEditObservation(Observation, frozen=True, kw_only=True, tag=True):
    """A file was changed.

    Attributes
    ----------
    old_content, content
        The whole text before and after.
    """

    path: str
    content: str | Blob = ""
    old_content: str | Blob = ""


class FileGlobObservation(Observation, frozen=True, kw_only=True, tag=True):
    """Files whose names fit.

    Attributes
    ----------
    files
        Their paths, from ``path`` on; the first ones if there are many.
    total
        How many were found.
    notice
        What was not searched, as a sentence; empty if nothing was left out.
    """

    path: str
    pattern: str
    files: list[str] = []
    total: int = 0
    notice: str = ""


class GrepMatch(msgspec.Struct, frozen=True, kw_only=True):
    """A line that fits.

    Attributes
    ----------
    path
        The file, from the folder that was searched; empty where a single file was.
    line
        Number of the line, from 1.
    text
        The line, cut where it is long.
    """

    path: str
    line: int
    text: str


class FileGrepObservation(Observation, frozen=True, kw_only=True, tag=True):
    """Lines that fit.

    Attributes
    ----------
    matches
        The first of them.
    total
        How many lines fit.
    files
        In how many files.
    notice
        What was not searched, as a sentence; empty if nothing was left out.
    """

    path: str
    pattern: str
    matches: list[GrepMatch] = []
    total: int = 0
    files: int = 0
    notice: str = ""
