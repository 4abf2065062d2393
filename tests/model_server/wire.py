"""Turns in the terms of the OpenAI chat completions protocol.

Source: the API reference of OpenAI's platform, "Chat Completions" and "Streaming".
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any

from .script import Turn


def completion(turn: Turn, number: int, model: str) -> dict[str, Any]:
    """Build the answer to a request that did not ask for a stream."""
    message: dict[str, Any] = {"role": "assistant", "content": turn.text or None}
    if turn.reasoning:
        message["reasoning_content"] = turn.reasoning
    if turn.calls:
        message["tool_calls"] = [
            {**_call_head(turn, number, index), "index": index} for index in range(len(turn.calls))
        ]
        for shown, call in zip(message["tool_calls"], turn.calls, strict=True):
            shown["function"]["arguments"] = call.arguments
    choice = {"index": 0, "message": message, "finish_reason": _finish_reason(turn)}
    return {
        **_head(turn, number, model, "chat.completion"),
        "choices": [choice],
        **({"usage": _usage(turn)} if turn.usage else {}),
    }


def stream(turn: Turn, number: int, model: str, with_usage: bool) -> Iterator[tuple[bytes, bool]]:
    """Build the server-sent events of an answer, each with whether it carries a piece of it."""
    head = _head(turn, number, model, "chat.completion.chunk")

    def event(delta: dict[str, Any], finish_reason: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
        return _event({**head, "choices": [choice]})

    yield event({"role": "assistant", "content": ""}), False
    for delta in _deltas(turn, number):
        yield event(delta), True
    yield event({}, _finish_reason(turn)), False
    if with_usage and turn.usage:
        yield _event({**head, "choices": [], "usage": _usage(turn)}), False
    yield b"data: [DONE]\n\n", False


def error(turn: Turn) -> dict[str, Any]:
    """Build the body of an HTTP error."""
    message = turn.message or f"The script answers with status {turn.status}."
    return {"error": {"message": message, "type": "scripted", "param": None, "code": None}}


def error_event(turn: Turn) -> bytes:
    """Build the server-sent event that tells of an error in the middle of an answer."""
    return _event({"error": turn.error})


def _deltas(turn: Turn, number: int) -> Iterator[dict[str, Any]]:
    for piece in _pieces(turn.reasoning, turn.piece):
        yield {"reasoning_content": piece}
    for piece in _pieces(turn.text, turn.piece):
        yield {"content": piece}
    for position, call in enumerate(turn.calls):
        index = position if turn.indexed else 0
        yield {"tool_calls": [{"index": index, **_call_head(turn, number, position)}]}
        for piece in _pieces(call.arguments, turn.piece):
            yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}


def _call_head(turn: Turn, number: int, index: int) -> dict[str, Any]:
    function = {"name": turn.calls[index].name, "arguments": ""}
    return {"id": f"call_{number}_{index}", "type": "function", "function": function}


def _pieces(text: str, size: int) -> Iterator[str]:
    return (text[start : start + size] for start in range(0, len(text), size))


def _finish_reason(turn: Turn) -> str:
    return turn.finish_reason or ("tool_calls" if turn.calls else "stop")


def _usage(turn: Turn) -> dict[str, Any]:
    assert turn.usage is not None
    return {
        "prompt_tokens": turn.usage.prompt_tokens,
        "completion_tokens": turn.usage.completion_tokens,
        "total_tokens": turn.usage.prompt_tokens + turn.usage.completion_tokens,
        "prompt_tokens_details": {"cached_tokens": turn.usage.cached_tokens},
    }


def _head(turn: Turn, number: int, model: str, kind: str) -> dict[str, Any]:
    return {
        "id": turn.id or f"chatcmpl-{number}",
        "object": kind,
        "created": int(time.time()),
        "model": model,
    }


def _event(data: dict[str, Any]) -> bytes:
    return b"data: " + json.dumps(data).encode() + b"\n\n"
