"""A model as strict as the strictest provider, and an agent's loop without a sandbox."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path

import msgspec

from openhands_jupyter.agents import CodeActAgent
from openhands_jupyter.agents.condensers import CondenserSettings
from openhands_jupyter.agents.entries import size_of
from openhands_jupyter.errors import ModelError
from openhands_jupyter.events import (
    Action,
    CmdOutputObservation,
    Event,
    FinishAction,
    Observation,
    State,
    UserMessageAction,
)
from openhands_jupyter.llm.base import Capabilities, Message, Response, Tool, ToolCall, Usage

PER_TOKEN = 4
"""Characters in a token of this model."""

Reply = Callable[[Sequence[Message]], Response]


def say(text: str) -> Response:
    return Response(id="r", model="strict", text=text)


def call(name: str, arguments: str = "{}", id: str = "call_0", text: str = "") -> Response:
    calls = [ToolCall(id=id, name=name, arguments=arguments)]
    return Response(id="r", model="strict", text=text, tool_calls=calls)


def run(command: str, **told: str) -> Response:
    return call("execute_bash", msgspec.json.encode({"command": command}).decode(), **told)


class StrictModel:
    """Refuses what any provider would refuse, and notes every prompt that it accepts.

    Parameters
    ----------
    reply
        What it answers to a prompt of an agent's step; what it raises, it fails with.
    window
        Tokens that a prompt may have.
    """

    name = "strict"

    def __init__(self, reply: Reply, window: int = 1_000_000) -> None:
        self.reply = reply
        self.window = window
        self.prompts: list[list[Message]] = []
        self.summaries: list[list[Message]] = []
        self.refused = 0

    async def capabilities(self) -> Capabilities:
        return Capabilities()

    async def complete(
        self, messages: Sequence[Message], tools: Sequence[Tool], on_delta: object
    ) -> Response:
        check(messages)
        tokens = (size_of(messages) + len(msgspec.json.encode(tools))) // PER_TOKEN
        if tokens > self.window:
            self.refused += 1
            raise ModelError("model_context", f"maximum context length is {self.window} tokens")
        usage = Usage(prompt_tokens=tokens, completion_tokens=5)
        if not tools:
            self.summaries.append(list(messages))
            return msgspec.structs.replace(say("The work goes on as planned."), usage=usage)
        try:
            response = self.reply(messages)
        except ModelError:
            self.refused += 1
            raise
        self.prompts.append(list(messages))
        return msgspec.structs.replace(response, usage=usage)


def check(messages: Sequence[Message]) -> None:
    """Fail where a provider would: calls and results that do not go together, empty messages."""
    seen: set[str] = set()
    waiting: list[str] = []
    for message in messages:
        if message.role == "tool":
            assert waiting and message.tool_call_id == waiting.pop(0), "a result out of place"
            continue
        assert not waiting, "a call without a result"
        assert message.content or message.tool_calls, "an empty message"
        waiting = [call.id for call in message.tool_calls]
        assert not seen & set(waiting), "an id that was used before"
        seen.update(waiting)
        for call in message.tool_calls:
            assert isinstance(msgspec.json.decode(call.arguments), dict)
            assert re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", call.name)
    assert not waiting, "a call without a result"


class Loop:
    """What the controller does for an agent, as far as its history goes.

    Parameters
    ----------
    answer
        The observation that answers a runnable action.
    """

    def __init__(
        self,
        model: StrictModel,
        answer: Callable[[Action], Observation] | None = None,
        condenser: CondenserSettings | None = None,
    ) -> None:
        self.model = model
        self.state = State()
        self.events: list[Event] = []
        self._answer = answer or (lambda action: CmdOutputObservation(content="ok", exit_code=0))
        self._condenser = condenser or CondenserSettings()
        self.agent = self.new_agent()

    def new_agent(self) -> CodeActAgent:
        """An agent as it is after a restart."""
        return CodeActAgent(self.model, Path("/work"), condenser=self._condenser)

    def add(self, event: Event) -> Event:
        event = msgspec.structs.replace(event, id=self.state.last_id + 1)
        self.state.apply(event)
        self.events.append(event)
        return event

    def say(self, content: str) -> None:
        self.add(UserMessageAction(source="user", content=content))

    async def step(self) -> Action:
        cause = self.state.history[-1].id
        action = await self.agent.step(self.state)
        added = self.add(msgspec.structs.replace(action, source="agent", cause=cause))
        assert isinstance(added, Action)
        if added.runnable:
            self.add(msgspec.structs.replace(self._answer(added), cause=added.id))
        return added

    async def until_it_ends(self) -> None:
        while not isinstance(await self.step(), FinishAction):
            pass

    def of(self, kind: type[Event]) -> list[Event]:
        return [event for event in self.events if isinstance(event, kind)]


def steps(number: int, text: str = "") -> Reply:
    """Replies of a model that runs so many commands and finishes."""
    numbers = count(1)

    def reply(messages: Sequence[Message]) -> Response:
        step = next(numbers)
        if step > number:
            return call("finish", '{"message": "done"}')
        return run(f"echo {step}", text=text)

    return reply


def once(*replies: Response | ModelError) -> Reply:
    """These replies one after the other, then the end."""
    left = list(replies)

    def reply(messages: Sequence[Message]) -> Response:
        given = left.pop(0) if left else call("finish", '{"message": "done"}')
        if isinstance(given, ModelError):
            raise given
        return given

    return reply
