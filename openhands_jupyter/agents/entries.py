"""What a prompt history consists of: responses with the results of their calls, and messages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec

from ..events import ModelCall
from ..events.blobs import cut
from ..llm.base import Message, ToolCall
from .images import PromptImage, Urls, image_message

UNANSWERED = "No result: the action was not executed."
REFUSED = "[Left out, because the provider of the model does not accept it.]"
MASKED = 400
"""Characters that stay of a result that is left out: its first lines, and how it ended."""

SHORTENED = 2_000
"""Characters of a message of the person that had to be shortened."""

QUOTED = 1_000
"""Characters of a message of the person that a summary quotes."""

IMAGE_SIZE = 6_000
"""Characters that an image counts as; providers charge about 1,500 tokens for a large one."""

_MESSAGE_SIZE = 16
"""Characters that a message counts as beside its content."""

Shown = Literal["whole", "without_images", "masked", "refused"]
"""How much of an item a model is shown, from all of it to nothing."""


class Said:
    """A message of the person, or a note for the model.

    Attributes
    ----------
    id
        The event that it is from.
    index
        Its place in the history.
    by_person
        Whether it is in the person's own words.
    """

    def __init__(self, id: int, text: str, by_person: bool = False) -> None:
        self.id = id
        self.index = 0
        self.text = text
        self.by_person = by_person
        self.shown: Shown = "whole"

    def messages(self, urls: Urls | None) -> list[Message]:
        """As a prompt has it."""
        return [Message(role="user", content=self.told())]

    def owners(self, urls: Urls | None) -> list[list[int]]:
        """For each of `messages`, the events that it is about."""
        return [[self.id]]

    def told(self) -> str:
        """The text that the model gets."""
        if self.shown == "refused":
            return REFUSED
        return cut(self.text, SHORTENED) if self.shown == "masked" else self.text

    def saving(self) -> int:
        """Characters that are saved when it is shown masked."""
        return max(0, len(self.text) - SHORTENED) if self.shown == "whole" else 0


class Condensed(Said):
    """What stands in the place of entries that are left out.

    Attributes
    ----------
    quoted
        Ids of the person's messages that it quotes.
    """

    def __init__(self, id: int, summary: str, messages: Sequence[Said]) -> None:
        super().__init__(id, condensed(summary, [message.text for message in messages]))
        self.quoted = [message.id for message in messages]

    def saving(self) -> int:
        """Nothing: it is short already."""
        return 0


class Call:
    """A tool call of the model, and its result.

    Attributes
    ----------
    id
        The action's event.
    turn
        The response that it belongs to.
    is_question
        Whether the person's answer is its result.
    """

    def __init__(self, id: int, turn: Turn, call: ToolCall) -> None:
        self.id = id
        self.turn = turn
        self.call = call
        self.is_question = False
        self.result: str | None = None
        self.refusals: list[str] = []
        self.images: list[PromptImage] = []
        self.shown: Shown = "whole"

    def told(self) -> str:
        """The result as the model gets it."""
        if self.shown == "refused":
            return REFUSED
        if self.shown == "masked":
            return _left_out(self.result or "")
        return "\n".join([UNANSWERED if self.result is None else self.result, *self.refusals])

    def told_call(self) -> ToolCall:
        """The call as the model gets it; what was refused may stand in its arguments."""
        if self.shown != "refused":
            return self.call
        return ToolCall(id=self.call.id, name=self.call.name, arguments="{}")

    def saving(self) -> int:
        """Characters that are saved when its result is shown masked."""
        if self.shown not in ("whole", "without_images") or self.is_question or not self.result:
            return 0
        saved = length(self.result) - length(_left_out(self.result))
        images = self.images if self.shown == "whole" else []
        return max(0, saved) + IMAGE_SIZE * len(images)


class Turn:
    """One response of the model, and the results of its calls, kept together."""

    def __init__(
        self, id: int, response_id: str, text: str, origin: ModelCall | None = None
    ) -> None:
        self.id = id
        self.index = 0
        self.response_id = response_id
        self.text = text
        self.origin = origin or ModelCall(response_id=response_id)
        self.calls: list[Call] = []

    @property
    def is_open(self) -> bool:
        """Whether a call waits for its result."""
        return any(call.result is None for call in self.calls)

    def messages(self, urls: Urls | None) -> list[Message]:
        """As a prompt has it: each call has exactly one result right behind it."""
        if not self.calls and not self.text:
            # Providers refuse a message that says nothing.
            return []
        calls = [call.told_call() for call in self.calls]
        head = Message(role="assistant", tool_calls=calls)
        if not self.calls or self.calls[0].shown != "refused":
            head = msgspec.structs.replace(
                head,
                content=self.text,
                model=self.origin.model,
                reasoning=self.origin.reasoning,
                thinking=self.origin.thinking,
            )
        results = [
            Message(role="tool", tool_call_id=call.call.id, content=call.told())
            for call in self.calls
        ]
        images = self._images()
        if urls is None or not images:
            return [head, *results]
        return [head, *results, image_message(images, urls)]

    def owners(self, urls: Urls | None) -> list[list[int]]:
        """For each of `messages`, the events that it is about."""
        if not self.calls and not self.text:
            return []
        ids = [call.id for call in self.calls]
        owners = [[self.id] if self.id in ids or not ids else ids[:1], *([id] for id in ids)]
        if urls is not None and self._images():
            owners.append([call.id for call in self.calls if call.images])
        return owners

    def saving(self) -> int:
        """Characters that are saved when all its results are shown masked."""
        return sum(call.saving() for call in self.calls)

    def _images(self) -> list[PromptImage]:
        return [image for call in self.calls if call.shown == "whole" for image in call.images]


Entry = Turn | Said


def size_of(messages: Sequence[Message]) -> int:
    """How long messages are, in characters; what is not plain Latin text counts by its bytes."""
    return sum(map(_size, messages))


def length(text: str) -> int:
    """The bytes of a text, which is close to what tokens go by in any language."""
    return len(text) if text.isascii() else len(text.encode(errors="replace"))


def _size(message: Message) -> int:
    calls = sum(length(call.arguments) + len(call.name) for call in message.tool_calls)
    # Of the thoughts only one form goes to the provider, if any.
    calls += max(
        length(message.reasoning), sum(len(b.thinking) + len(b.data) for b in message.thinking)
    )
    if isinstance(message.content, str):
        return _MESSAGE_SIZE + calls + length(message.content)
    parts = (
        length(part["text"]) if part.get("type") == "text" else IMAGE_SIZE
        for part in message.content
    )
    return _MESSAGE_SIZE + calls + sum(parts)


def condensed(summary: str, messages: Sequence[str]) -> str:
    """A summary, with messages of the person that stay told in their own words."""
    if not messages:
        return summary
    quoted = "\n\n".join(cut(message, QUOTED) for message in messages)
    return f"{summary}\n\n[What the person wrote meanwhile, word for word:]\n\n{quoted}"


def _left_out(result: str) -> str:
    if len(result) <= MASKED:
        return result
    return f"{cut(result, MASKED)}\n[Left out to save room. Ask for less at a time if you need it.]"
