"""What the person's own hooks had to say."""

from __future__ import annotations

from typing import Literal

from .event import Observation

HookEvent = Literal[
    "PreToolUse", "PostToolUse", "UserPromptSubmit", "SessionStart", "SessionEnd", "Stop"
]
HookOutcome = Literal["blocked", "asked", "told", "failed", "ignored"]


class HookObservation(Observation, frozen=True, kw_only=True, tag=True):
    """A hook did something; one that has nothing against it leaves no trace.

    Attributes
    ----------
    event
        What it was run for.
    command
        The hook.
    outcome
        ``blocked`` what was to happen, had the person ``asked``, ``told`` the agent something,
        ``failed`` without blocking anything, or was ``ignored``, since a workspace has it.
    content
        Why, or what the agent is told.
    tool
        The tool that it was about, if one was.
    """

    event: HookEvent
    command: str
    outcome: HookOutcome
    content: str = ""
    tool: str = ""
