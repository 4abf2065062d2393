"""What waits for the person, and what comes of each answer."""

from __future__ import annotations

import asyncio

import pytest

from openhands_jupyter.events import (
    ChangeAgentStateAction,
    ChangeSettingsAction,
    CmdOutputObservation,
    CmdRunAction,
    ConfirmationAction,
    ErrorObservation,
    UserRejectObservation,
)

DELETE = CmdRunAction(command="rm -- a.tmp")


@pytest.fixture
def temporary_file(workspace):
    path = workspace / "a.tmp"
    path.write_text("x")
    return path


async def waiting(b) -> int:
    b.say("delete the temporary files")
    state = await b.until("awaiting_user_confirmation")
    assert b.state.pending_confirmation == state.cause
    return state.cause


async def test_approval_executes_that_very_action(bench, temporary_file):
    async with bench(DELETE) as b:
        action = await waiting(b)
        assert temporary_file.exists()
        assert next(e for e in b.events(CmdRunAction)).risk.level == "high"
        b.stream.append(ConfirmationAction(cause=action, decision="approve"))
        await b.until("finished")
        (result,) = b.events(CmdOutputObservation)
        assert (result.cause, result.exit_code) == (action, 0)
        assert len(b.events(CmdRunAction)) == 1
    assert not temporary_file.exists()


async def test_a_rejection_tells_the_agent_why(bench, temporary_file):
    async with bench(DELETE) as b:
        action = await waiting(b)
        b.stream.append(ConfirmationAction(cause=action, decision="reject", reason="I need them"))
        await b.until("finished")
        (result,) = b.events(UserRejectObservation)
        assert (result.cause, result.reason) == (action, "I need them")
        assert b.events(CmdOutputObservation) == []
    assert temporary_file.exists()


async def test_a_message_instead_of_a_decision_is_a_no(bench, temporary_file):
    async with bench(DELETE) as b:
        action = await waiting(b)
        b.say("wait, keep them")
        await b.until("finished")
        (result,) = b.events(UserRejectObservation)
        assert (result.cause, result.reason) == (action, "wait, keep them")
    assert temporary_file.exists()


async def test_a_decision_on_another_action_approves_nothing(bench, temporary_file):
    async with bench(DELETE) as b:
        action = await waiting(b)
        for other in (0, action - 1, action + 1000):
            b.stream.append(ConfirmationAction(cause=other, decision="approve"))
        await asyncio.sleep(0.2)
        assert b.state.pending_confirmation == action
    assert temporary_file.exists()


async def test_a_change_of_mode_approves_nothing(bench, temporary_file):
    async with bench(DELETE) as b:
        action = await waiting(b)
        b.stream.append(ChangeSettingsAction(mode="auto"))
        await asyncio.sleep(0.2)
        assert b.state.pending_confirmation == action
    assert temporary_file.exists()


async def test_the_first_decision_counts(bench, temporary_file):
    async with bench(DELETE) as b:
        action = await waiting(b)
        b.stream.append(ConfirmationAction(cause=action, decision="reject"))
        b.stream.append(ConfirmationAction(cause=action, decision="approve"))
        await b.until("finished")
    assert temporary_file.exists()


async def test_stopping_closes_what_waits(bench, temporary_file):
    async with bench(DELETE) as b:
        action = await waiting(b)
        b.stream.append(ChangeAgentStateAction(command="stop"))
        await b.until("stopped")
        (result,) = b.events(ErrorObservation)
        assert (result.cause, result.code) == (action, "stopped")
        b.stream.append(ConfirmationAction(cause=action, decision="approve"))
        await asyncio.sleep(0.2)
        assert b.state.agent_state == "stopped"
    assert temporary_file.exists()


async def test_auto_mode_does_not_ask_and_does_not_survive_a_restart(bench, temporary_file):
    async with bench(DELETE) as b:
        b.stream.append(ChangeSettingsAction(mode="auto"))
        b.say("delete")
        await b.until("finished")
    assert not temporary_file.exists()
    async with bench() as b:
        assert b.state.mode == "agent"


async def test_an_approval_that_waits_is_closed_by_a_restart(bench, temporary_file):
    async with bench(DELETE) as b:
        action = await waiting(b)
        log = b.log.read_bytes()
    # What a server that was killed leaves behind is the log as it was.
    b.log.write_bytes(log)
    async with bench() as b:
        assert b.state.open_calls == {}
        assert b.state.agent_state == "awaiting_user_input"
        (result,) = b.events(ErrorObservation)
        assert (result.cause, result.code) == (action, "interrupted")
        b.stream.append(ConfirmationAction(cause=action, decision="approve"))
        await asyncio.sleep(0.2)
    assert temporary_file.exists()
