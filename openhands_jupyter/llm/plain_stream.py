"""Streams of servers that speak OpenAI's protocol, read as they come.

LiteLLM takes each chunk apart and builds it anew, and when the last one has come it puts the answer
together once more, prices it and logs it, which takes longer than all else in a step. Of what it
does on the way, this keeps what tells a broken answer from a whole one.

Source: ``CustomStreamWrapper`` in ``litellm_core_utils/streaming_handler.py`` of LiteLLM 1.110.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any

import httpx
import litellm
import msgspec
import openai
from litellm.constants import REPEATED_STREAMING_CHUNK_LIMIT, openai_compatible_providers
from litellm.exceptions import InternalServerError
from openai.types.chat import ChatCompletionChunk

_SHORTEST = 3
"""Characters of a piece that counts as repeated: a model may well write many line ends."""


_LAST = 0.1
"""Seconds that are waited for the end of a stream after the answer's."""


class _Function(msgspec.Struct):
    name: str | None = None
    arguments: str | None = None


class _Call(msgspec.Struct):
    index: int | None = None
    id: str | None = None
    function: _Function | None = None


class _Delta(msgspec.Struct):
    content: str | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None
    tool_calls: list[_Call] | None = None


class _Choice(msgspec.Struct):
    delta: _Delta | None = None
    finish_reason: str | None = None


class Chunk(msgspec.Struct):
    """What an answer is made of in a chunk of the protocol."""

    id: str | None = None
    choices: list[_Choice] | None = None
    usage: dict[str, Any] | None = None
    error: Any = None


_decoder = msgspec.json.Decoder(Chunk)


async def chunks(stream: Any) -> AsyncIterator[Any]:
    """The chunks of LiteLLM's `stream`, which has to be closed afterwards.

    Raises
    ------
    Exception
        What LiteLLM raises for the same fault.
    """
    own = stream.completion_stream
    spoken_by = ("openai", *openai_compatible_providers)
    is_plain = isinstance(own, openai.AsyncStream) and stream.custom_llm_provider in spoken_by
    async for chunk in _plain_chunks(own, stream) if is_plain else stream:
        yield chunk


async def _plain_chunks(
    own: openai.AsyncStream[ChatCompletionChunk], stream: Any
) -> AsyncIterator[Chunk | ChatCompletionChunk]:
    reason = piece = fault = ""
    times = 0
    try:
        async for chunk in _read(own):
            for choice in (chunk.choices or [])[:1]:
                reason = choice.finish_reason or reason
                text = (choice.delta.content if choice.delta is not None else None) or ""
                times = times + 1 if text == piece and len(text) >= _SHORTEST else 1
                piece = text
            if reason in ("abort", "error"):
                fault = "It gave up in the middle of its answer."
                break
            if times >= REPEATED_STREAMING_CHUNK_LIMIT:
                fault = f"The model says the same again and again: {piece}"
                break
            yield chunk
    except (httpx.TransportError, openai.APIConnectionError) as error:
        if not reason:
            raise _translated(error, stream) from error
    except openai.OpenAIError as error:
        raise _translated(error, stream) from error
    if fault:
        raise InternalServerError(fault, stream.custom_llm_provider, stream.model)
    if not reason:
        raise httpx.RemoteProtocolError("The stream ended before the answer did.")


async def _read(
    own: openai.AsyncStream[ChatCompletionChunk],
) -> AsyncIterator[Chunk | ChatCompletionChunk]:
    """The chunks of the protocol's server-sent events, of which each is one line."""
    lines = own.response.aiter_lines()
    async for line in lines:
        data = line.removeprefix("data:").strip()
        if not line.startswith("data:") or not data:
            continue
        if data.startswith("[DONE]"):
            # Read to its end, so that the connection can be used again.
            with suppress(TimeoutError):
                async with asyncio.timeout(_LAST):
                    async for _ in lines:
                        pass
            return
        yield _chunk(data, own)


def _chunk(data: str, own: openai.AsyncStream[ChatCompletionChunk]) -> Chunk | ChatCompletionChunk:
    try:
        chunk = _decoder.decode(data)
        error = chunk.error
    except msgspec.DecodeError:
        # Something of it is unusual, which the client library makes the best of.
        told = json.loads(data)
        error = told.get("error")
        if not error:
            return ChatCompletionChunk.construct(**told)
    if error:
        said = error.get("message") if isinstance(error, dict) else None
        message = said if isinstance(said, str) and said else "It told of an error."
        raise openai.APIError(message, own.response.request, body=error)
    return chunk


def _translated(error: Exception, stream: Any) -> Exception:
    """The error as LiteLLM tells it."""
    try:
        litellm.exception_type(stream.model, error, stream.custom_llm_provider)
    except Exception as told:
        return told
    return error
