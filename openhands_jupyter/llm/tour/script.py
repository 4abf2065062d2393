"""What a task of the tour is written in: replies, and scripts that react to results."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Any

from .conversation import Result


@dataclass(frozen=True)
class Call:
    """A tool call that the tour makes."""

    name: str
    arguments: dict[str, Any]


@dataclass(frozen=True)
class Reply:
    """One response of the tour: something said, some tools called, or both."""

    text: str = ""
    calls: Sequence[Call] = ()


Script = Generator[Reply, tuple[Result, ...], Reply]
"""A task: yields replies, is sent the results of their calls, and returns its last reply.

A script keeps nothing between two responses. It is run anew over the whole conversation each time,
so it has to decide by the request and the results alone.
"""

Task = Callable[[str], Script]


def call(tool: str, /, **arguments: Any) -> Call:
    """Build a tool call."""
    return Call(tool, arguments)


def reply(text: str, *calls: Call) -> Reply:
    """Build a response that says something and calls tools."""
    return Reply(text, calls)


def finish(message: str, text: str = "") -> Reply:
    """Build the response that ends a task."""
    return Reply(text, [call("finish", message=message)])


def setback(result: Result, what: str) -> str:
    """Say why something was not carried out.

    Parameters
    ----------
    result
        What came of the call.
    what
        What was tried, as a noun phrase, such as ``the file``.

    Returns
    -------
    str
        A sentence or two in Markdown; empty if the call was carried out, however it ended.
    """
    match result.outcome:
        case "rejected" if result.reason:
            return f"You rejected {what} and said: “{result.reason}” I left it at that."
        case "rejected":
            return f"You rejected {what}, so I left it at that."
        case "refused":
            return f"I could not carry out {what}: {result.reason}"
        case "failed":
            return f"Something went wrong with {what}: {result.reason}"
        case "interrupted":
            return f"I did not see the end of {what}: it was interrupted ({result.reason})."
        case "done":
            return ""


def inline(name: str) -> str:
    """Quote a name as inline code, whatever it contains."""
    return f"`` {name} ``" if "`" in name else f"`{name}`"


def block(output: str, limit: int = 1500) -> str:
    """Quote output as a code block, cut at the end when long (the cut is said)."""
    kept = output if len(output) <= limit else output[:limit] + "\n… (cut)"
    fence = "`" * 3
    while fence in kept:
        fence += "`"
    return f"{fence}text\n{kept}\n{fence}"
