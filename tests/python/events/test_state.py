"""The state is a fold over the log: what each event does to it, and at what price."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any, get_args

import msgspec
import pytest

from openhands_jupyter.events import (
    Action,
    AgentState,
    AgentStateChangedObservation,
    AgentThinkAction,
    AwaitRunAction,
    BrowseInteractiveAction,
    BrowseURLAction,
    ChangeAgentStateAction,
    ChangeSettingsAction,
    CmdOutputObservation,
    CmdRunAction,
    ConfirmationAction,
    ErrorObservation,
    Event,
    EventStream,
    FileEditAction,
    FileGlobAction,
    FileGrepAction,
    FileReadAction,
    FileReadObservation,
    FileWriteAction,
    FinishAction,
    InvalidToolCallAction,
    IPythonOutputObservation,
    IPythonRunCellAction,
    IsolationObservation,
    KernelCodeAction,
    KernelControlAction,
    KernelCopyAction,
    KernelInspectAction,
    KernelLookAction,
    MCPAction,
    ModelCall,
    ModelUsageObservation,
    NotebookCreateAction,
    NotebookEditAction,
    NotebookListAction,
    NotebookOutlineAction,
    NotebookOutputAction,
    NotebookReadAction,
    NotebookRunAction,
    NotebookRunObservation,
    NotebookSaveAction,
    NotebookSearchAction,
    NotebookUndoAction,
    Observation,
    OpaqueEvent,
    PlanHandOverAction,
    State,
    StopRunAction,
    SystemMessageAction,
    Task,
    TaskTrackingAction,
    UserMessageAction,
    UserRejectObservation,
)
from openhands_jupyter.events.codec import ACTIONS, TYPES

RUNNABLE: list[Action] = [
    CmdRunAction(command="ls"),
    BrowseURLAction(url="http://a.test/"),
    BrowseInteractiveAction(do="look"),
    IPythonRunCellAction(code="1"),
    FileReadAction(path="x"),
    FileWriteAction(path="x", content=""),
    FileEditAction(path="x", command="undo"),
    FileGlobAction(pattern="*"),
    FileGrepAction(pattern="x"),
    NotebookCreateAction(path="x"),
    NotebookEditAction(path="x", operations=[]),
    NotebookListAction(),
    NotebookOutlineAction(path="x"),
    NotebookOutputAction(path="x", handle="out:x/0"),
    NotebookReadAction(path="x"),
    NotebookSaveAction(path="x"),
    NotebookUndoAction(path="x"),
    NotebookSearchAction(path="x", pattern="x"),
    NotebookRunAction(path="x"),
    AwaitRunAction(run="x"),
    StopRunAction(run="x"),
    PlanHandOverAction(path="PLAN.md"),
    KernelCodeAction(path="x", code="x"),
    MCPAction(server="x", tool="x"),
    KernelInspectAction(),
    KernelCopyAction(path="x", variable="x"),
    KernelControlAction(what="interrupt"),
    KernelLookAction(),
]
ANSWERS: list[Observation] = [
    CmdOutputObservation(content=""),
    IPythonOutputObservation(),
    FileReadObservation(path="x", content=""),
    NotebookRunObservation(path="x", state="done"),
    UserRejectObservation(),
    ErrorObservation(code="interrupted", message=""),
]
NOT_FOR_THE_MODEL = {
    "AgentStateChangedObservation",
    "ChangeAgentStateAction",
    "ChangeSettingsAction",
    "CheckpointObservation",
    "ConfirmationAction",
    "DryRunAction",
    "IsolationObservation",
    "ModelNoticeObservation",
    "ModelUsageObservation",
    "NoCheckpointObservation",
    "SandboxReleasedObservation",
    "SystemMessageAction",
}


def name(value: object) -> str:
    return value if isinstance(value, str) else type(value).__name__


def stamped(events: list[Event]) -> list[Event]:
    """The events as the stream would have stamped them."""
    return [
        msgspec.structs.replace(event, id=number, source=event.source or event.usual_source)
        for number, event in enumerate(events)
    ]


def folded(*events: Event) -> State:
    state = State()
    for event in stamped(list(events)):
        state.apply(event)
    return state


def by(response: str, action: Action, cause: int | None = None) -> Action:
    """An action out of one model response."""
    llm = ModelCall(response_id=response)
    return msgspec.structs.replace(action, llm=llm, cause=cause)


def test_nothing() -> None:
    state = State()
    assert (state.last_id, state.agent_state, state.mode, state.steps) == (
        -1,
        "loading",
        "agent",
        0,
    )


def test_runnable_types_are_the_ones_listed() -> None:
    assert {type(action) for action in RUNNABLE} == {
        kind for kind in ACTIONS if issubclass(kind, Action) and kind.runnable
    }


@pytest.mark.parametrize("answer", ANSWERS, ids=name)
@pytest.mark.parametrize("action", RUNNABLE, ids=name)
def test_runnable_action_is_open_until_it_is_answered(action: Action, answer: Observation) -> None:
    assert list(folded(action).open_calls) == [0]
    assert list(folded(action, action).open_calls) == [0, 1]
    assert folded(action, msgspec.structs.replace(answer, cause=0)).open_calls == {}
    two = folded(action, action, msgspec.structs.replace(answer, cause=0))
    assert list(two.open_calls) == [1]


@pytest.mark.parametrize(
    "event",
    [
        CmdOutputObservation(content=""),
        AgentStateChangedObservation(state="awaiting_user_confirmation", cause=0),
        ModelUsageObservation(response_id="r", model="m", cause=0),
        IsolationObservation(level="green", backend="none", summary="", cause=0),
        ConfirmationAction(decision="approve", cause=0),
        OpaqueEvent(raw={}, cause=0),
    ],
    ids=name,
)
def test_what_does_not_answer_a_call_leaves_it_open(event: Event) -> None:
    assert list(folded(CmdRunAction(command="ls"), event).open_calls) == [0]


@pytest.mark.parametrize("state", get_args(AgentState))
def test_agent_state(state: AgentState) -> None:
    assert folded(AgentStateChangedObservation(state=state)).agent_state == state


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ([{"mode": "ask"}], ("ask", "", 100)),
        ([{"model": "m"}, {"mode": "auto"}], ("auto", "m", 100)),
        ([{"step_limit": 5}, {"model": "m"}], ("agent", "m", 5)),
        ([{"step_limit": 5}, {"step_limit": 0}], ("agent", "", 0)),
        ([{}], ("agent", "", 100)),
    ],
    ids=str,
)
def test_settings(changes: list[dict[str, Any]], expected: tuple[str, str, int]) -> None:
    state = folded(*[ChangeSettingsAction(**change) for change in changes])
    assert (state.mode, state.model, state.limits.steps) == expected


def test_steps_are_counted_per_model_response() -> None:
    ls = CmdRunAction(command="ls")
    state = folded(
        UserMessageAction(content="go"),
        SystemMessageAction(content="prompt"),
        by("a", AgentThinkAction()),
        by("a", ls),
        CmdOutputObservation(content="", cause=3),
        by("a", ls),
        by("b", ls),
        by("c", InvalidToolCallAction(message="")),
        by("d", FinishAction()),
    )
    assert state.steps == 4
    assert folded(ls, ls, AgentThinkAction()).steps == 3, "agents that use no model"
    assert folded(msgspec.structs.replace(ls, source="user")).steps == 0


def test_queued_messages_are_those_newer_than_what_the_agent_saw() -> None:
    message = UserMessageAction(content="go")
    assert folded(message, message).queued == [0, 1]
    assert folded(message, by("a", AgentThinkAction(), cause=0)).queued == []
    meanwhile = folded(message, message, by("a", AgentThinkAction(), cause=0))
    assert meanwhile.queued == [1]
    assert folded(message, message, by("a", AgentThinkAction(), cause=1)).queued == []
    assert folded(message, AgentThinkAction()).queued == []
    assert folded(message, SystemMessageAction(content="prompt")).queued == [0]
    assert folded(message, CmdOutputObservation(content="", cause=0)).queued == [0]


def test_first_decision_on_an_open_call_counts() -> None:
    ls = CmdRunAction(command="ls")
    waits = AgentStateChangedObservation(state="awaiting_user_confirmation", cause=0)
    approve = ConfirmationAction(decision="approve", cause=0)
    reject = ConfirmationAction(decision="reject", reason="no", cause=0)
    assert folded(ls).pending_confirmation is None
    assert folded(ls, waits).pending_confirmation == 0
    assert folded(waits).pending_confirmation is None
    decided = folded(ls, waits, approve, reject)
    assert decided.pending_confirmation is None
    assert {id: event.decision for id, event in decided.decisions.items()} == {0: "approve"}
    stale = folded(ls, CmdOutputObservation(content="", cause=0), approve)
    assert stale.decisions == {}
    assert folded(ls, ConfirmationAction(decision="approve")).decisions == {}


def test_plan_is_the_one_stated_last() -> None:
    first, second = [Task(title="a")], [Task(title="b", status="done"), Task(title="c")]
    assert folded(TaskTrackingAction(tasks=first), TaskTrackingAction(tasks=second)).plan == second
    assert folded(TaskTrackingAction(tasks=first), TaskTrackingAction(tasks=[])).plan == []


def usage(id: str, cost: float | None, caller: str = "agent") -> ModelUsageObservation:
    return ModelUsageObservation(
        response_id=id, model="m", caller=caller, prompt_tokens=10, completion_tokens=3, cost=cost
    )


def test_the_ledger_counts_each_response_once_whoever_asked() -> None:
    spent = folded(usage("a", 0.5), usage("b", 0.25, "title"), usage("a", 0.5)).spent
    assert (spent.cost, spent.tokens, spent.unpriced_tokens) == (0.75, 26, 0)


def test_a_price_that_is_not_known_is_not_nothing() -> None:
    spent = folded(usage("a", 0.0), usage("b", None), usage("c", 0.5), usage("b", None)).spent
    assert (spent.cost, spent.unpriced_tokens) == (0.5, 13)
    assert (spent.prompt_tokens, spent.completion_tokens) == (30, 9)


def test_isolation_and_system_message() -> None:
    isolation = IsolationObservation(level="red", backend="none", summary="none")
    state = folded(isolation, isolation, SystemMessageAction(content="prompt"))
    assert state.isolation == msgspec.structs.replace(isolation, id=1, source="environment")
    assert state.has_system_message
    assert not folded(isolation).has_system_message


LEFT = CmdOutputObservation(cause=0, content="", running=True)
MORE = CmdOutputObservation(cause=2, content="", running=True)
ENDED = CmdOutputObservation(cause=2, content="", exit_code=0)
REFUSED = ErrorObservation(cause=2, code="shell_busy", message="")


@pytest.mark.parametrize(
    ("later", "running"),
    [
        ([], "python3"),
        ([CmdRunAction(command="1 + 1", is_input=True), MORE], "python3"),
        ([CmdRunAction(command=""), MORE], "python3"),
        ([CmdRunAction(command="cat"), REFUSED], "python3"),
        ([CmdRunAction(command="sleep 9"), MORE], "sleep 9"),
        ([CmdRunAction(command="exit()", is_input=True), ENDED], None),
        ([IsolationObservation(level="green", backend="x", summary="")], None),
        ([AgentStateChangedObservation(state="stopped")], None),
        ([AgentStateChangedObservation(state="finished")], "python3"),
    ],
)
def test_the_command_that_was_left_running_is_known(
    later: list[Event], running: str | None
) -> None:
    state = folded(CmdRunAction(command="python3"), LEFT, *later)
    assert state.running_command == running


@pytest.mark.parametrize("kind", TYPES.values(), ids=TYPES)
def test_history_holds_what_a_prompt_is_built_from(kind: type[Event]) -> None:
    required = {
        field.name: {"tasks": [], "created": True}.get(field.name, "x")
        for field in msgspec.structs.fields(kind)
        if field.required
    }
    (event,) = stamped([kind(**required)])
    state = State()
    state.apply(event)
    assert state.history == ([] if kind.__name__ in NOT_FOR_THE_MODEL else [event])
    assert state.last_id == 0


async def test_following_the_log_and_reading_it_again_come_to_the_same(
    open_stream: Callable[..., EventStream],
) -> None:
    stream = open_stream()
    live = State()
    stream.add_listener(live.apply)
    pairs = itertools.product(RUNNABLE, ANSWERS)
    for number, (action, answer) in enumerate(pairs):
        stream.append(UserMessageAction(content="go on"))
        asked = stream.append(by(f"r{number}", action, cause=stream.last_id))
        stream.append(AgentStateChangedObservation(state="awaiting_user_confirmation"))
        stream.append(ConfirmationAction(decision="approve", cause=asked))
        if number % 3:
            stream.append(msgspec.structs.replace(answer, cause=asked))
        stream.append(ChangeAgentStateAction(command="run"))
    await stream.close()
    again = State()
    for event in open_stream().read(limit=1000):
        again.apply(event)
    assert again == live
    number = len(RUNNABLE) * len(ANSWERS)
    assert (again.steps, len(again.open_calls)) == (number, -(-number // 3))
