"""Streams of servers that speak OpenAI's protocol, read as they come.

LiteLLM takes each chunk apart and builds it anew, and when the last one has come it puts the answer
together once more, prices it and logs it, which takes longer than all else in a step. Of what it
does on the way, this keeps what tells a broken answer from a whole one.

Source: ``CustomStreamWrapper`` in ``litellm_core_utils/streaming_handler.py`` of LiteLLM 1.110.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import httpx
import litellm
import openai
from litellm.constants import REPEATED_STREAMING_CHUNK_LIMIT, openai_compatible_providers
from litellm.exceptions import InternalServerError
from openai.types.chat import ChatCompletionChunk

_SHORTEST = 3
"""Characters of a piece that counts as repeated: a model may well write many line ends."""


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
) -> AsyncIterator[ChatCompletionChunk]:
    reason = piece = fault = ""
    times = 0
    try:
        async for chunk in own:
            for choice in (chunk.choices or [])[:1]:
                reason = choice.finish_reason or reason
                text = getattr(choice.delta, "content", None) or ""
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


def _translated(error: Exception, stream: Any) -> Exception:
    """The error as LiteLLM tells it."""
    try:
        litellm.exception_type(stream.model, error, stream.custom_llm_provider)
    except Exception as told:
        return told
    return error
