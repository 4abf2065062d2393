"""Which texts come up: with a session, a message, a place that is worked in, or a call."""

from __future__ import annotations

import asyncio
import posixpath
import re
import shlex
from collections.abc import Iterator

from ...events import (
    Action,
    CmdOutputObservation,
    ErrorObservation,
    Event,
    IPythonOutputObservation,
    Observation,
    SkillObservation,
    SkillReason,
    SkillsObservation,
    State,
    UserMessageAction,
    UseSkillAction,
)
from ...events.blobs import cut
from .library import Found, Library
from .parsing import Skill

LONGEST = 20_000
"""Characters of one text that a model is given."""

LONGEST_AT_START = 40_000
"""Characters of those together that stand in every prompt."""

MOST_AT_ONCE = 8
"""Texts that one message brings up."""

_COMMAND = re.compile(r"\s*(/[\w.-]+)(?:\s+(.*))?\Z", re.DOTALL)
_VARIABLE = re.compile(r"\$\{(\w+)\}")


class Skills:
    """What the agents of one session are given of instructions and skills.

    It watches the log, and is asked before each step of an agent for what that brings up. Where
    nothing does, that costs nothing.

    Parameters
    ----------
    library
        The files that there are.
    """

    def __init__(self, library: Library) -> None:
        self._library = library
        self._found: Found | None = None
        self._new: list[Event] = []

    def apply(self, event: Event) -> None:
        """Take in the next event of the log."""
        if isinstance(event, UserMessageAction | UseSkillAction) or any(_places(event)):
            self._new.append(event)

    async def news(self, state: State) -> list[Observation]:
        """What the agent at work is to be given before its next step, for the log.

        Parameters
        ----------
        state
            The session so far.
        """
        if self._found is not None and not self._new:
            return []
        new = list(self._new)
        news = await asyncio.to_thread(self._news, state, new)
        del self._new[: len(new)]
        return news

    def _news(self, state: State, new: list[Event]) -> list[Observation]:
        news: list[Observation] = []
        if self._found is None or any(isinstance(event, UserMessageAction) for event in new):
            self._found = self._library.look()
            news += self._of_all(state, self._found)
        fresh = _Fresh(state, news)
        for event in new:
            if isinstance(event, UserMessageAction):
                fresh.add(self._of_message(event, self._found))
            elif isinstance(event, UseSkillAction):
                news.append(self._answer(event, self._found))
            else:
                fresh.add(self._of_places(event))
        return news

    def _of_all(self, state: State, found: Found) -> Iterator[Observation]:
        """What there is, and what always counts, as far as it is news."""
        at_start = state.steps == 0 and not state.has_system_message and not state.delegations
        listed, told = found.listed(), state.skills.listed
        before = (told.skills, told.problems) if told else ([], [])
        if (listed, found.problems) != before:
            yield SkillsObservation(skills=listed, problems=found.problems, at_start=at_start)
        room = LONGEST_AT_START
        for skill in found.always():
            if _is_news(state, skill):
                text = _text(skill, skill.body, min(LONGEST, room))
                room -= len(text) if at_start else 0
                yield _told(skill, "always", text=text, at_start=at_start)

    def _of_message(self, event: UserMessageAction, found: Found) -> Iterator[SkillObservation]:
        """What a message of the person brings up: by its command, or by whole words."""
        called = _COMMAND.match(event.content)
        message = event.content.lower()
        for skill in found.skills:
            if called and called[1].lower() in (f"/{skill.name.lower()}", *skill.triggers):
                text = _with_inputs(skill, called[2] or "")
                yield _told(skill, "command", called[1], event.id, text)
            elif skill.kind != "always" and (word := _word_in(message, skill)):
                yield _told(skill, "word", word, event.id)

    def _of_places(self, event: Event) -> Iterator[SkillObservation]:
        """The instructions that are nearest to where the agent works."""
        for path in _places(event):
            if skill := self._library.nearest(path):
                cause = event.cause if isinstance(event, Observation) else event.id
                yield _told(skill, "path", posixpath.dirname(skill.path), cause)

    def _answer(self, event: UseSkillAction, found: Found) -> Observation:
        name = event.skill.removeprefix("/").lower()
        skill = next((s for s in found.skills if s.name.lower() == name), None)
        if skill is None:
            names = ", ".join(info.name for info in found.listed())
            return ErrorObservation(
                cause=event.id,
                code="skill_unknown",
                message=f"There is no skill {event.skill[:80]!r}. The skills are: {names}.",
            )
        if not event.file:
            return _told(skill, "asked", event.skill, event.id)
        try:
            content = self._library.file_of(skill, event.file).decode()
        except (OSError, UnicodeDecodeError) as error:
            why = (error.strerror if isinstance(error, OSError) else "") or str(error)
            return ErrorObservation(
                cause=event.id,
                code="skill_file",
                message=f"The file {event.file[:200]!r} of {skill.name} cannot be read: {why}.",
            )
        return _told(skill, "asked", event.file, event.id, _text(skill, content))


class _Fresh:
    """Takes in what comes up, each text once."""

    def __init__(self, state: State, news: list[Observation]) -> None:
        self._state = state
        self._news = news
        self._keys = {_key(told) for told in news if isinstance(told, SkillObservation)}

    def add(self, texts: Iterator[SkillObservation]) -> None:
        """Keep those that are news, as many as one message may bring up."""
        count = 0
        for told in texts:
            is_news = told.reason == "command" or _is_news(self._state, told)
            if is_news and _key(told) not in self._keys and count < MOST_AT_ONCE:
                self._keys.add(_key(told))
                self._news.append(told)
                count += 1


def _key(told: SkillObservation) -> tuple[str, str]:
    return told.origin, told.path


def _is_news(state: State, of: Skill | SkillObservation) -> bool:
    """Whether the agent at work does not see the text, or an older one."""
    return state.skills.digest(state.agent_path, of.origin, of.path) != of.digest


def _told(
    skill: Skill,
    reason: SkillReason,
    trigger: str = "",
    cause: int | None = None,
    text: str | None = None,
    at_start: bool = False,
) -> SkillObservation:
    return SkillObservation(
        cause=cause,
        name=skill.name,
        origin=skill.origin,
        path=skill.path,
        reason=reason,
        trigger=trigger,
        content=_text(skill, skill.body) if text is None else text,
        digest=skill.digest,
        at_start=at_start,
    )


def _text(skill: Skill, body: str, longest: int = LONGEST) -> str:
    """As much of a text as a model is given, and where the rest is."""
    if len(body) <= longest:
        return body
    return f"{cut(body, max(longest, 200))}\n[Shortened. The whole is in {skill.path}.]"


def _word_in(message: str, skill: Skill) -> str:
    """The trigger that a message has as a whole word; empty if it has none."""
    for word in skill.triggers:
        # A command counts at the beginning only, and is no word.
        if not word.startswith("/") and re.search(rf"(?<!\w){re.escape(word)}(?!\w)", message):
            return word
    return ""


def _with_inputs(skill: Skill, arguments: str) -> str:
    """A task with what the person gave it; what is missing is asked for."""
    if not skill.inputs:
        return _text(skill, skill.body)
    try:
        words = shlex.split(arguments)
    except ValueError:
        words = arguments.split()
    pairs = (word.partition("=") for word in words)
    names = [given.name for given in skill.inputs]
    values = {name: value for name, given, value in pairs if given and name in names}
    text = _VARIABLE.sub(lambda found: values.get(found[1], found[0]), skill.body)
    text = _text(skill, text)
    missing = [
        f"{given.name} ({given.description})" if given.description else given.name
        for given in skill.inputs
        if given.name not in values
    ]
    if missing:
        text += (
            f"\n\nNot given, unless the message says it: {', '.join(missing)}. Ask for it first."
        )
    return text


def _places(event: Event) -> Iterator[str]:
    """Paths that an event shows the agent at work in."""
    if isinstance(event, Action):
        path = getattr(event, "path", "") if event.source == "agent" else ""
        if isinstance(path, str) and path:
            yield path
    elif isinstance(event, CmdOutputObservation) and event.cwd:
        yield event.cwd
    elif isinstance(event, IPythonOutputObservation) and event.files:
        yield from event.files.created
        yield from event.files.changed
