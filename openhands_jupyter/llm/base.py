"""What a language model is to the rest of the program: messages in, one response out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, Protocol

import msgspec

Vision = Literal["auto", "on", "off"]
"""Whether a model sees images; ``auto`` is as far as LiteLLM knows."""

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
    """

    role: Role
    content: str | list[dict[str, Any]] = ""
    tool_calls: list[ToolCall] = []
    tool_call_id: str = ""


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
        ``text``, ``reasoning``, or ``tool_call`` (then ``text`` is a piece of the arguments).
    """

    kind: Literal["text", "reasoning", "tool_call"]
    text: str
    tool_name: str = ""


class Usage(msgspec.Struct, frozen=True, kw_only=True):
    """Tokens and price of one response; ``cost`` is None where the price is not known."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    cost: float | None = None


class Response(msgspec.Struct, frozen=True, kw_only=True):
    """A whole response of a model."""

    id: str
    model: str
    text: str = ""
    reasoning: str = ""
    tool_calls: list[ToolCall] = []
    finish_reason: str = ""
    usage: Usage = Usage()


class ModelConfig(msgspec.Struct, frozen=True, kw_only=True):
    """How to reach a model, in LiteLLM's terms.

    Attributes
    ----------
    model
        LiteLLM's model name, such as ``anthropic/claude-sonnet-4-5`` or ``openai/my-model``.
    base_url
        Address of the provider or of a local server; None for the provider's own.
    timeout
        Seconds that one call may take.
    vision
        Whether it sees images.
    """

    model: str
    api_key: str | None = None
    base_url: str | None = None
    timeout: float = 120.0
    vision: Vision = "auto"

    def __repr__(self) -> str:
        """Tell everything but the key, which must not get into a log or a traceback."""
        key = "set" if self.api_key else "not set"
        return f"ModelConfig({self.model!r}, key {key}, {self.base_url!r}, {self.timeout:g} s)"


class LanguageModel(Protocol):
    """Something that continues a conversation."""

    @property
    def name(self) -> str:
        """Its name, as it is configured."""
        ...

    async def sees_images(self) -> bool:
        """Whether a message of the person may hold images.

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
