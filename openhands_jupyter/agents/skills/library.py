"""The files of instructions that there are now, read again only where they changed."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from ...events import SkillInfo
from .parsing import Broken, Skill, folder_skill, instructions, microagent
from .places import Entry, Place, Stamp

INSTRUCTIONS = "AGENTS.md"
MOST_SKILLS = 100
"""That are told of, of which each takes room in every prompt."""

MOST_PROBLEMS = 20

_Parse = Callable[[bytes], Skill]


class Found(NamedTuple):
    """What was found.

    Attributes
    ----------
    skills
        All, the person's first; no two that are called by name have the same.
    problems
        What is wrong with files that are left out, a sentence each.
    """

    skills: list[Skill]
    problems: list[str]

    def always(self) -> list[Skill]:
        """Those that count everywhere."""
        return [skill for skill in self.skills if skill.kind == "always"]

    def listed(self) -> list[SkillInfo]:
        """Those that the agent can ask for, as it is told of them."""
        return [
            SkillInfo(
                name=skill.name,
                description=skill.description,
                origin=skill.origin,
                path=skill.path,
            )
            for skill in self.skills
            if skill.kind == "asked"
        ][:MOST_SKILLS]


class Library:
    """Finds the files of instructions of a workspace, and the person's own.

    To be called on other threads than the event loop's, one at a time.

    Parameters
    ----------
    workspace
        Has ``AGENTS.md``, also in folders, ``.openhands/microagents/*.md``, and
        ``<name>/SKILL.md`` in ``.openhands/skills`` and ``.agents/skills``.
    home
        The person's own folder, with the same in it without ``.openhands``.
    """

    def __init__(self, workspace: Path, home: Path) -> None:
        self._workspace = Place(workspace, "workspace")
        self._home = Place(home, "person")
        self._kept: dict[tuple[str, str], tuple[Stamp, Skill | Broken]] = {}

    def look(self) -> Found:
        """What there is now. Files that did not change are not read again."""
        skills: dict[str, Skill] = {}
        problems: list[str] = []
        for place, entry, parse in self._all(problems):
            found = self._parsed(place, entry, parse)
            if isinstance(found, Broken):
                problems.append(f"{_shown(place, entry.path)} is left out: {found}.")
            elif (first := skills.setdefault(_key(found), found)) is not found:
                problems.append(
                    f"{_shown(place, entry.path)} is left out: {first.path} has its name already."
                )
        return Found(list(skills.values()), problems[:MOST_PROBLEMS])

    def nearest(self, path: str) -> Skill | None:
        """The instructions of the innermost folder around a path, the workspace itself left out.

        Parameters
        ----------
        path
            From the workspace on, or absolute.
        """
        for folder in _folders(str(self._workspace.folder), path):
            file = f"{folder}/{INSTRUCTIONS}"
            try:
                entry = self._workspace.stat(file)
            except OSError:
                continue
            if entry is not None:
                found = self._parsed(self._workspace, entry, _instructions(self._workspace, file))
                return found if isinstance(found, Skill) else None
        return None

    def file_of(self, skill: Skill, file: str) -> bytes:
        """A file of the folder that a skill is in.

        Raises
        ------
        OSError
            When there is none, or it is elsewhere.
        """
        place = self._workspace if skill.origin == "workspace" else self._home
        folder = (place.folder / posixpath.dirname(skill.path)).resolve()
        if skill.origin == "workspace":
            # Not resolved: it is an agent that may have put links there.
            inside = posixpath.normpath(file)
            if inside.startswith(("/", "..")):
                raise OSError("the path leads out of the folder of the skill")
            return place.read(posixpath.join(posixpath.dirname(skill.path), inside))
        return Place(folder, "workspace").read(file)

    def _all(self, problems: list[str]) -> Iterator[tuple[Place, Entry, _Parse]]:
        for place, prefix, folders in (
            (self._home, "", ("skills",)),
            (self._workspace, ".openhands/", (".openhands/skills", ".agents/skills")),
        ):
            try:
                top = place.stat(INSTRUCTIONS)
                entries = [
                    *([top] if top else []),
                    *place.files(f"{prefix}microagents", ".md"),
                    *(entry for at in folders for entry in place.folders_with(at, "SKILL.md")),
                ]
            except OSError as error:
                problems.append(f"Instructions {_origin(place)} are left out: {_why(error)}.")
                continue
            for entry in entries:
                yield place, entry, _parser(place, entry.path)

    def _parsed(self, place: Place, entry: Entry, parse: _Parse) -> Skill | Broken:
        key = (place.origin, entry.path)
        kept = self._kept.get(key)
        if kept is not None and kept[0] == entry.stamp:
            return kept[1]
        found: Skill | Broken
        try:
            found = parse(place.read(entry.path))
        except Broken as error:
            found = error
        except OSError as error:
            found = Broken(f"it cannot be read ({_why(error)})")
        self._kept[key] = entry.stamp, found
        return found


def _parser(place: Place, path: str) -> _Parse:
    folder, name = posixpath.split(path)
    if name == INSTRUCTIONS:
        return _instructions(place, path)
    if name == "SKILL.md":
        called = posixpath.basename(folder)
        return lambda content: folder_skill(content, path, place.origin, called)
    return lambda content: microagent(content, path, place.origin, name.removesuffix(".md"))


def _instructions(place: Place, path: str) -> _Parse:
    return lambda content: instructions(content, path, place.origin)


def _folders(workspace: str, path: str) -> Iterator[str]:
    """The path and the folders around it, from the inside out, as far as they are below."""
    inside = posixpath.relpath(posixpath.join(workspace, path), workspace)
    while inside not in ("", ".", "/") and not inside.startswith(".."):
        yield inside
        inside = posixpath.dirname(inside)


def _key(skill: Skill) -> str:
    """What no two may have alike: the name, where it is called by that."""
    by_name = skill.kind != "always"
    return skill.name.lower() if by_name else f"{skill.origin}:{skill.path}"


def _why(error: OSError) -> str:
    return error.strerror or str(error)


def _shown(place: Place, path: str) -> str:
    return f"{path} ({_origin(place)})"


def _origin(place: Place) -> str:
    return "of the workspace" if place.origin == "workspace" else "your own"
