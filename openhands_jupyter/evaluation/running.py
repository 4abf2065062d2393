"""Has an agent do tasks, each in a session of its own, and checks what became of the workspace."""

from __future__ import annotations

import asyncio
import shutil
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import suppress

import msgspec

from ..config import Config
from ..errors import Conflict, OpenHandsError
from ..events import AgentStateChangedObservation, CmdOutputObservation, CmdRunAction, State
from ..session import Session, SessionManager
from ..session.following import until_rest
from ..session.runtime import make_runtime
from .tasks import Task

NOBODY_TO_ASK = "Nobody can be asked during an evaluation."
CHECKING_LIMIT = 300.0
"""Seconds that a checker may take."""

LONGEST_REASON = 300
"""Characters."""


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """What came of one task.

    Attributes
    ----------
    passed
        Whether the checker found what was asked for.
    reason
        Why not; empty if it passed.
    ended
        The session's state when the agent had done with it; ``timeout`` when its time was up.
    steps, tokens
        Steps of the agent; tokens of all its model calls.
    cost
        US dollars; None where a price is not known.
    seconds
        From the prompt until the agent had done.
    log
        The session's log.
    """

    task: str
    passed: bool
    reason: str = ""
    ended: str = ""
    steps: int = 0
    tokens: int = 0
    cost: float | None = None
    seconds: float = 0.0
    log: str = ""


class Evaluation:
    """Runs tasks, some at a time.

    Each runs in Auto mode in a copy of its workspace, in a sandbox without network unless the
    settings say otherwise; whatever is to be asked all the same is refused. The checker runs in
    another sandbox, so that nothing that the agent left running meddles with it, and what it
    executes of the agent's is no more on this machine than it was before.

    Parameters
    ----------
    config
        The settings in force; the root is the folder for the workspaces, and has to be empty.
    at_once
        How many tasks run at a time.
    """

    def __init__(self, config: Config, at_once: int = 1) -> None:
        self._config = config
        self._places = asyncio.Semaphore(at_once)
        self._manager = SessionManager(config)

    async def results(self, tasks: Sequence[Task]) -> AsyncGenerator[Result]:
        """Run the tasks; the results come in the order of their ends.

        Raises
        ------
        OpenHandsError
            When nothing can be begun, as where no sandbox works.
        """
        running = [asyncio.create_task(self._result(task)) for task in tasks]
        try:
            for ended in asyncio.as_completed(running):
                yield await ended
        finally:
            for task in running:
                task.cancel()
            await asyncio.gather(*running, return_exceptions=True)

    async def close(self) -> None:
        """End everything that runs."""
        await self._manager.close()

    async def _result(self, task: Task) -> Result:
        async with self._places:
            workspace = self._config.root / task.name
            await asyncio.to_thread(shutil.copytree, task.workspace, workspace)
            session = await self._manager.create(title=task.title, workspace=task.name, mode="auto")
            session.change_settings(step_limit=task.steps)
            await self._manager.mcp.known(session.id)
            started = time.monotonic()
            ended, reason = await self._done(session, task)
            seconds = time.monotonic() - started
            await session.release_sandbox("The task is over.")
            if not reason:
                reason = await self._objection(session, task)
            return self._told(session, task, ended, reason, seconds)

    def _told(
        self, session: Session, task: Task, ended: str, reason: str, seconds: float
    ) -> Result:
        state = session.controller.state
        ledger = state.spent
        return Result(
            task=task.name,
            passed=not reason,
            reason=reason,
            ended=ended,
            steps=state.steps,
            tokens=ledger.tokens,
            cost=None if ledger.unpriced_tokens else ledger.cost,
            seconds=round(seconds, 1),
            log=str(self._config.sessions_folder / session.id / "events.jsonl"),
        )

    async def _done(self, session: Session, task: Task) -> tuple[str, str]:
        """How the agent ended, and what is wrong with that alone; usually nothing is."""
        first = session.send_message(task.prompt)
        try:
            async with asyncio.timeout(task.seconds):
                ended = await self._end(session, first)
        except TimeoutError:
            # It may have come to rest in this very moment.
            with suppress(Conflict):
                await self._end(session, session.command("stop"))
            return "timeout", f"It was not done within {task.seconds:g} seconds."
        if ended.state == "error":
            return "error", f"{ended.reason} {ended.hint}".strip()
        return ended.state, ""

    async def _end(self, session: Session, after: int) -> AgentStateChangedObservation:
        """Wait until the agent does nothing more; whatever it asks for meanwhile is refused."""

        async def refuse(action_id: int) -> bool:
            session.confirm(action_id, "reject", NOBODY_TO_ASK)
            return True

        return await until_rest(session, after, refuse)

    async def _objection(self, session: Session, task: Task) -> str:
        """What the checker objects to in the workspace; empty if nothing."""
        runtime = make_runtime(self._config, session.info(), State(), None, None)
        try:
            path = await runtime.bring(f"{task.name}.pyz", task.checker)
            # -P: what the agent made must not take the place of a module that the checker imports.
            command = CmdRunAction(command=f"python -P {path}", timeout=CHECKING_LIMIT)
            observation = await runtime.run_action(command, lambda _: None)
        except OpenHandsError as error:
            return f"It could not be checked: {error.message}"
        finally:
            await runtime.close()
        if not isinstance(observation, CmdOutputObservation):
            return f"It could not be checked: {getattr(observation, 'message', 'no answer')}"
        if observation.exit_code == 0:
            return ""
        return _last_line(str(observation.content)) or "The checker failed without a word."


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:LONGEST_REASON] if lines else ""
