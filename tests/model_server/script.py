"""What the model server plays: turns, one for each request, built by small functions.

A script for an agent that writes a file and runs it::

    model_server.play(
        call("write_file", path="a.py", content="print(1)").saying("I write it."),
        call("execute_bash", command="python a.py"),
        call("finish", message="Done."),
    )
"""

from __future__ import annotations

import json
import re
from typing import Any, Literal

import msgspec

Fault = Literal["", "reset", "hang", "cut", "end", "error"]


class Call(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A tool call; ``arguments`` is JSON text, or whatever a test wants instead."""

    name: str
    arguments: str = "{}"


class Usage(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The token counts that the provider reports."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0


class Turn(
    msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True
):
    """One answer of the model.

    Attributes
    ----------
    text, reasoning, calls
        What the model says, thinks and calls.
    id
        The response's id; empty for one of its own.
    usage
        Token counts; None to report none.
    finish_reason
        Empty for ``tool_calls`` or ``stop``, as fits.
    delay
        Seconds before the first byte.
    pace
        Seconds between two pieces.
    piece
        Characters in a piece.
    streams
        Whether the server streams when asked to; False for one that does not know streaming.
    indexed
        Whether each tool call of a stream has an index of its own; False for a server that calls
        them all 0.
    page
        An HTML page to answer with, as a wrong address or a proxy does.
    status, message, retry_after
        An HTTP error to answer with, its text, and the value of its Retry-After header.
    fault
        ``reset`` (the connection is reset), ``hang`` (nothing more comes), ``cut`` (the connection
        closes in the middle), ``end`` (the stream ends in good order but too early) or ``error``
        (the stream tells of an error).
    fault_after
        Pieces sent before the fault; 0 for before the headers (``end``, ``error``: right after).
    error
        What a stream tells of an error.
    """

    text: str = ""
    reasoning: str = ""
    calls: list[Call] = []
    id: str = ""
    usage: Usage | None = Usage(prompt_tokens=100, completion_tokens=10)
    finish_reason: str = ""
    delay: float = 0.0
    pace: float = 0.0
    piece: int = 16
    streams: bool = True
    indexed: bool = True
    page: str = ""
    status: int = 200
    message: str = ""
    retry_after: str = ""
    fault: Fault = ""
    fault_after: int = 0
    error: dict[str, Any] = {}

    def but(self, **changes: Any) -> Turn:
        """Return this turn with some of its attributes changed."""
        return msgspec.structs.replace(self, **changes)

    def saying(self, text: str) -> Turn:
        """Return this turn with a text."""
        return self.but(text=text)

    def thinking(self, reasoning: str) -> Turn:
        """Return this turn with reasoning before the text."""
        return self.but(reasoning=reasoning)

    def paced(self, seconds: float, piece: int = 16) -> Turn:
        """Return this turn streamed slowly: a pause between two pieces."""
        return self.but(pace=seconds, piece=piece)

    def delayed(self, seconds: float) -> Turn:
        """Return this turn with a pause before the first byte."""
        return self.but(delay=seconds)

    def cut(self, after: int = 3) -> Turn:
        """Return this turn with the connection closed after some pieces."""
        return self.but(fault="cut", fault_after=after)

    def ending(self, after: int = 3) -> Turn:
        """Return this turn with the stream ended in good order, but after some pieces only."""
        return self.but(fault="end", fault_after=after)

    def failing(self, after: int = 3, **error: Any) -> Turn:
        """Return this turn with an error in its stream after some pieces."""
        return self.but(fault="error", fault_after=after, error=error)

    def hanging(self, after: int = 3) -> Turn:
        """Return this turn with nothing more coming after some pieces."""
        return self.but(fault="hang", fault_after=after)


def text(content: str) -> Turn:
    """Build a turn that only says something."""
    return Turn(text=content)


def call(tool: str, /, **arguments: Any) -> Turn:
    """Build a turn that calls one tool."""
    return Turn(calls=[Call(tool, json.dumps(arguments))])


def malformed(tool: str, arguments: str) -> Turn:
    """Build a turn that calls a tool with arguments that need not be JSON."""
    return Turn(calls=[Call(tool, arguments)])


def together(*turns: Turn) -> Turn:
    """Build one turn that says and calls all that the given ones do (parallel tool calls)."""
    return turns[0].but(
        text="\n".join(turn.text for turn in turns if turn.text),
        calls=[call for turn in turns for call in turn.calls],
    )


def empty() -> Turn:
    """Build a turn that says nothing at all."""
    return Turn()


def status(code: int, message: str = "", retry_after: str = "") -> Turn:
    """Build an HTTP error."""
    return Turn(status=code, message=message, retry_after=retry_after)


def page(html: str) -> Turn:
    """Build an HTML page in place of an answer."""
    return Turn(page=html)


def reset() -> Turn:
    """Build a connection that is reset instead of answered."""
    return Turn(fault="reset")


def hang() -> Turn:
    """Build a request that is never answered."""
    return Turn(fault="hang")


ALL_PLAYED = Turn(text="All turns of the script were played.")


class Script(msgspec.Struct, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """Turns that are played in order.

    Attributes
    ----------
    turns
        One for each request.
    final
        Answer when all turns were played.
    when
        A regular expression: the script is for conversations whose first user message contains it.
        Each different text that it matches plays the script from the start.
    """

    turns: list[Turn]
    final: Turn = ALL_PLAYED
    when: str = ""
    positions: dict[str, int] = {}

    def next_turn(self, first_message: str) -> Turn | None:
        """Take the next turn for a conversation; None if the script is not meant for it."""
        match = re.search(self.when, first_message)
        if match is None:
            return None
        position = self.positions.get(match[0], 0)
        self.positions[match[0]] = position + 1
        return self.turns[position] if position < len(self.turns) else self.final
