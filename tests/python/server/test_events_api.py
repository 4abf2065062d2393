from __future__ import annotations

import base64
from typing import Any

import pytest
from api_client import note

from openhands_jupyter.events import (
    IPythonOutputObservation,
    Output,
    UserMessageAction,
)
from openhands_jupyter.events.codec import TYPES
from openhands_jupyter.server.events import CLIENT_TYPES
from openhands_jupyter.session import Session

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
)
SVG = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'


async def page(api: Any, session: Session, **query: Any) -> list[int]:
    answer = await api("GET", f"sessions/{session.id}/events", **query)
    assert answer.status == 200
    assert answer.body["last_id"] == session.stream.last_id
    return [event["id"] for event in answer.body["events"]]


async def test_pages_in_both_orders(api: Any, session: Session) -> None:
    first = session.stream.append(note("0"))
    for number in range(1, 30):
        session.stream.append(note(str(number)))
    last = session.stream.last_id
    assert await page(api, session) == list(range(last + 1))
    assert await page(api, session, limit=3) == [0, 1, 2]
    assert await page(api, session, after=first, limit=2) == [first + 1, first + 2]
    assert await page(api, session, after=first, before=first + 3) == [first + 1, first + 2]
    assert await page(api, session, order="desc", limit=2) == [last, last - 1]
    assert await page(api, session, order="desc", before=3) == [2, 1, 0]
    assert await page(api, session, after=last) == []
    assert await page(api, session, after=10**30) == []
    seen: list[int] = []
    while len(batch := await page(api, session, order="desc", limit=7, before=(seen or [99])[-1])):
        seen += batch
    assert seen == list(range(last, -1, -1))


async def test_only_some_types(api: Any, session: Session) -> None:
    session.stream.append(note("a"))
    answer = await api(
        "GET",
        f"sessions/{session.id}/events",
        type=["AgentThinkAction", "ChangeSettingsAction"],
    )
    assert {event["type"] for event in answer.body["events"]} == {
        "AgentThinkAction",
        "ChangeSettingsAction",
    }
    assert len(await page(api, session, type="AgentThinkAction")) == 1


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"after": "x"}, "after"),
        ({"after": -2}, "after"),
        ({"before": -1}, "before"),
        ({"before": "1.5"}, "before"),
        ({"limit": 0}, "limit"),
        ({"limit": 1001}, "limit"),
        ({"order": "up"}, "order"),
        ({"type": ["AgentThinkAction", "Nonsense"]}, "type"),
    ],
)
async def test_a_bad_query_is_refused_and_named(
    api: Any, session: Session, query: dict[str, Any], field: str
) -> None:
    answer = await api("GET", f"sessions/{session.id}/events", **query)
    assert (answer.status, answer.body["field"]) == (422, field)


async def test_the_page_is_what_is_in_the_file(api: Any, session: Session, home: Any) -> None:
    session.stream.append(note('quotes " and Grüße'))
    answer = await api("GET", f"sessions/{session.id}/events")
    lines = (home / "sessions" / session.id / "events.jsonl").read_bytes().splitlines()
    assert answer.raw.startswith(b'{"events":[' + b",".join(lines) + b"]")


async def test_a_client_may_say_something(api: Any, session: Session) -> None:
    body = {"type": "UserMessageAction", "content": "Hello"}
    answer = await api("POST", f"sessions/{session.id}/events", body)
    assert answer.status == 201
    [event] = session.stream.read(after=answer.body["id"] - 1, limit=1)
    assert isinstance(event, UserMessageAction)
    assert event.source == "user"


async def test_a_client_may_command(api: Any, session: Session) -> None:
    body = {"type": "ChangeAgentStateAction", "command": "pause"}
    answer = await api("POST", f"sessions/{session.id}/events", body)
    assert (answer.status, answer.body["code"]) == (409, "wrong_state")


@pytest.mark.parametrize("kind", sorted(set(TYPES) - set(CLIENT_TYPES)))
async def test_actions_and_observations_of_a_client_are_refused(
    api: Any, session: Session, kind: str
) -> None:
    before = session.stream.last_id
    body = {"type": kind, "command": "id", "code": "1", "path": "x", "content": "y", "tasks": []}
    answer = await api("POST", f"sessions/{session.id}/events", body)
    assert (answer.status, answer.body["code"]) == (422, "not_a_client_event")
    assert answer.body["field"] == "type"
    assert session.stream.last_id == before


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"type": "Nonsense"}, "type"),
        ({"type": "OpaqueEvent", "raw": {}}, "type"),
        ({"type": 3}, "type"),
        ({}, "type"),
        ({"content": "x"}, "type"),
        ({"type": "UserMessageAction"}, "content"),
        ({"type": "UserMessageAction", "content": 3}, "content"),
        ({"type": "UserMessageAction", "content": "x", "id": 0}, "id"),
        ({"type": "UserMessageAction", "content": "x", "source": "agent"}, "source"),
        ({"type": "ConfirmationAction", "decision": "approve"}, "cause"),
        ({"type": "ConfirmationAction", "decision": "approve", "cause": -1}, "cause"),
        ({"type": "ChangeAgentStateAction", "command": "finish"}, "command"),
    ],
)
async def test_a_bad_event_is_refused_and_the_field_named(
    api: Any, session: Session, body: Any, field: str
) -> None:
    before = session.stream.last_id
    answer = await api("POST", f"sessions/{session.id}/events", body)
    assert (answer.status, answer.body["field"]) == (422, field)
    assert session.stream.last_id == before


def put_output(session: Session, data: dict[str, Any]) -> dict[str, Any]:
    """Append an output and give its data as it is on the log."""
    output = Output(kind="display_data", data=data)
    id = session.stream.append(IPythonOutputObservation(outputs=[output]))
    [event] = session.stream.read(after=id - 1, limit=1)
    assert isinstance(event, IPythonOutputObservation)
    return event.outputs[0].data


async def test_an_image_is_served_as_itself(api: Any, session: Session) -> None:
    blob = put_output(session, {"image/png": base64.b64encode(PNG).decode()})["image/png"]
    answer = await api("GET", f"sessions/{session.id}/blobs/{blob.sha256}")
    assert (answer.status, answer.raw) == (200, PNG)
    assert answer.headers["Content-Type"] == "image/png"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert "sandbox" in answer.headers["Content-Security-Policy"]
    assert "immutable" in answer.headers["Cache-Control"]


@pytest.mark.parametrize(
    ("mime", "content"),
    [
        ("image/svg+xml", SVG),
        ("text/html", "<script>alert(1)</script>" + " " * 70_000),
        ("image/png", base64.b64encode(SVG.encode()).decode()),
        ("text/plain", "x" * 3_000_000),
    ],
)
async def test_everything_else_is_only_downloaded(
    api: Any, session: Session, mime: str, content: str
) -> None:
    blob = put_output(session, {mime: content})[mime]
    answer = await api("GET", f"sessions/{session.id}/blobs/{blob.sha256}")
    assert answer.status == 200
    assert len(answer.raw) == blob.size
    assert answer.headers["Content-Type"] == "application/octet-stream"
    assert answer.headers["Content-Disposition"].startswith("attachment")
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert "sandbox" in answer.headers["Content-Security-Policy"]


@pytest.mark.parametrize("name", ["0" * 64, "x", "..%2fevents.jsonl", "..%2f..%2fsecrets.json"])
async def test_an_unknown_blob_is_not_found(api: Any, session: Session, name: str) -> None:
    answer = await api("GET", f"sessions/{session.id}/blobs/{name}")
    assert (answer.status, answer.body["code"]) == (404, "blob_not_found")
