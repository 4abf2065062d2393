"""The CodeAct agent: it acts through code, and through tools that a model calls."""

from __future__ import annotations

from collections import deque
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

import jinja2
import msgspec

from ..errors import ModelError
from ..events import (
    Action,
    AgentMessageAction,
    ErrorObservation,
    Event,
    InvalidToolCallAction,
    ModelCall,
    NetworkAccessAction,
    NetworkRefusedObservation,
    State,
    UserRejectObservation,
)
from ..llm.base import Message, Response, ToolCall
from .base import Agent
from .history import PromptHistory
from .images import Drawn, Urls, in_view
from .tool_arguments import ToolArguments
from .toolbox import Toolbox
from .tools import TOOLS, arguments_of


class CodeActAgent(Agent):
    """Asks the model what to do next and turns its tool calls into actions.

    Several calls in one response become actions one after the other; a new message, a rejection
    or an interruption drops those that are left, because the model planned them without knowing.

    Attributes
    ----------
    template
        File of its prompt, among the prompts here.
    tools
        Those that are built in and that it has.
    toolbox
        These, and those of its sources.
    """

    name = "codeact"
    title = "CodeAct"
    description = "Works through code, a shell, files and notebooks."
    template: ClassVar[str] = "codeact.j2"
    tools: ClassVar[tuple[type[ToolArguments], ...]] = TOOLS

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._history = PromptHistory()
        self._drawn = Drawn(self.blobs)
        self._planned: deque[Action] = deque()
        self.toolbox = Toolbox(self.tools, self.tool_sources)

    def system_message(self, state: State) -> tuple[str, list[str]]:
        """The prompt, which tells the isolation in force and not the one that was asked for."""
        text = _template(self.template).render(workspace=self.workspace, isolation=state.isolation)
        return text, self.toolbox.names()

    async def step(self, state: State) -> Action:
        self._history.extend(state.history)
        if self._overtaken(state):
            self._planned.clear()
        if not self._planned:
            system, _ = self.system_message(state)
            history = self._history.messages(await self._urls())
            messages = [Message(role="system", content=system), *history]
            response = await self.complete(messages, self.toolbox.descriptions())
            self._planned.extend(actions_of(response, self.toolbox))
        return self._planned.popleft()

    async def _urls(self) -> Urls | None:
        """The images that the model is to see; None where it sees none, or there are none."""
        if not self._history.images or not await self.llm.sees_images():
            return None
        return await self._drawn.urls(in_view(self._history.images))

    def _overtaken(self, state: State) -> bool:
        match next(filter(_is_of_agent, reversed(state.history)), None):
            case UserRejectObservation() | ErrorObservation(code="interrupted" | "stopped"):
                return True
        return bool(state.queued)


def _is_of_agent(event: Event) -> bool:
    """Whether this is about what the agent did, and not about what its sandbox may reach."""
    return not isinstance(event, NetworkAccessAction | NetworkRefusedObservation)


def actions_of(response: Response, toolbox: Toolbox) -> list[Action]:
    """The actions that a model's response means, which calls tools of `toolbox`.

    Raises
    ------
    ModelError
        When the response is empty.
    """
    if response.tool_calls:
        ids = _distinct_ids(response)
        actions = [
            _action_of(call, id, response, toolbox)
            for call, id in zip(response.tool_calls, ids, strict=True)
        ]
        if response.text and not actions[0].thought:
            actions[0] = msgspec.structs.replace(actions[0], thought=response.text)
        return actions
    if response.text.strip():
        call = ModelCall(response_id=response.id, model=response.model)
        return [AgentMessageAction(content=response.text, wait_for_response=True, llm=call)]
    raise ModelError(
        "model_empty",
        f"The model {response.model} answered with nothing.",
        "Press run to ask it again, or choose another model.",
    )


def _distinct_ids(response: Response) -> list[str]:
    """Ids of the tool calls; some servers give all of them the same, or none."""
    ids = [call.id for call in response.tool_calls]
    if all(ids) and len(set(ids)) == len(ids):
        return ids
    return [f"{response.id}-{index}" for index in range(len(ids))]


def _action_of(call: ToolCall, call_id: str, response: Response, toolbox: Toolbox) -> Action:
    origin = ModelCall(
        response_id=response.id,
        model=response.model,
        tool_call_id=call_id,
        tool_name=call.name,
    )
    try:
        action = toolbox.parse(call.name, call.arguments)
    except ValueError as error:
        action = InvalidToolCallAction(message=str(error))
    if arguments_of(action) is None:
        origin = msgspec.structs.replace(origin, arguments=call.arguments)
    return msgspec.structs.replace(action, llm=origin)


@cache
def _template(name: str) -> jinja2.Template:
    folder = Path(__file__).parent / "prompts"
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder),
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=False,
    )
    return environment.get_template(name)
