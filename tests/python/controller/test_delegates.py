"""Delegates: one loop, one gate, one stop for all, whoever is at work."""

from __future__ import annotations

import pytest

from openhands_jupyter.events import (
    AgentDelegateAction,
    AgentDelegateObservation,
    AgentMessageAction,
    AgentStateChangedObservation,
    ChangeAgentStateAction,
    CmdOutputObservation,
    CmdRunAction,
    ConfirmationAction,
    ErrorObservation,
    EventStream,
    FinishAction,
    ModelCall,
    Task,
    TaskTrackingAction,
    UserMessageAction,
    UserRejectObservation,
)

LOOK = AgentDelegateAction(agent="readonly", task="Look.")
ANSWERS = (AgentDelegateObservation, ErrorObservation)


def question(text: str) -> AgentMessageAction:
    """What a model asks with a tool."""
    call = ModelCall(response_id="r", tool_call_id="1", tool_name="ask_user")
    return AgentMessageAction(content=text, wait_for_response=True, llm=call)


def said(text: str) -> AgentMessageAction:
    """What a model says without a tool."""
    call = ModelCall(response_id="r")
    return AgentMessageAction(content=text, wait_for_response=True, llm=call)


def command(text: str) -> CmdRunAction:
    return CmdRunAction(command=text)


async def test_each_has_a_history_and_a_plan_of_its_own(bench):
    seen = []

    def watch(action):
        async def step(state):
            seen.append(([type(event).__name__ for event in state.history], len(state.plan)))
            return action

        return step

    async with bench(
        TaskTrackingAction(tasks=[Task(title="mine")]),
        LOOK,
        TaskTrackingAction(tasks=[]),
        command("echo inner"),
        AgentDelegateAction(agent="codeact", task="Deeper."),
        watch(said("It is deep.")),
        watch(FinishAction(message="Looked.")),
        watch(FinishAction(message="Done.")),
    ) as b:
        b.say("Go")
        await b.until("finished")
        outer, inner = b.events(AgentDelegateAction)
        assert (outer.agent_path, inner.agent_path) == ([], [outer.id])
        (ran,) = b.events(CmdOutputObservation)
        assert (ran.agent_path, ran.content) == ([outer.id], "inner\n")
        ends = b.events(*ANSWERS)
        assert [(e.cause, e.content, e.agent_path) for e in ends] == [
            (inner.id, "It is deep.", [outer.id]),
            (outer.id, "Looked.", []),
        ]
        assert not b.state.delegations
    named = ["AgentDelegateAction", "TaskTrackingAction", "CmdRunAction", "CmdOutputObservation"]
    assert seen == [
        (["AgentDelegateAction"], 0),
        ([*named, "AgentDelegateAction", "AgentDelegateObservation"], 0),
        (
            [
                "UserMessageAction",
                "TaskTrackingAction",
                "AgentDelegateAction",
                "AgentDelegateObservation",
            ],
            1,
        ),
    ]


async def test_a_delegate_of_a_delegate_cannot_delegate(bench):
    async with bench(LOOK, LOOK, LOOK, FinishAction(message="inner")) as b:
        b.say("Go")
        await b.until("finished")
        outer, inner, third = b.events(AgentDelegateAction)
        refused, *ended = b.events(*ANSWERS)
        assert (refused.code, refused.cause) == ("too_many_delegates", third.id)
        assert refused.agent_path == [outer.id, inner.id]
        assert [event.cause for event in ended] == [inner.id, outer.id]


async def test_what_fails_of_a_delegate_is_answered_and_the_delegator_goes_on(bench):
    async with bench(LOOK, RuntimeError("a bug of its own"), FinishAction(message="alone")) as b:
        b.say("Go")
        await b.until("finished")
        (failed,) = b.events(*ANSWERS)
        assert (failed.code, failed.cause) == ("agent_failed", b.events(AgentDelegateAction)[0].id)
        assert "a bug of its own" in failed.message


async def test_approval_rejection_and_messages_are_the_delegates(bench):
    heard = []

    async def hear(state):
        heard.extend(e.content for e in state.history if isinstance(e, UserMessageAction))
        return FinishAction(message="heard")

    async with bench(LOOK, command("rm -r x"), command("rm -r y"), hear, hear) as b:
        b.say("Go")
        await b.until("awaiting_user_confirmation")
        waiting = b.state.pending_confirmation
        assert b.state.open_calls[waiting].agent_path == [b.events(AgentDelegateAction)[0].id]
        b.stream.append(ConfirmationAction(cause=waiting, decision="reject", reason="Not that."))
        await b.until("awaiting_user_confirmation", after=waiting + 1)
        said = b.say("Nor this.")
        await b.until("finished", after=said)
        first, second = b.events(UserRejectObservation)
        assert (first.reason, second.reason) == ("Not that.", "Nor this.")
    assert heard == ["Nor this.", "Go"]


@pytest.mark.parametrize("nested", [False, True])
async def test_a_stop_ends_all_and_unread_messages_are_not_lost(bench, nested):
    heard = []

    async def hear(state):
        heard.extend(e.content for e in state.history if isinstance(e, UserMessageAction))
        return FinishAction(message="heard")

    script = [LOOK] * (2 if nested else 1)
    async with bench(*script, command("echo begun; sleep 600"), hear) as b:
        b.say("Go")
        await b.until_printed("begun")
        b.say("Look at the other one.")
        b.controller.stream.append(ChangeAgentStateAction(command="stop"))
        stopped = await b.until("stopped")
        assert [e.code for e in b.events(*ANSWERS)] == ["stopped"] * len(script)
        assert not b.state.delegations and not b.state.open_calls
        b.say("Go on")
        await b.until("finished", after=stopped.id)
    assert heard == ["Go", "Look at the other one.", "Go on"]


async def test_a_delegates_question_outlives_the_server(bench):
    heard = []

    async def hear(state):
        heard.extend(type(event).__name__ for event in state.history)
        return FinishAction(message="told")

    async with bench(LOOK, question("Which?")) as b:
        b.say("Go")
        await b.until("awaiting_user_input", after=b.state.last_id)
    async with bench(hear) as b:
        assert b.state.acting == "readonly" and not b.events(*ANSWERS)
        said = b.say("This one.")
        await b.until("finished", after=said)
        (end,) = b.events(*ANSWERS)
        assert end.content == "told"
    assert heard == ["AgentDelegateAction", "AgentMessageAction", "UserMessageAction"]


async def test_a_server_that_dies_ends_the_work_of_delegates(bench, tmp_path):
    stream = EventStream(tmp_path / "session")
    stream.append(UserMessageAction(content="Go"))
    stream.append(AgentStateChangedObservation(state="running"))
    first = stream.append(AgentDelegateAction(source="agent", agent="codeact", task="x"))
    second = stream.append(
        AgentDelegateAction(source="agent", agent="readonly", task="x", agent_path=[first])
    )
    ran = stream.append(CmdRunAction(source="agent", command="sleep 1", agent_path=[first, second]))
    await stream.close()
    async with bench(FinishAction(message="done")) as b:
        assert [(e.cause, e.code) for e in b.events(*ANSWERS)] == [
            (ran, "interrupted"),
            (second, "interrupted"),
            (first, "interrupted"),
        ]
        assert not b.state.delegations
        assert [type(event).__name__ for event in b.state.history] == [
            "UserMessageAction",
            "AgentDelegateAction",
            "ErrorObservation",
        ]
