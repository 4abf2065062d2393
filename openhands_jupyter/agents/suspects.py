"""Which item of a prompt a provider complains about."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ..llm.base import Message
from .entries import Call, Said, Turn
from .history import PromptHistory

MOST_TRIES = 12
"""Requests that are made to find out what a provider does not accept."""

_FLAT = re.compile(r"messages\W{1,12}(\d+)")
"""As OpenAI and servers after it say it: ``messages[3]``, ``body -> messages -> 3``."""

_MERGED = re.compile(r"messages\.(\d+)\.content|contents\[(\d+)\]")
"""As Anthropic and Google say it, who join what comes from one side; without the system's part."""

_ABOUT_IMAGES = re.compile(r"\b(image|vision|multi-?modal)", re.IGNORECASE)
_WORD = re.compile(r"[\w-]{6,}")


class Suspects:
    """Proposes what to leave out of a prompt that a provider did not accept.

    What the complaint names goes first. Where it names nothing, the newest items go: one, two,
    four, and so on, because what came last is what the provider has not accepted before.

    Parameters
    ----------
    history
        What the prompt was made from.
    messages
        The prompt, with the system's part as its first message.

    Attributes
    ----------
    only_images
        Whether the images alone are to go.
    """

    def __init__(self, history: PromptHistory, messages: Sequence[Message]) -> None:
        self.only_images = False
        self._history = history
        self._messages = messages
        self._owners: list[list[int]] = [[], *history.owners()]
        self._named: set[int] = set()
        self._tries = 0
        self._cleared = 0
        self._width = 0
        self._order: list[int] = []

    def next(self, complaint: str) -> set[int] | None:
        """What to leave out in the next request; None when nothing is left to try."""
        self._tries += 1
        if self._tries > MOST_TRIES:
            return None
        images = bool(_ABOUT_IMAGES.search(complaint)) and bool(self._history.images)
        if images != self.only_images:
            self.only_images = images
            self._cleared = self._width = 0
        named = next((ids for ids in self._names(complaint) if not ids <= self._named), None)
        if named:
            self._named |= named
            return set(self._named)
        return self._widen()

    def found(self) -> list[int]:
        """What has to be left out, after a request without it was accepted.

        Of the newest items, those that were left out before in vain are not among them.
        """
        everything = self._width >= len(self._order) and self.only_images
        guessed = self._order[0 if everything else self._cleared : self._width]
        return sorted(self._named.union(guessed))

    def _widen(self) -> set[int] | None:
        if not self._width:
            self._order = self._newest_first()
        elif self._width >= len(self._order):
            return None
        self._cleared, self._width = self._width, max(1, self._width * 2)
        if not self._order:
            return None
        return self._named.union(self._order[: self._width])

    def _newest_first(self) -> list[int]:
        """All that may be to blame; not the message that waits for its answer."""
        ids: list[int] = []
        for entry in reversed(self._history.entries):
            if isinstance(entry, Turn):
                calls = [c for c in reversed(entry.calls) if c.images or not self.only_images]
                ids += [call.id for call in calls if self._may_go(call)]
            elif self._may_go(entry) and not self.only_images:
                ids.append(entry.id)
        newest = self._history.entries[-1] if self._history.entries else None
        if isinstance(newest, Said) and newest.by_person and newest.id in ids:
            ids.remove(newest.id)
        return ids

    def _may_go(self, item: Call | Said) -> bool:
        known = self._history.part(item.id) is item
        return known and item.shown != "refused" and item.id not in self._named

    def _names(self, complaint: str) -> Iterator[set[int]]:
        """What a complaint may mean, the likeliest first."""
        words = (self._history.action_of(word) for word in _WORD.findall(complaint))
        yield {id for id in words if id is not None and self._may_be_named(id)}
        for match in _MERGED.finditer(complaint):
            yield self._merged(int(match[1] or match[2]))
        for match in _FLAT.finditer(complaint):
            yield self._owned(int(match[1]))

    def _owned(self, index: int) -> set[int]:
        owners = self._owners[index] if index < len(self._owners) else []
        return {id for id in owners if self._may_be_named(id)}

    def _merged(self, number: int) -> set[int]:
        group, last, found = -1, "", set()
        for index, message in enumerate(self._messages[1:], 1):
            side = "assistant" if message.role == "assistant" else "user"
            group += side != last
            last = side
            if group == number:
                found |= self._owned(index)
        return found

    def _may_be_named(self, id: int) -> bool:
        part = self._history.part(id)
        if part is None or part.shown == "refused":
            return False
        return not self.only_images or (isinstance(part, Call) and bool(part.images))
