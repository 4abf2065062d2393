"""Secrets that a person allows into a session's sandbox, by name."""

from __future__ import annotations

import asyncio

import pytest
from model_server.script import call
from session_tools import events, until

from openhands_jupyter.config import Config
from openhands_jupyter.errors import Invalid
from openhands_jupyter.events import (
    ChangeSettingsAction,
    CmdOutputObservation,
    IPythonOutputObservation,
)

VALUE = "canary-9f8e7d6c5b4a"
MASK = "<secret_hidden>"
LENGTH = "echo ${#DATABASE_PASSWORD} ${DATABASE_PASSWORD:-none}"

# The value crosses the boundary between two pieces of output.
IN_TWO_PIECES = (
    "printf '%s' \"${DATABASE_PASSWORD:0:9}\"; sleep 0.5; printf '%s\\n' \"${DATABASE_PASSWORD:9}\""
)


def bash(command):
    return call("execute_bash", command=command)


async def act(session, model_server, *calls):
    """Have the agent do this; what was observed."""
    after = session.stream.last_id
    model_server.play(*calls, call("finish", message="done"))
    session.send_message("go on")
    await until(session, "finished", after=after)
    kinds = (CmdOutputObservation, IPythonOutputObservation)
    return [event for event in events(session, *kinds) if event.id > after]


def system_prompt(model_server):
    return model_server.requests[-1].body["messages"][0]["content"]


async def collect(session, texts):
    async for items in session.stream.live.subscribe():
        texts += [item.text for item in items]


async def test_a_secret_is_in_the_sandbox_once_it_is_allowed_and_hidden_in_what_is_seen(
    manager, model_server, tmp_path, caplog
):
    async with manager() as sessions:
        sessions._config.secrets.set("DATABASE_PASSWORD", VALUE)
        session = await sessions.create(mode="auto")
        (before,) = await act(session, model_server, bash(LENGTH))
        assert before.content.strip() == "0 none"

        session.change_settings(secrets=["DATABASE_PASSWORD"])
        assert session.info().secrets == ["DATABASE_PASSWORD"]
        live = []
        watching = asyncio.create_task(collect(session, live))
        shell, split, cell = await act(
            session,
            model_server,
            bash(LENGTH),
            bash(IN_TWO_PIECES),
            call("run_code", code="import os; print(os.environ['DATABASE_PASSWORD'])"),
        )
        assert "The person changed which secrets the sandbox has." in shell.content
        assert shell.content.endswith(f"{len(VALUE)} {MASK}\n")
        assert split.content == f"{MASK}\n"
        assert MASK in cell.outputs[-1].text
        watching.cancel()
        assert MASK in "".join(live)
        assert VALUE[:9] not in "".join(live)

        assert "secrets in environment variables: DATABASE_PASSWORD." in system_prompt(model_server)
        session.change_settings(secrets=[])
        (after,) = await act(session, model_server, bash(LENGTH))
        assert after.content.endswith("0 none\n")
        (first, *_) = [e for e in events(session, ChangeSettingsAction) if e.secrets]
        assert (first.source, first.secrets) == ("user", ["DATABASE_PASSWORD"])
    files = [p for p in tmp_path.rglob("*") if p.is_file() and VALUE.encode() in p.read_bytes()]
    assert [path.name for path in files] == ["secrets.json"]
    assert VALUE not in caplog.text
    assert not any(VALUE in str(request.body) for request in model_server.requests)


async def test_what_was_allowed_holds_when_the_session_is_opened_again(manager, model_server):
    async with manager() as sessions:
        sessions._config.secrets.set("DATABASE_PASSWORD", VALUE)
        session = await sessions.create(mode="auto")
        session.change_settings(secrets=["DATABASE_PASSWORD"])
    async with manager() as sessions:
        session = await sessions.open(session.id)
        session.change_settings(mode="auto")
        (ran,) = await act(session, model_server, bash(LENGTH))
        assert ran.content.endswith(f"{len(VALUE)} {MASK}\n")
        sessions._config.secrets.delete("DATABASE_PASSWORD")
        assert session.info().secrets == []
        (ran,) = await act(session, model_server, bash(LENGTH))
        assert ran.content.endswith("0 none\n")


@pytest.mark.parametrize(
    ("name", "value", "why"),
    [
        ("LLM_API_KEY", VALUE, "opens a model"),
        ("OPENAI_API_KEY", VALUE, "opens a model"),
        ("JUPYTER_GATEWAY_AUTH_TOKEN", VALUE, "opens a model or a server"),
        ("LD_PRELOAD", VALUE, "for something else"),
        ("PATH", VALUE, "for something else"),
        ("HTTPS_PROXY", VALUE, "for something else"),
        ("PIN", "12345", "shorter than 6 characters"),
        ("UNKNOWN", "", "none of this name"),
    ],
)
def test_some_secrets_are_never_for_the_agent(tmp_path, name, value, why):
    config = Config(tmp_path, environ={"OPENHANDS_HOME": str(tmp_path / "home")})
    if value:
        config.secrets.set(name, value)
    with pytest.raises(Invalid, match=why):
        config.secrets.require_for_sandboxes([name])
    assert why in config.secrets.why_not(name)
    assert config.secrets.given([name]) == {}


@pytest.mark.parametrize("name", ["PATHS", "DATABASE_PASSWORD", "MY_API_KEY", "ENVIRONMENT"])
def test_others_may_be(tmp_path, name):
    config = Config(tmp_path, environ={"OPENHANDS_HOME": str(tmp_path / "home")})
    config.secrets.set(name, VALUE)
    assert config.secrets.why_not(name) == ""
    assert config.secrets.given([name]) == {name: VALUE}
