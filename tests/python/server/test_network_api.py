"""The network of a session over the API: what a person may say, and what is shown of it."""

from __future__ import annotations

from typing import Any

import pytest

from openhands_jupyter.server.base import Services
from openhands_jupyter.session import Session


@pytest.fixture
def jp_server_config(jp_server_config: dict[str, Any]) -> dict[str, Any]:
    jp_server_config["OpenHandsExtension"] = {"network": "allow-list"}
    return jp_server_config


def access(host: str = "example.org", port: object = 443, access: str = "session") -> dict:
    return {"type": "NetworkAccessAction", "host": host, "port": port, "access": access}


async def test_a_host_is_allowed_and_revoked(api: Any, session: Session) -> None:
    path = f"sessions/{session.id}"
    assert (await api("GET", path)).body["network"] == {
        "places": [],
        "allowed": [],
        "fixed": False,
    }
    answer = await api("POST", f"{path}/events", access("Example.ORG."))
    assert answer.status == 201
    events = (await api("GET", f"{path}/events", type="NetworkAccessAction")).body["events"]
    assert [(e["id"], e["source"], e["host"]) for e in events] == [
        (answer.body["id"], "user", "example.org")
    ]
    place = {"host": "example.org", "port": 443, "access": "session"}
    assert (await api("GET", path)).body["network"] == {
        "places": ["example.org"],
        "allowed": [place],
        "fixed": False,
    }
    assert (await api("POST", f"{path}/events", access(access="revoked"))).status == 201
    assert (await api("GET", path)).body["network"]["places"] == []


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (access("10.0.0.1"), "invalid_host"),
        (access("*"), "invalid_host"),
        (access("a" * 301), "invalid_field"),
        (access(""), "invalid_field"),
        (access(port=0), "invalid_field"),
        (access(port="443"), "invalid_field"),
        (access(access="forever"), "invalid_field"),
        ({**access(), "source": "agent"}, "invalid_field"),
        ({"type": "NetworkAccessAction", "host": "example.org"}, "invalid_field"),
        ({"type": "NetworkRefusedObservation"}, "not_a_client_event"),
    ],
)
async def test_what_makes_no_sense_is_refused(
    api: Any, session: Session, body: Any, code: str
) -> None:
    last = session.stream.last_id
    answer = await api("POST", f"sessions/{session.id}/events", body)
    assert (answer.status, answer.body["code"]) == (422, code)
    assert session.stream.last_id == last


async def test_what_changes_nothing_is_a_conflict(api: Any, session: Session) -> None:
    path = f"sessions/{session.id}/events"
    answer = await api("POST", path, access(access="revoked"))
    assert (answer.status, answer.body["code"]) == (409, "host_not_allowed")
    await api("POST", path, access())
    for again in ("once", "session"):
        answer = await api("POST", path, access(access=again))
        assert (answer.status, answer.body["code"]) == (409, "host_allowed")


async def test_changed_settings_reach_open_sessions(api: Any, session: Session) -> None:
    await api("PUT", "settings", {"network_rules": ["b.test:80"], "pip_index": "https://a.test/"})
    network = (await api("GET", f"sessions/{session.id}")).body["network"]
    assert network["places"] == ["b.test:80", "a.test"]
    await api("PUT", "settings", {"network": "off"})
    network = (await api("GET", f"sessions/{session.id}")).body["network"]
    assert (network["places"], network["fixed"]) == ([], True)
    answer = await api("POST", f"sessions/{session.id}/events", access())
    assert (answer.status, answer.body["code"]) == (409, "no_network")


async def test_the_socket_tells_of_a_change(api: Any, session: Session, connect: Any) -> None:
    stream = await connect(session.id)
    await api("POST", f"sessions/{session.id}/events", access())
    frame = await stream.until(
        lambda frame: frame["type"] == "session" and frame["session"]["network"]["places"] != []
    )
    assert frame["session"]["network"]["places"] == ["example.org"]


class TestLocked:
    """An administrator fixed the network."""

    @pytest.fixture
    def jp_server_config(self, jp_server_config: dict[str, Any]) -> dict[str, Any]:
        jp_server_config["OpenHandsExtension"] |= {
            "network_rules": ["mirror.test"],
            "trusted_networks": ["10.20.0.0/16"],
            "locked": ["network", "network_rules"],
        }
        return jp_server_config

    async def test_nothing_is_added(self, api: Any, session: Session) -> None:
        network = (await api("GET", f"sessions/{session.id}")).body["network"]
        assert (network["places"], network["fixed"]) == (["mirror.test"], True)
        answer = await api("POST", f"sessions/{session.id}/events", access())
        assert (answer.status, answer.body["code"]) == (409, "setting_locked")
        for change in ({"network": "off"}, {"network_rules": ["evil.test"]}):
            answer = await api("PUT", "settings", change)
            assert (answer.status, answer.body["code"]) == (409, "setting_locked")


async def test_without_a_network_nothing_can_be_allowed(api: Any, services: Services) -> None:
    await api("PUT", "settings", {"network": "off"})
    session = (await api("POST", "sessions", {})).body
    assert session["network"] is None
    answer = await api("POST", f"sessions/{session['id']}/events", access())
    assert (answer.status, answer.body["code"]) == (409, "no_network")
    assert "then send a message" in answer.body["hint"]
