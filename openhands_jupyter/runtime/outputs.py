"""A cell's outputs, put together from the kernel's messages and kept within bounds."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

from ..events import Output

KEPT_CHARACTERS = 1_000_000
"""Of printed text, half of it from the beginning."""

STREAMED_CHARACTERS = 1_000_000
RUNAWAY_CHARACTERS = 20_000_000
"""Of printed text, after which a cell is held to have run away."""

KEPT_RICH_CHARACTERS = 24_000_000
KEPT_DISPLAYS = 500

_KINDS = {"stream", "display_data", "execute_result", "error"}


class _Part:
    """One output under construction."""

    def __init__(self, kind: str, **content: Any) -> None:
        self.kind = kind
        self.name: str = content.get("name", "")
        self.text: str = content.get("text", "")
        self.data: dict[str, Any] = content.get("data", {})
        self.metadata: dict[str, Any] = content.get("metadata", {})
        self.display_id: str = content.get("display_id", "")
        self.ename: str = content.get("ename", "")
        self.evalue: str = content.get("evalue", "")

    def output(self) -> Output:
        return Output(
            kind=self.kind,  # type: ignore[arg-type]
            name=self.name,
            text=self.text,
            data=self.data,
            metadata=self.metadata,
            ename=self.ename,
            evalue=self.evalue,
        )


class Outputs:
    """Collects what one cell printed, displayed and raised.

    Parameters
    ----------
    on_text
        Called with printed text as it comes, up to a bound.
    """

    def __init__(self, on_text: Callable[[str], None]) -> None:
        self._on_text = on_text
        self._printed = 0
        self._clear_before_next = False
        self._start_anew()

    @property
    def ran_away(self) -> bool:
        """Whether the cell has printed more than a cell should."""
        return self._printed > RUNAWAY_CHARACTERS

    def add(self, kind: str, content: dict[str, Any]) -> None:
        """Take in a message from the kernel's IOPub channel; other kinds are left alone."""
        if kind == "clear_output":
            self._clear_before_next = True
            if not content.get("wait"):
                self._start_anew()
        elif kind == "update_display_data":
            self._update(content)
        elif kind in _KINDS:
            if self._clear_before_next:
                self._start_anew()
            self._add(kind, content)

    def say(self, text: str) -> None:
        """Add a remark of ours, on standard error."""
        self._append_text("stderr", text)

    def result(self) -> list[Output]:
        """The outputs, streams merged, with every cut said."""
        parts = [*self._head, *self._tail]
        if self._dropped:
            note = f"\n[... {self._dropped:,} characters left out ...]\n"
            parts.insert(len(self._head), _Part("stream", name="stderr", text=note))
        if self._displays_dropped:
            note = f"\n[... {self._displays_dropped:,} displayed objects left out ...]\n"
            parts.append(_Part("stream", name="stderr", text=note))
        return [part.output() for part in _merged(parts)]

    def _start_anew(self) -> None:
        self._clear_before_next = False
        self._head: list[_Part] = []
        self._tail: deque[_Part] = deque()
        self._head_size = 0
        self._tail_size = 0
        self._dropped = 0
        self._displays = 0
        self._rich_size = 0
        self._displays_dropped = 0

    def _add(self, kind: str, content: dict[str, Any]) -> None:
        if kind == "stream":
            self._print(str(content.get("name", "stdout")), str(content.get("text", "")))
        elif kind == "error":
            traceback = "\n".join(map(str, content.get("traceback") or []))
            name, value = str(content.get("ename", "")), str(content.get("evalue", ""))
            self._append(_Part("error", text=traceback, ename=name, evalue=value))
        else:
            self._display(kind, content)

    def _print(self, name: str, text: str) -> None:
        before = self._printed
        self._printed += len(text)
        if before < STREAMED_CHARACTERS:
            self._on_text(text[: STREAMED_CHARACTERS - before])
            if self._printed >= STREAMED_CHARACTERS:
                self._on_text("\n[... there is more output; it is shown when the cell ends ...]\n")
        self._append_text(name, text)

    def _append_text(self, name: str, text: str) -> None:
        half = KEPT_CHARACTERS // 2
        room = half - self._head_size
        if room > 0 and not self._tail:
            self._head.append(_Part("stream", name=name, text=text[:room]))
            self._head_size += min(room, len(text))
            text = text[room:]
        if not text:
            return
        self._tail.append(_Part("stream", name=name, text=text))
        self._tail_size += len(text)
        while self._tail_size > half:
            self._shorten_tail(self._tail_size - half)

    def _shorten_tail(self, excess: int) -> None:
        first = self._tail.popleft()
        if first.kind != "stream":
            self._head.append(first)
            return
        kept = first.text[excess:]
        self._tail_size -= len(first.text) - len(kept)
        self._dropped += len(first.text) - len(kept)
        if kept:
            first.text = kept
            self._tail.appendleft(first)

    def _append(self, part: _Part) -> None:
        (self._tail if self._tail else self._head).append(part)

    def _display(self, kind: str, content: dict[str, Any]) -> None:
        data = content.get("data") or {}
        self._displays += 1
        self._rich_size += _size(data)
        if self._displays > KEPT_DISPLAYS or self._rich_size > KEPT_RICH_CHARACTERS:
            self._displays_dropped += 1
            return
        display_id = str((content.get("transient") or {}).get("display_id") or "")
        metadata = content.get("metadata") or {}
        self._append(_Part(kind, data=data, metadata=metadata, display_id=display_id))

    def _update(self, content: dict[str, Any]) -> None:
        display_id = (content.get("transient") or {}).get("display_id")
        for part in (*self._head, *self._tail):
            if display_id and part.display_id == display_id:
                part.data = content.get("data") or {}
                part.metadata = content.get("metadata") or {}


def _size(data: dict[str, Any]) -> int:
    return sum(len(value) if isinstance(value, str) else len(str(value)) for value in data.values())


def _merged(parts: list[_Part]) -> list[_Part]:
    """Join texts of the same stream that follow each other."""
    joined: list[_Part] = []
    texts: list[str] = []
    for part in parts:
        last = joined[-1] if joined else None
        if part.kind == "stream" and last and last.kind == "stream" and last.name == part.name:
            texts.append(part.text)
            continue
        if last and last.kind == "stream":
            last.text = "".join(texts)
        joined.append(part)
        texts = [part.text]
    if joined and joined[-1].kind == "stream":
        joined[-1].text = "".join(texts)
    return joined
