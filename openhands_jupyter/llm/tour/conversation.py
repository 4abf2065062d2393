"""Reads a conversation the way any model gets it: the last request, and what was done about it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from ...events.context import CONTEXT_BEGINS
from ..base import Message, ToolCall

Outcome = Literal["done", "rejected", "refused", "failed", "interrupted"]

_REJECTED = re.compile(r"The user rejected this action(?:: (?P<reason>.*)|\.)?", re.DOTALL)
_REFUSED = re.compile(r"Not executed: (?P<reason>.*)", re.DOTALL)
_FAILED = re.compile(r"(?:Error \([\w.-]*\)|No result): (?P<reason>.*)", re.DOTALL)
_ENDED = re.compile(
    # What was printed holds no such end itself; names and files that changed are told behind it.
    r"(?:<output>\n(?P<text>.*?)</output>\n)?"
    r"\[(?:exit code: (?P<exit>-?\d+)\b|interrupted: (?P<interrupted>\w+)|(?P<cell>ok|error)\b)"
    r"[^\n]*\](?:\n.*)?",
    re.DOTALL,
)
_FRAME = re.compile(r"^</?output>\n?", re.MULTILINE)


@dataclass(frozen=True)
class Result:
    """What came of one tool call.

    Attributes
    ----------
    outcome
        ``done`` when it was carried out, however it ended; else why it was not.
    text
        The output, without the frame and what is told behind it.
    reason
        The person's, the mode's or the environment's words when it was not carried out.
    exit_code
        Of a shell command that ended by itself.
    raised
        Whether a cell ended with an exception.
    """

    outcome: Outcome
    text: str = ""
    reason: str = ""
    exit_code: int | None = None
    raised: bool = False

    @classmethod
    def parse(cls, content: str) -> Result:
        """Read the text that a tool message carries."""
        text = _FRAME.sub("", content).strip()
        if match := _REJECTED.fullmatch(text):
            return cls("rejected", reason=(match["reason"] or "").strip())
        if match := _REFUSED.fullmatch(text):
            return cls("refused", reason=match["reason"].strip())
        if match := _FAILED.fullmatch(text):
            return cls("failed", reason=match["reason"].strip())
        if match := _ENDED.fullmatch(content.strip()):
            return cls._ended(match)
        return cls("done", text=text)

    @classmethod
    def _ended(cls, match: re.Match[str]) -> Result:
        text = (match["text"] or "").strip()
        if match["interrupted"]:
            return cls("interrupted", text=text, reason=match["interrupted"])
        return cls(
            "done",
            text=text,
            exit_code=int(match["exit"]) if match["exit"] else None,
            raised=match["cell"] == "error",
        )


@dataclass
class Round:
    """One assistant message and what came of its calls."""

    calls: Sequence[ToolCall]
    answers: dict[str, str] = field(default_factory=dict)

    @property
    def asked(self) -> bool:
        """Whether it asked the person something."""
        return any(call.name == "ask_user" for call in self.calls)

    @property
    def results(self) -> tuple[Result, ...]:
        """One result for each call, in their order."""
        return tuple(
            Result.parse(self.answers[call.id])
            if call.id in self.answers
            else Result("failed", reason="no result was reported.")
            for call in self.calls
        )

    def answer(self, text: str) -> None:
        """Take what the person wrote as the answer to the question."""
        for call in self.calls:
            if call.name == "ask_user":
                self.answers[call.id] = text


@dataclass
class Turn:
    """A request, and what was done about it so far."""

    request: str = ""
    rounds: list[Round] = field(default_factory=list)

    @classmethod
    def last_of(cls, messages: Sequence[Message], is_request: Callable[[str], bool]) -> Turn:
        """Read the newest request and everything after it.

        Parameters
        ----------
        messages
            The whole prompt.
        is_request
            Tells whether a text is a request by itself, wherever it was said.
        """
        turn = cls()
        for message in messages:
            content = _text(message).partition(CONTEXT_BEGINS)[0]
            if message.role == "assistant" and message.tool_calls:
                turn.rounds.append(Round(message.tool_calls))
            elif message.role == "tool" and turn.rounds:
                turn.rounds[-1].answers[message.tool_call_id] = content
            elif message.role == "user" and (
                is_request(content) or not turn._continues_with(content)
            ):
                turn = cls(content)
        return turn._after_answer(is_request)

    def _after_answer(self, is_request: Callable[[str], bool]) -> Turn:
        """Read an answer that asks for something else as the request that it is."""
        for index in range(len(self.rounds) - 1, -1, -1):
            if self.rounds[index].asked:
                answer = self.rounds[index].results[-1].text
                if is_request(answer):
                    return Turn(answer, self.rounds[index + 1 :])
        return self

    def _continues_with(self, content: str) -> bool:
        """Take a message that answers a question or tells why an action was rejected."""
        if not self.rounds:
            return False
        last = self.rounds[-1]
        if last.asked:
            last.answer(content)
            return True
        return any(r.outcome == "rejected" and r.reason == content.strip() for r in last.results)


def _text(message: Message) -> str:
    if isinstance(message.content, str):
        return message.content
    parts = (part.get("text", "") for part in message.content if part.get("type") == "text")
    return "\n".join(parts)
