"""Long text, kept by its beginning and its end."""

from __future__ import annotations

from collections import deque


class HeadAndTail:
    """A text that grows without bound and is kept within bounds: its beginning and its end.

    Parameters
    ----------
    limit
        Characters to keep, half of them from the beginning.
    """

    def __init__(self, limit: int) -> None:
        self._half = limit // 2
        self._head: list[str] = []
        self._head_size = 0
        self._tail: deque[str] = deque()
        self._tail_size = 0
        self._dropped = 0

    @property
    def size(self) -> int:
        """Characters added so far, kept or not."""
        return self._head_size + self._tail_size + self._dropped

    def add(self, text: str) -> None:
        """Append a piece."""
        room = self._half - self._head_size
        if room > 0:
            self._head.append(text[:room])
            self._head_size += len(self._head[-1])
            text = text[room:]
        if not text:
            return
        self._tail.append(text)
        self._tail_size += len(text)
        while self._tail_size > self._half:
            oldest = self._tail.popleft()
            kept = oldest[self._tail_size - self._half :]
            self._tail_size -= len(oldest) - len(kept)
            self._dropped += len(oldest) - len(kept)
            if kept:
                self._tail.appendleft(kept)

    def text(self, left_out: int = 0) -> str:
        """What was kept, with the cut said; ``left_out`` is what its middle lacked before."""
        head, tail = "".join(self._head), "".join(self._tail)
        if not self._dropped:
            return head + tail
        dropped = self._dropped + left_out
        return f"{head}\n[... {dropped:,} characters left out ...]\n{tail}"


def cut(text: str, limit: int, size: int | None = None) -> str:
    """Cut a text in the middle so that about ``limit`` characters stay, with the cut said.

    ``size`` is how many there were before something was cut out of its middle already.
    """
    kept = HeadAndTail(limit)
    kept.add(text)
    return kept.text(left_out=0 if size is None else size - len(text))
