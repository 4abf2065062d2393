"""Instructions and skills that an agent was given, and why."""

from __future__ import annotations

from typing import Literal

import msgspec

from .event import Action, Observation

SkillOrigin = Literal["person", "workspace"]
"""Whose it is: of the home folder, so the person's own, or of the workspace, so anybody's."""

SkillReason = Literal["always", "word", "command", "path", "asked"]


class SkillInfo(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A skill whose text the agent gets when it asks for it.

    Attributes
    ----------
    name
        What it is called by.
    description
        When it is of use, in its own words.
    origin
        Whose it is.
    path
        Its file, below the workspace or the home folder.
    """

    name: str
    description: str = ""
    origin: SkillOrigin = "workspace"
    path: str = ""


class SkillsObservation(Observation, frozen=True, kw_only=True, tag=True):
    """Which skills there are; told when there are others than were told before.

    Attributes
    ----------
    skills
        Those that the agent can ask for.
    problems
        What is wrong with files of instructions that are left out, a sentence each.
    at_start
        Whether they stand at the beginning of the prompt, and not where they came.
    """

    skills: list[SkillInfo] = []
    problems: list[str] = []
    at_start: bool = False


class SkillObservation(Observation, frozen=True, kw_only=True, tag=True):
    """The agent was given the text of a skill, or of a file of instructions.

    Attributes
    ----------
    name, origin, path
        As with `SkillInfo`.
    reason
        Why: ``always`` counts everywhere, ``word`` and ``command`` are in the person's message
        (the ``cause``), ``path`` is where the agent works, ``asked`` answers a `UseSkillAction`.
    trigger
        The word, the command or the path.
    content
        The text, shortened where it is too long.
    digest
        Of the whole text; another one means that it was changed.
    at_start
        Whether it stands at the beginning of the prompt, and not where it came.
    """

    name: str
    origin: SkillOrigin
    path: str
    reason: SkillReason
    trigger: str = ""
    content: str = ""
    digest: str = ""
    at_start: bool = False


class UseSkillAction(Action, frozen=True, kw_only=True, tag=True):
    """Ask for the text of a skill, or for another file of its folder.

    Attributes
    ----------
    skill
        Its name.
    file
        The file, from its folder on; empty for the text.
    """

    skill: str
    file: str = ""
