"""Asking the agent for its next action, and waiting for its provider where that is too busy."""

from __future__ import annotations

import asyncio
import itertools
import random

import msgspec

from ..agents import Agent, Cast
from ..errors import ModelError
from ..events import Action, ModelUsageObservation, SystemMessageAction
from ..llm.base import Delta, Response
from .log import Log

RETRIES = 5
LONGEST_PAUSE = 120.0
"""Seconds; a provider that wants more than that is not waited for."""


class Asking:
    """Has one agent take its steps, and shows and counts what its model answers.

    Parameters
    ----------
    cast
        The agents, of which one decides.
    log
        What it is asked about; model text is shown there as it comes.

    Attributes
    ----------
    asked_at
        Id of the newest event when the agent was last asked; -1 before that.
    """

    def __init__(self, cast: Cast, log: Log) -> None:
        self._cast = cast
        self._log = log
        self.asked_at = -1

    def on_delta(self, delta: Delta) -> None:
        """Show a piece of a model response (given to the agent as its ``on_delta``)."""
        self._log.stream.live.write(delta.kind, self.asked_at, delta.text)

    def on_response(self, response: Response, seconds: float, caller: str) -> None:
        """Count what a model response took (given to the agent as its ``on_response``)."""
        usage = response.usage
        self._log.stream.append(
            ModelUsageObservation(
                cause=self.asked_at,
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
        """The agent's next action; while the provider takes no more requests, wait and ask again.

        Raises
        ------
        ModelError
            When the model cannot be asked.
        TypeError
            When the agent makes an action that is the person's to make.
        """
        agent = await self._cast.acting(self._log.state)
        self._introduce(agent)
        for attempt in itertools.count():
            try:
                return await self._ask(agent)
            except ModelError as error:
                seconds = _pause_before_retry(error, attempt)
                if seconds is None:
                    raise
                await self._wait_for_provider(error, seconds)
        raise AssertionError("unreachable")

    async def _ask(self, agent: Agent) -> Action:
        state = self._log.state
        self.asked_at = state.last_id
        cause = state.history[-1].id if state.history else None
        try:
            action = await agent.step(state)
        finally:
            self._log.stream.live.end(self.asked_at)
        if action.usual_source == "user":
            raise TypeError(f"an agent may not make a {type(action).__name__}")
        return msgspec.structs.replace(action, source="agent", cause=cause, id=-1)

    async def _wait_for_provider(self, error: ModelError, seconds: float) -> None:
        hint = f"It is asked again in {seconds:.0f} seconds. Stop, or choose another model."
        self._log.set_state("rate_limited", error.message, code=error.code, hint=hint)
        await asyncio.sleep(seconds)
        self._log.set_state("running")

    def _introduce(self, agent: Agent) -> None:
        """Put on the log what the agent was told at first, once."""
        state = self._log.state
        if state.has_system_message or not (text := agent.system_message(state)):
            return
        content, tools = text
        name = agent.name
        self._log.stream.append(
            SystemMessageAction(source="agent", content=content, tools=tools, agent=name)
        )


def _pause_before_retry(error: ModelError, attempt: int) -> float | None:
    """Seconds to wait before the model is asked again; None where that makes no sense."""
    if error.code != "model_rate_limited" or attempt >= RETRIES:
        return None
    wanted = error.retry_after if error.retry_after is not None else 2.0 ** (attempt + 1)
    if wanted > LONGEST_PAUSE:
        return None
    # So that sessions that were refused together do not come back together.
    return wanted + random.uniform(0, 0.1 * wanted)
