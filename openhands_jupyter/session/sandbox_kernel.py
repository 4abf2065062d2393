"""Looking into the session's own kernel, by fixed code that is run as a cell."""

from __future__ import annotations

import asyncio
import time

from ..events import (
    Action,
    ErrorObservation,
    IPythonOutputObservation,
    IPythonRunCellAction,
    KernelInspectAction,
    KernelObservation,
    Masker,
    Observation,
)
from ..notebooks.in_kernel.expressions import expression, told_in
from ..notebooks.showing.variables import UNREADABLE, variables_text
from ..runtime.base import OutputCallback, Runtime

WITHIN = 60.0
"""Seconds, of which a kernel may need most to start."""


class SandboxKernel:
    """Executes what looks into the session's own kernel.

    Parameters
    ----------
    sandbox
        Has the kernel.
    masker
        Knows the secrets.
    """

    def __init__(self, sandbox: Runtime, masker: Masker) -> None:
        self._sandbox = sandbox
        self._masker = masker

    def takes(self, action: Action) -> bool:
        """Whether an action looks into the session's own kernel."""
        return isinstance(action, KernelInspectAction) and action.whose == "sandbox"

    async def prepare(self, action: Action) -> Action | Observation:
        """Nothing is to be found out before; see `Runtime.prepare`."""
        return action

    async def run(self, action: Action, on_output: OutputCallback) -> Observation:
        """Execute an action; see `Runtime.run_action`."""
        assert isinstance(action, KernelInspectAction)
        asked = {
            "names": action.names,
            "query": action.query,
            "depth": action.depth,
            "until": time.time() + WITHIN,
        }
        cell = IPythonRunCellAction(
            id=action.id, code=f"print({expression('describing', asked)})", timeout=WITHIN
        )
        running = asyncio.ensure_future(self._sandbox.run_action(cell, lambda text: None))
        try:
            answer = await asyncio.shield(running)
        except asyncio.CancelledError:
            # The sandbox is interrupted by whoever stops this.
            await asyncio.wait([running])
            return ErrorObservation(code="stopped", message="It was stopped.")
        return self._told(answer)

    def _told(self, answer: Observation) -> Observation:
        if not isinstance(answer, IPythonOutputObservation):
            return answer
        printed = "".join(str(output.text) for output in answer.outputs if output.name == "stdout")
        try:
            content = variables_text(told_in(printed.strip()), self._masker)
        except ValueError:
            return ErrorObservation(code="kernel_tells_nothing", message=UNREADABLE)
        return KernelObservation(whose="sandbox", content=content)
