"""What a cell prints, piece by piece, as a terminal would show it."""

from __future__ import annotations

MOST_PIECES = 4_096
"""Pieces that are kept before they are joined."""

NEAR = 65_536
"""Characters at the end of a long piece that are kept apart, once something is rubbed out there."""


class Printed:
    """A printed text, whose last line what comes next may overwrite.

    To write takes time by the length of what is written, however much there is already. Whoever
    reads the text in another thread meanwhile may miss the last line.
    """

    def __init__(self) -> None:
        self._pieces: list[str] = []
        # Indexes of the first piece of the last line, and of the first that is not joined yet.
        self._line = 0
        self._joined = 0
        # Returns at its end: what comes next is written over it.
        self._returns = 0

    @property
    def text(self) -> str:
        """All of it."""
        return "".join(self._pieces)

    def write(self, more: str) -> None:
        """Print something after it."""
        if "\b" in more or (more.strip("\r") and (self._returns or "\r" in more)):
            more = self._over_the_last_line(more)
        done, newline, line = more.rpartition("\n")
        if newline:
            self._pieces.append(done + newline)
            self._line, self._returns = len(self._pieces), 0
        if line:
            self._pieces.append(line)
            text = line.rstrip("\r")
            self._returns = len(line) - len(text) + (0 if text else self._returns)
        if len(self._pieces) - self._joined > MOST_PIECES:
            self._join()

    def _over_the_last_line(self, more: str) -> str:
        """Take away what is written over; gives what stands there in its place."""
        kept = self._take(more.count("\b") + self._returns)
        self._returns = 0
        first, *others = (_rubbed_out(line) for line in (kept + more).split("\n"))
        over = _overwritten(first)
        if over != first:
            del self._pieces[self._line :]
            self._joined = min(self._joined, len(self._pieces))
        return "\n".join([over, *map(_overwritten, others)])

    def _take(self, count: int) -> str:
        """Take so many characters from the end of the last line, or all that there are."""
        taken: list[str] = []
        while count > 0 and len(self._pieces) > self._line:
            piece = self._pieces.pop()
            rest = piece[:-count]
            if rest:
                self._pieces.extend(filter(None, (rest[:-NEAR], rest[-NEAR:])))
            taken.append(piece[len(rest) :])
            count -= len(taken[-1])
        self._joined = min(self._joined, len(self._pieces))
        return "".join(reversed(taken))

    def _join(self) -> None:
        start = max(self._line, self._joined)
        before = "".join(self._pieces[self._joined : start])
        line = "".join(self._pieces[start:])
        if start == self._line:
            self._line = self._joined + bool(before)
        self._pieces[self._joined :] = [before, line] if before else [line]
        self._joined = len(self._pieces)


def _rubbed_out(line: str) -> str:
    if "\b" not in line:
        return line
    kept: list[str] = []
    for character in line:
        if character == "\b" and kept:
            kept.pop()
        else:
            kept.append(character)
    return "".join(kept)


def _overwritten(line: str) -> str:
    """What is left of a line; a return at its end waits for what comes next."""
    return line[line.rstrip("\r").rfind("\r") + 1 :]
