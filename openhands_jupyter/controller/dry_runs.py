"""Trying in the sandbox what waits for the person's approval, which goes on waiting."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable

from ..errors import Conflict, OpenHandsError
from ..events import (
    Action,
    DryRunAction,
    ErrorObservation,
    IsolationObservation,
    NotebookRunAction,
)
from ..security import Verdict
from .execution import NOT_BEGUN, Execution
from .log import Log, error_observation
from .sandbox_life import SandboxLife

_log = logging.getLogger(__name__)


class DryRuns:
    """The dry runs of one session, one at a time.

    Parameters
    ----------
    log
        Where they are, and where their answers go.
    sandbox
        Where they are run.
    execution
        What runs them.
    judge
        Gives the gate's verdict on an action.
    wake
        Called when there is one to be run, or to be given up.

    Attributes
    ----------
    open
        The one that was asked for and is not answered.
    given_up
        Whether that is to be ended.
    """

    def __init__(
        self,
        log: Log,
        sandbox: SandboxLife,
        execution: Execution,
        judge: Callable[[Action, IsolationObservation], Awaitable[Verdict]],
        wake: Callable[[], None],
    ) -> None:
        self.open: DryRunAction | None = None
        self.given_up = False
        self._log = log
        self._sandbox = sandbox
        self._execution = execution
        self._judge = judge
        self._wake = wake

    def begin(self, action: DryRunAction) -> int:
        """Have cells tried; gives the event's id.

        Raises
        ------
        Conflict
            While others are.
        """
        # One that is answered may still be at its end.
        if self.open is not None and self.open.id in self._log.state.open_calls:
            raise Conflict("dry_run_runs", "It is being tried already.", "Wait, or stop that.")
        appended = self._log.append(action)
        assert isinstance(appended, DryRunAction)
        self.open, self.given_up = appended, False
        self._wake()
        return appended.id

    def give_up(self, cause: int) -> None:
        """End the one that tries an action, if one does."""
        if self.open is not None and self.open.cause == cause:
            self.given_up = True
            self._wake()

    def drop(self, action: DryRunAction) -> None:
        """Be done with one, which is answered if it is not yet."""
        if self.open is action:
            self.open = None
        if action.id in self._log.state.open_calls:
            self._log.answer(action, ErrorObservation(code="stopped", message=NOT_BEGUN))

    async def run(self) -> None:
        """Run the one that is open, and answer it."""
        action = self.open
        assert action is not None
        try:
            if refusal := await self._refusal(action):
                self._log.answer(action, refusal)
            else:
                await self._execution.run(action)
        except OpenHandsError as error:
            if action.id in self._log.state.open_calls:
                self._log.answer(action, error_observation(error))
        except Exception:
            _log.exception("Session %s: a dry run failed", self._log.stream.session)
        finally:
            self.drop(action)

    async def _refusal(self, action: DryRunAction) -> ErrorObservation | None:
        """Why it is not run; to what the gate only asks about, the person's click is a yes."""
        isolation = await self._sandbox.start()
        if isolation.level == "red":
            return ErrorObservation(
                code="no_sandbox",
                message="There is no sandbox in force: this would run with all your rights.",
            )
        run = NotebookRunAction(
            id=action.id, path=action.path, kernel="sandbox", planned=action.planned
        )
        verdict = await self._judge(run, isolation)
        if verdict.outcome == "refuse":
            return ErrorObservation(code="refused", message=verdict.reason)
        return None
