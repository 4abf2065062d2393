"""A file of instructions: what it says of itself, and its text."""

from __future__ import annotations

import hashlib
import re
from typing import Any, Literal

import msgspec
import yaml

from ...events import SkillOrigin

Kind = Literal["always", "words", "task", "asked"]
"""When a text counts: everywhere, with a word, with its command, or when the agent asks for it."""

LONGEST_HEAD = 16_000
"""Characters of what a file says of itself."""

LONGEST_NAME, LONGEST_DESCRIPTION = 64, 1_024
"""Characters, as the Agent Skills specification has them."""

MOST_TRIGGERS = 50

_HEAD = re.compile(r"\A---[ \t]*\r?\n(.*?)^---[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)
_NAME = re.compile(r"[\w][\w.-]*")
_KINDS: dict[str, Kind] = {"repo": "always", "knowledge": "words", "task": "task"}


class Broken(Exception):
    """What is wrong with a file; the message says on which line, where that is known."""


class TaskInput(msgspec.Struct, frozen=True):
    """What the person gives a task, in the place of ``${name}``."""

    name: str
    description: str = ""


class Skill(msgspec.Struct, frozen=True, kw_only=True):
    """A file of instructions.

    Attributes
    ----------
    name, description, origin, path
        As with `SkillInfo`.
    kind
        When it counts.
    triggers
        The words, in lower case.
    inputs
        What a task takes.
    body
        Its text.
    digest
        Of the whole file.
    """

    name: str
    origin: SkillOrigin
    path: str
    kind: Kind
    body: str
    digest: str
    description: str = ""
    triggers: tuple[str, ...] = ()
    inputs: tuple[TaskInput, ...] = ()


class _Head(msgspec.Struct, frozen=True):
    """What OpenHands and the Agent Skills specification have in a head; the rest is ignored."""

    name: str = ""
    description: str = ""
    type: str | None = None
    triggers: list[str] | None = None
    inputs: list[TaskInput] | None = None


def instructions(content: bytes, path: str, origin: SkillOrigin) -> Skill:
    """A file that is instructions from its first line on, such as ``AGENTS.md``.

    Raises
    ------
    Broken
        When it is no text.
    """
    return Skill(
        name=path, origin=origin, path=path, kind="always", body=_text(content), digest=_of(content)
    )


def microagent(content: bytes, path: str, origin: SkillOrigin, name: str) -> Skill:
    """A microagent of OpenHands: always on, or with words or a command that bring it up.

    Parameters
    ----------
    content, path, origin
        The file.
    name
        What it is called where it does not say so itself.

    Raises
    ------
    Broken
        When it cannot be understood.
    """
    head, body = _split(content)
    triggers = tuple(dict.fromkeys(word.strip().lower() for word in head.triggers or () if word))
    name = _checked_name(head.name or name)
    if head.type is not None and head.type not in _KINDS:
        raise Broken(f"its type must be one of {', '.join(_KINDS)}, not {head.type[:40]!r}")
    if len(triggers) > MOST_TRIGGERS:
        raise Broken(f"it has more than {MOST_TRIGGERS} triggers")
    kind: Kind = "task" if head.inputs else "words" if triggers else "always"
    kind = _KINDS[head.type] if head.type else kind
    if kind == "words" and not triggers:
        raise Broken("it is of the type knowledge and has no triggers, so nothing brings it up")
    if kind == "task":
        triggers = tuple(dict.fromkeys([*(word for word in triggers), f"/{name.lower()}"]))
    return Skill(
        name=name,
        origin=origin,
        path=path,
        kind=kind,
        body=body,
        digest=_of(content),
        description=_line(head.description),
        triggers=triggers,
        inputs=tuple(head.inputs or ()),
    )


def folder_skill(content: bytes, path: str, origin: SkillOrigin, folder: str) -> Skill:
    """A ``SKILL.md``, of which the agent is told the description and asks for the rest.

    Raises
    ------
    Broken
        When it does not say what it is for.
    """
    head, body = _split(content)
    if not head.description.strip():
        raise Broken("it has no description at its head, between two lines of ---")
    return Skill(
        name=_checked_name(head.name or folder),
        origin=origin,
        path=path,
        kind="asked",
        body=body,
        digest=_of(content),
        description=_line(head.description),
        triggers=tuple(word.strip().lower() for word in head.triggers or () if word.strip()),
    )


def _split(content: bytes) -> tuple[_Head, str]:
    text = _text(content)
    found = _HEAD.match(text)
    if found is None:
        if text.startswith("---\n"):
            raise Broken("line 1: what begins with --- has no second line of --- that ends it")
        return _Head(), text
    if len(found[1]) > LONGEST_HEAD:
        raise Broken(f"what it says of itself is longer than {LONGEST_HEAD:,} characters")
    return _head(found[1]), text[found.end() :]


def _head(text: str) -> _Head:
    try:
        given: Any = yaml.safe_load(text)
    except yaml.MarkedYAMLError as error:
        # The first line of the file is the one of dashes, and YAML counts from 0.
        line = error.problem_mark.line + 2 if error.problem_mark else 1
        raise Broken(f"line {line}: {error.problem or 'it is not YAML'}") from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise Broken(f"its head is not YAML ({str(error)[:200]})") from error
    if given is None:
        return _Head()
    if not isinstance(given, dict):
        raise Broken("line 2: its head must be names with values")
    known = {key: given[key] for key in _Head.__struct_fields__ if given.get(key) is not None}
    if isinstance(known.get("triggers"), str):
        known["triggers"] = [known["triggers"]]
    try:
        return msgspec.convert(known, _Head)
    except msgspec.ValidationError as error:
        raise Broken(_where(error, text)) from error


def _where(error: msgspec.ValidationError, text: str) -> str:
    """The line of the key that an error is about, and what is wrong."""
    found = re.search(r"\$\.(\w+)", str(error))
    key = found[1] if found else ""
    lines = (n for n, line in enumerate(text.split("\n"), 2) if line.startswith(f"{key}:"))
    return f"line {next(lines, 2)}: {error}"


def _text(content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise Broken(f"line {line}: it is not UTF-8 text") from error


def _checked_name(name: str) -> str:
    if len(name) > LONGEST_NAME or not _NAME.fullmatch(name):
        raise Broken(
            f"{name[:LONGEST_NAME]!r} is no name: letters, digits, dots and dashes make one"
        )
    return name


def _line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_DESCRIPTION else line[: LONGEST_DESCRIPTION - 1] + "…"


def _of(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]
