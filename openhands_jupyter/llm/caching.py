"""Marks in a prompt for providers that keep its beginning only where they are told to.

Source: the documentation of Anthropic's API, "Prompt caching": a mark says that everything up to
it is to be kept; tools come before the system prompt, and that before the messages; there may be
four marks at most.
"""

from __future__ import annotations

from typing import Any

_MARK = {"type": "ephemeral"}


def mark(messages: list[dict[str, Any]], tools: list[dict[str, Any]]) -> None:
    """Mark where a prompt of LiteLLM's form is to be kept, in place.

    What no step changes comes first: the tools, and the system prompt. The last message is where
    this prompt is read again from by the next one, and the one before the model's last answer is
    where the one before ended.
    """
    if tools:
        tools[-1]["cache_control"] = _MARK
    answered = max((n for n, m in enumerate(messages) if m["role"] == "assistant"), default=0)
    for number in {0, answered - 1, len(messages) - 1} - {-1}:
        _mark(messages[number])


def _mark(message: dict[str, Any]) -> None:
    if isinstance(message["content"], list):
        message["content"] = [*message["content"]]
        message["content"][-1] = {**message["content"][-1], "cache_control": _MARK}
    else:
        message["cache_control"] = _MARK
