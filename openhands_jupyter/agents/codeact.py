"""The CodeAct agent: it acts through code, and through tools that a model calls."""

from __future__ import annotations

from collections import deque
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

import jinja2

from ..events import (
    Action,
    ErrorObservation,
    Event,
    HookObservation,
    LimitWarningObservation,
    NetworkAccessAction,
    NetworkRefusedObservation,
    SkillObservation,
    SkillsObservation,
    State,
    StuckObservation,
    UserRejectObservation,
)
from .base import Agent
from .condensers import make_condenser
from .conversation import Conversation
from .kernel_tools import CopyIn, RunCode
from .run_tools import RunCells
from .skills.telling import beginning
from .tool_arguments import ToolArguments
from .toolbox import Toolbox
from .tools import TOOLS, EditFile, WriteFile
from .web_tools import Browse, Fetch, browser_lacks

REFUSED_IN_ASK = frozenset(
    tool.name for tool in (RunCode, CopyIn, WriteFile, EditFile, RunCells, Fetch, Browse)
)
"""What the gate refuses in Ask mode whatever the arguments are, so that no model tries it."""


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
    delegates = True
    template: ClassVar[str] = "codeact.j2"
    tools: ClassVar[tuple[type[ToolArguments], ...]] = TOOLS

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._planned: deque[Action] = deque()
        self.toolbox = Toolbox(self.tools, self.tool_sources)
        self._conversation = Conversation(
            self, self.toolbox, make_condenser(self.condenser), self.condenser.max_tokens
        )

    def system_message(self, state: State) -> tuple[str, list[str]]:
        """The prompt, which tells the isolation in force and not the one that was asked for."""
        text = _template(self.template).render(
            workspace=self.workspace,
            isolation=state.isolation,
            delegated=bool(state.delegations),
            only_reads=state.mode == "ask",
        )
        return text + beginning(state.skills), self.toolbox.names()

    async def step(self, state: State) -> Action:
        self.toolbox.hidden = _hidden(state)
        if self._overtaken(state):
            self._planned.clear()
        if not self._planned:
            system, _ = self.system_message(state)
            self._planned.extend(await self._conversation.next_actions(state.history, system))
        return self._planned.popleft()

    def _overtaken(self, state: State) -> bool:
        match next(filter(_is_of_agent, reversed(state.history)), None):
            case UserRejectObservation() | ErrorObservation(code="interrupted" | "stopped"):
                return True
            case StuckObservation():
                return True
        return bool(state.queued)


def _hidden(state: State) -> frozenset[str]:
    refused = REFUSED_IN_ASK if state.mode == "ask" else frozenset()
    return refused | {Browse.name} if browser_lacks(state) else refused


def _is_of_agent(event: Event) -> bool:
    """Whether this is about what the agent did, and not about what its sandbox may reach."""
    return not isinstance(
        event,
        HookObservation
        | LimitWarningObservation
        | NetworkAccessAction
        | NetworkRefusedObservation
        | SkillObservation
        | SkillsObservation,
    )


@cache
def _template(name: str) -> jinja2.Template:
    folder = Path(__file__).parent / "prompts"
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder),
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=False,
    )
    return environment.get_template(name)
