"""A command that waits for input, from the model over the gate to the person, and its end."""

from __future__ import annotations

from typing import Any

import psutil
import pytest
from model_server.script import call
from waiting import wait_until

from openhands_jupyter.runtime import commands

pytestmark = [pytest.mark.sandbox, pytest.mark.usefixtures("shared_models")]


@pytest.fixture(autouse=True)
def short_silence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commands, "NO_CHANGE_TIMEOUT", 0.5)
    monkeypatch.setattr(commands, "NO_CHANGE_AFTER_INPUT", 60.0)


async def new_session(api: Any, model_server: Any) -> dict[str, Any]:
    await api("PUT", "settings", {"model": "openai/local", "base_url": model_server.url})
    await api("PUT", "secrets/LLM_API_KEY", {"value": "sk-canary-0123456789"})
    created: dict[str, Any] = (await api("POST", "sessions", {"model": "openai/local"})).body
    return created


def in_state(state: str) -> Any:
    return lambda frame: frame["type"] == "session" and frame["session"]["state"] == state


async def test_input_waits_for_the_person_and_reaches_the_program(
    api: Any, connect: Any, model_server: Any
) -> None:
    session = await new_session(api, model_server)
    model_server.play(
        call("execute_bash", command="printf 'Sure? '; read answer; echo You said $answer."),
        call("execute_bash", command="yes", is_input=True),
        call("finish", message="done"),
    )
    path = f"sessions/{session['id']}"
    client = await connect(session["id"])
    await api("POST", f"{path}/messages", {"content": "go"})
    waiting = (await client.until(in_state("awaiting_user_confirmation")))["session"]
    assert waiting["command_running"]
    answer = await api(
        "POST", f"{path}/confirmations/{waiting['pending']}", {"decision": "approve"}
    )
    assert answer.status == 201
    assert not (await client.until(in_state("finished")))["session"]["command_running"]
    events = (await api("GET", f"{path}/events", type="CmdOutputObservation")).body["events"]
    assert "".join(event["content"] for event in events) == "Sure? You said yes.\n"
    assert [(event.get("running"), event.get("exit_code")) for event in events] == [
        (True, None),
        (None, 0),
    ]
    told = model_server.requests[1].body["messages"][-1]["content"]
    assert "still running" in told and "is_input" in told


def sleepers() -> list[psutil.Process]:
    return [
        process
        for process in psutil.Process().children(recursive=True)
        if process.name() == "sleep" and process.status() != psutil.STATUS_ZOMBIE
    ]


async def test_a_command_that_outlives_the_turn_can_be_stopped(
    api: Any, connect: Any, model_server: Any
) -> None:
    session = await new_session(api, model_server)
    model_server.play(call("execute_bash", command="sleep 600"), call("finish", message="done"))
    path = f"sessions/{session['id']}"
    client = await connect(session["id"])
    await api("POST", f"{path}/messages", {"content": "go"})
    assert (await client.until(in_state("finished")))["session"]["command_running"]
    await wait_until(lambda: len(sleepers()) == 1)
    assert (await api("POST", f"{path}/state", {"command": "stop"})).status == 202
    stopped = (await client.until(in_state("stopped")))["session"]
    assert not stopped["command_running"]
    assert sleepers() == []
    assert (await api("POST", f"{path}/state", {"command": "stop"})).status == 409
