"""Puts a response together from the pieces that LiteLLM hands out."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import litellm

from ..events import ThinkingBlock
from .base import Delta, Response, ToolCall, Usage

LONGEST_ANSWER = 2_000_000
"""Characters, several times what any model can be asked for; one of its own may have no limit."""


@dataclass
class _Call:
    id: str
    name: str = ""
    arguments: list[str] = field(default_factory=list)


@dataclass
class _Thought:
    pieces: list[str] = field(default_factory=list)
    signature: str = ""
    data: str = ""

    def whole(self) -> ThinkingBlock:
        return ThinkingBlock(
            thinking="".join(self.pieces), signature=self.signature, data=self.data
        )


class AnswerBuilder:
    """Collects one response and passes its pieces on.

    Parameters
    ----------
    model
        The model as configured.
    on_delta
        Told each piece.

    Attributes
    ----------
    begun
        Whether anything of the response has come.
    """

    def __init__(self, model: str, on_delta: Callable[[Delta], None]) -> None:
        self.begun = False
        self._model = model
        self._on_delta = on_delta
        self._id = ""
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._thinking: list[_Thought] = []
        self._calls: list[_Call] = []
        self._open: dict[int, _Call] = {}
        self._finish_reason = ""
        self._size = 0
        self._counted: Any = None

    def add(self, chunk: Any) -> bool:
        """Take in a chunk of a stream; whether a piece of the response was in it."""
        self.begun = True
        self._id = self._id or chunk.id or ""
        # Some servers count with every chunk: the last count is that of the whole.
        self._counted = getattr(chunk, "usage", None) or self._counted
        for choice in (chunk.choices or [])[:1]:
            self._finish_reason = choice.finish_reason or self._finish_reason
            return choice.delta is not None and self._add_content(choice.delta)
        return False

    def add_whole(self, response: litellm.ModelResponse) -> None:
        """Take in a response that came in one piece."""
        self.begun = True
        self._id = response.id or ""
        self._counted = getattr(response, "usage", None)
        choice = response.choices[0]
        self._finish_reason = choice.finish_reason or ""
        self._add_content(choice.message)

    def is_too_long(self) -> bool:
        """Whether more came than a model can mean to say; the answer then ends as one cut short."""
        if self._size < LONGEST_ANSWER:
            return False
        self._finish_reason = "length"
        return True

    @property
    def is_counted(self) -> bool:
        """Whether the provider told how many tokens it took."""
        return self._counted is not None

    def estimate(self, messages: list[dict[str, Any]], tools: Any) -> None:
        """Count the tokens in the provider's place; takes long with a long prompt.

        Parameters
        ----------
        messages, tools
            What was asked, as LiteLLM takes it.
        """
        said = [
            *self._text,
            *self._reasoning,
            *(piece for call in self._calls for piece in call.arguments),
        ]
        asked = litellm.token_counter(self._model, messages=messages, tools=tools)
        answered = litellm.token_counter(self._model, text="".join(said))
        self._counted = litellm.Usage(
            prompt_tokens=asked, completion_tokens=answered, total_tokens=asked + answered
        )

    def response(self) -> Response:
        """The whole response."""
        return Response(
            id=self._id or f"response-{uuid.uuid4().hex}",
            model=self._model,
            text="".join(self._text),
            reasoning="".join(self._reasoning),
            thinking=[thought.whole() for thought in self._thinking],
            tool_calls=[
                ToolCall(id=call.id, name=call.name, arguments="".join(call.arguments))
                for call in self._calls
            ],
            finish_reason=self._finish_reason,
            usage=counted(self._counted, self._model) if self._counted else Usage(),
        )

    def _add_content(self, content: Any) -> bool:
        """Take in a delta, or a message, which has the same attributes; whether it held any."""
        for block in getattr(content, "thinking_blocks", None) or []:
            self._add_thinking(block)
        if reasoning := _clean(_reasoning(content)):
            self._reasoning.append(reasoning)
            self._size += len(reasoning)
            self._on_delta(Delta(kind="reasoning", text=reasoning))
        if text := _clean(content.content):
            self._text.append(text)
            self._size += len(text)
            self._on_delta(Delta(kind="text", text=text))
        for piece in content.tool_calls or []:
            self._add_tool_call(piece)
        return bool(reasoning or text or content.tool_calls)

    def _add_thinking(self, piece: dict[str, Any]) -> None:
        """Take in a signed block, or a piece of one: its signature comes last."""
        if data := piece.get("data"):
            self._thinking.append(_Thought(data=data))
            return
        if not self._thinking or self._thinking[-1].signature or self._thinking[-1].data:
            self._thinking.append(_Thought())
        thought = self._thinking[-1]
        thought.pieces.append(_clean(piece.get("thinking")))
        thought.signature = piece.get("signature") or ""

    def _add_tool_call(self, piece: Any) -> None:
        if piece.function is None:
            return
        call = self._call_of(piece)
        arguments = _clean(piece.function.arguments)
        call.arguments.append(arguments)
        self._size += len(arguments)
        self._on_delta(Delta(kind="tool_call", text=arguments, tool_name=call.name))

    def _call_of(self, piece: Any) -> _Call:
        """Find the call that a piece belongs to, or begin one.

        Some servers give every call the index 0, and only its id tells it from the one before.
        """
        index = getattr(piece, "index", None) or 0
        call = self._open.get(index)
        if call is None or (piece.function.name and piece.id and piece.id != call.id):
            call = _Call(piece.id or f"call_{uuid.uuid4().hex}")
            self._open[index] = call
            self._calls.append(call)
        call.name = call.name or _clean(piece.function.name)
        return call


def _reasoning(content: Any) -> str:
    """What the model thinks, by either name that servers have for it."""
    told = getattr(content, "reasoning_content", None) or getattr(content, "reasoning", None)
    return told if isinstance(told, str) else ""


def _clean(text: str | None) -> str:
    """A piece of an answer without halves of characters, which are no Unicode and go nowhere."""
    text = text or ""
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def counted(usage: Any, model: str) -> Usage:
    """Read the provider's token counts, and price them where the price is known."""
    if isinstance(usage, dict):
        usage = litellm.Usage(**usage)
    details = getattr(usage, "prompt_tokens_details", None)
    return Usage(
        prompt_tokens=usage.prompt_tokens or 0,
        completion_tokens=usage.completion_tokens or 0,
        cached_tokens=getattr(details, "cached_tokens", None) or 0,
        cost=_cost(usage, model),
    )


def _cost(usage: Any, model: str) -> float | None:
    """US dollars; None where LiteLLM's list has no price, which is not the same as nothing."""
    bare, provider, _, _ = litellm.get_llm_provider(model)
    names = (model, f"{provider}/{bare}", bare)
    known: dict[str, dict[str, Any]] = litellm.model_cost
    entry = next((known[name] for name in names if name in known), {})
    prices = [entry.get("input_cost_per_token"), entry.get("output_cost_per_token")]
    if None in prices:
        return None
    if not any(prices):
        return 0.0
    if not isinstance(usage, litellm.Usage):
        usage = litellm.Usage(**usage.model_dump())
    costs = litellm.cost_per_token(model=bare, custom_llm_provider=provider, usage_object=usage)
    return float(sum(costs))
