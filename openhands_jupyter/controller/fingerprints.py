"""What an action does, and what came of it, in a form that is alike whenever they are.

What an agent does is compared nearly as it stands: reading the next hundred lines is another
action. Of what came of it, everything is left out that differs by itself: numbers, times, ids,
process ids, names in temporary folders, colours, and all but the last frame of a progress bar. The
numbers are looked at by themselves: one that only grows, or only falls, is progress.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
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

MOST_NUMBERS = 100
"""Numbers at the beginning and at the end of a result that are looked at."""

Volatile = list[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]]]
"""Patterns of what differs by itself, each with what stands in its place."""

# Each takes time that grows with the length of the text alone, whatever a program prints.
_IDS: Volatile = [
    (re.compile(r"/(?:private/)?(?:tmp|var/tmp|var/folders)/[^\s\"'`<>|:;,()\[\]{}]*"), "<temp>"),
    (re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b"), "<id>"),
    (re.compile(r"\b0x[0-9a-fA-F]+\b|\b(?=[0-9]*[a-f])[0-9a-f]{7,}\b"), "<id>"),
]
_TIMES: Volatile = [
    (re.compile(r"\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?)?"), "<n>"),
    (re.compile(r"\b\d\d?:\d\d(?::\d\d(?:[.,]\d+)?)?\b"), "<n>"),
    (re.compile(r"\b\d+(?:\.\d+)?\s?(?:ns|us|µs|ms|s|seconds?|minutes?)\b"), "<n>"),
    (re.compile(r"\bpid\W{0,3}\d+|\[\d+\] \d+", re.IGNORECASE), "<pid>"),
    # Seconds since 1970, of these decades, and thousandths and billionths of them.
    (re.compile(r"\b1[5-9]\d{8}(?:\d{3}|\d{6}|\d{9})?(?:\.\d+)?\b"), "<n>"),
]
_NUMBERS = re.compile(
    r"\d+(?:[.,:]\d+)*(?:e[+-]?\d+)?(?:\s?(?:ns|us|µs|ms|s|seconds?|minutes?)\b)?"
)
_OF_ACTIONS: Volatile = [
    (re.compile(r"\b(kill(?: -\w{1,9})?|wait|fg|ps -p) %?\d+\b"), r"\1 <pid>"),
    (re.compile(r"/tmp/tmp[._]?[A-Za-z0-9_]{6,12}\b"), "<temp>"),
]
_NUMBER = re.compile(r"\d+(?:\.\d+)?(?:e[+-]?\d+)?")
_CLOCKS = re.compile(
    r"\b(?:ps|pgrep|pidof|top|getpid)\b|\$[$!]|%[sN]\b|\b(?:perf_counter|monotonic)(?:_ns)?\("
)
"""What shows numbers that grow by themselves: process ids, clocks."""
_WAITS = re.compile(r"\bsleep\b|\bwait\b")
_NO_DIGITS = str.maketrans("", "", "0123456789")
_OF_ALL_EVENTS = frozenset(
    {"v", "id", "session", "time", "source", "cause", "thought", "llm", "risk", "type"}
)
_GROWING = frozenset({"execution_count", "seconds"})
"""Fields of results that say when, and not what."""


def of_action(action: Action) -> bytes:
    """A fingerprint of what an action does."""
    text = "\n".join(_texts(action))
    arguments = action.llm.arguments if action.llm and action.llm.arguments else ""
    for pattern, replacement in _OF_ACTIONS:
        text = pattern.sub(replacement, text)
    return _digest(type(action).__name__, text, arguments)


def of_result(action: Action, result: Observation) -> tuple[bytes, tuple[float, ...]]:
    """A fingerprint of what came of an action, and the numbers that it leaves out.

    It leaves none out where the action waited for something. Of a failure, and of what shows
    numbers that grow by themselves, no numbers are given: they tell nothing of progress.
    """
    numbers: list[float] = []

    def take(number: re.Match[str]) -> str:
        numbers.append(_value(number[0]))
        return "<n>"

    failed = is_error(result)
    volatile: Volatile = [*_IDS, *_TIMES]
    if not waits(action):
        volatile.append((_NUMBERS, take))
    normal = [_normal(text, volatile) for text in _texts(result)]
    found = _digest(type(result).__name__, str(failed), *normal)
    if failed or _CLOCKS.search("\n".join(_texts(action))):
        return found, ()
    return found, (*numbers[:MOST_NUMBERS], *numbers[MOST_NUMBERS:][-MOST_NUMBERS:])


def _value(number: str) -> float:
    """What a number in a text stands for; of several that hang together, the first."""
    found = _NUMBER.match(number.replace(",", ""))
    return float(found[0]) if found else 0.0


def of_error(error: ErrorObservation) -> bytes:
    """A fingerprint of an error, whatever it came of."""
    return _digest(error.code, _normal(error.message, [*_IDS, (_NUMBERS, "<n>")]))


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
    if name in _GROWING:
        return
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


def _normal(text: str, volatile: Volatile) -> str:
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
