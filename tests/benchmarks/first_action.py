"""What a person waits for the first action of a session, with and without a sandbox that is ready.

From the message to the observation, through log, gate, controller and sandbox, with an agent that
does not think. The floor is the same for a message later in the session.
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from pathlib import Path

from measure import Row, medians

from openhands_jupyter.agents import Agent, Cast
from openhands_jupyter.controller import AgentController
from openhands_jupyter.events import (
    Action,
    CmdRunAction,
    Event,
    EventStream,
    FinishAction,
    IPythonRunCellAction,
    State,
    UserMessageAction,
)
from openhands_jupyter.runtime import SandboxRuntime
from openhands_jupyter.security import Gate

COMMAND = CmdRunAction(command="echo step")
CELL = IPythonRunCellAction(code="1 + 1")


class OneAction(Agent):
    """Answers each message with one action."""

    name = "one action"

    def __init__(self, action: Action) -> None:
        self._action = action

    async def step(self, state: State) -> Action:
        asked = isinstance(state.history[-1], UserMessageAction)
        return self._action if asked else FinishAction(message="Done.")


def rows(rounds: int = 5) -> list[Row]:
    """First command and first cell, ready and not."""
    found = []
    for name, action in (("command", COMMAND), ("cell", CELL)):
        figures = medians(
            {
                "ready": lambda action=action: first(action, prewarmed=True),
                "cold": lambda action=action: first(action, prewarmed=False),
                "later": lambda action=action: later(action),
            },
            rounds,
        )
        ready, cold, usual = figures["ready"], figures["cold"], figures["later"]
        found += [
            Row(f"message until its first {name} is done, prewarmed", ready, usual, "ms", "≤ 50"),
            Row(f"message until its first {name} is done, not prewarmed", cold, usual, "ms"),
        ]
    return found


def first(action: Action, prewarmed: bool) -> float:
    return run(action, prewarmed, messages=1)


def later(action: Action) -> float:
    return run(action, True, messages=3)


def run(action: Action, prewarmed: bool, messages: int) -> float:
    with tempfile.TemporaryDirectory() as folder:
        workspace = Path(folder, "workspace")
        workspace.mkdir()
        return asyncio.run(measure(Path(folder), workspace, action, prewarmed, messages))


async def measure(
    folder: Path, workspace: Path, action: Action, prewarmed: bool, messages: int
) -> float:
    """Milliseconds from the last message to the observation of its action."""
    stream = EventStream(folder / "session")
    runtime = SandboxRuntime(workspace)
    controller = AgentController(
        stream, State(), Cast.of(OneAction(action)), Gate(workspace), runtime
    )
    if prewarmed:
        await controller.sandbox.prewarm()
        await runtime._kernel._starting
    milliseconds = 0.0
    for _ in range(messages):
        started = time.perf_counter()
        message = stream.append(UserMessageAction(content="Go"))
        await stream.wait_for(answers, after=message)
        milliseconds = (time.perf_counter() - started) * 1000
        await stream.wait_for(lambda e: getattr(e, "state", "") == "finished", after=message)
    await controller.close()
    await stream.close()
    return milliseconds


def answers(event: Event) -> bool:
    return type(event).__name__.endswith("OutputObservation")
