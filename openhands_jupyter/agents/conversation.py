"""An agent's talk with its model, and what has to be done so that it goes on."""

from __future__ import annotations

import re
from collections.abc import Sequence
from uuid import uuid4

import msgspec

from ..errors import ModelError
from ..events import (
    Action,
    AgentMessageAction,
    CondensationAction,
    Event,
    InvalidToolCallAction,
    ModelCall,
    QuarantineAction,
)
from ..events.memory import CondensationReason
from ..llm.base import Message, Response, Tool, ToolCall
from .base import Agent
from .condensers import Condenser, Need, NotShorter, Prompt
from .entries import length
from .history import PromptHistory
from .images import Drawn, Urls, in_view
from .suspects import Suspects
from .tokens import TokenMeter
from .toolbox import LONGEST_NAME, Toolbox
from .tools import arguments_of

TRIES = 3
"""Replies in a row that mean nothing (empty, or broken off) after which the turn fails."""

WRONG_CALLS = 5
"""Replies in a row with nothing but calls that do not fit after which the turn fails."""

FULL, HALF = 0.8, 0.5
"""Shares of a window: a prompt that would be longer is condensed, and to how much of it."""

UNKNOWN_WINDOW = 128_000
"""Tokens of the window of a model that nobody knows; one that has less refuses the prompt."""

_LEAST_KEPT = 0.25
"""Share of the history that a condenser may always keep, however large the rest of a prompt is."""

_EMPTY = "Your last reply was empty. Call a tool, or answer in words."
_CUT_OFF = (
    "Your last reply broke off before its end and was not used. Reply again; write less at once "
    "if it was long."
)
_NO_WORDS = "I tried to use a tool, and did not manage to."
_TALKS_ONLY = (
    "{model} does not manage to call tools, so it can only talk here. Choose a model that can, or "
    "a larger one; if it can, set tool_calls to on."
)
_TOO_LONG = re.compile(
    r"context (length|window|size)|too many tokens|prompt is too long|maximum context|"
    r"input is too long|exceeds? the (available|maximum) context",
    re.IGNORECASE,
)


class Conversation:
    """Asks an agent's model what to do next, with all that came before.

    Where the prompt becomes too long, the history is condensed; where the provider does not accept
    an item of it, that is quarantined; and where a reply means nothing, the model is told. Each of
    these is an action, so that the log says it, and a restart makes the same prompt of it.

    Parameters
    ----------
    agent
        Whose model is asked.
    toolbox
        The tools that the model may call.
    condenser
        Makes the history shorter; None where that is not wanted.
    max_tokens
        Length of a prompt at which it is condensed; None to go by the model's window.
    """

    def __init__(
        self,
        agent: Agent,
        toolbox: Toolbox,
        condenser: Condenser | None,
        max_tokens: int | None = None,
    ) -> None:
        self.history = PromptHistory()
        self._agent = agent
        self._toolbox = toolbox
        self._condenser = condenser
        self._max_tokens = max_tokens
        self._drawn = Drawn(agent.blobs)
        self._meter = TokenMeter()
        self._overflowed: dict[str, int] = {}
        self._not_shorter = 0
        self._useless = 0
        self._talks_only = ""
        self._tools: list[Tool] = []
        self._tools_size = 0

    async def next_actions(self, events: Sequence[Event], system: str) -> list[Action]:
        """What the model wants to be done next, or what has to be done before it can say.

        Parameters
        ----------
        events
            The whole history.
        system
            The system's part of the prompt.

        Raises
        ------
        ModelError
            When the model could not be asked, or its replies mean nothing again and again.
        """
        self.history.extend(events)
        history = self.history.messages(await self._urls())
        fixed = length(system) + self._size_of_tools()
        window = await self._window()
        if (need := self._need(fixed, window)) and (shorter := await self._shortened(need)):
            return [shorter]
        messages = [Message(role="system", content=system), *history]
        try:
            response, quarantine = await self._ask(messages)
        except ModelError as error:
            return [await self._instead(error, fixed)]
        self._meter.learn(fixed + self.history.size(), response.usage.prompt_tokens)
        return [*quarantine, *self._actions(response)]

    # The prompt

    async def _urls(self) -> Urls | None:
        """The images that the model is to see; None where it sees none, or there are none."""
        if not self.history.images or not (await self._agent.llm.capabilities()).vision:
            return None
        return await self._drawn.urls(in_view(self.history.images))

    def _size_of_tools(self) -> int:
        tools = self._toolbox.descriptions()
        if tools != self._tools:
            self._tools = tools
            self._tools_size = len(msgspec.json.encode(tools))
        return self._tools_size

    async def _window(self) -> int:
        """Tokens that a prompt may have, as far as that is known."""
        window = (await self._agent.llm.capabilities()).window or UNKNOWN_WINDOW
        return min(window, self._overflowed.get(self._agent.llm.name, window))

    # Too long a prompt

    def _need(self, fixed: int, window: int) -> Need | None:
        """How much shorter the history has to become; None where it is short enough."""
        size = self.history.size()
        full = self._max_tokens or window * FULL
        if self._meter.tokens(fixed + size) <= full or size <= self._not_shorter:
            return None
        target = self._meter.characters(full * HALF / FULL) - fixed
        room = self._meter.characters(full) - fixed
        return self._needed(fixed, max(target, room // 2), "tokens")

    def _needed(self, fixed: int, target: int, reason: CondensationReason) -> Need:
        size = self.history.size()
        return Need(
            size=size,
            target=max(target, round(size * _LEAST_KEPT)),
            fixed=fixed,
            reason=reason,
            tokens_per_character=self._meter.ratio,
        )

    async def _shortened(self, need: Need) -> CondensationAction | None:
        """What makes the history shorter; None where nothing does, and the model may be asked."""
        if self._condenser is None:
            return None
        try:
            return await self._condenser.condense(self._prompt(), need)
        except NotShorter:
            # The estimate may be wrong. Not tried again before there is more to leave out.
            self._not_shorter = round(need.size * 1.1)
            return None

    async def _overflow(self, error: ModelError, fixed: int) -> CondensationAction:
        """What makes the history fit after the provider refused it as too long."""
        size = self.history.size()
        self._overflowed[self._agent.llm.name] = self._meter.tokens(fixed + size)
        if self._condenser is None:
            raise error
        need = self._needed(fixed, round((fixed + size) * HALF) - fixed, "overflow")
        try:
            return await self._condenser.condense(self._prompt(), need)
        except NotShorter:
            raise error from None

    def _prompt(self) -> Prompt:
        return Prompt(self.history, self._sum_up)

    async def _sum_up(self, messages: Sequence[Message]) -> str:
        return (await self._agent.complete(messages, [], caller="condenser")).text

    # What a provider does not accept

    async def _ask(self, messages: list[Message]) -> tuple[Response, list[Action]]:
        """The model's response, and what had to be left out of the prompt for it."""
        try:
            return await self._agent.complete(messages, self._tools), []
        except ModelError as error:
            if error.code != "model_bad_request" or _TOO_LONG.search(error.message):
                raise
            return await self._ask_without(error, messages)

    async def _ask_without(
        self, first: ModelError, messages: list[Message]
    ) -> tuple[Response, list[Action]]:
        suspects = Suspects(self.history, messages)
        error = first
        while (ids := suspects.next(error.message)) is not None:
            shown = self.history.messages_without(ids, suspects.only_images)
            try:
                response = await self._agent.complete([messages[0], *shown], self._tools)
            except ModelError as another:
                if another.code != "model_bad_request":
                    raise
                error = another
            else:
                return response, [
                    QuarantineAction(
                        items=suspects.found(),
                        message=first.message,
                        only_images=suspects.only_images,
                    )
                ]
        raise first

    # What a reply means

    async def _instead(self, error: ModelError, fixed: int) -> Action:
        """What is done in the place of an answer that did not come."""
        if error.code == "model_context" or (
            error.code == "model_bad_request" and _TOO_LONG.search(error.message)
        ):
            return await self._overflow(error, fixed)
        if error.code == "model_cut_off":
            return self._nothing(_CUT_OFF, error)
        raise error

    def _nothing(self, message: str, error: ModelError, response: Response | None = None) -> Action:
        """A reply that means nothing, for the model to mend."""
        self._useless += 1
        if self._useless >= TRIES:
            self._useless = 0
            raise error
        origin = ModelCall(response_id=response.id, model=response.model) if response else None
        return InvalidToolCallAction(message=message, llm=origin)

    def _actions(self, response: Response) -> list[Action]:
        if not response.tool_calls and not response.text.strip() and not response.unread:
            return [self._nothing(_EMPTY, _empty(response), response)]
        actions = actions_of(response, self._toolbox)
        if not all(isinstance(action, InvalidToolCallAction) for action in actions):
            self._useless = 0
            self._talks_only = ""
            return actions
        self._useless += 1
        if response.prompted:
            return [self._words_of(response)] if self._gives_up(response) else actions
        if self._useless >= WRONG_CALLS:
            self._useless = 0
            raise _cannot_call(response, actions[0])
        return actions

    def _gives_up(self, response: Response) -> bool:
        """Whether a model that is told of tools in words has shown that it cannot call them."""
        if self._useless >= TRIES:
            self._talks_only = response.model
        return self._talks_only == response.model

    def _words_of(self, response: Response) -> Action:
        """What a model said that does not manage to call tools."""
        self._useless = 0
        return AgentMessageAction(
            content=response.text.strip() or _NO_WORDS,
            wait_for_response=True,
            notice=_TALKS_ONLY.format(model=response.model),
            llm=ModelCall(response_id=response.id, model=response.model),
        )


def _empty(response: Response) -> ModelError:
    return ModelError(
        "model_empty",
        f"The model {response.model} answered with nothing.",
        "Press run to ask it again, or choose another model.",
    )


def _cannot_call(response: Response, action: Action) -> ModelError:
    told = action.message if isinstance(action, InvalidToolCallAction) else ""
    return ModelError(
        "model_tool_calls",
        f"The model {response.model} called tools wrongly {WRONG_CALLS} times in a row. {told}",
        "Press run to ask it again, or choose another model.",
    )


def actions_of(response: Response, toolbox: Toolbox) -> list[Action]:
    """The actions that a response means, which calls tools of `toolbox` or says something."""
    if response.unread is not None:
        call = ModelCall(
            response_id=response.id, model=response.model, arguments=response.unread.written
        )
        problem = f"{response.unread.problem}{_cut_short(response)}"
        return [InvalidToolCallAction(message=problem, thought=response.text, llm=call)]
    if not response.tool_calls:
        call = ModelCall(response_id=response.id, model=response.model)
        said = AgentMessageAction(content=response.text, wait_for_response=True, llm=call)
        return [_with_thoughts(said, response)]
    ids = _distinct_ids(response)
    actions = [
        _action_of(call, id, response, toolbox)
        for call, id in zip(response.tool_calls, ids, strict=True)
    ]
    if response.text and not actions[0].thought:
        actions[0] = msgspec.structs.replace(actions[0], thought=response.text)
    actions[0] = _with_thoughts(actions[0], response)
    return actions


def _with_thoughts(action: Action, response: Response) -> Action:
    """The first action of a response, which carries what the model thought before."""
    assert action.llm is not None
    call = msgspec.structs.replace(
        action.llm, reasoning=response.reasoning, thinking=response.thinking
    )
    return msgspec.structs.replace(action, llm=call)


def _distinct_ids(response: Response) -> list[str]:
    """Ids of the tool calls; some servers give all of them the same, or none."""
    ids = [call.id for call in response.tool_calls]
    if all(ids) and len(set(ids)) == len(ids):
        return ids
    return [f"call_{uuid4().hex}" for _ in ids]


def _action_of(call: ToolCall, call_id: str, response: Response, toolbox: Toolbox) -> Action:
    origin = ModelCall(
        response_id=response.id,
        model=response.model,
        tool_call_id=call_id,
        tool_name=call.name[:LONGEST_NAME],
    )
    try:
        action = toolbox.parse(call.name, call.arguments)
    except ValueError as error:
        action = InvalidToolCallAction(message=f"{error}{_cut_short(response)}")
    if arguments_of(action) is None:
        origin = msgspec.structs.replace(origin, arguments=call.arguments)
    return msgspec.structs.replace(action, llm=origin)


def _cut_short(response: Response) -> str:
    if response.finish_reason != "length":
        return ""
    return " The reply reached the most that the model may write at once: write less in one call."
