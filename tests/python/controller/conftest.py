"""A controller over a real log, gate and sandbox, with an agent that plays a script."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from session_tools import events, until
from waiting import PATIENCE

from openhands_jupyter.agents import Agent, Cast
from openhands_jupyter.controller import AgentController
from openhands_jupyter.events import (
    Action,
    AgentStateChangedObservation,
    Event,
    EventStream,
    FinishAction,
    State,
    UserMessageAction,
)
from openhands_jupyter.hooks import HookConfig
from openhands_jupyter.runtime import SandboxRuntime
from openhands_jupyter.runtime.base import Runtime
from openhands_jupyter.security import Gate

Step = Action | Exception | Callable[[State], Awaitable[Action]]


class ScriptedAgent(Agent):
    """Plays a list of actions, then finishes; a function is awaited, an exception raised."""

    name = "scripted"

    def __init__(self, script: list[Step]) -> None:
        self.script = list(script)
        self.seen: list[int] = []

    async def step(self, state: State) -> Action:
        self.seen.append(state.last_id)
        step = self.script.pop(0) if self.script else FinishAction(message="done")
        if isinstance(step, BaseException):
            raise step
        return await step(state) if callable(step) else step


class Bench:
    """A session's parts, and the few things that a test does with them."""

    def __init__(
        self,
        folder: Path,
        workspace: Path,
        script: list[Step],
        runtime: Runtime,
        hooks: Callable[[], HookConfig] = HookConfig,
    ) -> None:
        self.log = folder / "events.jsonl"
        self.stream = EventStream(folder)
        self.state = State()
        while self.state.last_id < self.stream.last_id:
            for event in self.stream.read(after=self.state.last_id, limit=1000):
                self.state.apply(event)
        self.agent = ScriptedAgent(script)
        self.controller = AgentController(
            self.stream,
            self.state,
            Cast.of(self.agent),
            Gate(workspace),
            runtime,
            hooks=hooks,
        )

    def say(self, text: str) -> int:
        return self.stream.append(UserMessageAction(content=text))

    async def until(self, *states: str, after: int = -1) -> AgentStateChangedObservation:
        return await until(self, *states, after=after)

    async def until_event(self, kind: type[Event], after: int = -1) -> Event:
        async with asyncio.timeout(PATIENCE):
            return await self.stream.wait_for(lambda e: isinstance(e, kind), after=after)

    async def until_printed(self, text: str) -> None:
        """Wait until what runs has printed this."""
        printed = ""
        async with asyncio.timeout(PATIENCE):
            async for items in self.stream.live.subscribe():
                printed += "".join(item.text for item in items if item.kind == "output")
                if text in printed:
                    return

    def events(self, *kinds: type[Event]) -> list[Event]:
        return events(self, *kinds)


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    folder.mkdir()
    return folder


@pytest.fixture
def bench(tmp_path: Path, workspace: Path):
    """Opens a bench; opening it again is what a restarted server does."""

    @asynccontextmanager
    async def open_bench(
        *script: Step,
        runtime: Runtime | None = None,
        hooks: Callable[[], HookConfig] = HookConfig,
    ) -> AsyncIterator[Bench]:
        made = Bench(
            tmp_path / "session",
            workspace,
            list(script),
            runtime or SandboxRuntime(workspace),
            hooks,
        )
        try:
            yield made
        finally:
            await made.controller.close()
            await made.stream.close()

    return open_bench
