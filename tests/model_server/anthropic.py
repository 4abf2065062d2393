"""Turns in the terms of Anthropic's messages protocol, as a stream.

Source: the reference of Anthropic's API, "Messages" and "Streaming messages".
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from .script import Turn, Usage

SIGNATURE = "c2lnbmF0dXJl"


def stream(turn: Turn, number: int, model: str) -> Iterator[tuple[bytes, bool]]:
    """Build the server-sent events of an answer, each with whether it carries a piece of it."""
    usage = turn.usage or Usage()
    message = {
        "id": turn.id or f"msg_{number}",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {
            "input_tokens": usage.prompt_tokens - usage.cached_tokens,
            "cache_read_input_tokens": usage.cached_tokens,
            "cache_creation_input_tokens": 0,
            "output_tokens": 1,
        },
    }
    yield _event("message_start", message=message), False
    for index, (block, deltas) in enumerate(_blocks(turn, number)):
        yield _event("content_block_start", index=index, content_block=block), False
        for delta in deltas:
            yield _event("content_block_delta", index=index, delta=delta), True
        yield _event("content_block_stop", index=index), False
    reason = turn.finish_reason or ("tool_use" if turn.calls else "end_turn")
    delta = {"stop_reason": reason, "stop_sequence": None}
    usages = {"output_tokens": usage.completion_tokens}
    yield _event("message_delta", delta=delta, usage=usages), False
    yield _event("message_stop"), False


def error_event(turn: Turn) -> bytes:
    """Build the server-sent event that tells of an error in the middle of an answer."""
    return _event("error", error=turn.error)


def _blocks(turn: Turn, number: int) -> Iterator[tuple[dict[str, Any], list[dict[str, Any]]]]:
    if turn.reasoning:
        pieces = [
            {"type": "thinking_delta", "thinking": p} for p in _pieces(turn.reasoning, turn.piece)
        ]
        block = {"type": "thinking", "thinking": "", "signature": ""}
        yield block, [*pieces, {"type": "signature_delta", "signature": SIGNATURE}]
    if turn.text:
        pieces = [{"type": "text_delta", "text": p} for p in _pieces(turn.text, turn.piece)]
        yield {"type": "text", "text": ""}, pieces
    for position, call in enumerate(turn.calls):
        block = {"type": "tool_use", "id": f"toolu_{number}_{position}", "name": call.name}
        pieces = [
            {"type": "input_json_delta", "partial_json": p}
            for p in _pieces(call.arguments, turn.piece)
        ]
        yield {**block, "input": {}}, pieces


def _pieces(text: str, size: int) -> list[str]:
    return [text[start : start + size] for start in range(0, len(text), size)]


def _event(kind: str, **data: Any) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **data})}\n\n".encode()
