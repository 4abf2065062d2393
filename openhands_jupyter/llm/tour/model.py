"""The tour as a language model: messages in, one streamed response out."""

from __future__ import annotations

import asyncio
import re
import uuid
from collections.abc import Callable, Iterator, Sequence

import msgspec

from ..base import Capabilities, Delta, Message, Response, Tool, ToolCall, Usage
from .conversation import Turn
from .script import Call, Reply
from .tasks import recognise, task_for

TOUR_NAME = "tour"
TOUR_LABEL = "Guided tour (no AI)"

_LOST = Reply(
    "I lost the thread: part of this task was done by another model or is no longer in view. "
    "Please give me the task again."
)
_FINISHED = Reply("That task is done. Give me another one whenever you like.")
_ARGUMENT_PIECE = 24


class TourModel:
    """A deterministic stand-in that drives the real loop, sandbox and approvals.

    It decides as every model does, by the messages and the tools alone, and reacts to what its
    calls brought; but it follows fixed scripts and says so.

    Parameters
    ----------
    pause
        Seconds between two pieces of a response, so that its writing can be watched.
    """

    name = TOUR_NAME

    def __init__(self, pause: float = 0.012) -> None:
        self._pause = pause

    async def capabilities(self) -> Capabilities:
        """It reads, and calls tools; see `LanguageModel.capabilities`."""
        return Capabilities(tool_calls=True, vision=False, reasoning=False)

    async def complete(
        self,
        messages: Sequence[Message],
        tools: Sequence[Tool],
        on_delta: Callable[[Delta], None],
    ) -> Response:
        """Continue the conversation; see `LanguageModel.complete`."""
        reply = fit(next_reply(messages), {tool.name for tool in tools})
        calls = [
            ToolCall(
                id=f"call_{uuid.uuid4().hex[:12]}",
                name=call.name,
                arguments=msgspec.json.encode(call.arguments).decode(),
            )
            for call in reply.calls
        ]
        for delta in _pieces(reply.text, calls):
            on_delta(delta)
            await asyncio.sleep(self._pause)
        return Response(
            id=f"tour-{uuid.uuid4().hex[:12]}",
            model=self.name,
            text=reply.text,
            tool_calls=calls,
            finish_reason="tool_calls" if calls else "stop",
            usage=Usage(cost=0.0),
        )


def next_reply(messages: Sequence[Message]) -> Reply:
    """Run the script of the last request over what was done about it, up to its next reply."""
    turn = Turn.last_of(messages, lambda text: recognise(text) is not None)
    script = task_for(turn.request)(turn.request)
    reply = next(script)
    for done in turn.rounds:
        if [call.name for call in done.calls] != [call.name for call in reply.calls]:
            return _LOST
        if any(call.name == "finish" for call in reply.calls):
            return _FINISHED
        try:
            reply = script.send(done.results)
        except StopIteration as end:
            reply = end.value
    return reply


def fit(reply: Reply, tools: set[str]) -> Reply:
    """Say in words what an agent without the tools for it cannot be told by a call."""
    missing = [call for call in reply.calls if call.name not in tools]
    if not missing:
        return reply
    said = [reply.text, *filter(None, map(_in_words, missing))]
    needed = [f"`{call.name}`" for call in missing if not _in_words(call)]
    if needed:
        said.append(
            f"I cannot do this here: I have no tool {' or '.join(needed)}. Switch to Agent mode, "
            "or to another agent, to have it done."
        )
    return Reply("\n\n".join(filter(None, said)))


def _in_words(call: Call) -> str:
    """Tell what a call that only speaks to the person would have said."""
    match call.name:
        case "finish":
            return str(call.arguments["message"])
        case "ask_user":
            options = "".join(f"\n- {option}" for option in call.arguments["options"])
            return f"{call.arguments['question']}{options}"
        case _:
            return ""


def _pieces(text: str, calls: Sequence[ToolCall]) -> Iterator[Delta]:
    for word in re.findall(r"\s*\S+\s*", text):
        yield Delta(kind="text", text=word)
    for call in calls:
        for start in range(0, len(call.arguments), _ARGUMENT_PIECE):
            piece = call.arguments[start : start + _ARGUMENT_PIECE]
            yield Delta(kind="tool_call", text=piece, tool_name=call.name)
