"""Tool calls as models were trained to write them: with tokens, as steps in words, as Python."""

from __future__ import annotations

import ast
import re
from itertools import islice
from typing import Any

from .arguments import MOST_CALLS, Found, Unreadable, careless_json, encoded
from .base import Tool

# Those of DeepSeek have a wide bar.
_TOKEN = r"<[|\uff5c][^<>\n]{1,60}[|\uff5c]>|\[/?(?:TOOL_CALLS|CALL_ID|ARGS)\]"
_ANY_TOKEN = re.compile(_TOKEN)

TOKENS_BEGIN = re.compile(
    r"<[|\uff5c][^<>\n]{0,40}(?:tool|python_tag|channel)[^<>\n]{0,40}[|\uff5c]>|\[TOOL_CALLS\]"
)
"""How calls begin with Llama, Mistral, DeepSeek, Kimi and gpt-oss; a server may leave that in."""

STEP = re.compile(r"^Action:[ \t]*`?([\w.-]+)`?[ \t]*\n+Action Input:[ \t]*", re.MULTILINE)
"""A call in words, as chains of thoughts and actions have it."""

_PYTHON = re.compile(
    r"^```(?:tool_code|tool_call|python|py)[ \t]*\n(.*?)(?:^```[ \t]*$|\Z)",
    re.DOTALL | re.MULTILINE,
)
_LIST_OF_CALLS = re.compile(r"^\[\w+\(", re.MULTILINE)


def as_tokens(reply: str, known: dict[str, Tool]) -> Found:
    """Calls among tokens: a name with JSON behind it, or JSON that has the name."""
    first = TOKENS_BEGIN.search(reply)
    if first is None:
        return None
    names = "|".join(map(re.escape, known))
    between = rf"(?:\s|json|```|{_TOKEN})*"
    named = re.compile(rf"(?<![\w\"'])({names})(?::\d+)?{between}(?=\{{)")
    found = islice(named.finditer(reply, first.start()), MOST_CALLS)
    calls = [(match[1], _object(match[1], reply[match.end() :])) for match in found]
    if not calls:
        calls = _named_within(_ANY_TOKEN.sub(" ", reply[first.start() :]).strip(), known)
    return (first.start(), calls) if calls else None


def as_react(reply: str, known: dict[str, Tool]) -> Found:
    """A call as an action with its input; what comes behind is invented."""
    step = STEP.search(reply)
    if step is None or step[1] not in known:
        return None
    given = reply[step.end() :].partition("\nObservation:")[0].strip()
    if given.startswith("{"):
        return step.start(), [(step[1], _object(step[1], given))]
    required = known[step[1]].parameters.get("required", [])
    if len(required) != 1:
        raise Unreadable(f"The arguments of {step[1]} are no JSON object.")
    return step.start(), [(step[1], encoded({required[0]: given}))]


def as_python(reply: str, known: dict[str, Tool]) -> Found:
    """Calls of functions with the names of tools, and with nothing but values in them."""
    if block := _PYTHON.search(reply):
        start, code = block.start(), block[1]
    elif (calls_begin := _LIST_OF_CALLS.search(reply)) and reply.rstrip().endswith(")]"):
        start = calls_begin.start()
        code = reply[start:]
    else:
        return None
    try:
        body = ast.parse(code.strip()).body
        expressions = [node.value for node in body if isinstance(node, ast.Expr)]
        if len(expressions) == 1 and isinstance(expressions[0], ast.List):
            expressions, body = expressions[0].elts, []
        calls = [_python_call(node, known) for node in expressions]
    except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError):
        return None
    if not calls or len(expressions) < len(body):
        return None
    return start, calls


def _python_call(node: ast.expr, known: dict[str, Tool]) -> tuple[str, str]:
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or node.args:
        raise ValueError("no call with named values")
    if node.func.id not in known:
        raise ValueError("no call of a tool")
    given = {str(keyword.arg): ast.literal_eval(keyword.value) for keyword in node.keywords}
    return node.func.id, encoded(given)


def _named_within(text: str, known: dict[str, Tool]) -> list[tuple[str, str]]:
    if not text.startswith(("{", "[")):
        return []
    value: Any = careless_json(text)
    found = []
    for one in value if isinstance(value, list) else [value]:
        name = one.get("name") if isinstance(one, dict) else None
        if name not in known:
            return []
        given = one.get("arguments", one.get("parameters", {}))
        if not isinstance(given, dict):
            raise Unreadable(f"The arguments of {name} are no JSON object.")
        found.append((str(name), encoded(given)))
    return found


def _object(name: str, text: str) -> str:
    value = careless_json(text)
    if not isinstance(value, dict):
        raise Unreadable(f"The arguments of {name} are no JSON object.")
    return encoded(value)
