"""The names and the arguments of tool calls, which are whatever a model wrote."""

from __future__ import annotations

import ast
import json
import re
from typing import Any

import msgspec

LONGEST_NAME = 64
"""Characters that providers take in the name of a tool, made of letters, digits, _ and -."""

DEPTH = 30
"""Levels of objects and lists; what is deeper breaks whoever reads it later."""

MOST_CALLS = 20
"""Calls of one text that are read."""

_FORBIDDEN = re.compile(r"[^a-zA-Z0-9_-]")


TOO_DEEP = "The JSON of your call is nested too deeply."

Found = tuple[int, list[tuple[str, str]]] | None
"""Where calls begin in a text, with the name and the arguments (JSON text) of each."""


class Unreadable(Exception):
    """A call that cannot be read; the text says why."""


def plain_name(name: str) -> str:
    """The name of a tool as providers take it in the history, also of one that there is not."""
    return _FORBIDDEN.sub("_", name)[:LONGEST_NAME] or "unknown"


def decoded(arguments: str) -> Any:
    """What the JSON text of a tool call stands for; an object where nothing is written.

    Raises
    ------
    ValueError
        Where that is no JSON, or nested too deeply; the text goes on from "The arguments".
    """
    try:
        given = msgspec.json.decode(arguments or "{}")
    except msgspec.DecodeError as error:
        raise ValueError(f"are not valid JSON: {error}") from error
    except RecursionError as error:
        raise ValueError(f"have more than {DEPTH} levels") from error
    if _deeper(given, DEPTH):
        raise ValueError(f"have more than {DEPTH} levels")
    return given


def _deeper(value: Any, levels: int) -> bool:
    if not isinstance(value, (dict, list)):
        return False
    inner = value.values() if isinstance(value, dict) else value
    return levels == 0 or any(_deeper(one, levels - 1) for one in inner)


def careless_json(text: str) -> Any:
    """JSON, or what a careless hand makes of it: line ends within strings, Python's own quotes."""
    text = text.strip()
    try:
        return json.JSONDecoder(strict=False).raw_decode(text)[0]
    except ValueError as error:
        try:
            return ast.literal_eval(text)
        except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
            raise Unreadable(f"The JSON of your call cannot be read: {error}.") from error
    except RecursionError as error:
        raise Unreadable(TOO_DEEP) from error


def encoded(arguments: dict[str, Any]) -> str:
    """Arguments as JSON text."""
    try:
        return json.dumps(arguments)
    except RecursionError as error:
        raise Unreadable(TOO_DEEP) from error
    except (TypeError, ValueError) as error:
        raise Unreadable(f"The arguments of your call are no JSON: {error}.") from error
