"""Checkpoints, differences, undo and rewind over HTTP."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from jsonschema import Draft202012Validator
from session_tools import until
from undo_tools import answer_to, turn_end

from openhands_jupyter.events import FilesRestoredObservation
from openhands_jupyter.session import Session


async def change(session: Session) -> str:
    """Path of the session, once its agent, the tour, has written and run a script."""
    id = session.send_message("Write a Python script that computes Fibonacci numbers and run it")
    await until(session, "finished", after=id)
    await turn_end(session)
    return f"sessions/{session.id}"


async def text_of(api: Any, session: str, **query: str) -> Any:
    """The difference of one path."""
    # The fixture ends the address with a question mark of its own.
    return await api("GET", f"{session}/diff?{urlencode(query)}&unknown=")


def described(document: dict[str, Any], path: str, answer: Any) -> None:
    operation = document["paths"][f"/sessions/{{session_id}}/{path}"]["get"]
    schema = operation["responses"]["200"]["content"]["application/json"]["schema"]
    Draft202012Validator({**schema, "components": document["components"]}).validate(answer)


async def test_what_changed_and_its_undo(api: Any, session: Session) -> None:
    changed = await change(session)
    document = (await api("GET", "openapi.json")).body
    taken = (await api("GET", f"{changed}/checkpoints")).body
    described(document, "checkpoints", taken)
    newest = taken["checkpoints"][0]
    span = {"from": newest["since"], "to": newest["checkpoint"]}
    diff = (await api("GET", f"{changed}/diff", **span)).body
    described(document, "diff", diff)
    assert newest["changed"] == diff["total"] > 0
    script = next(c["path"] for c in diff["changes"] if c["path"].endswith(".py"))
    one = (await text_of(api, changed, **span, path=script)).body
    described(document, "diff", one)
    assert one["changes"][0]["kind"] == "added"
    assert "print" in one["texts"]["after"] and one["texts"]["before"] == ""

    preview = (await api("GET", f"{changed}/undo")).body
    described(document, "undo", preview)
    assert preview["event"] == newest["action"]
    assert script in [change["path"] for change in preview["changes"]]
    answer = await api("POST", f"{changed}/undo", {"turn": newest["action"]})
    assert answer.status == 202
    assert isinstance(await answer_to(session, answer.body["id"]), FilesRestoredObservation)
    await until(session, "awaiting_user_input", after=answer.body["id"])
    now = (await api("GET", f"{changed}/diff", **{"from": newest["since"]})).body
    assert now["total"] == 0
    assert (await api("POST", f"{changed}/undo", {"turn": newest["action"]})).status == 409


async def test_a_rewind(api: Any, session: Session) -> None:
    changed = await change(session)
    document = (await api("GET", "openapi.json")).body
    preview = (await api("GET", f"{changed}/rewind", event=0)).body
    described(document, "rewind", preview)
    answer = await api("POST", f"{changed}/rewind", {"event": 0})
    assert answer.status == 202
    assert isinstance(await answer_to(session, answer.body["id"]), FilesRestoredObservation)
    await until(session, "awaiting_user_input", after=answer.body["id"])


async def test_what_does_not_fit_is_refused(api: Any, session: Session) -> None:
    changed = await change(session)
    last = session.stream.last_id
    refused = [
        ("GET", "diff", None, {}, 422),
        ("GET", "diff", None, {"from": "../../etc"}, 422),
        ("GET", "diff", None, {"from": "00000001-00000000"}, 404),
        ("GET", "undo", None, {"turn": 1_000_000}, 404),
        ("POST", "undo", {"turn": 1_000_000}, {}, 404),
        ("POST", "undo", {"turn": "first"}, {}, 422),
        ("POST", "undo", {"force": "all"}, {}, 422),
        ("GET", "rewind", None, {}, 422),
        ("POST", "rewind", {}, {}, 422),
        ("POST", "rewind", {"event": 1_000_000}, {}, 409),
        ("POST", "rewind", {"event": 0, "colour": 1}, {}, 422),
    ]
    for method, path, body, query, status in refused:
        answer = await api(method, f"{changed}/{path}", body, **query)
        assert answer.status == status, (method, path, body, query, answer.body)
        assert answer.body["message"]
    newest = (await api("GET", f"{changed}/checkpoints", limit=1)).body["checkpoints"][0]
    span = {"from": newest["since"], "to": newest["checkpoint"]}
    for path in ("no such file", "../../../etc/passwd"):
        assert (await text_of(api, changed, **span, path=path)).status == 404
    assert session.stream.last_id == last


async def test_texts_that_cannot_be_compared(api: Any, session: Session) -> None:
    checkpoints = session.controller._checkpoints
    assert checkpoints is not None
    workspace = checkpoints.store.workspace
    before = await checkpoints.take()
    (workspace / "binary").write_bytes(b"\0\1\2")
    (workspace / "long").write_text("x" * 2_000_000)
    (workspace / "link").symlink_to("/etc/passwd")
    texts = {}
    for name in ("binary", "long", "link"):
        query = {"from": before.id, "path": name}
        texts[name] = (await text_of(api, f"sessions/{session.id}", **query)).body["texts"]
    assert "no text" in texts["binary"]["notice"]
    assert "too long" in texts["long"]["notice"]
    assert texts["link"] == {"before": "", "after": "/etc/passwd", "notice": ""}
