"""The session's own kernel: looked into by fixed code that is run as a cell, and restarted."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from functools import partial
from typing import Any

import msgspec

from ..events import (
    Action,
    ErrorObservation,
    IPythonOutputObservation,
    IPythonRunCellAction,
    KernelControlAction,
    KernelInspectAction,
    KernelLookAction,
    KernelObservation,
    Masker,
    Observation,
)
from ..events.kernels import KernelRead
from ..notebooks.in_kernel.expressions import Snippet, expression, questions, told_in
from ..notebooks.showing.environment import environment_text
from ..notebooks.showing.variables import UNREADABLE, variables_text
from ..runtime import SandboxRuntime
from ..runtime.base import OutputCallback
from .sandbox_names import changes
from .sandbox_runs import to_its_end

WITHIN = 60.0
"""Seconds, of which a kernel may need most to start."""


RESTARTED = "You restarted the kernel"


class SandboxKernel:
    """Executes what is done with the session's own kernel.

    Parameters
    ----------
    sandbox
        Has the kernel.
    masker
        Knows the secrets.
    """

    def __init__(self, sandbox: SandboxRuntime, masker: Masker) -> None:
        self._sandbox = sandbox
        self._masker = masker

    def takes(self, action: Action) -> bool:
        """Whether an action is on the session's own kernel."""
        if isinstance(action, IPythonRunCellAction):
            return True
        kinds = KernelRead | KernelControlAction
        return isinstance(action, kinds) and action.whose == "sandbox"

    async def prepare(self, action: Action) -> Action | Observation:
        """Refuse what has no sense; see `Runtime.prepare`."""
        if isinstance(action, KernelControlAction) and action.what == "interrupt":
            return ErrorObservation(
                code="nothing_runs",
                message="Nothing of yours runs in the sandbox's kernel while you can ask for this.",
                hint="Give cells a timeout.",
            )
        return action

    async def run(self, action: Action, on_output: OutputCallback) -> Observation:
        """Execute an action; see `Runtime.run_action`."""
        match action:
            case IPythonRunCellAction():
                return await self._run_cell(action, on_output)
            case KernelControlAction():
                await self._sandbox.restart_kernel(RESTARTED)
                return KernelObservation(whose="sandbox", content="Its variables are gone.")
            case KernelInspectAction():
                told = await self._ask(action, "describing", questions(action))
                content = partial(variables_text, masker=self._masker)
            case KernelLookAction():
                packages = int(action.what == "packages")
                told = await self._ask(action, "environment", {"packages": packages})
                content = partial(environment_text, masker=self._masker)
            case _:
                raise TypeError(f"{type(action).__name__} is not on this kernel")
        if isinstance(told, Observation):
            return told
        return KernelObservation(whose="sandbox", content=content(told))

    async def _run_cell(
        self, action: IPythonRunCellAction, on_output: OutputCallback
    ) -> Observation:
        """Run a cell, and tell what became of the kernel's names."""
        before = self._sandbox.told
        answer = await to_its_end(self._sandbox, action, on_output)
        if not isinstance(answer, IPythonOutputObservation):
            return answer
        return msgspec.structs.replace(answer, names=changes(before, self._sandbox.told))

    async def _ask(self, action: Action, snippet: Snippet, asked: Mapping[str, Any]) -> Any:
        """What the kernel tells; an observation where it tells nothing."""
        code = expression(snippet, {**asked, "until": time.time() + WITHIN})
        cell = IPythonRunCellAction(id=action.id, code=f"print({code})", timeout=WITHIN)
        running = asyncio.ensure_future(self._sandbox.run_action(cell, lambda text: None))
        try:
            answer = await asyncio.shield(running)
        except asyncio.CancelledError:
            # The sandbox is interrupted by whoever stops this.
            await asyncio.wait([running])
            return ErrorObservation(code="stopped", message="It was stopped.")
        if not isinstance(answer, IPythonOutputObservation):
            return answer
        printed = "".join(str(output.text) for output in answer.outputs if output.name == "stdout")
        try:
            return told_in(printed.strip())
        except ValueError:
            return ErrorObservation(code="kernel_tells_nothing", message=UNREADABLE)
