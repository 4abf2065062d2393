"""The agents of one session, each made when it first acts."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from ..errors import Invalid
from ..events import State
from .base import Agent
from .registry import is_import_path


class Cast:
    """The agents of one session, each made when it first acts.

    Parameters
    ----------
    find
        Gives the class of an agent by its name, on a thread, for it may import it.
    make
        Makes an agent of a class; told whether it may give tasks to others.
    """

    def __init__(
        self, find: Callable[[str], type[Agent]], make: Callable[[type[Agent], bool], Agent]
    ) -> None:
        self._find = find
        self._make = make
        self._agents: dict[tuple[int, ...], tuple[str, Agent]] = {}

    @classmethod
    def of(cls, agent: Agent) -> Cast:
        """A cast of one agent, whatever name is asked for."""
        return cls(lambda name: type(agent), lambda kind, delegates: agent)

    async def acting(self, state: State) -> Agent:
        """The agent at work: the session's, or a delegate.

        Raises
        ------
        Invalid
            When there is none of that name, or it cannot be loaded.
        """
        path, name = tuple(state.agent_path), state.acting
        # Whoever has ended its work is not needed again.
        self._agents = {at: made for at, made in self._agents.items() if path[: len(at)] == at}
        known = self._agents.get(path)
        if known is not None and known[0] == name:
            return known[1]
        if path and is_import_path(name):
            # A model may have written it.
            raise Invalid("unknown_agent", f"{name} is no agent that a task can be given to.")
        kind = await asyncio.to_thread(self._find, name)
        agent = self._make(kind, state.may_delegate)
        self._agents[path] = (name, agent)
        return agent
