"""Reads tool calls out of the text of a reply, in whichever of many forms a model wrote them."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Sequence
from typing import Any

import msgspec

from .arguments import MOST_CALLS, TOO_DEEP, Found, Unreadable, careless_json, encoded
from .base import Tool
from .native_forms import STEP, TOKENS_BEGIN, as_python, as_react, as_tokens

_THOUGHTS = re.compile(r"\s*<think(?:ing)?>(.*?)(?:</think(?:ing)?>|\Z)", re.DOTALL)
_TAGS = "tool_call|function_call|function|invoke|tool_use"
_ARGUMENT = re.compile(
    r"<(argument|parameter|param|arg)(?:\s+name\s*=\s*[\"']?|\s*=\s*[\"']?)([\w.-]+)[\"']?\s*>"
    r"(.*?)(?:</\1>\s*(?=<\1\b|</|\Z)|(?=</(?:tool_call|function_call|function|invoke|tool_use)>)|\Z)",
    re.DOTALL,
)
_BY_KEYS = re.compile(r"([\w.-]+)\s*(<arg_key>.*)?\Z", re.DOTALL)
_PAIR = re.compile(
    r"<arg_key>\s*([\w.-]+)\s*</arg_key>\s*<arg_value>(.*?)(?:</arg_value>|\Z)", re.DOTALL
)
"""As GLM writes calls."""

_FENCE = re.compile(r"^```[ \t]*([\w+-]*)[^\n]*\n(.*?)(?:^```[ \t]*$|\Z)", re.DOTALL | re.MULTILINE)
_LOOKS_LIKE_CALL = re.compile(
    r"(?:\[\s*)?\{\s*[\"'](?:name|tool|tool_name|function|tool_calls|action)[\"']\s*:"
)
_NAME_KEYS = ("name", "tool_name", "tool", "function", "action")
_ARGUMENT_KEYS = ("arguments", "parameters", "args", "input", "params", "action_input")
_CODE = {
    **dict.fromkeys(("python", "py", "python3", "ipython"), ("run_code", "code")),
    **dict.fromkeys(("bash", "sh", "shell", "console"), ("execute_bash", "command")),
}
"""What a block of code at the end of a reply is for: a tool, and its argument."""


class Reading(msgspec.Struct, frozen=True, kw_only=True):
    """What a reply says and calls.

    Attributes
    ----------
    text
        The words before the calls.
    thoughts
        What the model marked as its thoughts.
    calls
        Name and arguments (JSON text) of each.
    problem
        Why a call that seems to be there cannot be read, for the model to mend; else empty.
    rest
        What was written from that call on.
    """

    text: str = ""
    thoughts: str = ""
    calls: list[tuple[str, str]] = []
    problem: str = ""
    rest: str = ""


def read(reply: str, tools: Sequence[Tool]) -> Reading:
    """Read a reply: our own form, those that models were trained on, JSON, and blocks of code.

    Parameters
    ----------
    reply
        The text as the model wrote it.
    tools
        Those that it was told of; without any the reply is words alone.
    """
    thoughts = ""
    if match := _THOUGHTS.match(reply):
        thoughts, reply = match[1].strip(), reply[match.end() :]
    if not tools:
        return Reading(text=reply.strip(), thoughts=thoughts)
    known = {tool.name: tool for tool in tools}
    for form in (_tagged, as_tokens, _as_json, as_react, as_python, _as_code):
        try:
            found = form(reply, known)
        except Unreadable as error:
            start = _start(reply, known)
            return Reading(
                text=reply[:start].strip(),
                thoughts=thoughts,
                problem=str(error),
                rest=reply[start:],
            )
        if found:
            start, calls = found
            return Reading(text=reply[:start].strip(), thoughts=thoughts, calls=calls)
    return Reading(text=reply.strip(), thoughts=thoughts)


def opening(names: Sequence[str]) -> re.Pattern[str]:
    """The tags that a call can begin with; some models make the tool's name a tag."""
    tags = "|".join(map(re.escape, names))
    return re.compile(
        rf"<(?P<tag>{_TAGS})(?:(?:\s+name\s*=\s*[\"']?|\s*=\s*[\"']?)(?P<name>[\w.-]+)[\"']?)?\s*/?>"
        + (rf"|<(?P<tool>{tags})>" if tags else "")
    )


def _start(reply: str, known: dict[str, Tool]) -> int:
    """Where the first thing that seems to be a call begins."""
    patterns = (opening([*known]), _FENCE, TOKENS_BEGIN, STEP)
    starts = [match.start() for pattern in patterns if (match := pattern.search(reply))]
    return min(starts, default=max(0, reply.find("{")))


# Tags


def _tagged(reply: str, known: dict[str, Tool]) -> Found:
    pattern = opening([*known])
    first = pattern.search(reply)
    if first is None:
        return None
    calls: list[tuple[str, str]] = []
    match: re.Match[str] | None = first
    while match and len(calls) < MOST_CALLS:
        tag = match["tag"] or match["tool"]
        close = reply.find(f"</{tag}>", match.end())
        body = reply[match.end() : close if close >= 0 else len(reply)]
        calls.append(_call_in(match, body, known, pattern))
        # What follows other words was written before the result of this one was known.
        end = close + len(tag) + 3 if close >= 0 else len(reply)
        match = pattern.match(reply, len(reply) - len(reply[end:].lstrip()))
    return first.start(), calls


def _call_in(
    match: re.Match[str], body: str, known: dict[str, Tool], pattern: re.Pattern[str]
) -> tuple[str, str]:
    name = match["name"] or (match["tool"] if "tool" in match.re.groupindex else None)
    if name is None:
        inner = pattern.search(body)
        if inner and inner["name"]:
            return _call_in(inner, body[inner.end() :], known, pattern)
        keys = _BY_KEYS.match(body.strip())
        if keys and (keys[2] or keys[1] in known):
            pairs = _PAIR.findall(keys[2] or "")
            tool = known.get(keys[1])
            return keys[1], encoded({key: _value(value, tool, key) for key, value in pairs})
        return _named_in_json(body, known)
    tool = known.get(name)
    arguments = {part[2]: _value(part[3], tool, part[2]) for part in _ARGUMENT.finditer(body)}
    arguments = arguments or _by_own_names(body, tool)
    if not arguments and body.strip():
        return name, _bare(name, body, tool)
    return name, encoded(arguments)


def _by_own_names(body: str, tool: Tool | None) -> dict[str, Any]:
    """Arguments in tags of their own names."""
    names = "|".join(map(re.escape, tool.parameters.get("properties", {}))) if tool else ""
    if not names or not re.match(rf"\s*<({names})>", body):
        return {}
    found: dict[str, Any] = {}
    open_ended, at = set(), 0
    while match := re.compile(f"<({names})>").search(body, at):
        name, at = match[1], match.end()
        if name in open_ended:
            continue
        close = body.find(f"</{name}>", at)
        if close < 0:
            open_ended.add(name)
            continue
        found[name] = _value(body[at:close], tool, name)
        at = close
    return found


def _named_in_json(body: str, known: Collection[str]) -> tuple[str, str]:
    value = careless_json(body)
    if (call := _call_of(value, known)) is None:
        raise Unreadable(
            'The call does not name its tool. Write <tool_call name="NAME_OF_THE_TOOL"> and each '
            'argument in <argument name="NAME">…</argument>.'
        )
    return call


def _bare(name: str, body: str, tool: Tool | None) -> str:
    """Arguments that are not in tags of their own."""
    if body.lstrip().startswith("{"):
        value = careless_json(body)
        if isinstance(value, dict):
            return encoded(value)
    required = tool.parameters.get("required", []) if tool else []
    if tool and len(required) == 1 and _type_of(tool, required[0]) == "string":
        return encoded({required[0]: _trimmed(body)})
    raise Unreadable(
        f"The arguments of {name} cannot be read. Write each of them in "
        f'<argument name="NAME">…</argument>.'
    )


def _value(text: str, tool: Tool | None, name: str) -> Any:
    text = _trimmed(text)
    if tool is None or _type_of(tool, name) == "string":
        return text
    try:
        return json.loads(text)
    except RecursionError as error:
        raise Unreadable(TOO_DEEP) from error
    except ValueError:
        # A number or a switch in words of its own; what it has to be is told by who takes it.
        return text.strip()


def _type_of(tool: Tool, name: str) -> str:
    schema = tool.parameters.get("properties", {}).get(name, {})
    return str(schema.get("type", "string" if "enum" in schema or not schema else ""))


def _trimmed(text: str) -> str:
    """A text without the line ends that belong to the tags around it."""
    return text.removeprefix("\r").removeprefix("\n").removesuffix("\n").removesuffix("\r")


# JSON


def _as_json(reply: str, known: dict[str, Tool]) -> Found:
    for start, text in _json_in(reply):
        try:
            value = careless_json(text)
        except Unreadable:
            if _LOOKS_LIKE_CALL.match(text.lstrip()):
                raise
            continue
        values = value if isinstance(value, list) else [value]
        if len(values) == 1 and isinstance(values[0], dict) and "tool_calls" in values[0]:
            within = values[0]["tool_calls"]
            values = within if isinstance(within, list) else []
        calls = [call for value in values if (call := _call_of(value, known))]
        if calls and len(calls) == len(values):
            return start, calls[:MOST_CALLS]
    return None


def _json_in(reply: str) -> list[tuple[int, str]]:
    """Places where a call as JSON may be: in blocks, or from the first line of it to the end."""
    places = [
        (m.start(), m[2])
        for m in _FENCE.finditer(reply)
        if m[1].lower() in ("json", "", "tool_call")
    ]
    if not places and (match := re.search(r"^[^\S\n]*[\[{]", reply, re.MULTILINE)):
        places.append((match.start(), reply[match.start() :]))
    return places


def _call_of(value: Any, known: Collection[str]) -> tuple[str, str] | None:
    """Name and arguments of a call in one of the usual forms; None if it is none."""
    if not isinstance(value, dict):
        return None
    inner = value.get("function")
    if isinstance(inner, dict):
        return _call_of(inner, known)
    name = next((value[key] for key in _NAME_KEYS if isinstance(value.get(key), str)), None)
    key = next((key for key in _ARGUMENT_KEYS if key in value), None)
    if name is None or key is None:
        return None
    arguments = value[key]
    if isinstance(arguments, str) and name in known:
        arguments = careless_json(arguments)
    if isinstance(arguments, dict):
        return name, encoded(arguments)
    if name in known:
        raise Unreadable(f"The arguments of {name} are no JSON object.")
    return None


# Blocks of code


def _as_code(reply: str, known: dict[str, Tool]) -> Found:
    """A block of code that ends the reply; with others before it, it is an explanation."""
    blocks = [m for m in _FENCE.finditer(reply) if m[1].lower() in _CODE]
    if len(blocks) != 1 or reply[blocks[0].end() :].strip() or not blocks[0][2].strip():
        return None
    tool, argument = _CODE[blocks[0][1].lower()]
    if tool not in known:
        return None
    return blocks[0].start(), [(tool, encoded({argument: blocks[0][2].removesuffix("\n")}))]
