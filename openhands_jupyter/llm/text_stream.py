"""Shows the words of a reply while it is written, and not the tool call that its text holds."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from .base import Delta
from .calls_in_text import opening
from .native_forms import TOKENS_BEGIN

_HELD = 80
"""Characters at most that are held back, because a call may begin with them."""

_LONGEST_BLOCK = 20_000
"""Characters of a block of code after which it is no part of an explanation any more."""

_BLOCK = re.compile(
    r"^```(?:python3?|py|ipython|bash|sh|shell|console|json|tool_call|tool_code)\b", re.MULTILINE
)
_OPEN_END = re.compile(r"(?:<[^<>\n]*|\[[A-Z_]*|`{1,3}\w*|\s+)\Z")
_CLOSED = re.compile(r"\n```[ \t]*\n\s*\S")


class TextStream:
    """Passes on the pieces of a reply.

    Parameters
    ----------
    on_delta
        Told the pieces: words as ``text``, what belongs to a call as ``tool_call``.
    names
        Of the tools.
    """

    def __init__(self, on_delta: Callable[[Delta], None], names: Sequence[str]) -> None:
        self._on_delta = on_delta
        self._opening = opening(names) if names else None
        self._held = ""
        self._begun = False
        self._state = "text"

    def take(self, delta: Delta) -> None:
        """Take in a piece as it came."""
        if delta.kind != "text" or self._opening is None:
            self._on_delta(delta)
            return
        self._held += delta.text
        while self._go_on():
            pass

    def end(self) -> None:
        """Pass on what was held back."""
        if self._state == "text":
            self._say("text", self._held)
        elif self._state == "thoughts":
            self._say("reasoning", self._held)
        self._held = ""

    def _go_on(self) -> bool:
        """Pass on what can be; whether that changed what the rest is."""
        match self._state:
            case "text":
                return self._go_on_with_text()
            case "thoughts":
                return self._go_on_with_thoughts()
            case "block":
                return self._go_on_with_block()
        self._say("tool_call", self._held)
        self._held = ""
        return False

    def _go_on_with_text(self) -> bool:
        assert self._opening is not None
        if not self._begun:
            begin = self._held.lstrip()
            if len(self._held) < _HELD and (not begin or "<thinking>".startswith(begin)):
                return False
            if match := re.match(r"<think(?:ing)?>", begin):
                self._held, self._state, self._begun = begin[match.end() :], "thoughts", True
                return True
            if begin.startswith(("{", "[")):
                self._state, self._begun = "call", True
                return True
        tag, block = self._opening.search(self._held), _BLOCK.search(self._held)
        tokens = TOKENS_BEGIN.search(self._held)
        starts = [match.start() for match in (tag, block, tokens) if match]
        if starts:
            first = min(starts)
            self._say("text", self._held[:first])
            self._held = self._held[first:]
            self._state = "block" if block and block.start() == first else "call"
            return True
        end = _OPEN_END.search(self._held[-_HELD:])
        keep = len(end[0]) if end else 0
        self._say("text", self._held[: len(self._held) - keep])
        self._held = self._held[len(self._held) - keep :]
        return False

    def _go_on_with_thoughts(self) -> bool:
        match = re.search(r"</think(?:ing)?>", self._held)
        if match is None:
            self._say("reasoning", self._held[: -len("</thinking>")])
            self._held = self._held[-len("</thinking>") :]
            return False
        self._say("reasoning", self._held[: match.start()])
        self._held, self._state = self._held[match.end() :], "text"
        return True

    def _go_on_with_block(self) -> bool:
        """A block with words after it is part of an explanation, and no call."""
        if match := _CLOSED.search(self._held):
            self._say("text", self._held[: match.end() - 1])
            self._held, self._state = self._held[match.end() - 1 :], "text"
            return True
        if len(self._held) < _LONGEST_BLOCK:
            return False
        self._state = "call"
        return True

    def _say(self, kind: str, text: str) -> None:
        if text:
            self._begun = True
            self._on_delta(Delta(kind=kind, text=text))  # type: ignore[arg-type]
