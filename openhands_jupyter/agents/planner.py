"""An agent that makes a plan and hands it over."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Annotated

from msgspec import Meta

from ..events import Action, PlanHandOverAction
from .readonly import READING, ReadOnlyAgent
from .tool_arguments import ToolArguments
from .tools import WriteFile

PlanPath = Annotated[str, Meta(description="A Markdown file, relative to the workspace.")]


class WritePlan(WriteFile, kw_only=True):
    # The name under which a call stands in the prompt afterwards.
    name = WriteFile.name
    description = "Write the plan, whole, into a Markdown file of the workspace. No other files."

    path: PlanPath = "PLAN.md"

    def to_action(self) -> Action:
        if PurePosixPath(self.path).suffix.lower() != ".md":
            raise ValueError("the plan is a Markdown file, such as PLAN.md")
        return super().to_action()


class HandOver(ToolArguments, kw_only=True):
    name = "hand_over"
    description = (
        "Show the user the plan as it stands in the file, and ask whether it shall be carried "
        "out. When they approve it, another agent that can change and run everything goes on. "
        "When they do not, they say why: change the plan and ask again."
    )
    action_type = PlanHandOverAction

    path: PlanPath = "PLAN.md"


class PlannerAgent(ReadOnlyAgent):
    """Looks, asks and writes a plan; when the person approves it, CodeAct carries it out."""

    name = "planner"
    title = "Planner"
    description = "Looks, asks and writes a plan; CodeAct carries it out when you approve it."
    delegable = False
    template = "planner.j2"
    tools = (*READING, WritePlan, HandOver)
