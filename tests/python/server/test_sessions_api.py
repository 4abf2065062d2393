from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from openhands_jupyter.events import (
    AgentStateChangedObservation,
    CmdRunAction,
    UserMessageAction,
)
from openhands_jupyter.runtime.environment import PackagesFolder
from openhands_jupyter.session import Session

UNKNOWN = ("0" * 32, "none", "..", "%2e%2e", "..%2f..%2fetc", "A" * 32, "0" * 500, "%00", "%C3%A9")


def kept_sessions(home: Path) -> list[str]:
    return [path.name for path in home.glob("sessions/*")]


async def let_one_wait(session: Session) -> int:
    """Have an action wait for approval, and give its id."""
    action = session.stream.append(CmdRunAction(source="agent", command="rm -r build"))
    session.stream.append(AgentStateChangedObservation(state="awaiting_user_confirmation"))
    assert session.info().pending == action
    return action


@pytest.mark.parametrize("session_id", UNKNOWN)
@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "", None),
        ("PATCH", "", {"title": "x"}),
        ("DELETE", "", None),
        ("POST", "/messages", {"content": "x"}),
        ("GET", "/events", None),
        ("POST", "/events", {"type": "UserMessageAction", "content": "x"}),
        ("POST", "/confirmations/0", {"decision": "approve"}),
        ("POST", "/confirmations/0/trial", {}),
        ("DELETE", "/confirmations/0/trial", None),
        ("POST", "/state", {"command": "stop"}),
        ("GET", "/blobs/" + "0" * 64, None),
        ("GET", "/stream", None),
    ],
)
async def test_an_unknown_session_is_not_found(
    api: Any, home: Path, method: str, path: str, body: Any, session_id: str
) -> None:
    answer = await api(method, f"sessions/{session_id}{path}", body)
    assert answer.status == 404
    assert answer.body["code"] in ("session_not_found", "route_not_found")
    assert kept_sessions(home) == []


async def test_create_read_rename_list_delete(api: Any, home: Path, jp_root_dir: Path) -> None:
    created = await api("POST", "sessions", {"title": "First"})
    assert created.status == 201
    first = created.body
    assert first["title"] == "First"
    assert Path(first["workspace"]).is_relative_to(jp_root_dir)
    assert (first["model"], first["mode"], first["open"]) == ("tour", "agent", True)
    second = (await api("POST", "sessions", b"")).body
    listed = (await api("GET", "sessions")).body["sessions"]
    assert [info["id"] for info in listed] == [second["id"], first["id"]]
    changed = await api(
        "PATCH",
        f"sessions/{first['id']}",
        {
            "title": "Renamed",
            "mode": "ask",
            "model": "openai/x",
            "step_limit": 3,
            "cost_limit": 2.5,
            "time_limit": 10,
            "stuck_detection": False,
        },
    )
    assert changed.status == 200
    read = (await api("GET", f"sessions/{first['id']}")).body
    assert read == changed.body
    assert (read["title"], read["mode"], read["model"], read["step_limit"]) == (
        "Renamed",
        "ask",
        "openai/x",
        3,
    )
    limits = {use["limit"]: use["allowed"] for use in read["limits"]}
    assert limits == {"steps": 3, "cost": 2.5, "tokens": 0, "time": 10}
    assert read["stuck_detection"] is False
    diagnosis = (await api("GET", f"sessions/{first['id']}/diagnosis")).body
    assert (diagnosis["waits_for"], diagnosis["summary"]) == ("person", "Ready for a task.")
    assert diagnosis["last_id"] == read["last_id"]
    deleted = await api("DELETE", f"sessions/{first['id']}")
    assert (deleted.status, deleted.raw) == (204, b"")
    assert (await api("GET", f"sessions/{first['id']}")).status == 404
    assert kept_sessions(home) == [second["id"]]


async def test_the_agent_of_a_session_can_be_another(api: Any) -> None:
    listed = (await api("GET", "agents")).body["agents"]
    assert [agent["name"] for agent in listed[:2]] == ["codeact", "readonly"]
    assert all(agent["title"] and agent["description"] for agent in listed)
    session = (await api("POST", "sessions", {"agent": "readonly"})).body
    route = f"sessions/{session['id']}"
    assert session["agent"] == "readonly"
    assert (await api("PATCH", route, {"agent": "codeact"})).body["agent"] == "codeact"
    for method, address in (("POST", "sessions"), ("PATCH", route)):
        refused = await api(method, address, {"agent": "nobody"})
        assert (refused.status, refused.body["code"]) == (422, "unknown_agent")
        assert "codeact, readonly" in refused.body["hint"]
    assert (await api("GET", route)).body["agent"] == "codeact"


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"colour": "red"}, "colour"),
        ({"title": 3}, "title"),
        ({"title": "x" * 201}, "title"),
        ({"mode": "yolo"}, "mode"),
        ({"model": ""}, "model"),
        ({"model": "two words"}, "model"),
        ({"workspace": 1}, "workspace"),
        ([], ""),
    ],
)
async def test_a_bad_session_is_refused_and_the_field_named(
    api: Any, body: Any, field: str
) -> None:
    answer = await api("POST", "sessions", body)
    assert answer.status == 422
    assert answer.body["field"] == field
    assert answer.body["message"]
    assert (await api("GET", "sessions")).body == {"sessions": []}


async def test_a_workspace_lies_inside_the_servers_root(
    api: Any, jp_root_dir: Path, tmp_path: Path
) -> None:
    (jp_root_dir / "Größe x").mkdir()
    (tmp_path / "outside").mkdir()
    (jp_root_dir / "link").symlink_to(tmp_path / "outside")
    good = await api("POST", "sessions", {"workspace": "Größe x"})
    assert good.body["workspace"] == str((jp_root_dir / "Größe x").resolve())
    for workspace in ("..", "link", str(tmp_path / "outside"), "/", "missing", "a\x00b"):
        answer = await api("POST", "sessions", {"workspace": workspace})
        assert answer.status == 422, workspace


async def test_a_body_that_is_not_json_is_refused(api: Any) -> None:
    for body in (b"{", b"\xff", b"title=x"):
        answer = await api("POST", "sessions", body)
        assert (answer.status, answer.body["code"]) == (422, "not_json")


async def test_a_huge_body_is_refused(api: Any, session: Session) -> None:
    answer = await api("POST", f"sessions/{session.id}/messages", b" " * (4 * 1024 * 1024 + 1))
    assert answer.status == 413


@pytest.mark.parametrize(
    ("path", "body", "field"),
    [
        ("messages", {}, "content"),
        ("messages", {"content": ""}, "content"),
        ("messages", {"content": "x", "source": "agent"}, "source"),
        ("state", {"command": "explode"}, "command"),
        ("state", {}, "command"),
        ("confirmations/0", {"decision": "maybe"}, "decision"),
        ("confirmations/0", {"decision": "approve", "id": 3}, "id"),
    ],
)
async def test_bad_bodies_are_refused_and_leave_no_event(
    api: Any, session: Session, path: str, body: Any, field: str
) -> None:
    before = session.stream.last_id
    answer = await api("POST", f"sessions/{session.id}/{path}", body)
    assert (answer.status, answer.body["field"]) == (422, field)
    assert session.stream.last_id == before


async def test_a_message_answers_with_its_event(api: Any, session: Session) -> None:
    answer = await api("POST", f"sessions/{session.id}/messages", {"content": "Grüße 👋"})
    assert answer.status == 201
    [event] = session.stream.read(after=answer.body["id"] - 1, limit=1)
    assert isinstance(event, UserMessageAction)
    assert (event.content, event.source) == ("Grüße 👋", "user")


@pytest.mark.parametrize("route", ["confirmations", "events"])
async def test_a_decision_counts_once(api: Any, session: Session, route: str) -> None:
    pending = await let_one_wait(session)

    async def decide(decision: str) -> Any:
        if route == "events":
            body = {"type": "ConfirmationAction", "cause": pending, "decision": decision}
            return await api("POST", f"sessions/{session.id}/events", body)
        path = f"sessions/{session.id}/confirmations/{pending}"
        return await api("POST", path, {"decision": decision, "reason": "because"})

    first = await decide("reject")
    assert first.status == 201
    again = await decide("reject")
    assert (again.status, again.body) == (200, first.body)
    other = await decide("approve")
    assert (other.status, other.body["code"]) == (409, "confirmation_stale")
    decisions = session.stream.read(types={"ConfirmationAction"})
    assert [event.id for event in decisions] == [first.body["id"]]


async def test_a_decision_on_nothing_is_refused(api: Any, session: Session) -> None:
    for event, status in (("99", 404), ("x", 404), ("-1", 404), ("0", 409)):
        path = f"sessions/{session.id}/confirmations/{event}"
        answer = await api("POST", path, {"decision": "approve"})
        assert answer.status == status, event


async def test_a_command_that_makes_no_sense_is_refused(api: Any, session: Session) -> None:
    answer = await api("POST", f"sessions/{session.id}/state", {"command": "pause"})
    assert (answer.status, answer.body["code"]) == (409, "wrong_state")
    assert answer.body["hint"]


class TestLocked:
    @pytest.fixture
    def jp_server_config(self, jp_server_config: dict[str, Any]) -> dict[str, Any]:
        jp_server_config["OpenHandsExtension"] = {"mode": "ask", "locked": ["mode"]}
        return jp_server_config

    async def test_a_session_cannot_get_around_a_lock(self, api: Any) -> None:
        answer = await api("POST", "sessions", {"mode": "auto"})
        assert (answer.status, answer.body["code"]) == (409, "setting_locked")
        session = (await api("POST", "sessions", {})).body
        assert session["mode"] == "ask"
        changed = await api("PATCH", f"sessions/{session['id']}", {"mode": "agent"})
        assert changed.status == 409
        assert (await api("GET", f"sessions/{session['id']}")).body["mode"] == "ask"


async def test_secrets_are_allowed_by_name(api: Any) -> None:
    await api("PUT", "secrets/DATABASE_PASSWORD", {"value": "canary-1234567"})
    await api("PUT", "secrets/OPENAI_API_KEY", {"value": "canary-7654321"})
    offered = {
        one["name"]: one["for_sandbox"] for one in (await api("GET", "settings")).body["secrets"]
    }
    assert offered == {"DATABASE_PASSWORD": True, "OPENAI_API_KEY": False}
    session = (await api("POST", "sessions")).body
    assert session["secrets"] == []
    address = f"sessions/{session['id']}"
    answer = await api("PATCH", address, {"secrets": ["DATABASE_PASSWORD"]})
    assert (answer.status, answer.body["secrets"]) == (200, ["DATABASE_PASSWORD"])
    answer = await api("PATCH", address, {"secrets": ["OPENAI_API_KEY"]})
    assert (answer.status, answer.body["code"]) == (422, "secret_not_for_sandbox")
    assert (await api("GET", address)).body["secrets"] == ["DATABASE_PASSWORD"]
    events = (await api("GET", f"{address}/events")).body["events"]
    assert [event.get("secrets") for event in events][-1] == ["DATABASE_PASSWORD"]


async def test_installed_packages_are_measured_and_removed(api: Any, home: Path) -> None:
    session = (await api("POST", "sessions")).body
    address = f"sessions/{session['id']}/packages"
    assert (await api("GET", address)).body == {"size": 0}
    held = PackagesFolder.open(home, Path(session["workspace"]), "python", "")
    (held.path / "module.py").write_text("x" * 10_000)
    held.close()
    assert (await api("GET", address)).body["size"] >= 10_000
    assert (await api("DELETE", address)).status == 204
    assert (await api("GET", address)).body == {"size": 0}
    assert not held.path.exists()


async def test_packages_that_another_sandbox_uses_are_not_removed(api: Any, home: Path) -> None:
    session = (await api("POST", "sessions")).body
    address = f"sessions/{session['id']}/packages"
    held = PackagesFolder.open(home, Path(session["workspace"]), "python", "")
    answer = await api("DELETE", address)
    assert (answer.status, answer.body["code"]) == (409, "packages_in_use")
    held.close()
