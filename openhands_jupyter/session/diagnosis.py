"""What a session waits for, for how long, and what can be done about it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Literal

import msgspec

from ..controller import AgentController
from ..events import (
    Action,
    AwaitRunAction,
    CmdOutputObservation,
    Event,
    IPythonOutputObservation,
    KernelCodeAction,
    KernelControlAction,
    KernelCopyAction,
    KernelInspectAction,
    KernelLookAction,
    MCPAction,
    NotebookRunAction,
    StopRunAction,
)

Service = Literal["person", "model", "sandbox", "kernel", "notebook", "tools", "server"]

SLOW = 60.0
"""Seconds after which a service is called slow."""


class Diagnosis(msgspec.Struct, frozen=True, kw_only=True):
    """What a session waits for.

    Attributes
    ----------
    waits_for
        The person, the model's provider, the sandbox, a kernel of the person's, a notebook, an MCP
        server (``tools``), or the server itself.
    seconds
        How long it has waited.
    summary
        What for, as a sentence.
    hint
        What the person can do.
    processes
        Names of the programs that run in the sandbox, where it is waited for.
    last_id
        Id of the newest event. A page that has an older one gets no events.
    """

    waits_for: Service
    seconds: float
    summary: str
    hint: str = ""
    processes: list[str] = []
    last_id: int = -1


async def diagnose(
    controller: AgentController, newest: Event, programs: Callable[[], Awaitable[list[str] | None]]
) -> Diagnosis:
    """Say what a session waits for.

    Parameters
    ----------
    controller
        What drives it.
    newest
        The newest event on its log.
    programs
        Gives what runs in the sandbox; None where the sandbox does not answer, which is tried
        where it may be at fault.
    """
    state = controller.state
    change = state.change
    since = change.time if change else None
    match state.agent_state:
        case "running":
            found = await _of_work(controller, newest, programs)
        case "rate_limited":
            found = Diagnosis(
                waits_for="model",
                seconds=_age(since),
                summary=change.reason if change else "",
                hint=change.hint if change else "",
            )
        case "awaiting_user_confirmation":
            found = Diagnosis(
                waits_for="person",
                seconds=_age(since),
                summary="A step of the agent waits for your approval.",
                hint="Approve it, or reject it with a reason.",
            )
        case _:
            found = Diagnosis(
                waits_for="person",
                seconds=_age(since),
                summary=(change.reason if change else "") or "The session waits for a message.",
                hint=change.hint if change else "Send a message to give the agent something to do.",
            )
    return msgspec.structs.replace(found, last_id=state.last_id)


async def _of_work(
    controller: AgentController, newest: Event, programs: Callable[[], Awaitable[list[str] | None]]
) -> Diagnosis:
    seconds = _age(newest.time)
    if controller.running is not None:
        # The log's own has the time.
        on_log = controller.state.open_calls.get(controller.running.id, controller.running)
        return await _of_action(on_log, programs)
    if not controller.asking.asks:
        return Diagnosis(
            waits_for="server",
            seconds=seconds,
            summary="The sandbox is being started, or the files of the workspace are kept.",
            hint="A workspace with many large files takes long; leave some out with "
            "checkpoint_exclude."
            if seconds > SLOW
            else "",
        )
    if _is_empty(newest) and await programs() is None:
        return _no_answer(seconds)
    name = controller.state.model
    return Diagnosis(
        waits_for="model",
        seconds=seconds,
        summary=f"The model {name} has been asked for the next step.",
        hint="Its provider is slow. Stop, and send a message to ask again, or choose another model."
        if seconds > SLOW
        else "",
    )


async def _of_action(
    action: Action, programs: Callable[[], Awaitable[list[str] | None]]
) -> Diagnosis:
    seconds = _age(action.time)
    service = _service_of(action)
    if service != "sandbox":
        return Diagnosis(
            waits_for=service,
            seconds=seconds,
            summary=_SUMMARIES[service],
            hint="Stop the agent if you do not want to wait." if seconds > SLOW else "",
        )
    running = await programs()
    if running is None:
        return _no_answer(seconds)
    return Diagnosis(
        waits_for="sandbox",
        seconds=seconds,
        summary="A command or a cell runs in the sandbox.",
        hint="Stop the agent if it takes too long: what was printed so far is kept."
        if seconds > SLOW
        else "",
        processes=running,
    )


def _no_answer(seconds: float) -> Diagnosis:
    return Diagnosis(
        waits_for="sandbox",
        seconds=seconds,
        summary="The sandbox does not answer.",
        hint="Stop the agent. If that does not help, begin a new session; the files stay.",
    )


_SUMMARIES: dict[Service, str] = {
    "kernel": "Code of the agent's runs in your own kernel, or waits for it.",
    "notebook": "A notebook is being read or changed, in the browser tab that has it open.",
    "tools": "A tool of an MCP server was called.",
}


def _service_of(action: Action) -> Service:
    match action:
        case MCPAction():
            return "tools"
        case (
            KernelCodeAction()
            | KernelControlAction()
            | KernelCopyAction()
            | KernelInspectAction()
            | KernelLookAction()
        ):
            return "kernel" if getattr(action, "whose", "user") == "user" else "sandbox"
        case NotebookRunAction(kernel="user") | AwaitRunAction() | StopRunAction():
            return "kernel"
    name = type(action).__name__
    return "notebook" if name.startswith("Notebook") and name != "NotebookRunAction" else "sandbox"


def _is_empty(event: Event) -> bool:
    """Whether an observation says nothing, which a broken sandbox may be the reason of."""
    match event:
        case CmdOutputObservation(content="", running=False):
            return True
        case IPythonOutputObservation(outputs=[], ok=False):
            return True
    return False


def _age(time: datetime | None) -> float:
    return 0.0 if time is None else max(0.0, round((datetime.now(UTC) - time).total_seconds(), 1))
