"""Calls providers of models through LiteLLM; imported by the model gateway process only."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import aclosing
from typing import Any

import httpx
import litellm
import msgspec

from ..errors import ModelError
from .answer import AnswerBuilder
from .base import Delta, Message, ModelConfig, Response, Tool, ToolCall
from .provider_errors import check_address, explain, place

litellm.telemetry = False
litellm.suppress_debug_info = True
litellm.disable_hf_tokenizer_download = True

_NO_KEY = "none"
"""Sent to a server of one's own that has no key set; the client library insists on one."""

_ASKING_LIMIT = 10.0
"""Seconds that finding something out about a model may take."""


async def complete(
    config: ModelConfig,
    messages: Sequence[Message],
    tools: Sequence[Tool],
    on_delta: Callable[[Delta], None],
) -> Response:
    """Make one call; see `LanguageModel.complete`.

    Raises
    ------
    ModelError
        For everything that can go wrong, in a sentence without secrets.
    """
    check_address(config)
    answer = AnswerBuilder(config.model, on_delta)
    try:
        async with asyncio.timeout(config.timeout):
            await _receive(answer, config, messages, tools)
    except Exception as error:
        raise explain(error, config, begun=answer.begun) from error
    return answer.response()


async def sees_images(model: str) -> bool:
    """Whether LiteLLM knows that a model sees images; False for a model that it does not know."""
    try:
        # It asks some servers of a person's own, and has no limit for that.
        async with asyncio.timeout(_ASKING_LIMIT):
            return await asyncio.to_thread(litellm.supports_vision, model)
    except TimeoutError:
        return False


async def _receive(
    answer: AnswerBuilder,
    config: ModelConfig,
    messages: Sequence[Message],
    tools: Sequence[Tool],
) -> None:
    stream = await litellm.acompletion(**_parameters(config, messages, tools))
    async with aclosing(stream):
        if whole := await _whole(stream, config):
            answer.add_whole(whole)
            return
        async for chunk in stream:
            answer.add(chunk)


async def _whole(stream: Any, config: ModelConfig) -> litellm.ModelResponse | None:
    """Read the answer of a server that does not stream though it was asked to.

    LiteLLM would read such an answer as an empty stream.
    """
    http = getattr(stream.completion_stream, "response", None)
    if not isinstance(http, httpx.Response):
        return None
    media_type = http.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type not in ("application/json", "text/html"):
        return None
    try:
        whole = litellm.ModelResponse(**msgspec.json.decode(await http.aread()))
    except (msgspec.DecodeError, TypeError):
        whole = None
    if whole is None or not whole.choices or whole.choices[0].message is None:
        raise ModelError(
            "model_error",
            f"{place(config)} answered with something that is no response of a model.",
            "Check base_url in the settings; it often has to end with /v1.",
        )
    return whole


def _parameters(
    config: ModelConfig, messages: Sequence[Message], tools: Sequence[Tool]
) -> dict[str, Any]:
    parameters: dict[str, Any] = {
        "model": config.model,
        "messages": [_message(message) for message in messages],
        "api_key": config.api_key or (_NO_KEY if config.base_url else None),
        "base_url": config.base_url,
        "timeout": config.timeout,
        "stream": True,
        "stream_options": {"include_usage": True},
        "drop_params": True,
        "num_retries": 0,
        "max_retries": 0,
    }
    if tools:
        parameters["tools"] = [
            {"type": "function", "function": msgspec.to_builtins(tool)} for tool in tools
        ]
    return parameters


def _message(message: Message) -> dict[str, Any]:
    extra: dict[str, Any] = {}
    match message.role:
        case "tool":
            extra = {"tool_call_id": message.tool_call_id}
        case "assistant" if message.tool_calls:
            extra = {"tool_calls": [_tool_call(call) for call in message.tool_calls]}
    return {"role": message.role, "content": message.content, **extra}


def _tool_call(call: ToolCall) -> dict[str, Any]:
    function = {"name": call.name, "arguments": call.arguments}
    return {"id": call.id, "type": "function", "function": function}
