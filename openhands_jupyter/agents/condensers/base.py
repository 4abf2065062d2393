"""What a condenser is: it proposes what a model is no longer shown."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import msgspec

from ...errors import ModelError
from ...events import CondensationAction
from ...events.memory import CondensationReason
from ...llm.base import Message
from ..entries import Call, Entry, Said, Turn, condensed, length
from ..history import PromptHistory

LEAST_GAIN = 0.1
"""Share of the history by which it has to shrink; less is not worth what caches lose by it."""


class NotShorter(ModelError):
    """No condenser could make the prompt short enough to go on with."""


class Need(msgspec.Struct, frozen=True, kw_only=True):
    """How long the history is, and how long it may be, in characters (see `entries.size_of`).

    Attributes
    ----------
    size
        Of the history, as the model would get it now.
    target
        Which it should not exceed.
    fixed
        What the prompt has beside it: the system's part and the tools.
    tokens_per_character
        As the provider counts them.
    """

    size: int
    target: int
    fixed: int
    reason: CondensationReason
    tokens_per_character: float

    def tokens(self, size: int) -> int:
        """How many tokens the prompt has with a history of this size."""
        return round((self.fixed + size) * self.tokens_per_character)


@dataclass(frozen=True)
class Prompt:
    """The history as condensers see it.

    Attributes
    ----------
    history
        Not to be changed.
    ask
        Asks the session's model for a text; its use is counted.
    """

    history: PromptHistory
    ask: Callable[[Sequence[Message]], Awaitable[str]]

    @property
    def entries(self) -> Sequence[Entry]:
        """What the history consists of, oldest first."""
        return self.history.entries

    def protected(self) -> int:
        """Index from which on nothing may be left out: the newest response, and what came since."""
        turns = (e.index for e in reversed(self.entries) if isinstance(e, Turn) and e.calls)
        return next(turns, max(0, len(self.entries) - 1))

    def size_with(self, condensation: CondensationAction) -> int:
        """How long the history would be with a condensation."""
        sizes = self.history.sizes()
        start, end = condensation.forgotten_start, condensation.forgotten_end
        forgotten = {
            entry.index
            for entry in self.entries
            if start is not None and end is not None and start <= entry.id <= end
        }
        parts = [part for part in map(self.history.part, condensation.masked) if part]
        saved = sum(part.saving() for part in parts if _index(part) not in forgotten)
        kept = sum(size for index, size in enumerate(sizes) if index not in forgotten)
        if not forgotten:
            return kept - saved
        messages = [part for part in map(self.history.part, condensation.quoted) if part]
        texts = [message.text for message in messages if isinstance(message, Said)]
        return kept - saved + length(condensed(condensation.summary, texts))


def _index(part: Call | Said) -> int:
    return part.turn.index if isinstance(part, Call) else part.index


class Condenser(ABC):
    """One way to show a model less.

    A subclass implements `propose`; that the history really becomes shorter is proved here.
    """

    name: ClassVar[str]

    @abstractmethod
    async def propose(self, prompt: Prompt, need: Need) -> CondensationAction | None:
        """What could be left out; None where this condenser has nothing more to offer.

        Raises
        ------
        ModelError
            When the model had to be asked and could not be.
        """

    async def condense(self, prompt: Prompt, need: Need) -> CondensationAction:
        """What is to be left out, proved to make the history shorter.

        Returns
        -------
        CondensationAction
            With the estimated lengths of the prompt before and after.

        Raises
        ------
        NotShorter
            When nothing that this condenser can do makes it shorter by a tenth, or short enough.
        ModelError
            As with `propose`.
        """
        proposed = await self.propose(prompt, need)
        if proposed is not None:
            after = prompt.size_with(proposed)
            if after < need.size and (
                after <= need.target or after <= need.size * (1 - LEAST_GAIN)
            ):
                return msgspec.structs.replace(
                    proposed,
                    condenser=self.name,
                    reason=need.reason,
                    tokens_before=need.tokens(need.size),
                    tokens_after=need.tokens(after),
                )
        raise NotShorter(
            "model_context",
            "The conversation does not fit into the model's context window, and cannot be made "
            "shorter.",
            "Choose a model with a larger context window, or start a new session.",
        )
