"""The tool by which an agent gets the text of a skill."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated

from msgspec import Meta

from ...events import Action, UseSkillAction
from ...events.skills_told import SkillsTold
from ...llm.base import Tool
from ..tool_arguments import ToolArguments
from ..toolbox import action_of, description_of


class UseSkill(ToolArguments, kw_only=True):
    name = "use_skill"
    description = (
        "Get the text of one of the skills that you were told of, or of a file that its text "
        "names, before you do what it is about. Nothing is executed."
    )
    action_type = UseSkillAction

    skill: Annotated[str, Meta(description="Its name.")]
    file: Annotated[
        str,
        Meta(description="A file of its folder, such as references/api.md; empty for its text."),
    ] = ""


class SkillTool:
    """The tool `use_skill`, where there are skills; a `ToolSource`.

    Parameters
    ----------
    told
        Gives what agents were told of skills.
    """

    def __init__(self, told: Callable[[], SkillsTold]) -> None:
        self._told = told

    def descriptions(self) -> Sequence[Tool]:
        """The one tool, once there was something to use it for."""
        listed = self._told().listed
        return [description_of(UseSkill)] if listed and listed.skills else []

    def parse(self, name: str, arguments: str) -> Action | None:
        """What a call asks for; see `ToolSource`."""
        return action_of(UseSkill, arguments) if name == UseSkill.name else None
