"""What a language model is to the rest of the program: messages in, one response out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, Protocol

import msgspec

from ..events import ThinkingBlock

Ability = Literal["auto", "on", "off"]
"""Whether a model is able to do something; ``auto`` is as far as that can be found out."""

ReasoningEffort = Literal["auto", "low", "medium", "high"]
"""How much a model is to think before it answers; ``auto`` leaves it to the provider."""

Role = Literal["system", "user", "assistant", "tool"]


class ToolCall(msgspec.Struct, frozen=True, kw_only=True):
    """A tool call that the model wrote.

    Attributes
    ----------
    id
        The provider's id of the call.
    arguments
        JSON text exactly as the model wrote it; it may be malformed.
    """

    id: str
    name: str
    arguments: str


class Message(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One message of the prompt, in the terms of the OpenAI chat protocol.

    Attributes
    ----------
    content
        Text, or a list of the protocol's content parts (``{"type": "text" | "image_url", …}``).
    tool_calls
        The calls of an assistant message.
    tool_call_id
        The call that a tool message answers.
    model
        Which model wrote an assistant message.
    reasoning, thinking
        What that model thought before, as in `events.ModelCall`; goes back to it alone.
    """

    role: Role
    content: str | list[dict[str, Any]] = ""
    tool_calls: list[ToolCall] = []
    tool_call_id: str = ""
    model: str = ""
    reasoning: str = ""
    thinking: list[ThinkingBlock] = []

    @property
    def has_images(self) -> bool:
        """Whether it shows images."""
        return isinstance(self.content, list) and any(map(_is_image, self.content))


def without_images(message: Message) -> Message:
    """The message for a model that sees none: a note in the place of each image."""
    if not message.has_images:
        return message
    note = {"type": "text", "text": "[an image that this model cannot be shown]"}
    parts = [note if _is_image(part) else part for part in message.content]
    return msgspec.structs.replace(message, content=parts)


def _is_image(part: Any) -> bool:
    return isinstance(part, dict) and part.get("type") == "image_url"


class Tool(msgspec.Struct, frozen=True, kw_only=True):
    """A tool that the model may call; ``parameters`` is a JSON Schema object."""

    name: str
    description: str
    parameters: dict[str, Any]


class Delta(msgspec.Struct, frozen=True, kw_only=True):
    """A piece of a response while it is being written.

    Attributes
    ----------
    kind
        ``text``, ``reasoning``, or ``tool_call`` (then ``text`` is a piece of the arguments);
        ``void`` takes back all that came before: the response begins anew.
    """

    kind: Literal["text", "reasoning", "tool_call", "void"]
    text: str
    tool_name: str = ""


class Usage(msgspec.Struct, frozen=True, kw_only=True):
    """Tokens and price of one response; ``cost`` is None where the price is not known."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    cost: float | None = None


class Unread(msgspec.Struct, frozen=True, kw_only=True):
    """A tool call in the text of a reply that cannot be read.

    Attributes
    ----------
    written
        What the model wrote, from the call on.
    problem
        Why it cannot be read, for the model to mend.
    """

    written: str
    problem: str


class Response(msgspec.Struct, frozen=True, kw_only=True):
    """A whole response of a model.

    Attributes
    ----------
    prompted
        Whether its tool calls were read out of its text (`prompted`).
    unread
        What could not be read there; None where there is nothing such.
    """

    id: str
    model: str
    text: str = ""
    reasoning: str = ""
    thinking: list[ThinkingBlock] = []
    tool_calls: list[ToolCall] = []
    finish_reason: str = ""
    usage: Usage = Usage()
    prompted: bool = False
    unread: Unread | None = None


class ModelConfig(msgspec.Struct, frozen=True, kw_only=True):
    """How to reach a model, in LiteLLM's terms.

    Attributes
    ----------
    model
        LiteLLM's model name, such as ``anthropic/claude-sonnet-4-5`` or ``openai/my-model``.
    base_url
        Address of the provider or of a local server; None for the provider's own.
    timeout
        Seconds without a piece of the answer after which a call is given up.
    vision, tool_calls
        Whether it sees images, and whether it can call tools.
    prompt_caching
        Whether the provider is told which part of a prompt to keep.
    context_window, max_output_tokens
        Tokens of prompt and answer together, and of an answer; None for as far as is known.
    reasoning_effort
        How much it is to think.
    """

    model: str
    api_key: str | None = None
    base_url: str | None = None
    timeout: float = 120.0
    vision: Ability = "auto"
    tool_calls: Ability = "auto"
    prompt_caching: Ability = "auto"
    context_window: int | None = None
    max_output_tokens: int | None = None
    reasoning_effort: ReasoningEffort = "auto"

    def __repr__(self) -> str:
        """Tell everything but the key, which must not get into a log or a traceback."""
        key = "set" if self.api_key else "not set"
        return f"ModelConfig({self.model!r}, key {key}, {self.base_url!r}, {self.timeout:g} s)"


class Capabilities(msgspec.Struct, frozen=True, kw_only=True):
    """What a model is able to do, as far as it is known; None where it is not.

    Attributes
    ----------
    tool_calls, vision, reasoning, caching
        Whether it calls tools, sees images, thinks before it answers, and whether its provider
        keeps the beginning of a prompt from one call to the next.
    window
        Tokens of prompt and answer together.
    max_output
        Tokens of an answer.
    """

    tool_calls: bool | None = None
    vision: bool | None = None
    reasoning: bool | None = None
    caching: bool | None = None
    window: int | None = None
    max_output: int | None = None

    def overridden(self, config: ModelConfig) -> Capabilities:
        """The same with what is configured in place of what was found."""
        return msgspec.structs.replace(
            self,
            tool_calls=_configured(config.tool_calls, self.tool_calls),
            vision=_configured(config.vision, self.vision),
            caching=_configured(config.prompt_caching, self.caching),
            window=config.context_window or self.window,
            max_output=config.max_output_tokens or self.max_output,
        )


def _configured(ability: Ability, found: bool | None) -> bool | None:
    return found if ability == "auto" else ability == "on"


class LanguageModel(Protocol):
    """Something that continues a conversation."""

    @property
    def name(self) -> str:
        """Its name, as it is configured."""
        ...

    async def capabilities(self) -> Capabilities:
        """What the model is able to do.

        Raises
        ------
        ModelError
            When that cannot be found out.
        """
        ...

    async def complete(
        self,
        messages: Sequence[Message],
        tools: Sequence[Tool],
        on_delta: Callable[[Delta], None],
    ) -> Response:
        """Continue the conversation.

        Parameters
        ----------
        messages
            The whole prompt, oldest first.
        tools
            The tools that the model may call.
        on_delta
            Called on the event loop with each piece of the response as it arrives.

        Returns
        -------
        Response
            The whole response.

        Raises
        ------
        ModelError
            When the call failed. Cancelling the awaiting task cancels the call at the provider.
        """
        ...
