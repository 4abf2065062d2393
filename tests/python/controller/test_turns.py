"""What the controller makes of messages, actions and their results."""

from __future__ import annotations

import asyncio

import pytest

from openhands_jupyter.errors import ModelError
from openhands_jupyter.events import (
    AgentMessageAction,
    AgentStateChangedObservation,
    AgentThinkAction,
    ChangeAgentStateAction,
    ChangeSettingsAction,
    CmdOutputObservation,
    CmdRunAction,
    ErrorObservation,
    FileReadAction,
    FileWriteAction,
    FileWriteObservation,
    FinishAction,
    IsolationObservation,
    RejectAction,
    State,
    UserMessageAction,
)


async def test_a_task_from_message_to_finish(bench, workspace):
    async with bench(
        FileWriteAction(path="a.py", content="print(6 * 7)\n"), CmdRunAction(command="python a.py")
    ) as b:
        message = b.say("do it")
        await b.until("finished")
        story = [
            e
            for e in b.events()
            if not isinstance(e, AgentStateChangedObservation | IsolationObservation)
        ]
        assert [type(e) for e in story] == [
            UserMessageAction,
            FileWriteAction,
            FileWriteObservation,
            CmdRunAction,
            CmdOutputObservation,
            FinishAction,
        ]
        assert [e.cause for e in story[1:]] == [e.id for e in story[:-1]]
        assert story[0].id == message
        assert [e.source for e in story] == [
            "user",
            "agent",
            "environment",
            "agent",
            "environment",
            "agent",
        ]
        assert (story[4].exit_code, story[4].content.strip()) == (0, "42")
    assert (workspace / "a.py").read_text() == "print(6 * 7)\n"


async def test_a_new_message_reopens_a_finished_session(bench):
    async with bench() as b:
        b.say("one")
        first = await b.until("finished")
        b.say("two")
        await b.until("running", after=first.id)
        await b.until("finished", after=first.id)
        assert len(b.events(FinishAction)) == 2


async def test_a_message_that_comes_while_the_agent_finishes_is_not_lost(bench):
    async def finish_late(state: State) -> FinishAction:
        b.say("one more thing")
        return FinishAction(message="done")

    async with bench(finish_late) as b:
        b.say("go")
        await b.until("finished")
        assert [m.content for m in b.events(UserMessageAction)] == ["go", "one more thing"]
        assert len(b.events(FinishAction)) == 2
        assert len(b.agent.seen) == 2
        await asyncio.sleep(0.1)
        assert len(b.agent.seen) == 2, "and it is not answered twice"


async def test_a_message_during_an_action_is_seen_at_the_next_step(bench):
    async with bench(CmdRunAction(command="sleep 0.3")) as b:
        b.say("go")
        await b.until_event(CmdRunAction)
        queued = b.say("also this")
        assert b.state.queued == [queued]
        await b.until("finished")
        assert b.state.queued == []
        assert b.agent.seen[-1] > queued
        assert len(b.agent.seen) == 2


async def test_a_question_waits_and_the_answer_goes_on(bench):
    async with bench(AgentMessageAction(content="which?", wait_for_response=True)) as b:
        start = b.say("go")
        waiting = await b.until("awaiting_user_input", after=start)
        assert waiting.reason == "The agent waits for your answer."
        b.say("the first")
        await b.until("finished")


async def test_an_agent_may_decline(bench):
    async with bench(RejectAction(message="I would rather not.")) as b:
        b.say("go")
        await b.until("rejected")
        b.say("please")
        await b.until("finished")


async def test_thoughts_go_on_without_anybody(bench):
    async with bench(AgentThinkAction(thought="hm")) as b:
        b.say("go")
        await b.until("finished")
        assert b.state.steps == 2


async def test_a_model_error_says_what_to_do_and_run_tries_again(bench):
    async with bench(ModelError("model_auth", "The key was refused.", "Set a valid key.")) as b:
        b.say("go")
        failed = await b.until("error")
        assert (failed.code, failed.reason, failed.hint) == (
            "model_auth",
            "The key was refused.",
            "Set a valid key.",
        )
        b.stream.append(ChangeAgentStateAction(command="run"))
        await b.until("finished")


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (ZeroDivisionError("oops"), "ZeroDivisionError: oops"),
        (SystemExit(3), "SystemExit: 3"),
        ("run it", "step of the agent scripted gave a str, which is no action"),
    ],
)
async def test_an_unexpected_exception_is_an_error_state_not_a_dead_session(bench, given, told):
    async with bench(given) as b:
        b.say("go")
        failed = await b.until("error")
        assert failed.code == "internal"
        assert told in failed.reason
        b.say("again")
        await b.until("finished")


async def test_the_step_limit_pauses_and_can_be_raised(bench):
    async with bench(*[AgentThinkAction(thought=str(n)) for n in range(5)]) as b:
        b.stream.append(ChangeSettingsAction(step_limit=3))
        b.say("go")
        paused = await b.until("paused")
        assert paused.code == "step_limit"
        assert b.state.steps == 3
        b.stream.append(ChangeSettingsAction(step_limit=10))
        b.stream.append(ChangeAgentStateAction(command="run"))
        await b.until("finished")
        assert b.state.steps == 6


async def test_a_message_at_the_step_limit_does_not_loop(bench):
    async with bench(AgentThinkAction(thought="1"), AgentThinkAction(thought="2")) as b:
        b.stream.append(ChangeSettingsAction(step_limit=1))
        b.say("go")
        first = await b.until("paused")
        b.say("more")
        second = await b.until("paused", after=first.id)
        await asyncio.sleep(0.3)
        assert b.events(AgentStateChangedObservation)[-1].id == second.id


async def test_ask_mode_only_reads(bench, workspace):
    (workspace / "a.txt").write_text("hello")
    async with bench(
        FileReadAction(path="a.txt"), FileWriteAction(path="a.txt", content="changed")
    ) as b:
        b.stream.append(ChangeSettingsAction(mode="ask"))
        b.say("go")
        await b.until("finished")
        (refused,) = b.events(ErrorObservation)
        assert refused.code == "refused"
        assert "Agent" in refused.message
    assert (workspace / "a.txt").read_text() == "hello"


async def test_what_is_executed_is_not_what_the_log_cuts(bench, workspace):
    content = "x" * 300_000
    async with bench(FileWriteAction(path="big.txt", content=content)) as b:
        b.say("go")
        await b.until("finished")
    assert (workspace / "big.txt").read_text() == content
