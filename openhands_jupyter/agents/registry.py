"""Which agents there are: built in, installed as entry points, or named by an import path."""

from __future__ import annotations

import importlib
import inspect
import threading
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Literal

import msgspec

from ..errors import Invalid
from .base import Agent
from .browsing import BrowsingAgent
from .codeact import CodeActAgent
from .planner import PlannerAgent
from .readonly import ReadOnlyAgent
from .swe import SWEAgent

GROUP = "openhands_jupyter.agents"
"""The group of entry points; see the Python Packaging User Guide, "Entry points specification"."""

_BUILT_IN: tuple[type[Agent], ...] = (
    CodeActAgent,
    ReadOnlyAgent,
    PlannerAgent,
    SWEAgent,
    BrowsingAgent,
)
_importing = threading.Lock()


class AgentInfo(msgspec.Struct, frozen=True, kw_only=True):
    """An agent that can be chosen.

    Attributes
    ----------
    name
        What it is chosen by.
    title, description
        What a person is told of it.
    origin
        Where it comes from.
    problem
        Why it cannot be used; empty if it can.
    """

    name: str
    title: str
    description: str = ""
    origin: Literal["built in", "installed", "import path"] = "built in"
    problem: str = ""


def is_import_path(name: str) -> bool:
    """Whether a name says itself what is imported: ``package.module:Class``."""
    return ":" in name


def find(name: str) -> type[Agent]:
    """The agent of this name.

    It may import a module, which takes its time: not to be called on an event loop.

    Parameters
    ----------
    name
        A name of the catalogue, the name of a class that is built in, such as ``CodeActAgent``,
        or an import path. A model or a workspace must not have chosen the last.

    Raises
    ------
    Invalid
        When there is none, or it cannot be loaded; the message says why.
    """
    for agent in _BUILT_IN:
        if name in (agent.name, agent.__name__):
            return agent
    if is_import_path(name):
        return _load(EntryPoint(name=name, value=name, group=GROUP))
    installed = _installed()
    if name in installed:
        return _load(installed[name])
    known = ", ".join([*(agent.name for agent in _BUILT_IN), *installed])
    raise Invalid(
        "unknown_agent",
        f"There is no agent “{name}”.",
        f"The agents are: {known}; or give an import path such as package.module:Class.",
    )


def catalogue(*named: str) -> list[AgentInfo]:
    """All agents that can be chosen, the built-in ones first; it imports them, as `find`.

    Parameters
    ----------
    named
        Import paths that the person uses, to be listed too.
    """
    built_in = [_info(agent.name, agent, "built in") for agent in _BUILT_IN]
    names = [*_installed(), *dict.fromkeys(filter(is_import_path, named))]
    return built_in + [_describe(name) for name in names]


@cache
def delegables() -> dict[str, str]:
    """What each agent does that may be given tasks by others, by name.

    None is imported for it, so of those that are installed only the names are known.
    """
    built_in = {agent.name: agent.description for agent in _BUILT_IN if agent.delegable}
    return built_in | dict.fromkeys(_installed(), "")


def _describe(name: str) -> AgentInfo:
    origin: Literal["installed", "import path"] = (
        "import path" if is_import_path(name) else "installed"
    )
    try:
        return _info(name, find(name), origin)
    except Invalid as error:
        return AgentInfo(name=name, title=name, origin=origin, problem=error.message)


def _info(
    name: str, agent: type[Agent], origin: Literal["built in", "installed", "import path"]
) -> AgentInfo:
    return AgentInfo(
        name=name, title=agent.title or name, description=agent.description, origin=origin
    )


@cache
def _installed() -> dict[str, EntryPoint]:
    """The entry points by name; those that would hide a built-in agent are left out."""
    taken = {name for agent in _BUILT_IN for name in (agent.name, agent.__name__)}
    found = sorted(entry_points(group=GROUP), key=lambda point: point.name)
    return {point.name: point for point in found if point.name not in taken}


def _load(point: EntryPoint) -> type[Agent]:
    path = point.value
    module, _, name = path.partition(":")
    try:
        with _importing:
            agent = getattr(importlib.import_module(module), name)
    except (Exception, SystemExit) as error:
        reason = f"{type(error).__name__}: {error}"
        raise Invalid(
            "agent_not_loaded",
            f"The agent {path} cannot be loaded ({reason}).",
            "Its module must be importable where the Jupyter server runs.",
        ) from error
    if not (isinstance(agent, type) and issubclass(agent, Agent)) or inspect.isabstract(agent):
        raise Invalid(
            "no_agent",
            f"{path} is no agent: it must be a subclass of openhands_jupyter.agents.Agent with a "
            "step method.",
        )
    return agent
