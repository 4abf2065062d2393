"""Runs the person's hooks where a session comes to something that they are for."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from ..agents.results import result
from ..agents.tools import arguments_of
from ..errors import OpenHandsError
from ..events import (
    Action,
    AgentDelegateAction,
    AgentDelegateObservation,
    AgentMessageAction,
    ErrorObservation,
    HookObservation,
    InvalidToolCallAction,
    Observation,
    TaskTrackingAction,
    UserMessageAction,
    UseSkillAction,
)
from ..events.blobs import cut
from ..events.hooks import HookEvent, HookOutcome
from ..hooks import Decision, Hook, HookConfig, decide
from ..hooks.deciding import failed
from ..hooks.running import environment, run
from ..security import Verdict
from .log import Log

ASKED = "A hook of yours wants you to decide"
MOST_STOPS = 5
"""Times in a row that hooks may have the agent go on after it was done."""

LONGEST = 100_000
"""Characters of a tool's result that a hook gets."""

AT_END = 5.0
"""Seconds that hooks have when a session is closed."""

_OUTCOMES: dict[str, HookOutcome] = {"block": "blocked", "ask": "asked", "fail": "failed"}


class Hooking:
    """The hooks of one session.

    They are commands of the person's, run outside the sandbox with their rights. What they decide
    can only make stricter what the gate decides. What they get is masked as the log is.

    Parameters
    ----------
    log
        What they are told of, and where it is told what they decided.
    read
        Gives the hooks as they are written down now; takes time.
    """

    def __init__(self, log: Log, read: Callable[[], HookConfig]) -> None:
        self._log = log
        self._read = read
        self._config = HookConfig()
        self._begun = False
        self._messages: list[UserMessageAction] = []
        self._tasks: dict[int, AgentDelegateAction] = {}
        self._ended: list[tuple[Action, Observation]] = []
        self._stops = 0
        log.stream.add_listener(self._on_event)

    def _on_event(self, event: object) -> None:
        match event:
            case UserMessageAction():
                self._messages.append(event)
            case AgentDelegateAction():
                self._tasks[event.id] = event
            case AgentDelegateObservation() | ErrorObservation() if event.cause in self._tasks:
                self._ended.append((self._tasks.pop(event.cause), event))

    async def begin_turn(self) -> None:
        """Read the hooks anew, and have those for the start of a session run once.

        Raises
        ------
        OpenHandsError
            When hooks of the person's cannot be understood: then nothing may be done.
        """
        self._config = await asyncio.to_thread(self._read)
        self._stops = 0
        if self._config.problems:
            raise OpenHandsError(
                "hooks_broken",
                f"Hooks of yours cannot be understood. {' '.join(self._config.problems[:5])}",
                "The agent does nothing before that is mended. Mend it, then press run.",
            )
        if not self._begun:
            self._begun = True
            for file in self._config.ignored:
                self._tell("SessionStart", file, "ignored", _NOT_RUN)
            source = "startup" if self._log.state.steps == 0 else "resume"
            await self._decisions("SessionStart", {"source": source})

    async def take_messages(self) -> str:
        """Have hooks see what the person wrote since the last step; why one blocks it, or empty."""
        await self._after_tasks()
        blocked = ""
        while self._messages:
            message = self._messages[0]
            given = {"prompt": message.content}
            found = await self._decisions("UserPromptSubmit", given, cause=message.id)
            self._messages.remove(message)
            blocked = next((d.reason for d in found if d.verb == "block"), blocked)
        return blocked

    async def before(self, action: Action) -> Decision:
        """Have hooks judge an action that the gate does not refuse."""
        if not self._for("PreToolUse", _tool(action)):
            return Decision()
        found = await self._decisions("PreToolUse", _of_tool(action), _tool(action))
        return next((d for verb in ("block", "ask") for d in found if d.verb == verb), Decision())

    async def before_saying(self, action: Action) -> Action:
        """Have hooks judge what is a call of a tool, but nothing that is executed.

        Returns
        -------
        Action
            As given, or what the agent is told in its place where a hook does not let it go on:
            there is nothing yet that the person could be asked about.
        """
        if action.llm is None or not _is_call(action):
            return action
        decision = await self.before(action)
        if decision.verb not in ("block", "ask"):
            return action
        message = f"A hook of the user's does not allow this call. {decision.reason}".strip()
        called = msgspec.structs.replace(action.llm, arguments=_arguments(action))
        return InvalidToolCallAction(message=message, thought=action.thought, llm=called)

    async def after_saying(self, action: Action) -> None:
        """Have hooks see what was said, and the ends of tasks that other agents were given.

        An answer to a question is a message, which other hooks are for.
        """
        if _is_call(action) and not isinstance(action, AgentDelegateAction | AgentMessageAction):
            await self._decisions("PostToolUse", _of_tool(action), _tool(action))
        await self._after_tasks()

    async def after(self, action: Action, observation: Observation) -> None:
        """Have hooks see what came of an action."""
        if self._for("PostToolUse", _tool(action)):
            response = await asyncio.to_thread(lambda: cut(result(observation), LONGEST))
            given = _of_tool(action) | {"tool_response": response}
            await self._decisions("PostToolUse", given, _tool(action))

    async def _after_tasks(self) -> None:
        while self._ended:
            await self.after(*self._ended.pop(0))

    async def goes_on(self) -> bool:
        """Whether a hook has the agent go on, which is done."""
        if self._stops >= MOST_STOPS:
            return False
        found = await self._decisions("Stop", {"stop_hook_active": self._stops > 0})
        self._stops += 1
        return any(decision.verb == "block" for decision in found)

    async def end(self, reason: str) -> None:
        """Have hooks see that the session is closed, where they saw its start."""
        if self._begun and self._for("SessionEnd"):
            try:
                async with asyncio.timeout(AT_END):
                    await self._decisions("SessionEnd", {"reason": reason})
            except TimeoutError:
                self._tell("SessionEnd", "SessionEnd", "failed", "It took too long.")

    def _for(self, event: HookEvent, tool: str = "") -> list[Hook]:
        return [h for h in self._config.hooks if h.event == event and h.matches(tool)]

    async def _decisions(
        self, event: HookEvent, given: dict[str, Any], tool: str = "", cause: int | None = None
    ) -> list[Decision]:
        """What each hook decides; the first that blocks something is the last that is run."""
        found: list[Decision] = []
        for hook in self._for(event, tool):
            decision = await self._run(hook, given)
            found.append(decision)
            for outcome, content in _told(hook, decision):
                self._tell(event, hook.command, outcome, content, tool, cause)
            if decision.verb == "block" and event != "PostToolUse":
                break
        return found

    async def _run(self, hook: Hook, given: dict[str, Any]) -> Decision:
        about = {
            "hook_event_name": hook.event,
            "session_id": self._log.stream.session,
            "cwd": self._config.workspace,
            "permission_mode": self._log.state.mode,
        }
        encoded = await asyncio.to_thread(self._encoded, about | given)
        environ = environment(dict(os.environ), self._config.workspace)
        try:
            ran = await run(hook.command, encoded, hook.timeout, environ)
        except OSError as error:
            return failed(hook, f"it cannot be started ({error})")
        return decide(hook, ran)

    def _encoded(self, given: dict[str, Any]) -> bytes:
        return msgspec.json.encode(self._log.stream.masker.value(given))

    def _tell(
        self,
        event: HookEvent,
        command: str,
        outcome: HookOutcome,
        content: str,
        tool: str = "",
        cause: int | None = None,
    ) -> None:
        self._log.stream.append(
            HookObservation(
                event=event,
                command=command,
                outcome=outcome,
                content=content,
                tool=tool,
                cause=cause,
                agent_path=self._log.state.agent_path,
            )
        )


def stricter(verdict: Verdict, decision: Decision) -> Verdict:
    """What the gate decided, or what a hook decided where that is stricter."""
    match decision.verb:
        case "block":
            reason = f"A hook of the user's blocks this: {decision.reason}"
            return msgspec.structs.replace(verdict, outcome="refuse", reason=reason)
        case "ask":
            told = f"{ASKED}: {decision.reason}" if decision.reason else ASKED
            risk = msgspec.structs.replace(verdict.risk, reasons=[*verdict.risk.reasons, told])
            return msgspec.structs.replace(verdict, outcome="ask", risk=risk)
    return verdict


_NOT_RUN = (
    "A workspace's own hooks are not run: they would be commands with all your rights. Where you "
    "trust them, copy them to your own hooks.json."
)


def _told(hook: Hook, decision: Decision) -> Iterator[tuple[HookOutcome, str]]:
    """What goes on the log of a decision."""
    if decision.verb == "block" and hook.event == "PostToolUse":
        # It is done already.
        yield "told", decision.reason
    elif decision.verb != "go_on":
        yield _OUTCOMES[decision.verb], decision.reason
    if decision.context:
        yield "told", decision.context


def _is_call(action: Action) -> bool:
    """Whether an action that is not executed is a call of a tool that others have to answer."""
    match action:
        case AgentDelegateAction() | TaskTrackingAction() | UseSkillAction():
            return True
        case AgentMessageAction(wait_for_response=True):
            return action.llm is not None and action.llm.tool_call_id is not None
    return False


def _tool(action: Action) -> str:
    """The name of the tool that an action is of."""
    if action.llm and action.llm.tool_name:
        return action.llm.tool_name
    known = arguments_of(action)
    return known[0] if known else type(action).__name__


def _arguments(action: Action) -> str | None:
    """What a tool was called with, as JSON text; None where that is not known."""
    known = arguments_of(action)
    if known:
        return known[1]
    return action.llm.arguments if action.llm else None


def _of_tool(action: Action) -> dict[str, Any]:
    """The call, and the whole action, which has what was found out before: cells, risk, places."""
    written = _arguments(action)
    given = msgspec.json.decode(written) if written else {}
    whole = msgspec.json.decode(msgspec.json.encode(action))
    return {"tool_name": _tool(action), "tool_input": given, "action": whole}
