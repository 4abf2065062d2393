"""What a session may take: warned of before it is used up, then paused, and gone on with."""

from __future__ import annotations

import asyncio

import pytest

from openhands_jupyter.controller.limits import uses_of
from openhands_jupyter.events import (
    Action,
    AgentStateChangedObservation,
    AgentThinkAction,
    ChangeAgentStateAction,
    ChangeSettingsAction,
    CmdRunAction,
    LimitWarningObservation,
    ModelUsageObservation,
    State,
)

THINK = AgentThinkAction(thought="hm")


def asking(b, cost: float | None, tokens: int, action: Action = THINK):
    """A step of an agent whose model takes this."""

    async def step(state: State) -> Action:
        usage = ModelUsageObservation(
            response_id=f"r{state.last_id}", model="m", prompt_tokens=tokens, cost=cost
        )
        b().stream.append(usage)
        return action

    return step


@pytest.mark.parametrize(
    ("change", "cost", "tokens", "code", "told"),
    [
        ({"cost_limit": 1.0}, 0.2, 10, "cost_limit", "The agent has used its $1.00."),
        ({"token_limit": 5000}, 0.0, 1000, "token_limit", "The agent has used its 5,000 tokens."),
        # Not zero, but what a dear model would take: five times 20,000 tokens are a dollar.
        (
            {"cost_limit": 1.0},
            None,
            20_000,
            "cost_limit",
            "The agent has used its $1.00, where 100,000 tokens whose price is not known count as "
            "$10 a million.",
        ),
    ],
)
async def test_what_models_take_is_warned_of_then_paused_and_can_be_extended(
    bench, change, cost, tokens, code, told
):
    held = []
    steps = [
        asking(lambda: held[0], cost, tokens, CmdRunAction(command=f"echo {n}")) for n in range(6)
    ]
    async with bench(*steps) as b:
        held.append(b)
        b.stream.append(ChangeSettingsAction(**change))
        b.say("go")
        paused = await b.until("paused")
        assert (paused.code, paused.reason) == (code, told)
        (warning,) = b.events(LimitWarningObservation)
        assert warning.used == pytest.approx(0.8 * warning.allowed)
        assert b.state.steps == 5
        assert not b.state.open_calls
    # The restart is no reason to warn again, or to forget what was used.
    async with bench(*steps[:1]) as b:
        held[0] = b
        (reached,) = (use for use in b.controller.guards.uses() if use.reached)
        assert b.state.agent_state == "paused"
        b.stream.append(ChangeAgentStateAction(command="run"))
        again = await b.until("paused", after=b.state.last_id)
        assert again.code == code
        assert len(b.events(LimitWarningObservation)) == 1
        b.stream.append(ChangeSettingsAction(**{code: reached.extended}))
        b.stream.append(ChangeAgentStateAction(command="run"))
        await b.until("finished")


async def test_only_work_counts_as_time(bench, workspace):
    seen: list[float] = []

    async def look(state: State) -> Action:
        seen.append(b.controller.guards.uses()[-1].used)
        return THINK

    async with bench(CmdRunAction(command="sleep 0.5"), look) as b:
        b.say("go")
        ended = await b.until("finished")
        assert ended.worked is not None
        assert ended.worked > 0.5
        assert seen[0] * 60 > 0.5
        worked = b.state.limits.worked
        assert worked == ended.worked
        # Nobody works now.
        first, second = (b.controller.guards.uses()[-1].used for _ in range(2))
        assert first == second
        b.stream.append(ChangeSettingsAction(time_limit=worked / 60))
        b.say("more")
        paused = await b.until("paused")
        assert paused.code == "time_limit"


async def test_the_work_of_a_server_that_was_killed_counts_until_its_last_event(bench):
    async with bench(CmdRunAction(command="sleep 0.4"), CmdRunAction(command="sleep 60")) as b:
        b.say("go")
        await b.until_event(CmdRunAction)
        await b.until_event(CmdRunAction, after=b.events(CmdRunAction)[0].id)
        log = b.log.read_bytes()
    b.log.write_bytes(log)
    async with bench() as b:
        closed = b.events(AgentStateChangedObservation)[-1]
        assert (closed.state, closed.code) == ("awaiting_user_input", "interrupted")
        times = [e.time for e in b.events() if e.id < closed.id]
        assert 0.4 < closed.worked <= (times[-1] - times[0]).total_seconds()


async def test_a_wait_for_the_provider_that_a_restart_ends(bench):
    async def busy(state: State) -> Action:
        waits = AgentStateChangedObservation(state="rate_limited", code="model_rate_limited")
        b.stream.append(waits)
        await asyncio.sleep(60)
        return THINK

    async with bench(busy) as b:
        b.say("go")
        await b.until("rate_limited")
        log = b.log.read_bytes()
    b.log.write_bytes(log)
    async with bench() as b:
        closed = b.events(AgentStateChangedObservation)[-1]
        assert (closed.state, closed.code) == ("awaiting_user_input", "interrupted")
        assert not b.agent.seen, "nothing is asked again by itself"
        b.say("go on")
        await b.until("finished")


def test_there_is_no_limit_where_none_is_set():
    state = State()
    assert [use.limit for use in uses_of(state, 10**6) if use.reached or use.nearly_reached] == []
    state.limits.apply(ChangeSettingsAction(time_limit=10))
    assert [use.limit for use in uses_of(state, 480) if use.nearly_reached] == ["time"]
    assert [use.limit for use in uses_of(state, 600) if use.reached] == ["time"]
    state.limits.apply(ChangeSettingsAction(time_limit=0))
    assert [use.limit for use in uses_of(state, 600) if use.reached] == []
