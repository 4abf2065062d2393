"""Prompts cross to the model gateway process once: each call brings what is new in its own.

The server's end knows what it has sent (`SentPrompts`), and the process keeps that (`KeptPrompts`).
What was written first is read first, so neither has to wait for the other; a process that is
started anew has kept nothing, and is sent everything.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from .base import Message, Tool
from .gateway_protocol import Prompt

MOST = 16
"""Prompts that are kept at once."""

LARGEST = 64 * 2**20
"""Bytes that may be kept of all prompts together, as they crossed."""


@dataclass
class _Sent:
    messages: list[Message]
    tools: list[Tool]
    size: int


class SentPrompts:
    """What one process keeps; the one that was used last is the last."""

    def __init__(self) -> None:
        self._numbers = count()
        self._sent: dict[int, _Sent] = {}

    def next(self, messages: Sequence[Message], tools: Sequence[Tool]) -> Prompt:
        """A prompt as it is to be sent: after what is kept of the one that it continues."""
        messages, tools = list(messages), list(tools)
        for number, sent in reversed(self._sent.items()):
            same = _common(sent.messages, messages)
            # With less in common it is another one, which its own conversation goes on with.
            if 2 * same > len(sent.messages):
                kept_tools = sent.tools == tools
                return Prompt(
                    number=number,
                    kept=same,
                    messages=messages[same:],
                    tools=None if kept_tools else tools,
                )
        return Prompt(number=next(self._numbers), kept=0, messages=messages, tools=tools)

    def note(
        self, prompt: Prompt, messages: Sequence[Message], tools: Sequence[Tool], size: int
    ) -> list[int]:
        """Take down that a prompt was sent.

        Parameters
        ----------
        prompt, messages, tools
            What `next` gave, for what.
        size
            Bytes that crossed for it.

        Returns
        -------
        list of int
            The numbers of those that need be kept no more.
        """
        before = self._sent.pop(prompt.number, None)
        size += before.size if before and prompt.kept else 0
        self._sent[prompt.number] = _Sent(list(messages), list(tools), size)
        dropped = []
        while len(self._sent) > MOST or sum(sent.size for sent in self._sent.values()) > LARGEST:
            oldest = next(iter(self._sent))
            del self._sent[oldest]
            dropped.append(oldest)
        return dropped


def _common(before: list[Message], now: list[Message]) -> int:
    """How many messages both begin with."""
    shorter = min(len(before), len(now))
    # The same objects, as a rule: that is seen in no time.
    if before[:shorter] == now[:shorter]:
        return shorter
    return next(n for n in range(shorter) if before[n] != now[n])


@dataclass(frozen=True)
class WholePrompt:
    """A prompt as the process has it.

    Attributes
    ----------
    messages, tools
        All of them.
    """

    messages: list[Message] = field(default_factory=list)
    tools: list[Tool] = field(default_factory=list)
    _told: dict[str, list[dict[str, Any]]] = field(default_factory=dict)

    def told(
        self, model: str, tell: Callable[[Message, str], dict[str, Any]]
    ) -> list[dict[str, Any]]:
        """The messages in the form for a model, each made once; nobody may change them."""
        told = self._told.setdefault(model, [])
        told += [tell(message, model) for message in self.messages[len(told) :]]
        return list(told)

    def going_on(self, prompt: Prompt) -> WholePrompt:
        """The prompt after this one."""
        told = {model: messages[: prompt.kept] for model, messages in self._told.items()}
        tools = self.tools if prompt.tools is None else prompt.tools
        return WholePrompt(self.messages[: prompt.kept] + prompt.messages, tools, told)


class KeptPrompts:
    """What the process keeps."""

    def __init__(self) -> None:
        self._kept: dict[int, WholePrompt] = {}

    def whole(self, prompt: Prompt) -> WholePrompt:
        """A prompt that came, with what was kept of it; it is kept in turn.

        Raises
        ------
        ValueError
            When something is missing, which the other end believes to be here.
        """
        before = self._kept.get(prompt.number, WholePrompt())
        if prompt.kept > len(before.messages):
            raise ValueError("the prompt goes on from one that is not kept")
        self._kept[prompt.number] = whole = before.going_on(prompt)
        return whole

    def drop(self, numbers: Sequence[int]) -> None:
        """Keep these no more."""
        for number in numbers:
            self._kept.pop(number, None)
