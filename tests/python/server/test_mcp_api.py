"""MCP servers over REST: how they are, and starting them anew."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from mcp_servers import bad_server
from waiting import wait_until

from openhands_jupyter.session import Session

SERVERS = {
    "fine": bad_server("nasty") | {"trust": "reads", "headers": {}},
    "exits": bad_server("exit"),
    "off": bad_server("calls") | {"enabled": False},
    "remote": {"url": "https://me:secret@x.example/mcp?key=secret", "api_key": "secret-key-1"},
}


@pytest.fixture
def jp_server_config(jp_server_config: dict[str, Any]) -> dict[str, Any]:
    extension = jp_server_config["OpenHandsExtension"] | {"mcp_servers": SERVERS}
    return jp_server_config | {"OpenHandsExtension": extension}


async def test_servers_are_listed_tried_and_restarted(
    api: Any, session: Session, home: Path
) -> None:
    async def found(**query: str) -> dict[str, dict[str, Any]]:
        answer = await api("GET", "mcp", **query)
        assert answer.status == 200 and "secret" not in str(answer.body)
        return {server["name"]: server for server in answer.body["servers"]}

    assert {name: one["state"] for name, one in (await found()).items()} == {
        "fine": "idle",
        "exits": "idle",
        "off": "off",
        "remote": "idle",
    }
    assert (await found())["remote"]["where"] == "https://x.example/mcp"

    answer = await api("POST", "mcp/exits/restart")
    assert (answer.status, answer.body["state"]) == (202, "starting")

    async def failed() -> bool:
        return (await found())["exits"]["state"] == "failed"

    await wait_until(failed)
    exits = (await found())["exits"]
    assert exits["message"] == "It ended while it was being started."
    assert "the license has expired" in exits["stderr"]

    here = {"session": session.id}
    assert (await found(**here))["exits"]["state"] == "idle"
    assert (await api("POST", "mcp/fine/restart", here)).status == 202

    async def ready() -> bool:
        return (await found(**here))["fine"]["state"] == "ready"

    await wait_until(ready)
    fine = (await found(**here))["fine"]
    assert len(fine["tools"]) == 5 and fine["tools"][0]["name"] == "fine__tree"
    assert not any(tool["trusted"] for tool in fine["tools"])
    outside = (await found())["fine"]
    assert outside["state"] == "idle" and len(outside["tools"]) == 5

    # What is written down meanwhile is there at once.
    home.joinpath("mcp.json").write_text('{"mcpServers": {"new": {"command": "/no/such"}, "x": 1}}')
    answer = await api("GET", "mcp")
    assert answer.body["servers"][0]["name"] == "new"
    assert "mcpServers.x is left out" in answer.body["warnings"][0]
    assert (await api("POST", "mcp/new/restart", here)).status == 202

    for name, status, code in (
        ("none", 404, "mcp_server_not_found"),
        ("off", 409, "mcp_server_off"),
    ):
        answer = await api("POST", f"mcp/{name}/restart")
        assert (answer.status, answer.body["code"]) == (status, code)
    assert (await api("POST", "mcp/fine/restart", {"session": "0" * 32})).status == 404
    assert (await api("POST", "mcp/fine/restart", {"session": "x"})).status == 422
    assert (await api("POST", "mcp/fine/restart", headers={})).status in (401, 403)


async def test_a_workspace_s_server_is_allowed_and_trusted_over_rest(
    api: Any, session: Session, jp_root_dir: Path
) -> None:
    server = bad_server("calls")
    jp_root_dir.joinpath(".mcp.json").write_text(json.dumps({"mcpServers": {"theirs": server}}))
    here = {"session": session.id}

    async def theirs() -> dict[str, Any]:
        (found,) = [
            one
            for one in (await api("GET", "mcp", **here)).body["servers"]
            if one["name"] == "theirs"
        ]
        return found

    seen = await theirs()
    assert (seen["state"], seen["consent"], seen["origin"]) == ("off", False, "workspace")
    assert json.loads(seen["definition"])["args"] == server["args"]
    yes = here | {"digest": seen["digest"], "use": True, "trust": ["fine"]}
    for body, status, code in (
        (yes | {"digest": "0" * 64}, 409, "mcp_server_changed"),
        (yes | {"trust": "writes"}, 422, "invalid_field"),
        (yes | {"session": "0" * 32}, 404, "session_not_found"),
    ):
        answer = await api("PUT", "mcp/theirs/consent", body)
        assert (answer.status, answer.body["code"]) == (status, code), answer.body
    assert (await api("PUT", "mcp/theirs/consent", yes, headers={})).status in (401, 403)
    assert (await api("POST", "mcp/theirs/restart", here)).body["code"] == "mcp_consent_needed"
    assert not (await theirs())["consent"]

    answer = await api("PUT", "mcp/theirs/consent", yes)
    assert (answer.status, answer.body["consent"], answer.body["trust"]) == (200, True, ["fine"])
    assert (await api("POST", "mcp/theirs/restart", here)).status == 202

    async def ready() -> bool:
        return (await theirs())["state"] == "ready"

    await wait_until(ready)
    assert [t["tool"] for t in (await theirs())["tools"] if t["trusted"]] == ["fine"]
    no = here | {"digest": seen["digest"], "use": False}
    assert (await api("PUT", "mcp/theirs/consent", no)).body["state"] == "off"
    assert (await theirs())["tools"] == []

    # Trust in a server of the person's own, and back to what is configured.
    fine = (await api("GET", "mcp")).body["servers"][1]
    assert (fine["name"], fine["consent"], fine["trust"]) == ("fine", None, "reads")
    for given, counts in ((True, True), (None, "reads")):
        body = {"digest": fine["digest"], "trust": given}
        assert (await api("PUT", "mcp/fine/consent", body)).body["trust"] == counts
