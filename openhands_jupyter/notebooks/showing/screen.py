"""Printed text as a terminal would show it at the end: progress bars are their last frame."""

from __future__ import annotations

import re

from ...events.blobs import cut
from ...events.shown import without_escapes

LONGEST = 2_000_000
"""Characters of a text that are looked at, half of them at the beginning."""

_CONTROL = re.compile(r"[\r\n\b]|\x1b\[(\d*)([ABK])")


def settled(text: str) -> str:
    """`text` after all that overwrites itself, without escape sequences.

    Carriage returns, backspaces, the cursor's way up and down, and erasing within a line are
    followed, which is what progress bars use; everything else that moves a cursor is left out.
    """
    text = cut(text, LONGEST)
    if not _CONTROL.search(text.replace("\n", "")):
        return without_escapes(text)
    screen = _Screen()
    at = 0
    for control in _CONTROL.finditer(text):
        screen.write(without_escapes(text[at : control.start()]))
        screen.control(control)
        at = control.end()
    screen.write(without_escapes(text[at:]))
    return screen.text()


class _Screen:
    """Lines as lists of characters, so that writing over a part of one costs that part only."""

    def __init__(self) -> None:
        self._lines: list[list[str]] = [[]]
        self._row = 0
        self._column = 0

    def text(self) -> str:
        return "\n".join("".join(line).rstrip(" ") for line in self._lines)

    def write(self, text: str) -> None:
        if not text:
            return
        line = self._lines[self._row]
        if len(line) < self._column:
            line.extend(" " * (self._column - len(line)))
        line[self._column : self._column + len(text)] = text
        self._column += len(text)

    def control(self, control: re.Match[str]) -> None:
        name = control[2] or control[0]
        if name == "\r":
            self._column = 0
        elif name == "\b":
            self._column = max(self._column - 1, 0)
        elif name == "A":
            self._row = max(self._row - int(control[1][:6] or 1), 0)
        elif name == "K":
            self._erase(control[1])
        else:
            self._column = self._column if name == "B" else 0
            self._down()

    def _down(self) -> None:
        self._row += 1
        if self._row == len(self._lines):
            self._lines.append([])

    def _erase(self, what: str) -> None:
        line = self._lines[self._row]
        if what in ("", "0"):
            del line[self._column :]
        elif what == "2":
            line.clear()
