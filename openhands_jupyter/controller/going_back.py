"""Doing what an undo or a rewind asks for: the sandbox, the files, the cells, the answer."""

from __future__ import annotations

import logging
from collections.abc import Callable

from ..errors import OpenHandsError
from ..events import IPythonRunCellAction, Observation, RewindAction, UndoAction
from ..notebooks.undo.taking_back import TakingBack
from .checkpointing import Checkpointing
from .execution import Execution
from .log import Log
from .replaying import replay
from .restoring import Restorer
from .sandbox_life import SandboxLife

_log = logging.getLogger(__name__)


class GoingBack:
    """Takes one session back to an earlier step.

    Parameters
    ----------
    log
        Where it was asked for, and is answered.
    checkpoints
        Keeps the files; None where these cannot be undone.
    cells
        Takes back edits of notebooks; None where there are none.
    sandbox
        Is ended before a rewind.
    execution
        Runs cells again.
    """

    def __init__(
        self,
        log: Log,
        checkpoints: Checkpointing | None,
        cells: TakingBack | None,
        sandbox: SandboxLife,
        execution: Execution,
    ) -> None:
        self._log = log
        self._checkpoints = checkpoints
        self._cells = cells
        self._sandbox = sandbox
        self._execution = execution

    async def run(self, action: UndoAction | RewindAction, given_up: Callable[[], bool]) -> None:
        """Do what the action asks for, and answer it, whatever happens.

        Parameters
        ----------
        action
            What the person asked for.
        given_up
            Whether no more cells are to be run again.
        """
        try:
            await self._go_back(action, given_up)
        except Exception as error:
            if not isinstance(error, OpenHandsError):
                _log.exception("Session %s: nothing was restored", self._log.stream.session)
                error = OpenHandsError("internal", f"It failed unexpectedly ({error!r}).")
            if action.id in self._log.state.open_calls:
                self._log.answer_error(action, error)

    async def _go_back(
        self, action: UndoAction | RewindAction, given_up: Callable[[], bool]
    ) -> None:
        self._log.set_state("running")
        if isinstance(action, RewindAction):
            # Nothing may go on in there with files that change under it.
            await self._sandbox.close()
        stream, files = self._log.stream, self._log.state.files
        await Restorer(stream, files, self._checkpoints, self._cells).restore(action)
        if not isinstance(action, RewindAction) or not action.replay:
            return

        async def run_again(cell: IPythonRunCellAction) -> Observation | None:
            if given_up():
                return None
            again = IPythonRunCellAction(
                source="user", cause=action.id, code=cell.code, timeout=cell.timeout
            )
            return await self._execution.run(self._log.append(again))

        stream.append(await replay(stream, action, run_again))
