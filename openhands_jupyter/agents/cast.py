"""The agents of one session, each made when it first acts."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from ..events import State
from .base import Agent


class Cast:
    """The agents of one session, each made when it first acts.

    Parameters
    ----------
    find
        Gives the class of an agent by its name, on a thread, for it may import it.
    make
        Makes an agent of a class.
    """

    def __init__(
        self, find: Callable[[str], type[Agent]], make: Callable[[type[Agent]], Agent]
    ) -> None:
        self._find = find
        self._make = make
        self._name = ""
        self._agent: Agent | None = None

    @classmethod
    def of(cls, agent: Agent) -> Cast:
        """A cast of one agent, whatever name is asked for."""
        return cls(lambda name: type(agent), lambda kind: agent)

    async def acting(self, state: State) -> Agent:
        """The agent whose turn it is.

        Raises
        ------
        Invalid
            When there is none of that name, or it cannot be loaded.
        """
        if self._agent is None or self._name != state.agent:
            kind = await asyncio.to_thread(self._find, state.agent)
            self._name, self._agent = state.agent, self._make(kind)
        return self._agent
