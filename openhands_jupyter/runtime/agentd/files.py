"""Reading, writing and editing text files, with undo."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import stat
import zlib
from collections.abc import Iterator
from typing import Any

from .errors import ActionError
from .finder import is_skipped
from .paths import explained, resolve
from .textfile import TextFile, lines_of, load, store

READ_LIMIT = 8_000_000
SHOWN_CHARACTERS = 60_000
SHOWN_ENTRIES = 1_000
LISTED_LEVELS = 2
UNDO_STEPS = 50
UNDO_BYTES = 16_000_000
"""Of all files together, compressed."""

LARGEST_OVERWRITTEN = 32_000_000


class _Step:
    """A change of a file: what stood there before, None for no file, and what shows that it stands.

    Both are kept small, because agentd lives as long as the session does.
    """

    def __init__(self, before: bytes | None, after: bytes) -> None:
        self._before = None if before is None else zlib.compress(before, 1)
        self._after = _digest(after)

    @property
    def size(self) -> int:
        return len(self._before or b"")

    @property
    def before(self) -> bytes | None:
        return None if self._before is None else zlib.decompress(self._before)

    def stands(self, content: bytes | None) -> bool:
        """Whether a file's content is what the change made of it."""
        return content is not None and _digest(content) == self._after


class Files:
    """The file actions.

    Parameters
    ----------
    workspace
        What relative paths are relative to. What may be read and written is for the sandbox to
        enforce, not for this class.
    """

    def __init__(self, workspace: str) -> None:
        self._workspace = workspace
        self._undo: dict[str, list[_Step]] = {}

    def read(self, path: str, start: int | None, end: int | None) -> dict[str, Any]:
        """Read a text file, or the lines from ``start`` to ``end``, or list a folder.

        Raises
        ------
        ActionError
            When there is nothing to read there, or it is no text, or it is too large.
        """
        full = resolve(self._workspace, path)
        try:
            if os.path.isdir(full):
                return _listing(full)
            file = load(full, path, READ_LIMIT)
        except OSError as error:
            raise explained(error, path) from error
        lines = lines_of(file.text)
        first, last = _line_range(start, end, len(lines))
        content = "".join(lines[first - 1 : last])
        if len(content) > SHOWN_CHARACTERS:
            content = _shortened(lines[first - 1 : last], first)
        return {
            "path": full,
            "content": content,
            "start": first,
            "total_lines": len(lines),
            "is_dir": False,
        }

    def write(self, path: str, content: str) -> dict[str, Any]:
        """Write a whole file, with its folders.

        An existing file keeps its encoding, newline style and mode.

        Raises
        ------
        ActionError
            When it cannot be written.
        """
        full = resolve(self._workspace, path)
        try:
            old = _load_if_text(full, path)
            before = _bytes_of(full)
            os.makedirs(os.path.dirname(full), exist_ok=True)
            after = (old or TextFile("")).encode_new(content)
            store(full, after)
        except OSError as error:
            raise explained(error, path) from error
        self._remember(full, before, after)
        return {
            "path": full,
            "created": before is None,
            "content": content,
            "old_content": old.text if old else None,
        }

    def edit(
        self, path: str, command: str, old_str: str, new_str: str, insert_line: int
    ) -> dict[str, Any]:
        """Change part of a text file; ``command`` is ``str_replace``, ``insert`` or ``undo``.

        Raises
        ------
        ActionError
            When ``old_str`` does not occur exactly once, when the line does not exist, when there
            is nothing to undo, or when the file cannot be read or written.
        """
        full = resolve(self._workspace, path)
        try:
            if command == "undo":
                return self._undo_last(full, path)
            file = load(full, path, READ_LIMIT)
            before = file.raw
            if command == "str_replace":
                content = _replaced(file.text, old_str, new_str, path)
            else:
                content = _inserted(file.text, new_str, insert_line, path)
            after = file.encode(content, path)
            store(full, after)
        except OSError as error:
            raise explained(error, path) from error
        self._remember(full, before, after)
        return {"path": full, "content": content, "old_content": file.text}

    def _undo_last(self, full: str, path: str) -> dict[str, Any]:
        steps = self._undo.get(full)
        if not steps:
            raise ActionError("nothing_to_undo", f"{path} was not changed in this session.")
        step = steps[-1]
        content = _bytes_of(full)
        if not step.stands(content):
            raise ActionError(
                "changed_since",
                f"{path} was changed by something else since the last edit.",
                "Read it and edit it instead.",
            )
        after = TextFile.from_bytes(content or b"")
        old = step.before
        if old is None:
            os.unlink(full)
        else:
            store(full, old)
        steps.pop()
        before = TextFile.from_bytes(old or b"")
        return {
            "path": full,
            "content": before.text if before else "",
            "old_content": after.text if after else "",
        }

    def _remember(self, full: str, before: bytes | None, after: bytes) -> None:
        steps = self._undo.setdefault(full, [])
        steps.append(_Step(before, after))
        del steps[:-UNDO_STEPS]
        total = sum(step.size for steps in self._undo.values() for step in steps)
        for name in list(self._undo):
            while total > UNDO_BYTES and self._undo[name]:
                total -= self._undo[name].pop(0).size


def _bytes_of(full: str) -> bytes | None:
    """The content of a file; None if there is none, or if it is too large to keep for undo."""
    try:
        info = os.stat(full)
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(info.st_mode):
        raise IsADirectoryError(errno.EISDIR, "is a folder", full)
    if not stat.S_ISREG(info.st_mode):
        raise ActionError("not_a_file", f"{full} is a device or a pipe, not a file.")
    if info.st_size > LARGEST_OVERWRITTEN:
        raise ActionError(
            "too_large",
            f"{full} has {info.st_size:,} bytes, too many to overwrite here.",
            "Delete or change it with a command.",
        )
    with open(full, "rb") as file:
        return file.read()


def _load_if_text(full: str, path: str) -> TextFile | None:
    """The text file that stands there; None if there is none, or no text, or too large."""
    try:
        return load(full, path, READ_LIMIT)
    except FileNotFoundError:
        return None
    except ActionError as error:
        if error.code in ("not_text", "too_large"):
            return None
        raise


def _line_range(start: int | None, end: int | None, total: int) -> tuple[int, int]:
    first = 1 if start is None else start
    last = total if end is None or end == -1 else min(end, total)
    if first < 1 or (first > max(total, 1)) or (end is not None and end != -1 and end < first):
        raise ActionError(
            "bad_range",
            f"Lines {start} to {end} were asked for, but the file has {total} lines.",
            "Ask for a first and a last line, counted from 1.",
        )
    return first, last


def _shortened(lines: list[str], first: int) -> str:
    kept, size = [], 0
    for line in lines:
        if size + len(line) > SHOWN_CHARACTERS:
            break
        kept.append(line)
        size += len(line)
    if not kept:
        kept = [lines[0][:SHOWN_CHARACTERS] + "\n"]
        return kept[0] + f"[... line {first} goes on; it has {len(lines[0]):,} characters ...]\n"
    following = first + len(kept)
    return "".join(kept) + (
        f"[... {len(lines) - len(kept):,} more lines; read from line {following} to go on ...]\n"
    )


def _listing(full: str) -> dict[str, Any]:
    names = list(_entries(full, "", LISTED_LEVELS))
    content = "".join(name + "\n" for name in names[:SHOWN_ENTRIES])
    if len(names) > SHOWN_ENTRIES:
        content += f"[... {len(names) - SHOWN_ENTRIES:,} more entries ...]\n"
    return {"path": full, "content": content, "start": 1, "total_lines": 0, "is_dir": True}


def _entries(top: str, folder: str, levels: int) -> Iterator[str]:
    """What is in a folder, and in its folders except those that a search leaves out as well."""
    with os.scandir(os.path.join(top, folder)) as found:
        entries = sorted(found, key=lambda entry: entry.name)
    for entry in entries:
        is_folder = entry.is_dir()
        path = folder + entry.name + ("/" if is_folder else "")
        yield path
        if is_folder and levels > 1 and not entry.is_symlink() and not is_skipped(entry.path):
            with contextlib.suppress(OSError):
                yield from _entries(top, path, levels - 1)


def _digest(content: bytes) -> bytes:
    return hashlib.sha256(content).digest()


def _replaced(text: str, old: str, new: str, path: str) -> str:
    if not old:
        raise ActionError("no_match", "The text to replace is empty.", "Use insert to add text.")
    count = text.count(old)
    if count == 0:
        raise ActionError(
            "no_match",
            f"The text to replace does not occur in {path}.",
            "Read the file and copy the text exactly, with its indentation.",
        )
    if count > 1:
        lines = ", ".join(str(line) for line in _lines_with(text, old)[:10])
        raise ActionError(
            "many_matches",
            f"The text to replace occurs {count} times in {path}, from lines {lines}.",
            "Include more of the lines around it so that it occurs once.",
        )
    return text.replace(old, new)


def _lines_with(text: str, part: str) -> list[int]:
    lines, at = [], text.find(part)
    while at >= 0:
        lines.append(text.count("\n", 0, at) + 1)
        at = text.find(part, at + len(part))
    return lines


def _inserted(text: str, new: str, line: int, path: str) -> str:
    lines = lines_of(text)
    if not 0 <= line <= len(lines):
        raise ActionError(
            "bad_line",
            f"There is no line {line} in {path}; it has {len(lines)} lines.",
            "Use 0 for the top, or the number of an existing line.",
        )
    if line and not lines[line - 1].endswith("\n"):
        lines[line - 1] += "\n"
    if new and not new.endswith("\n"):
        new += "\n"
    return "".join([*lines[:line], new, *lines[line:]])
