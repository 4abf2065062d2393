"""Which hooks there are, in the ways in which people write that down.

Sources of the format: Claude Code's "Hooks reference", and OpenHands' ``hooks.json`` after it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Any, Literal, get_args

import msgspec
from msgspec import Meta

from ..events.hooks import HookEvent

EVENTS: tuple[HookEvent, ...] = get_args(HookEvent)
BLOCKING: frozenset[HookEvent] = frozenset({"PreToolUse", "UserPromptSubmit"})
"""Of these a hook that fails blocks what was to happen."""

TIMEOUT = 60.0

Seconds = Annotated[float, Meta(gt=0, le=600)]
Text = Annotated[str, Meta(min_length=1, max_length=10_000)]


class Hook(msgspec.Struct, frozen=True, kw_only=True):
    """A command that is run when something happens.

    Attributes
    ----------
    event
        What happens.
    command
        What ``/bin/sh`` runs.
    matcher
        A regular expression for the whole name of a tool; empty or ``*`` for all.
    timeout
        Seconds that it may take.
    fails_open
        Whether what it was to judge goes on where it fails.
    """

    event: HookEvent
    command: str
    matcher: str = ""
    timeout: float = TIMEOUT
    fails_open: bool = False

    def matches(self, tool: str) -> bool:
        """Whether it is for this tool; for what is no tool all are."""
        return self.matcher in ("", "*") or not tool or bool(re.fullmatch(self.matcher, tool))


class HookConfig(msgspec.Struct, frozen=True):
    """The hooks, and what is wrong with them.

    Attributes
    ----------
    problems
        What of the person's cannot be understood: nothing may be done before that is mended.
    ignored
        Files of a workspace with hooks, which are not run.
    workspace
        The folder that the session works in.
    """

    hooks: list[Hook] = []
    problems: list[str] = []
    ignored: list[str] = []
    workspace: str = ""


class _Command(msgspec.Struct, forbid_unknown_fields=True):
    command: Text
    type: Literal["command"] = "command"
    timeout: Seconds = TIMEOUT
    fail: Literal["closed", "open"] = "closed"


class _Group(msgspec.Struct, forbid_unknown_fields=True):
    hooks: list[_Command]
    matcher: str = ""


class _Flat(_Command, forbid_unknown_fields=True):
    matcher: str = ""


def read_hooks(
    content: Mapping[str, Any],
    where: str,
    line_of: Callable[[str, int], int | None] = lambda event, index: None,
) -> HookConfig:
    """The hooks of a section ``[hooks]``, or of a ``hooks.json``.

    Parameters
    ----------
    content
        Lists of hooks by event, or that below the key ``hooks``.
    where
        Names the place in problems.
    line_of
        Gives the line of a hook by its event and its place, from 0, where that is known.
    """
    inner = content.get("hooks")
    events = inner if isinstance(inner, dict) else content
    hooks: list[Hook] = []
    problems: list[str] = []
    for event, entries in events.items():
        line = line_of(event, 0)
        at = where if line is None else f"{where}, line {line}"
        if event not in EVENTS:
            problems.append(f"{at}: {event} is no event of hooks ({', '.join(EVENTS)}).")
            continue
        if not isinstance(entries, list):
            problems.append(f"{at}: {event} must be a list of hooks.")
            continue
        for number, entry in enumerate(entries, 1):
            try:
                hooks += _hooks(event, entry)
            except (msgspec.ValidationError, re.error) as error:
                line = line_of(event, number - 1)
                at = where if line is None else f"{where}, line {line}"
                problems.append(f"{at}: hook {number} of {event}: {error}.")
    return HookConfig(hooks, problems)


def _hooks(event: Any, entry: Any) -> Iterator[Hook]:
    if isinstance(entry, dict) and "hooks" in entry:
        group = msgspec.convert(entry, _Group)
        matcher, commands = group.matcher, group.hooks
    else:
        flat = msgspec.convert(entry, _Flat)
        matcher, commands = flat.matcher, [flat]
    if matcher != "*":
        re.compile(matcher)
    for command in commands:
        yield Hook(
            event=event,
            command=command.command,
            matcher=matcher,
            timeout=command.timeout,
            fails_open=command.fail == "open",
        )
