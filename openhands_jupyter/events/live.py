"""Text that is still being written: shown at once, kept nowhere."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Literal

import msgspec

from .masking import Masker

Kind = Literal["text", "reasoning", "tool_call", "output"]

PAUSE = 0.016
"""Seconds between two deliveries to a subscriber: a frame of a 60 Hz screen."""
TAIL = 64 * 1024
"""Characters kept of a text, for whoever joins late."""


class LiveItem(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """New text for one subscriber.

    Attributes
    ----------
    kind
        What is being written.
    cause
        Id of the event that it follows from: the action whose output it is, or the newest event
        when the model was asked.
    offset
        Where `text` begins within the whole text, in characters.
    end
        True when the text is complete or given up: drop it. The event that holds it, if there is
        one, comes by the stream.
    """

    kind: Kind
    cause: int
    offset: int = 0
    text: str = ""
    end: bool = False


class _Growing:
    """One text so far: its tail, and the characters that may be the beginning of a secret."""

    def __init__(self) -> None:
        self.start = 0
        self.text = ""
        self.held_back = ""

    @property
    def length(self) -> int:
        return self.start + len(self.text)

    def write(self, text: str, masker: Masker) -> None:
        text = masker.text(self.held_back + text)
        held = masker.held_back(text)
        self.held_back = text[len(text) - held :]
        self.text += text[: len(text) - held]
        if len(self.text) > 2 * TAIL:
            self.start += len(self.text) - TAIL
            self.text = self.text[-TAIL:]


class LiveText:
    """The texts of one session that are being written, by kind and cause.

    A subscriber is a position in each text, so that it costs nothing while it is slow and text
    that came in the meantime arrives in one piece.
    """

    def __init__(self, masker: Masker) -> None:
        self._masker = masker
        self._texts: dict[tuple[Kind, int], _Growing] = {}
        self._changed = asyncio.Event()
        self._closed = False

    def write(self, kind: Kind, cause: int, text: str) -> None:
        """Add to a text, beginning it if need be."""
        self._texts.setdefault((kind, cause), _Growing()).write(text, self._masker)
        self._notify()

    def end(self, cause: int) -> None:
        """Drop every text that follows from `cause`."""
        for key in [key for key in self._texts if key[1] == cause]:
            del self._texts[key]
        self._notify()

    def close(self) -> None:
        """End all subscriptions."""
        self._closed = True
        self._notify()

    async def subscribe(self) -> AsyncIterator[list[LiveItem]]:
        """All text there is, and then what is new: the first at once, then every `PAUSE`."""
        sent: dict[tuple[Kind, int], tuple[_Growing, int]] = {}
        while not self._closed:
            changed = self._changed
            if items := self._news(sent):
                yield items
                await asyncio.sleep(PAUSE)
            else:
                await changed.wait()

    def _news(self, sent: dict[tuple[Kind, int], tuple[_Growing, int]]) -> list[LiveItem]:
        items = []
        for key, (text, _) in list(sent.items()):
            if self._texts.get(key) is not text:
                del sent[key]
                items.append(LiveItem(kind=key[0], cause=key[1], end=True))
        for key, text in self._texts.items():
            position = max(sent[key][1] if key in sent else 0, text.start)
            if position < text.length:
                piece = text.text[position - text.start :]
                items.append(LiveItem(kind=key[0], cause=key[1], offset=position, text=piece))
                sent[key] = (text, text.length)
        return items

    def _notify(self) -> None:
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()
