"""Handing a plan over to the agent that carries it out, when the person has approved it."""

from __future__ import annotations

import msgspec

from ..events import (
    Action,
    ErrorObservation,
    FileReadAction,
    FileReadObservation,
    Observation,
    PlanHandOverAction,
    PlanHandOverObservation,
)
from ..runtime.base import OutputCallback, Runtime

CHANGED = ErrorObservation(
    code="plan_changed",
    message="The plan was changed while the person looked at it, so it was not handed over.",
    hint="Read it again, and ask once more.",
)


class HandingOver:
    """Hands a plan over; an `Executor`.

    The person sees what stands in the file when they are asked, and just that is handed over.

    Parameters
    ----------
    sandbox
        Reads the file.
    """

    def __init__(self, sandbox: Runtime) -> None:
        self._sandbox = sandbox

    def takes(self, action: Action) -> bool:
        """Whether an action hands a plan over."""
        return isinstance(action, PlanHandOverAction)

    async def prepare(self, action: Action) -> Action | Observation:
        """Read the plan, for the person to see; see `Runtime.prepare`."""
        assert isinstance(action, PlanHandOverAction)
        read = await self._read(action.path)
        if not isinstance(read, FileReadObservation):
            return read
        if read.is_dir or not read.content.strip():
            return ErrorObservation(
                code="no_plan",
                message=f"No plan stands in {action.path}.",
                hint="Write it first.",
            )
        return msgspec.structs.replace(action, plan=read.content)

    async def run(self, action: Action, on_output: OutputCallback) -> Observation:
        """Hand the plan over as it was approved; see `Runtime.run_action`."""
        assert isinstance(action, PlanHandOverAction)
        read = await self._read(action.path)
        if not isinstance(read, FileReadObservation) or read.content != action.plan:
            return CHANGED
        return PlanHandOverObservation(path=action.path, plan=action.plan, agent=action.agent)

    async def _read(self, path: str) -> Observation:
        return await self._sandbox.run_action(FileReadAction(path=path), lambda text: None)
