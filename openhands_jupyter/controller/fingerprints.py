"""What an action does, and what came of it, in a form that is alike whenever they are.

What an agent does is compared nearly as it stands: reading the next hundred lines is another
action. Of what came of it, everything is left out that differs by itself: numbers, times, ids,
process ids, names in temporary folders, colours, and all but the last frame of a progress bar.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from hashlib import blake2b
from typing import Any

import msgspec

from ..events import (
    Action,
    AwaitRunAction,
    CmdOutputObservation,
    CmdRunAction,
    ErrorObservation,
    IPythonOutputObservation,
    IPythonRunCellAction,
    KernelCodeObservation,
    MCPObservation,
    Observation,
)
from ..events.shown import without_escapes

LONGEST = 20_000
"""Characters at the beginning and at the end of a text that are looked at closely."""

# Each takes time that grows with the length of the text alone, whatever a program prints.
_IDS = [
    (re.compile(r"/(?:private/)?(?:tmp|var/tmp|var/folders)/[^\s\"'`<>|:;,()\[\]{}]*"), "<temp>"),
    (re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b"), "<id>"),
    (re.compile(r"\b0x[0-9a-fA-F]+\b|\b(?=[0-9]*[a-f])[0-9a-f]{7,}\b"), "<id>"),
]
_TIMES = [
    (re.compile(r"\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?)?"), "<time>"),
    (re.compile(r"\b\d\d?:\d\d(?::\d\d(?:[.,]\d+)?)?\b"), "<time>"),
    (re.compile(r"\b\d+(?:\.\d+)?\s?(?:ns|us|µs|ms|s|seconds?|minutes?)\b"), "<time>"),
    (re.compile(r"\bpid\W{0,3}\d+|\[\d+\] \d+", re.IGNORECASE), "<pid>"),
]
_NUMBERS = [
    (
        re.compile(r"\d+(?:[.,:]\d+)*(?:e[+-]?\d+)?(?:\s?(?:ns|us|µs|ms|s|seconds?|minutes?)\b)?"),
        "<n>",
    )
]
_OF_ACTIONS = [
    (re.compile(r"\b(kill(?: -\w{1,9})?|wait|fg|ps -p) %?\d+\b"), r"\1 <pid>"),
    (re.compile(r"/tmp/tmp[._]?[A-Za-z0-9_]{6,12}\b"), "<temp>"),
]
_WAITS = re.compile(r"\bsleep\b|\bwait\b")
_NO_DIGITS = str.maketrans("", "", "0123456789")
_OF_ALL_EVENTS = frozenset(
    {"v", "id", "session", "time", "source", "cause", "thought", "llm", "risk", "type"}
)


def of_action(action: Action) -> bytes:
    """A fingerprint of what an action does."""
    text = "\n".join(_texts(action))
    arguments = action.llm.arguments if action.llm and action.llm.arguments else ""
    for pattern, replacement in _OF_ACTIONS:
        text = pattern.sub(replacement, text)
    return _digest(type(action).__name__, text, arguments)


def of_result(action: Action, result: Observation) -> bytes:
    """A fingerprint of what came of an action; numbers count where it waited for something."""
    volatile = [*_IDS, *(_TIMES if waits(action) else _NUMBERS)]
    normal = (_normal(text, volatile) for text in _texts(result))
    return _digest(type(result).__name__, str(is_error(result)), *normal)


def of_error(error: ErrorObservation) -> bytes:
    """A fingerprint of an error, whatever it came of."""
    return _digest(error.code, _normal(error.message, [*_IDS, *_NUMBERS]))


def is_error(result: Observation) -> bool:
    """Whether an observation says that an action failed."""
    match result:
        case ErrorObservation():
            return True
        case CmdOutputObservation():
            return result.exit_code not in (0, None)
        case IPythonOutputObservation() | KernelCodeObservation() | MCPObservation():
            return not result.ok
    return False


def waits(action: Action) -> bool:
    """Whether an action waits for something that goes on by itself."""
    match action:
        case CmdRunAction():
            return only_waits(action) or _WAITS.search(action.command) is not None
        case IPythonRunCellAction():
            return _WAITS.search(action.code) is not None
    return only_waits(action)


def only_waits(action: Action) -> bool:
    """Whether an action does nothing but wait for what was begun before."""
    match action:
        case CmdRunAction():
            return not action.command and not action.is_input
    return isinstance(action, AwaitRunAction)


def _texts(event: Action | Observation) -> Iterator[str]:
    for name, value in msgspec.to_builtins(event).items():
        if name not in _OF_ALL_EVENTS:
            yield from _within(name, value)


def _within(name: str, value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if "sha256" in value and not value.get("preview"):
            # An image; letters that no number is, so that it stays as it is.
            value = {"blob": "".join(chr(ord("g") + int(digit, 16)) for digit in value["sha256"])}
        for key, inner in value.items():
            yield from _within(key, inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _within(name, inner)
    else:
        yield f"{name}: {value}"


def _normal(text: str, volatile: list[tuple[re.Pattern[str], str]]) -> str:
    if len(text) > 2 * LONGEST:
        middle = text[LONGEST:-LONGEST].translate(_NO_DIGITS)
        ends = (_normal(end, volatile) for end in (text[:LONGEST], text[-LONGEST:]))
        return middle.join(ends)
    lines = without_escapes(text).replace("\r\n", "\n").split("\n")
    text = "\n".join(line.rstrip("\r").rsplit("\r", 1)[-1].rstrip() for line in lines)
    for pattern, replacement in volatile:
        text = pattern.sub(replacement, text)
    return text


def together(*parts: bytes) -> bytes:
    """A fingerprint of several, no longer than one."""
    return blake2b(b"".join(parts), digest_size=16).digest()


def _digest(*texts: str) -> bytes:
    return together(*(text.encode("utf-8", "surrogatepass") + b"\0" for text in texts))
