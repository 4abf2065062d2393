"""Drives one session: decides when the agent acts, and sees to it that every action is answered."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import Any

from ..agents import Cast
from ..agents.skills import Skills
from ..errors import OpenHandsError
from ..events import (
    Action,
    AgentMessageAction,
    ChangeAgentStateAction,
    ChangeSettingsAction,
    ConfirmationAction,
    ErrorObservation,
    Event,
    EventStream,
    FinishAction,
    RejectAction,
    RewindAction,
    State,
    UndoAction,
    UserMessageAction,
    UserRejectObservation,
)
from ..hooks import HookConfig
from ..notebooks.undo.taking_back import TakingBack
from ..runtime.base import Runtime
from ..security import Gate
from .admission import Admission
from .asking import Asking
from .checkpointing import Checkpointing
from .delegating import Delegating
from .dry_runs import DryRuns
from .execution import NOT_BEGUN, Execution
from .going_back import GoingBack
from .guards import Guards
from .hooking import Hooking
from .log import Log
from .sandbox_life import SandboxLife

LAST_TAKE = 5.0
"""Seconds that the end of a session waits for the last checkpoint of a turn."""

_log = logging.getLogger(__name__)


class _Turn:
    """What goes on: steps of the agent, or an undo or a rewind.

    Attributes
    ----------
    task
        Done when it is over.
    to_rest
        Whether it is to end after the action that runs.
    """

    def __init__(self, work: Coroutine[Any, Any, None]) -> None:
        self.task = asyncio.create_task(work)
        self.to_rest = False


class AgentController:
    """The state machine of one session.

    It reacts to events of the person (messages, decisions, run, pause, stop, undo, rewind) from
    wherever they were appended, and runs *turns*: steps of the agent until somebody else has to
    act.

    Parameters
    ----------
    stream
        The session's log.
    state
        The fold of the log so far; the controller keeps it current from here on.
    cast, gate, runtime
        Who decides, who allows, who executes.
    checkpoints
        Keeps the files of the workspace; None where these are not to be undone.
    cells
        Takes back edits of notebooks; None where there are none.
    skills
        What its agents are given of instructions and skills; None for none.
    hooks
        Gives the person's hooks as they are written down now.

    Attributes
    ----------
    asking
        What the agent's model has to be told of, while it answers.
    sandbox
        The life of the session's sandbox.
    guards
        What pauses the agent by itself: limits, and that it gets nowhere.
    dry_runs
        What the person tries in it while it waits for their approval.
    """

    def __init__(
        self,
        stream: EventStream,
        state: State,
        cast: Cast,
        gate: Gate,
        runtime: Runtime,
        checkpoints: Checkpointing | None = None,
        cells: TakingBack | None = None,
        skills: Skills | None = None,
        hooks: Callable[[], HookConfig] = HookConfig,
    ) -> None:
        self.stream = stream
        self.state = state
        self._checkpoints = checkpoints
        self._log = Log(stream, state)
        self.guards = Guards(self._log)
        self.asking = Asking(cast, self._log, skills)
        self._delegating = Delegating(self._log)
        self._hooking = Hooking(self._log, hooks)
        self.sandbox = SandboxLife(self._log, runtime, lambda: self._turn is not None)
        self._execution = Execution(self._log, runtime, self.sandbox, checkpoints)
        self._admission = Admission(
            self._log, gate, runtime, self._hooking, self.sandbox, self._execution
        )
        self._going_back = GoingBack(self._log, checkpoints, cells, self.sandbox, self._execution)
        self._wake = asyncio.Event()
        self.dry_runs = DryRuns(
            self._log, self.sandbox, self._execution, self._admission.judge, self._wake.set
        )
        self._turn: _Turn | None = None
        self._ending_turn: asyncio.Task[None] | None = None
        self._commands: list[ChangeAgentStateAction | UndoAction | RewindAction] = []
        self._restores: list[UndoAction | RewindAction] = []
        self._run_asked = False
        self._newest_message = -1
        stream.add_listener(state.apply)
        self._recover()
        self._served = state.last_id
        stream.add_listener(self._on_event)
        stream.add_listener(self.guards.apply)
        self._main = asyncio.create_task(self._serve())

    @property
    def pending(self) -> Action | None:
        """The action that waits for approval, as it would be executed; None if none does."""
        return self._admission.pending

    @property
    def running(self) -> Action | None:
        """The action that is being executed; None if none is."""
        return self._execution.action

    # The session's beginning and end

    def _recover(self) -> None:
        """Close what an earlier process left open; nothing is executed again by itself."""
        interrupted = bool(self.state.open_calls) or self.state.agent_state in (
            "running",
            "awaiting_user_confirmation",
            "rate_limited",
        )
        lost = self.state.limits.unfinished_work
        self._close_open_calls(
            "interrupted",
            "The server ended before this action was answered; its effect is unknown.",
            "Look at what it changed before doing it again.",
        )
        if interrupted:
            self._delegating.close("interrupted", "The server ended before this was done.")
            self._log.set_state(
                "awaiting_user_input",
                "The server ended while the agent was at work.",
                code="interrupted",
                hint="Send a message to go on.",
                lost=lost,
            )
        elif self.state.agent_state == "loading":
            self._log.set_state("awaiting_user_input", "Ready for a task.")
        # It was killed with the server.
        self.state.running_command = None
        if self.state.mode == "auto":
            self.stream.append(ChangeSettingsAction(source="environment", mode="agent"))

    async def close(self, reason: str = "The session was closed.") -> None:
        """Stop whatever runs, close what is open, end the sandbox."""
        self._main.cancel()
        await asyncio.wait([self._main])
        try:
            await self._halt(reason, closing=True)
            await self._end_checkpoints()
            await self._hooking.end(reason)
        finally:
            await self.sandbox.close()

    async def _end_checkpoints(self) -> None:
        if self._checkpoints is None:
            return
        if self._ending_turn is None and self._turn_is_over():
            self._ending_turn = asyncio.create_task(self._end_turn(self._checkpoints))
        if self._ending_turn is not None:
            await asyncio.wait([self._ending_turn], timeout=LAST_TAKE)
        await self._checkpoints.close()
        if self._ending_turn is not None:
            await asyncio.wait([self._ending_turn])

    # What the person does, and what comes next

    def _on_event(self, event: Event) -> None:
        match event:
            case UserMessageAction():
                self._newest_message = event.id
            case ChangeAgentStateAction() | UndoAction() | RewindAction():
                self._commands.append(event)
            case ConfirmationAction():
                pass
            case _:
                return
        self._wake.set()

    async def _serve(self) -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            if self._turn and self._turn.task.done():
                turn, self._turn = self._turn, None
                self._note_end(turn)
            commands, self._commands = self._commands, []
            for command in commands:
                try:
                    await self._obey(command)
                except Exception:
                    _log.exception("Session %s: %r failed", self.stream.session, command)
            if self.dry_runs.open and (self.dry_runs.given_up or self._has_work()):
                # Until then nothing else is begun.
                await self._cut_off()
            self._begin_what_is_next()

    def _note_end(self, turn: _Turn) -> None:
        """A turn says itself how it ended, unless it was to rest or something cut it off."""
        if self.state.agent_state not in ("running", "rate_limited"):
            return
        if turn.to_rest:
            self._log.set_state("paused", "Paused by the user.", hint="Press run to go on.")
        else:
            self._log.fail(
                OpenHandsError(
                    "internal",
                    "The agent's turn was cut off unexpectedly.",
                    "Send a message to go on.",
                )
            )

    def _begin_what_is_next(self) -> None:
        """The end of a turn, then undo and rewind, then the agent's next turn: one at a time."""
        if self._ending_turn and self._ending_turn.done():
            self._ending_turn = None
        if self._turn is not None or self._ending_turn is not None:
            return
        if self._checkpoints is not None and self._turn_is_over():
            task = self._ending_turn = asyncio.create_task(self._end_turn(self._checkpoints))
        elif self._restores:
            self._turn = _Turn(self._run_restore(self._restores.pop(0)))
            task = self._turn.task
        elif self._has_work():
            self._turn = _Turn(self._run_turn())
            task = self._turn.task
        elif self.dry_runs.open:
            self._turn = _Turn(self.dry_runs.run())
            task = self._turn.task
        else:
            return
        task.add_done_callback(lambda _: self._wake.set())

    async def _end_turn(self, checkpoints: Checkpointing) -> None:
        await checkpoints.end_turn(runs_on=self.state.running_command is not None)

    def _turn_is_over(self) -> bool:
        """Whether a turn has changed files and neither goes on nor waits for approval."""
        return (
            self._checkpoints is not None
            and self._checkpoints.can_end_turn
            and self.state.agent_state != "awaiting_user_confirmation"
        )

    def _has_work(self) -> bool:
        unseen = self._newest_message > max(self._served, self.asking.asked_at)
        return self._run_asked or self._admission.decided or unseen

    async def _obey(self, action: ChangeAgentStateAction | UndoAction | RewindAction) -> None:
        # What the person said before is settled with this; what comes later is not.
        self._served = max(self._served, action.id)
        if not isinstance(action, ChangeAgentStateAction):
            self._restores.append(action)
            if self._turn is not None:
                await self._halt("Stopped, to go back to an earlier step.")
            elif isinstance(action, RewindAction):
                self._delegating.close("stopped", "The user went back to an earlier step.")
            return
        match action.command:
            case "run":
                self._run_asked = self._turn is None
            case "pause":
                self._pause()
            case "stop":
                self._restores.clear()
                await self._halt("Stopped by the user.")

    def _pause(self) -> None:
        """Rest after the action that runs; a model call is given up at once."""
        if self._turn is None:
            return
        self._turn.to_rest = True
        if not self._execution.busy:
            self._turn.task.cancel()

    async def _halt(self, reason: str, closing: bool = False) -> None:
        """Stop at once: the model call, or the action with its partial output as the answer.

        Where the sandbox is about to be closed, it ends what was left running in the shell.
        """
        turn = self._turn
        await self._cut_off()
        left_running = await self._execution.end_left_running() if not closing else False
        # A delegate that waits for the person, or rests, goes on when the session is opened again.
        was_open = bool(self.state.open_calls or (self.state.delegations and not closing))
        self._admission.drop()
        self._run_asked = False
        self._close_open_calls("stopped", NOT_BEGUN)
        if turn or was_open or not closing:
            self._delegating.close("stopped", "It was stopped before it was done.")
        paused = self.state.agent_state == "paused" and not closing
        if turn or was_open or left_running or paused:
            self._log.set_state("stopped", reason, hint="Send a message to go on.")

    async def _cut_off(self) -> None:
        """End at once what goes on, and what is to be tried."""
        turn, tried = self._turn, self.dry_runs.open
        if turn is not None:
            turn.to_rest = True
            await self._execution.stop()
            turn.task.cancel()
            await asyncio.wait([turn.task])
            self._turn = None
        if tried is not None:
            # Another may have been asked for meanwhile.
            self.dry_runs.drop(tried)

    def _close_open_calls(self, code: str, message: str, hint: str = "") -> None:
        for action in list(self.state.open_calls.values()):
            if action not in self._restores:
                self._log.answer(action, ErrorObservation(code=code, message=message, hint=hint))

    # Turns

    async def _run_restore(self, action: UndoAction | RewindAction) -> None:
        await self._going_back.run(action, given_up=self._is_to_rest)
        self._log.set_state("awaiting_user_input", "Ready to go on from here.")

    async def _run_turn(self) -> None:
        self._run_asked = False
        try:
            self._log.set_state("running")
            self._served = self.state.last_id
            await self._hooking.begin_turn()
            if await self._messages_blocked():
                return
            if not self._admission.decided:
                # What was approved is for the sandbox that it was asked in.
                await self.sandbox.release_outdated()
            await self._admission.settle(self._newest_message)
            # Left over only where its observation could not be written.
            self._close_open_calls("interrupted", "The action's result was lost.")
            if self._checkpoints is not None:
                self._checkpoints.warm()
            await self.sandbox.warm()
            while not self._is_to_rest() and await self._step():
                pass
        except OpenHandsError as error:
            self._log.fail(error)
        except Exception as error:
            _log.exception("The agent loop of session %s failed", self.stream.session)
            self._log.fail(
                OpenHandsError(
                    "internal",
                    f"The agent failed unexpectedly ({type(error).__name__}: {error}).",
                    "Send a message to try again; the server's log says more.",
                )
            )

    async def _messages_blocked(self) -> bool:
        """Whether a hook blocks what the person wrote; the turn is over then."""
        reason = await self._hooking.take_messages()
        if not reason:
            return False
        action = self._admission.drop()
        if action is not None:
            self._log.answer(action, UserRejectObservation())
        self._log.set_state(
            "awaiting_user_input",
            f"A hook of yours blocked the message: {reason}",
            code="hook_blocked",
            hint="The agent has not seen it. Write another one.",
        )
        return True

    def _is_to_rest(self) -> bool:
        return self._turn is not None and self._turn.to_rest

    async def _step(self) -> bool:
        """Let the agent act once; False when the turn is over."""
        if self.guards.pause() or await self._messages_blocked():
            return False
        action = await self._delegating.ask(self.asking.next_action)
        if action is None:
            return True
        if action.runnable:
            return await self._admission.take(action)
        action = self._log.append(await self._hooking.before_saying(action))
        goes_on = self.state.queued or self._delegating.settle(action)
        await self._hooking.after_saying(action)
        if goes_on:
            return True
        if isinstance(action, FinishAction) and await self._hooking.goes_on():
            return True
        return self._goes_on_after(action)

    def _goes_on_after(self, action: Action) -> bool:
        """Whether the turn goes on after an action that only says something."""
        match action:
            case FinishAction():
                self._log.set_state("finished", "The task is done.")
                return False
            case RejectAction():
                self._log.set_state("rejected", "The agent declined the task.")
                return False
            case AgentMessageAction(wait_for_response=True):
                self._log.set_state("awaiting_user_input", "The agent waits for your answer.")
                return False
        return True
