"""What an action of the agent passes before it is executed."""

from __future__ import annotations

import asyncio

import msgspec

from ..errors import SandboxUnavailable
from ..events import (
    Action,
    ErrorObservation,
    IsolationObservation,
    Observation,
    UserMessageAction,
    UserRejectObservation,
)
from ..runtime.base import Runtime
from ..security import Gate, Verdict
from .execution import Execution
from .hooking import Hooking, stricter
from .log import Log
from .sandbox_life import SandboxLife


class Admission:
    """Lets actions of one session be executed: those that the gate, hooks and the person allow.

    Attributes
    ----------
    pending
        The action that waits for the person's approval, as it would be executed; None if none does.
    """

    def __init__(
        self,
        log: Log,
        gate: Gate,
        runtime: Runtime,
        hooking: Hooking,
        sandbox: SandboxLife,
        execution: Execution,
    ) -> None:
        self._log = log
        self._state = log.state
        self._gate = gate
        self._prepare = runtime.prepare
        self._hooking = hooking
        self._sandbox = sandbox
        self._execution = execution
        self.pending: Action | None = None

    @property
    def decided(self) -> bool:
        """Whether the person has answered what waits for approval."""
        return self.pending is not None and self.pending.id in self._state.decisions

    def drop(self) -> Action | None:
        """Give up waiting; gives what waited."""
        action, self.pending = self.pending, None
        return action

    async def take(self, action: Action) -> bool:
        """See whether an action may be executed, and do it; False where the person has to say."""
        try:
            isolation = await self._sandbox.start()
        except SandboxUnavailable as error:
            self._log.answer_error(self._log.append(action), error)
            raise
        prepared = await self._prepare(action)
        if isinstance(prepared, Observation):
            self._log.answer(self._log.append(action), prepared)
            return True
        verdict, code = await self.judge(prepared, isolation), "refused"
        if verdict.outcome != "refuse":
            decision = await self._hooking.before(
                msgspec.structs.replace(prepared, risk=verdict.risk)
            )
            verdict, code = stricter(verdict, decision), "hook_blocked"
        action = self._log.append(msgspec.structs.replace(prepared, risk=verdict.risk))
        match verdict.outcome:
            case "refuse":
                self._log.answer(action, ErrorObservation(code=code, message=verdict.reason))
            case "ask":
                self.pending = action
                self._log.set_state(
                    "awaiting_user_confirmation",
                    "The agent waits for your approval.",
                    cause=action.id,
                )
                return False
            case "run":
                await self._execute(action)
        return True

    async def settle(self, newest_message: int) -> None:
        """Act on the person's answer to the action that waited for approval.

        A message instead of a decision is a no, with the message as its reason.

        Parameters
        ----------
        newest_message
            Id of the person's newest message; -1 if there is none.
        """
        action = self.drop()
        if action is None:
            return
        decision = self._state.decisions.get(action.id)
        if action.id < newest_message and (decision is None or newest_message < decision.id):
            self._log.answer(action, UserRejectObservation(reason=self._newest_message()))
        elif decision is None or decision.decision == "reject":
            reason = decision.reason if decision else ""
            self._log.answer(action, UserRejectObservation(reason=reason))
        else:
            await self._execute(action)

    def _newest_message(self) -> str:
        message = next(e for e in reversed(self._state.history) if isinstance(e, UserMessageAction))
        return message.content

    async def _execute(self, action: Action) -> None:
        await self._hooking.after(action, await self._execution.run(action))

    async def judge(self, action: Action, isolation: IsolationObservation) -> Verdict:
        """What the gate says of an action, in a sandbox that isolates as told."""
        if isolation.workspace:
            self._gate.work_elsewhere(isolation.workspace)
        # In a thread: a long text takes seconds to judge.
        return await asyncio.to_thread(
            self._gate.check,
            action,
            mode=self._state.mode,
            isolated=isolation.level != "red",
            online=_has_network(isolation),
            running=self._state.running_command,
        )


def _has_network(isolation: IsolationObservation) -> bool | None:
    """Whether there is one that lets through what is allowed; None for another machine's."""
    return None if isolation.workspace else isolation.network is not None
