"""Tool calls in plain text, for models that know no others.

The tools are described in the prompt, and a reply is read for a call. The form asked for is::

    <tool_call name="execute_bash">
    <argument name="command">ls -l</argument>
    </tool_call>

Results go back in messages of the user, because such models know no other place for them.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Any
from uuid import uuid4

import msgspec

from .base import Delta, Message, Response, Tool, ToolCall, Unread
from .calls_in_text import read
from .text_stream import TextStream

Complete = Callable[
    [Sequence[Message], Sequence[Tool], Callable[[Delta], None]], Awaitable[Response]
]

_INSTRUCTIONS = """\
# Tools

To act you call a tool. Write what you want to say first, then the call, at the end of your reply
and exactly in this form; the text of an argument stands between its tags as it is, without quotes
or escapes:

<tool_call name="NAME_OF_THE_TOOL">
<argument name="NAME_OF_AN_ARGUMENT">
its text, of one line or of many
</argument>
</tool_call>

Lists and objects are written as JSON. Make one call, then stop: its result comes in the next
message. Never write a result yourself. When no tool is needed any more, answer without a call.

The tools are:
"""

_NO_TOOLS = re.compile(
    r"(?:does not|doesn't|not) support\w* (?:the )?(?:tool|function)"
    r"|no endpoints found that support tool"
    r"|tool[ _-]?(?:choice|call\w*|use)\b.{0,40}(?:requires|not supported|unsupported)"
    r"|tools param requires",
    re.IGNORECASE,
)
"""What servers say of models that call no tools: Ollama, OpenRouter, vLLM, Groq, llama.cpp."""


def refuses_tools(message: str) -> bool:
    """Whether an error says that the model cannot be given tools at all."""
    return bool(_NO_TOOLS.search(message))


async def complete(
    ask: Complete,
    messages: Sequence[Message],
    tools: Sequence[Tool],
    on_delta: Callable[[Delta], None],
) -> Response:
    """Continue the conversation with a model that is given no tools; see `LanguageModel.complete`.

    Parameters
    ----------
    ask
        Makes the call.

    Returns
    -------
    Response
        With the calls that its text held, and the text before them; ``unread`` where there is a
        call that cannot be read.
    """
    stream = TextStream(on_delta, [tool.name for tool in tools])
    response = await ask(as_text(messages, tools), [], stream.take)
    stream.end()
    reading = read(response.text, tools)
    calls = [
        ToolCall(id=f"call_{uuid4().hex}", name=name, arguments=arguments)
        for name, arguments in reading.calls
    ]
    unread = Unread(written=reading.rest, problem=reading.problem) if reading.problem else None
    return msgspec.structs.replace(
        response,
        text=reading.text,
        reasoning=response.reasoning + reading.thoughts,
        tool_calls=calls,
        prompted=True,
        unread=unread,
    )


def as_text(messages: Sequence[Message], tools: Sequence[Tool]) -> list[Message]:
    """A prompt without tool calls; what comes from one side stands in one message."""
    told: list[Message] = []
    for message in _told(messages, tools):
        if told and told[-1].role == message.role != "system":
            told[-1] = msgspec.structs.replace(
                told[-1], content=_joined(told[-1].content, message.content)
            )
        else:
            told.append(message)
    return told


def _told(messages: Sequence[Message], tools: Sequence[Tool]) -> Iterator[Message]:
    names: dict[str, str] = {}
    for message in messages:
        match message.role:
            case "system" if tools:
                yield Message(role="system", content=f"{message.content}\n\n{describe(tools)}")
            case "assistant":
                names |= {call.id: call.name for call in message.tool_calls}
                parts = [message.content, *map(_call, message.tool_calls)]
                text = "\n\n".join(str(part) for part in parts if part)
                yield Message(role="assistant", content=text)
            case "tool":
                name = names.get(message.tool_call_id, "")
                content = f'<tool_result name="{name}">\n{message.content}\n</tool_result>'
                yield Message(role="user", content=content)
            case _:
                yield message


def _joined(
    first: str | list[dict[str, Any]], second: str | list[dict[str, Any]]
) -> str | list[dict[str, Any]]:
    if isinstance(first, str) and isinstance(second, str):
        return f"{first}\n\n{second}"
    return [*_parts(first), *_parts(second)]


def _parts(content: str | list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def describe(tools: Sequence[Tool]) -> str:
    """The tools, and how to call them, for the system's part of a prompt."""
    return "\n".join([_INSTRUCTIONS, *map(_description, tools)])


def _description(tool: Tool) -> str:
    required = tool.parameters.get("required", [])
    arguments = [
        f"- {name} ({_kind(schema)}{', required' if name in required else ''})"
        f"{': ' if schema.get('description') else ''}{schema.get('description', '')}"
        for name, schema in tool.parameters.get("properties", {}).items()
    ]
    return "\n".join([f"## {tool.name}", tool.description, *arguments, ""])


def _kind(schema: dict[str, Any]) -> str:
    if "enum" in schema:
        return " | ".join(map(str, schema["enum"]))
    if schema.get("type") in ("array", "object") or "anyOf" in schema:
        bare = {key: value for key, value in schema.items() if key != "description"}
        return f"JSON: {msgspec.json.encode(bare).decode()}"
    return str(schema.get("type", "any"))


def _call(call: ToolCall) -> str:
    given = msgspec.json.decode(call.arguments or "{}")
    arguments = [
        f'<argument name="{name}">\n{_text(value)}\n</argument>' for name, value in given.items()
    ]
    return "\n".join([f'<tool_call name="{call.name}">', *arguments, "</tool_call>"])


def _text(value: Any) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()
