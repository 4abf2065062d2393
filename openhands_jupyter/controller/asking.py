"""Asking the agent for its next action."""

from __future__ import annotations

import msgspec

from ..agents import Agent, Cast
from ..agents.skills import Skills
from ..events import Action, ModelUsageObservation, SystemMessageAction
from ..llm.base import Delta, Response
from .log import Log


class Asking:
    """Has one agent take its steps, and shows and counts what its model answers.

    Parameters
    ----------
    cast
        The agents, of which one decides.
    log
        What it is asked about; model text is shown there as it comes.
    skills
        The instructions and skills that agents are given; None where there are none.

    Attributes
    ----------
    asked_at
        Id of the newest event when the agent was last asked; -1 before that.
    asks
        Whether the agent is being asked.
    """

    def __init__(self, cast: Cast, log: Log, skills: Skills | None = None) -> None:
        self._cast = cast
        self._log = log
        self._skills = skills
        if skills is not None:
            log.stream.add_listener(skills.apply)
        self.asked_at = -1
        self.asks = False

    def on_delta(self, delta: Delta) -> None:
        """Show a piece of a model response (given to the agent as its ``on_delta``)."""
        if delta.kind == "void":
            self._log.stream.live.end(self.asked_at)
        else:
            self._log.stream.live.write(delta.kind, self.asked_at, delta.text)

    def on_response(self, response: Response, seconds: float, caller: str) -> None:
        """Count what a model response took (given to the agent as its ``on_response``)."""
        usage = response.usage
        self._log.stream.append(
            ModelUsageObservation(
                cause=self.asked_at,
                agent_path=self._log.state.agent_path,
                response_id=response.id,
                model=response.model,
                caller=caller,
                prompt_tokens=usage.prompt_tokens,
                completion_tokens=usage.completion_tokens,
                cached_tokens=usage.cached_tokens,
                cost=usage.cost,
                seconds=round(seconds, 3),
            )
        )

    async def next_action(self) -> Action:
        """The agent's next action.

        Raises
        ------
        ModelError
            When the model cannot be asked.
        TypeError
            When the agent makes an action that is the person's to make, or something else.
        """
        agent = await self._cast.acting(self._log.state)
        await self._give_skills()
        self._introduce(agent)
        return await self._ask(agent)

    async def _ask(self, agent: Agent) -> Action:
        state = self._log.state
        self.asked_at, self.asks = state.last_id, True
        cause = state.history[-1].id if state.history else None
        try:
            action: object = await agent.step(state)
        except SystemExit as error:
            # An agent of somebody else's must not end the server.
            raise RuntimeError(f"SystemExit: {error}") from error
        finally:
            self.asks = False
            self._log.stream.live.end(self.asked_at)
        if not isinstance(action, Action):
            kind = type(action).__name__
            raise TypeError(f"step of the agent {agent.name} gave a {kind}, which is no action")
        if action.usual_source == "user":
            raise TypeError(f"an agent may not make a {type(action).__name__}")
        return msgspec.structs.replace(action, source="agent", cause=cause, id=-1)

    async def _give_skills(self) -> None:
        """Put on the log which instructions and skills came up since the last step."""
        if self._skills is None:
            return
        state = self._log.state
        for told in await self._skills.news(state):
            self._log.stream.append(msgspec.structs.replace(told, agent_path=state.agent_path))

    def _introduce(self, agent: Agent) -> None:
        """Put on the log what the agent was told at first, once."""
        state = self._log.state
        if state.has_system_message or not (text := agent.system_message(state)):
            return
        content, tools = text
        name = agent.name
        self._log.append(
            SystemMessageAction(source="agent", content=content, tools=tools, agent=name)
        )
