"""Stop, pause, restart: every action is answered, and nothing runs twice."""

from __future__ import annotations

import asyncio
import contextlib
import errno

import pytest
from leftovers import processes_below
from waiting import PATIENCE, unhurried, wait_until

from openhands_jupyter.errors import SandboxUnavailable
from openhands_jupyter.events import (
    AgentThinkAction,
    ChangeAgentStateAction,
    ChangeSettingsAction,
    CmdOutputObservation,
    CmdRunAction,
    ErrorObservation,
    FinishAction,
    IPythonOutputObservation,
    IPythonRunCellAction,
    IsolationObservation,
    Observation,
    State,
)
from openhands_jupyter.runtime import commands
from openhands_jupyter.runtime.base import Runtime

STOP = ChangeAgentStateAction(command="stop")
PAUSE = ChangeAgentStateAction(command="pause")
RUN = ChangeAgentStateAction(command="run")


async def stop(b) -> float:
    """Stop, and the seconds that it took by itself."""
    started = unhurried()
    b.stream.append(STOP)
    await b.until("stopped")
    return unhurried() - started


async def test_stopping_a_command_keeps_its_partial_output(bench):
    async with bench(CmdRunAction(command="echo begun; sleep 60")) as b:
        b.say("go")
        action = await b.until_event(CmdRunAction)
        await b.until_printed("begun")
        assert await stop(b) < 3
        (result,) = b.events(CmdOutputObservation)
        assert (result.cause, result.interrupted) == (action.id, "stopped")
        assert "begun" in result.content
        assert b.state.open_calls == {}


async def test_stop_ends_what_an_earlier_action_left_running(bench, monkeypatch):
    script = (CmdRunAction(command="sleep 60"), IPythonRunCellAction(code="while True: pass"))
    async with bench(*script, CmdRunAction(command="jobs; echo free")) as b:
        with monkeypatch.context() as impatient:
            impatient.setattr(commands, "NO_CHANGE_TIMEOUT", 0.3)
            b.say("go")
            await b.until_event(CmdOutputObservation)
        assert b.state.running_command == "sleep 60"
        cell = await b.until_event(IPythonRunCellAction)
        await stop(b)
        assert b.state.running_command is None
        b.say("go on")
        after = await b.until_event(CmdOutputObservation, after=cell.id)
        assert after.content.endswith("free\n")
        await b.until("finished", after=after.id)


async def test_a_command_may_go_on_when_the_turn_is_over_and_ends_with_the_session(
    bench, monkeypatch
):
    monkeypatch.setattr(commands, "NO_CHANGE_TIMEOUT", 0.3)
    wait = CmdRunAction(command="", timeout=30)
    async with bench(CmdRunAction(command="read x; echo $x"), FinishAction(), wait) as b:
        b.say("go")
        await b.until("finished")
        b.say("go on")
        waiting = await b.until_event(CmdRunAction, after=b.state.last_id)
        assert waiting.command == ""
        await stop(b)
        (answer,) = (e for e in b.events() if isinstance(e, Observation) and e.cause == waiting.id)
        # The stop may come before the wait has begun, or after.
        assert "stopped" in (getattr(answer, "interrupted", ""), getattr(answer, "code", ""))
        assert b.state.running_command is None
    async with bench(CmdRunAction(command="sleep 60")) as b:
        begun = b.say("go")
        await b.until("finished", after=begun)
        assert b.state.running_command == "sleep 60"
        last = b.state.last_id
    assert not [e for e in b.events() if e.id > last]


async def test_stopping_a_cell_that_never_ends(bench):
    async with bench(
        IPythonRunCellAction(code="print('begun', flush=True)\nwhile True: pass")
    ) as b:
        b.say("go")
        await b.until_printed("begun")
        assert await stop(b) < 3
        (result,) = b.events(IPythonOutputObservation)
        assert result.interrupted == "stopped"
        assert "begun" in str(result.outputs)


async def test_stopping_while_the_model_thinks(bench):
    thinking, cancelled = asyncio.Event(), asyncio.Event()

    async def think_long(state: State):
        thinking.set()
        try:
            await asyncio.sleep(60)
        finally:
            cancelled.set()

    async with bench(think_long) as b:
        b.say("go")
        await asyncio.wait_for(thinking.wait(), PATIENCE)
        assert await stop(b) < 2
        assert cancelled.is_set()
        await asyncio.sleep(0.2)
        assert len(b.agent.seen) == 1, "a stopped message is not taken up again by itself"
        b.say("go on")
        await b.until("finished")


async def test_pausing_lets_the_action_end_and_run_goes_on(bench):
    async with bench(CmdRunAction(command="sleep 0.5; echo whole"), AgentThinkAction()) as b:
        b.say("go")
        await b.until_event(CmdRunAction)
        b.stream.append(PAUSE)
        await b.until("paused")
        (result,) = b.events(CmdOutputObservation)
        assert (result.exit_code, result.content.strip()) == (0, "whole")
        assert len(b.agent.seen) == 1
        b.stream.append(RUN)
        await b.until("finished")
        assert len(b.events(CmdRunAction)) == 1


async def test_stopping_what_is_paused(bench):
    async with bench(AgentThinkAction(), CmdRunAction(command="sleep 0.3")) as b:
        b.say("go")
        await b.until_event(CmdRunAction)
        b.stream.append(PAUSE)
        await b.until("paused")
        await stop(b)
        b.say("on")
        await b.until("finished")


async def test_stop_when_nothing_runs_changes_nothing(bench):
    async with bench() as b:
        b.stream.append(STOP)
        await asyncio.sleep(0.2)
        assert b.state.agent_state == "awaiting_user_input"


async def test_closing_answers_what_runs(bench):
    async with bench(CmdRunAction(command="sleep 60")) as b:
        b.say("go")
        await b.until_event(CmdRunAction)
        await asyncio.sleep(0.3)
        await b.controller.close()
        assert b.state.open_calls == {}
        assert b.state.agent_state == "stopped"


class FaultyRuntime(Runtime):
    """A runtime with a fault."""

    def __init__(self, start=None, run=None) -> None:
        self._start_fault = start
        self._run = run

    async def start(self) -> IsolationObservation:
        if self._start_fault:
            raise self._start_fault
        return IsolationObservation(level="green", backend="test", summary="A test.")

    async def run_action(self, action, on_output):
        return await self._run()

    async def interrupt(self) -> None:
        await asyncio.sleep(60)

    async def close(self) -> None:
        pass


async def test_no_sandbox_means_nothing_is_executed(bench):
    fault = SandboxUnavailable("bubblewrap is not installed.", "apt install bubblewrap")
    async with bench(CmdRunAction(command="ls"), runtime=FaultyRuntime(start=fault)) as b:
        b.say("go")
        failed = await b.until("error")
        assert (failed.code, failed.hint) == ("sandbox_unavailable", "apt install bubblewrap")
        (action,), (result,) = b.events(CmdRunAction), b.events(ErrorObservation)
        assert (result.cause, result.code) == (action.id, "sandbox_unavailable")


@pytest.mark.parametrize(
    "fault", [RuntimeError("broken"), SandboxUnavailable("gone"), asyncio.CancelledError()]
)
async def test_an_action_is_answered_whatever_the_runtime_does(bench, fault):
    async def run():
        raise fault

    async with bench(CmdRunAction(command="ls"), runtime=FaultyRuntime(run=run)) as b:
        b.say("go")
        result = await b.until_event(ErrorObservation)
        (action,) = b.events(CmdRunAction)
        assert result.cause == action.id
        assert b.state.open_calls == {}


async def test_a_runtime_that_does_not_stop_is_given_up(bench):
    runtime = FaultyRuntime(run=lambda: asyncio.sleep(60))
    async with bench(CmdRunAction(command="ls"), runtime=runtime) as b:
        b.say("go")
        await b.until_event(CmdRunAction)
        await asyncio.sleep(0.1)
        assert await stop(b) < 3
        (result,) = b.events(ErrorObservation)
        assert result.code == "interrupted"


async def test_a_command_that_was_running_when_the_server_died(bench, workspace):
    command = "echo once >> count; sleep 60"
    async with bench(CmdRunAction(command=command)) as b:
        b.say("go")
        action = await b.until_event(CmdRunAction)
        count = workspace / "count"
        await wait_until(lambda: count.exists() and count.read_text() == "once\n")
        log = b.log.read_bytes()
    # What a server that was killed leaves behind is the log as it was.
    b.log.write_bytes(log)
    async with bench() as b:
        (result,) = b.events(ErrorObservation)
        assert (result.cause, result.code) == (action.id, "interrupted")
        assert b.state.agent_state == "awaiting_user_input"
        await asyncio.sleep(0.3)
        assert (workspace / "count").read_text() == "once\n"
        b.say("go on")
        await b.until("finished")
        assert (workspace / "count").read_text() == "once\n"


async def test_a_full_disk_does_not_keep_the_sandbox_alive(bench, monkeypatch):
    before = set(processes_below())
    async with bench(CmdRunAction(command="sleep 60")) as b:
        b.say("go")
        await b.until_event(CmdRunAction)
        await asyncio.sleep(0.3)

        def no_space(line: bytes) -> None:
            raise OSError(errno.ENOSPC, "No space left on device")

        with monkeypatch.context() as full:
            full.setattr(b.stream._store, "append", no_space)
            with contextlib.suppress(OSError):
                await b.controller.close()
        assert set(processes_below()) <= before


async def test_a_stop_that_the_runtime_refuses_stops_all_the_same(bench):
    class Refusing(FaultyRuntime):
        async def interrupt(self) -> None:
            raise RuntimeError("the sandbox does not want to")

    runtime = Refusing(run=lambda: asyncio.sleep(60))
    async with bench(CmdRunAction(command="ls"), runtime=runtime) as b:
        b.say("go")
        await b.until_event(CmdRunAction)
        await asyncio.sleep(0.1)
        assert await stop(b) < 3
        b.say("go on")
        await b.until("finished")


async def test_closing_while_a_stop_waits_leaves_nothing_at_work(bench):
    begun, stopping, ended = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def run():
        begun.set()
        try:
            await asyncio.sleep(60)
        finally:
            ended.set()

    class Slow(FaultyRuntime):
        async def interrupt(self) -> None:
            stopping.set()
            await asyncio.sleep(60)

    async with bench(CmdRunAction(command="ls"), runtime=Slow(run=run)) as b:
        b.say("go")
        await begun.wait()
        b.stream.append(STOP)
        await stopping.wait()
        await b.controller.close()
        assert ended.is_set()
        (result,) = b.events(ErrorObservation)
        assert result.code == "interrupted"


async def test_stop_does_not_wait_for_a_pause(bench):
    async with bench(CmdRunAction(command="sleep 60")) as b:
        b.say("go")
        await b.until_event(CmdRunAction)
        await asyncio.sleep(0.3)
        b.stream.append(PAUSE)
        await asyncio.sleep(0.1)
        assert await stop(b) < 3


async def test_a_message_right_after_stop_is_taken_up(bench):
    async with bench(CmdRunAction(command="sleep 60")) as b:
        b.say("go")
        await b.until_event(CmdRunAction)
        await asyncio.sleep(0.3)
        b.stream.append(STOP)
        b.say("no, do this instead")
        await b.until("stopped")
        await b.until("finished")
        assert len(b.events(CmdRunAction)) == 1


async def test_a_result_that_could_not_be_written_does_not_block_what_follows(bench, monkeypatch):
    async with bench(CmdRunAction(command="echo one"), CmdRunAction(command="rm -- x")) as b:
        real = b.stream._store.append
        full = {"disk": True}

        def append(line: bytes) -> None:
            if full["disk"] and b"CmdOutputObservation" in line:
                raise OSError(errno.ENOSPC, "No space left on device")
            real(line)

        monkeypatch.setattr(b.stream._store, "append", append)
        b.say("go")
        await b.until("error")
        full["disk"] = False
        b.say("again")
        waiting = await b.until("awaiting_user_confirmation")
        assert b.state.pending_confirmation == waiting.cause


async def test_a_sandbox_that_no_longer_isolates_executes_nothing(bench):
    levels = iter(["green", "red", "red"])
    ran = []

    class Degrading(FaultyRuntime):
        async def start(self) -> IsolationObservation:
            return IsolationObservation(level=next(levels), backend="test", summary="A test.")

    async def run():
        ran.append(1)

    async with bench(CmdRunAction(command="ls"), runtime=Degrading(run=run)) as b:
        b.say("go")
        failed = await b.until("error")
        assert failed.code == "sandbox_unavailable"
        assert ran == []
        assert b.state.open_calls == {}


async def test_an_agent_cannot_do_what_is_the_persons_to_do(bench):
    async with bench(ChangeSettingsAction(mode="auto")) as b:
        b.say("go")
        failed = await b.until("error")
        assert failed.code == "internal"
        assert b.state.mode == "agent"
