"""Finding files and lines: a program of its own, because an expression may never come to an end.

It reads a request from its standard input and writes the answer to its standard output, both JSON.
Its text is handed to an interpreter as it is, so it imports nothing of ours.
"""

from __future__ import annotations

import json
import os
import re
import stat
import sys
import time
from collections.abc import Iterator
from typing import Any

PATIENCE = 15.0
"""Seconds after which a search ends with what it has found."""

SHOWN_FILES = 500
SHOWN_LINES = 200
SHOWN_CHARACTERS = 300
KEPT_FILES = 100_000
LARGEST_FILE = 20_000_000
LOOKED_AT_FOR_BINARY = 8_000

SKIPPED = frozenset({"node_modules", "__pycache__", "site-packages"})
VERSION_CONTROL = frozenset({".git", ".hg", ".svn", ".jj"})
ENVIRONMENT = "pyvenv.cfg"


def is_skipped(folder: str, hidden: bool = False) -> bool:
    """Whether a folder is left out: hidden, of version control, or made by a machine."""
    name = os.path.basename(folder)
    if name in SKIPPED | VERSION_CONTROL or (name.startswith(".") and not hidden):
        return True
    return os.path.lexists(os.path.join(folder, ENVIRONMENT))


class Walk:
    """The files below a folder, folders in order of name, and what of it was left out.

    Parameters
    ----------
    top
        The folder.
    hidden
        Whether to look at what begins with a dot; never into version control.
    """

    def __init__(self, top: str, hidden: bool) -> None:
        self._top = top
        self._hidden = hidden
        self._deadline = time.monotonic() + PATIENCE
        self.late = False
        self.unreadable = 0

    def __iter__(self) -> Iterator[tuple[str, os.DirEntry[str]]]:
        """Each file's path from the top, and its entry."""
        folders = [""]
        while folders:
            folder = folders.pop()
            try:
                with os.scandir(os.path.join(self._top, folder)) as found:
                    entries = sorted(found, key=lambda entry: entry.name)
            except OSError:
                self.unreadable += 1
                continue
            below = []
            for entry in entries:
                path = folder + entry.name
                if entry.is_dir(follow_symlinks=False):
                    if not is_skipped(entry.path, hidden=self._hidden):
                        below.append(path + "/")
                elif self._is_late():
                    return
                elif self._hidden or not entry.name.startswith("."):
                    yield path, entry
            folders += reversed(below)

    def notices(self) -> list[str]:
        """What was left out, a sentence each."""
        notices = []
        if self.late:
            notices.append(f"Stopped after {PATIENCE:.0f} seconds; there may be more.")
        if self.unreadable:
            notices.append(f"Files and folders that could not be read: {self.unreadable:,}.")
        return notices

    def _is_late(self) -> bool:
        self.late = self.late or time.monotonic() > self._deadline
        return self.late


def matcher(pattern: str) -> re.Pattern[str]:
    """What the paths look like that fit a pattern; one without a slash fits in any folder."""
    pattern = pattern[2:] if pattern.startswith("./") else pattern
    if "/" not in pattern:
        pattern = f"**/{pattern}"
    return re.compile("|".join(f"(?:{_expression(one)})" for one in _alternatives(pattern)), re.S)


def glob(request: dict[str, Any]) -> dict[str, Any]:
    """The files whose paths fit, the newest first."""
    fits = matcher(request["pattern"])
    hidden = any(part.startswith(".") for part in request["pattern"].split("/") if part != ".")
    walk = Walk(request["path"], hidden)
    found: list[tuple[float, str]] = []
    total = 0
    for path, entry in walk:
        if fits.fullmatch(path):
            total += 1
            if len(found) < KEPT_FILES:
                found.append((-_changed(entry), path))
    files = [path for _, path in sorted(found)[:SHOWN_FILES]]
    return {"files": files, "total": total, "notice": " ".join(walk.notices())}


def grep(request: dict[str, Any]) -> dict[str, Any]:
    """The lines that fit, file by file."""
    expression = re.compile(request["pattern"], re.I if request["ignore_case"] else 0)
    fits = matcher(request["include"] or "*")
    top = request["path"]
    walk = Walk(top, hidden=False)
    single = not os.path.isdir(top)
    paths = [""] if single else (path for path, _ in walk if fits.fullmatch(path))
    matches: list[dict[str, Any]] = []
    total = files = large = 0
    for path in paths:
        try:
            text = _text(os.path.join(top, path) if path else top)
        except OSError:
            walk.unreadable += 1
            continue
        if text is None:
            large += 1
            continue
        before = total
        for number, line in enumerate(text.split("\n"), 1):
            match = expression.search(line)
            if match is not None:
                total += 1
                if len(matches) < SHOWN_LINES:
                    shown = _shown(line.rstrip("\r"), match.start())
                    matches.append({"path": path, "line": number, "text": shown})
        files += total > before
    notices = walk.notices()
    if large:
        notices.append(f"Files not searched, over {LARGEST_FILE:,} bytes: {large:,}.")
    return {"matches": matches, "total": total, "files": files, "notice": " ".join(notices)}


def _changed(entry: os.DirEntry[str]) -> float:
    try:
        return entry.stat(follow_symlinks=False).st_mtime
    except OSError:
        return 0.0


def _text(path: str) -> str | None:
    """The text of a file, empty if it is binary or no file; None if it is too large."""
    # Without waiting, because opening a pipe would wait for its other end.
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    info = os.fstat(fd)
    if not stat.S_ISREG(info.st_mode):
        os.close(fd)
        return ""
    with open(fd, "rb") as file:
        if info.st_size > LARGEST_FILE:
            return None
        head = file.read(LOOKED_AT_FOR_BINARY)
        if b"\0" in head:
            return ""
        return (head + file.read(LARGEST_FILE)).decode("utf-8", "replace").rstrip("\n")


def _shown(line: str, at: int) -> str:
    """The part of a line around a match."""
    if len(line) <= SHOWN_CHARACTERS:
        return line
    start = max(0, min(at - SHOWN_CHARACTERS // 3, len(line) - SHOWN_CHARACTERS))
    end = start + SHOWN_CHARACTERS
    return ("…" if start else "") + line[start:end] + ("…" if end < len(line) else "")


def _alternatives(pattern: str) -> list[str]:
    """The patterns that one with braces stands for."""
    match = re.search(r"\{([^{}]*,[^{}]*)\}", pattern)
    if match is None:
        return [pattern]
    head, tail = pattern[: match.start()], pattern[match.end() :]
    return [whole for part in match[1].split(",") for whole in _alternatives(f"{head}{part}{tail}")]


def _expression(pattern: str) -> str:
    parts = pattern.split("/")
    expression = ""
    for index, part in enumerate(parts):
        is_last = index == len(parts) - 1
        if part == "**":
            expression += ".+" if is_last else "(?:[^/]+/)*"
        else:
            expression += _segment(part) + ("" if is_last else "/")
    return expression


def _segment(part: str) -> str:
    expression, at = "", 0
    while at < len(part):
        char = part[at]
        end = part.find("]", at + 2) if char == "[" else -1
        if char == "*":
            expression += "[^/]*"
        elif char == "?":
            expression += "[^/]"
        elif end > 0:
            inner = re.sub(r"([\\\[&~|])", r"\\\1", part[at + 1 : end])
            expression += f"[^{inner[1:]}]" if inner[0] in "!^" else f"[{inner}]"
            at = end
        else:
            expression += re.escape(char)
        at += 1
    return re.sub(r"(\[\^/\]\*)+", "[^/]*", expression)


def main() -> None:
    """Answer the one request."""
    request = json.load(sys.stdin)
    try:
        answer = glob(request) if request["kind"] == "glob" else grep(request)
    except (re.error, OverflowError, RecursionError) as error:
        answer = {"bad_pattern": str(error)}
    json.dump(answer, sys.stdout)
