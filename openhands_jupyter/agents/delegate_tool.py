"""The tool by which an agent gives a task to another one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from ..events import Action, AgentDelegateAction
from ..llm.base import Tool
from .tool_arguments import ToolArguments
from .toolbox import action_of, description_of


class Delegate(ToolArguments, kw_only=True):
    name = "delegate"
    description = (
        "Give a task of its own to another agent and get back what it says at the end. It works "
        "in the same workspace and sandbox, within the same limits, and the user sees its steps. "
        "It knows nothing of this conversation, so tell it all that it needs. For what takes many "
        "steps whose details you do not need."
    )
    action_type = AgentDelegateAction

    agent: Annotated[str, Meta(description="Name of the agent.")]
    task: Annotated[str, Meta(description="What to do, what to know, and what to report.")]


class DelegateTool:
    """The tool `delegate`, for the agents that there are; a `ToolSource`.

    Parameters
    ----------
    agents
        What each of them does, by name.
    """

    def __init__(self, agents: Mapping[str, str]) -> None:
        self._agents = agents
        told = "; ".join(f"{name}: {does}" if does else name for name, does in agents.items())
        tool = description_of(Delegate)
        self._tools = [
            msgspec.structs.replace(
                tool,
                description=f"{tool.description} The agents are {told}",
                parameters=_choosing(tool.parameters, list(agents)),
            )
        ]

    def descriptions(self) -> Sequence[Tool]:
        """The one tool."""
        return self._tools

    def parse(self, name: str, arguments: str) -> Action | None:
        """The task that a call gives; see `ToolSource`."""
        if name != Delegate.name:
            return None
        action = action_of(Delegate, arguments)
        assert isinstance(action, AgentDelegateAction)
        if action.agent not in self._agents:
            raise ValueError(
                f"There is no agent {action.agent!r} to delegate to. The agents are: "
                f"{', '.join(self._agents)}."
            )
        return action


def _choosing(parameters: dict[str, Any], agents: list[str]) -> dict[str, Any]:
    """The schema of the arguments, in which only these agents can be named."""
    properties = parameters["properties"]
    agent = {**properties["agent"], "enum": agents}
    return {**parameters, "properties": {**properties, "agent": agent}}
