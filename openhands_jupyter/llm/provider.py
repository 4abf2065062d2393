"""Calls providers of models through LiteLLM; imported by the model gateway process only."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from contextlib import aclosing
from functools import cache
from typing import Any

import httpx
import litellm
import msgspec

from ..errors import ModelError
from ..events import ThinkingBlock
from .answer import AnswerBuilder
from .base import Capabilities, Delta, Message, ModelConfig, Response, ToolCall
from .caching import mark
from .kept_prompts import WholePrompt
from .local_servers import is_loopback, window_of
from .plain_stream import chunks
from .provider_errors import check_address, explain, place

litellm.telemetry = False
litellm.suppress_debug_info = True
litellm.disable_hf_tokenizer_download = True

_NO_KEY = "none"
"""Sent to a server of one's own that has no key set; the client library insists on one."""

_ASKING_LIMIT = 10.0
"""Seconds that finding something out about a model may take."""

_WANTS_REASONING = re.compile(r"deepseek|kimi|moonshot|minimax|glm|mimo|gpt-oss", re.IGNORECASE)
"""Models that insist on what they thought before they called tools, in words, or do better by it.

Source: the documentation of DeepSeek's and Moonshot's APIs, "thinking mode" with tool calls, and
that of gpt-oss on its chat format.
"""


async def complete(
    config: ModelConfig, prompt: WholePrompt, on_delta: Callable[[Delta], None]
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
        await _receive(answer, config, prompt)
    except Exception as error:
        images = any(message.has_images for message in prompt.messages)
        raise explain(error, config, begun=answer.begun, images=images) from error
    return answer.response()


async def capabilities(config: ModelConfig) -> Capabilities:
    """What LiteLLM knows of a model, whatever is configured of it.

    A server on this machine knows better with which window it has loaded a model.
    """
    try:
        # LiteLLM asks some servers of a person's own, and has no limit for that.
        async with asyncio.timeout(_ASKING_LIMIT):
            listed = await asyncio.to_thread(_listed, config)
            if config.base_url is None or not is_loopback(config.base_url):
                return listed
            window = await window_of(config.model, config.base_url)
            return msgspec.structs.replace(listed, window=window)
    except TimeoutError:
        return Capabilities()


def _listed(config: ModelConfig) -> Capabilities:
    try:
        listed = litellm.get_model_info(config.model, api_base=config.base_url)
    except Exception:
        # For LiteLLM it is an error that it does not know a model.
        return Capabilities()
    return Capabilities(
        tool_calls=listed.get("supports_function_calling"),
        vision=litellm.supports_vision(config.model),
        reasoning=listed.get("supports_reasoning"),
        caching=listed.get("supports_prompt_caching"),
        window=listed.get("max_input_tokens"),
        max_output=listed.get("max_output_tokens"),
    )


async def _receive(answer: AnswerBuilder, config: ModelConfig, prompt: WholePrompt) -> None:
    loop = asyncio.get_running_loop()
    parameters = _parameters(config, prompt)
    async with asyncio.timeout(config.timeout) as silence:
        stream = await litellm.acompletion(**parameters)
        async with aclosing(stream):
            if whole := await _whole(stream, config):
                answer.add_whole(whole)
                return
            async for chunk in chunks(stream):
                # Signs of life that say nothing, such as pings, do not count.
                if answer.add(chunk):
                    silence.reschedule(loop.time() + config.timeout)
                if answer.is_too_long():
                    break
    if not answer.is_counted:
        messages = [_message(message, config.model) for message in prompt.messages]
        await asyncio.to_thread(answer.estimate, messages, _tools(prompt).get("tools"))


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


def _parameters(config: ModelConfig, prompt: WholePrompt) -> dict[str, Any]:
    parameters: dict[str, Any] = {
        "model": config.model,
        "api_key": config.api_key or (_NO_KEY if config.base_url else None),
        "base_url": config.base_url,
        "timeout": config.timeout,
        "stream": True,
        "stream_options": {"include_usage": True},
        "drop_params": True,
        "num_retries": 0,
        "max_retries": 0,
    }
    if _takes_it_as_it_is(config):
        # What stands here goes into the request unread, whatever its length.
        kept = {"messages": prompt.told(config.model, _message)}
        parameters |= {"messages": [{"role": "user", "content": "-"}]}
        parameters |= {"extra_body": kept | _tools(prompt)}
    else:
        # Made anew each time: LiteLLM works on what it is given.
        parameters["messages"] = [_message(message, config.model) for message in prompt.messages]
        parameters |= _tools(prompt)
        if _is_marked(config):
            mark(parameters["messages"], parameters.get("tools", []))
    return parameters | _limits(config)


def _tools(prompt: WholePrompt) -> dict[str, Any]:
    """The tools of a prompt as a parameter; none where there are none."""
    tools = [{"type": "function", "function": msgspec.to_builtins(tool)} for tool in prompt.tools]
    return {"tools": tools} if tools else {}


def _takes_it_as_it_is(config: ModelConfig) -> bool:
    """Whether LiteLLM would send messages and tools on as they are: a server of a person's own.

    It speaks OpenAI's protocol, and its model is none that LiteLLM knows, and speaks to otherwise.
    """
    provider, _, name = config.model.partition("/")
    if provider != "openai" or config.base_url is None or _is_marked(config):
        return False
    return not name.startswith("responses/") and not _is_known(config.model)


@cache
def _is_known(model: str) -> bool:
    try:
        litellm.get_model_info(model)
    except Exception:
        return False
    return True


def _limits(config: ModelConfig) -> dict[str, Any]:
    """What is configured of the answer's length, the window, and how much is thought."""
    limits: dict[str, Any] = {}
    if config.max_output_tokens is not None:
        limits["max_tokens"] = config.max_output_tokens
    if config.context_window is not None and config.model.startswith(("ollama/", "ollama_chat/")):
        # Ollama loads a model with a window of its own choosing unless it is told.
        limits["num_ctx"] = config.context_window
    if config.reasoning_effort != "auto":
        limits["reasoning_effort"] = config.reasoning_effort
    return limits


def _is_marked(config: ModelConfig) -> bool:
    """Whether the provider keeps of a prompt what is marked; others keep what they like."""
    if config.prompt_caching == "auto":
        return "claude" in config.model.lower()
    return config.prompt_caching == "on"


def _message(message: Message, model: str) -> dict[str, Any]:
    made: dict[str, Any] = {"role": message.role, "content": message.content}
    match message.role:
        case "tool":
            made["tool_call_id"] = message.tool_call_id
        case "assistant":
            if message.tool_calls:
                made["tool_calls"] = [_tool_call(call) for call in message.tool_calls]
            if message.model == model:
                made |= _thoughts(message)
    return made


def _thoughts(message: Message) -> dict[str, Any]:
    """What the model thought before it answered, in the form in which its provider wants it."""
    if message.thinking:
        return {"thinking_blocks": [_thinking_block(block) for block in message.thinking]}
    if message.reasoning and _WANTS_REASONING.search(message.model):
        return {"reasoning_content": message.reasoning}
    return {}


def _thinking_block(block: ThinkingBlock) -> dict[str, Any]:
    if block.data:
        return {"type": "redacted_thinking", "data": block.data}
    return {"type": "thinking", "thinking": block.thinking, "signature": block.signature}


def _tool_call(call: ToolCall) -> dict[str, Any]:
    function = {"name": call.name, "arguments": call.arguments}
    return {"id": call.id, "type": "function", "function": function}
