"""MCP servers in sessions: their tools before a real LiteLLM, their calls through the gate."""

from __future__ import annotations

import json
import os

import psutil
import pytest
from mcp_servers import bad_server, good_server
from model_server.script import call, together
from msgspec import UNSET
from session_tools import events, until
from waiting import wait_until

from openhands_jupyter.errors import Conflict
from openhands_jupyter.events import Blob, ErrorObservation, MCPAction, MCPObservation

TOKEN = "mcp-canary-5551234"
GOOD = good_server() | {"env": {"TOKEN": "${MY_MCP_TOKEN}"}, "trust": ["add", "picture", "long"]}


def running() -> list[str]:
    """The MCP servers below this process."""
    found = []
    for process in psutil.Process().children(recursive=True):
        try:
            found += [word for word in process.cmdline() if "mcp_servers" in word][:1]
        except psutil.Error:
            continue
    return found


def tools_of(request) -> dict[str, dict]:
    return {tool["function"]["name"]: tool["function"] for tool in request.body["tools"]}


async def test_tools_of_servers_from_the_prompt_to_the_log(
    manager, model_server, monkeypatch, tmp_path
) -> None:
    monkeypatch.setenv("MY_MCP_TOKEN", TOKEN)
    servers = {"good": GOOD, "odd": bad_server("calls") | {"trust": True, "timeout": 60}}
    model_server.play(
        together(call("good__add", a=1, b=2), call("good__picture")).saying("I add."),
        call("good__environment"),
        call("good__write", name="x.txt", content="y"),
        call("odd__die"),
        together(call("odd__fine"), call("good__long", size=100_000)),
        call("odd__nothing"),
        call("finish", message="Done."),
    )
    async with manager(traits={"mcp_servers": servers}) as sessions:
        for name in servers:
            assert (await sessions.mcp.listed(name)).tools
        assert running() == []
        session = await sessions.create(mode="auto")
        session.send_message("Use my tools")
        await until(session, "awaiting_user_confirmation")

        # The first prompt had all tools, and no server ran for that.
        offered = tools_of(model_server.requests[0])
        assert offered["good__add"]["parameters"]["required"] == ["a", "b"]
        assert "not the user's" in offered["good__add"]["description"]
        # What is not trusted is asked for, also in Auto mode: no sandbox surrounds it.
        asked = events(session, MCPAction)[-1]
        assert (asked.tool, asked.trusted, asked.risk.level) == ("environment", False, "high")
        assert "good.py" in asked.where
        session.confirm(asked.id, "approve")
        await until(session, "awaiting_user_confirmation", after=asked.id + 1)
        refused = events(session, MCPAction)[-1]
        session.confirm(refused.id, "reject", "not now")
        await until(session, "finished")
        assert sorted({word.rsplit("/", 1)[1] for word in running()}) == ["bad.py", "good.py"]
        done = {event.tool: event for event in events(session, MCPObservation)}
        (died,) = [e for e in events(session, ErrorObservation) if e.code == "mcp_ended"]
        actions = {event.id: event for event in events(session, MCPAction)}
        assert actions[died.cause].tool == "die"
        picture = done["picture"].outputs[1].data["image/png"]
        assert isinstance(picture, Blob) and picture.size == 70
        assert done["add"].outputs[0].data == {"text/plain": "3"}
        assert isinstance(done["long"].outputs[0].data["text/plain"], Blob)
        log = b"".join(p.read_bytes() for p in (tmp_path / "home").rglob("*") if p.is_file())
        assert TOKEN.encode() not in log and b"TOKEN=<secret_hidden>" in log
        assert set(done) == {"add", "picture", "environment", "fine", "long"}
    assert running() == []

    told = model_server.requests[-1].body["messages"]
    first = next(message for message in told if message["role"] == "assistant")
    assert json.loads(first["tool_calls"][0]["function"]["arguments"]) == {"a": 1, "b": 2}
    results = [message["content"] for message in told if message["role"] == "tool"]
    assert results[0] == "<output>\n3\n</output>\n[ok, from good]"
    assert "image (image 1)" in results[1] or "image/png output" in results[1]
    assert "not now" in results[3]
    assert "mcp_ended" in results[4] and "There is no tool 'odd__nothing'" in results[-1]


async def test_servers_that_hang_hold_up_no_session(manager, model_server, workspace) -> None:
    """Five sessions start nothing; the first prompt of one waits for no server."""
    servers = {
        "hangs": bad_server("hang"),
        "late": bad_server("calls", "${WORKSPACE}") | {"trust": True},
    }
    async with manager(traits={"mcp_servers": servers}) as sessions:
        opened = [await sessions.create() for _ in range(5)]
        assert running() == []
        model_server.play(call("think", thought="Well."), call("finish", message="Done."))
        opened[0].send_message("go")
        await until(opened[0], "finished")
        assert "hangs__fine" not in tools_of(model_server.requests[0])
        first = opened[0].id

        async def states() -> dict[str, str]:
            return {one.name: one.state for one in (await sessions.mcp.status(first)).servers}

        async def late_is_ready() -> bool:
            return (await states())["late"] == "ready"

        assert (await states())["hangs"] == "starting"
        await wait_until(late_is_ready)

        # A call that is stopped is answered, whatever the server does.
        model_server.play(call("late__hang"), call("finish", message="Done."))
        opened[0].send_message("again")
        await wait_until((workspace / "hanging").exists)
        opened[0].command("stop")
        await until(opened[0], "stopped")
        stopped = events(opened[0], ErrorObservation)[-1]
        assert stopped.code == "stopped" and "hang" in stopped.message


async def test_what_a_workspace_names_is_used_once_the_person_allows_it(
    manager, model_server, workspace
) -> None:
    """What they saw of it is what they allow: the file is the agent's to write, too."""
    evil = bad_server("calls") | {"trust": True, "env": {"A": "${MY_MCP_TOKEN:-none}"}}
    file = workspace / ".mcp.json"
    file.write_text(json.dumps({"mcpServers": {"evil": evil, "mine": {"command": "x"}}}))
    (workspace / ".openhands").mkdir()
    (workspace / ".openhands" / "config.toml").write_text("[mcp.servers.worse]\ncommand = 'x'\n")
    os.symlink("/etc/passwd", workspace / ".openhands" / "mcp.json")
    traits = {"mcp_servers": {"mine": {"command": "y"}}}
    model_server.play(
        call("evil__fine"),
        call("finish", message="Not there."),
        *[together(call("evil__fine"), call("finish", message="Done.")) for _ in range(2)],
    )
    async with manager(traits=traits) as sessions:
        mcp = sessions.mcp
        session = await sessions.create(mode="auto")

        async def found() -> dict:
            return {one.name: one for one in (await mcp.status(session.id)).servers}

        servers = await found()
        assert set(servers) == {"worse", "evil", "mine"} and servers["mine"].where == "y"
        assert {name: one.consent for name, one in servers.items()} == {
            "worse": False,
            "evil": False,
            "mine": None,
        }
        told = servers["evil"]
        assert (told.state, told.trust, told.variables) == ("off", False, ["MY_MCP_TOKEN"])
        assert "bad.py" in told.definition and told.file == str(file)
        session.send_message("go")
        await until(session, "finished")
        assert not any(name.startswith("evil") for name in tools_of(model_server.requests[0]))
        assert events(session, MCPAction) == [] and running() == []
        with pytest.raises(Conflict, match="you have not allowed it"):
            await mcp.restart("evil", session.id)
        with pytest.raises(Conflict, match="needs no consent"):
            await mcp.consent("mine", None, servers["mine"].digest, True, UNSET)

        # The file was changed under the person's eyes.
        file.write_text(json.dumps({"mcpServers": {"evil": evil | {"args": ["other"]}}}))
        with pytest.raises(Conflict, match="was changed meanwhile"):
            await mcp.consent("evil", session.id, told.digest, True, UNSET)
        file.write_text(json.dumps({"mcpServers": {"evil": evil}}))

        # Allowed, it is there in the session that runs, and asks before each call.
        allowed = await mcp.consent("evil", session.id, told.digest, True, UNSET)
        assert (allowed.state, allowed.consent, allowed.trust) == ("idle", True, False)
        assert (await mcp.listed("evil")).tools
        begin = session.send_message("again")
        await until(session, "awaiting_user_confirmation", after=begin)
        asked = events(session, MCPAction)[-1]
        assert (asked.server, asked.trusted) == ("evil", False)
        session.confirm(asked.id, "approve")
        await until(session, "finished", after=asked.id)

        # Trusted, it runs unasked from the next call on.
        trusted = await mcp.consent("evil", session.id, told.digest, None, ["fine"])
        assert (trusted.state, trusted.consent, trusted.trust) == ("ready", True, ["fine"])
        begin = session.send_message("once more")
        await until(session, "finished", after=begin)
        assert events(session, MCPAction)[-1].trusted
    async with manager(traits=traits) as sessions:
        # It outlives the server, and holds for this definition only.
        assert (await sessions.mcp.status(None)).servers[1].trust == ["fine"]
        file.write_text(json.dumps({"mcpServers": {"evil": evil | {"cwd": "."}}}))
        (other,) = [one for one in (await sessions.mcp.status(None)).servers if one.name == "evil"]
        assert (other.consent, other.trust) == (False, False)
        file.write_text(json.dumps({"mcpServers": {"evil": evil}}))
        taken_back = await sessions.mcp.consent("evil", None, told.digest, False, None)
        assert (taken_back.consent, taken_back.state) == (False, "off")
    assert running() == []
