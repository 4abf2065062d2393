"""The context that a browser sends with a message: checked, limited, masked, on the log."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from openhands_jupyter.events import (
    KernelContext,
    NotebookContext,
    UserMessageAction,
    Variable,
    VariablesContext,
)
from openhands_jupyter.events.codec import decode
from openhands_jupyter.session import Session

NOTEBOOK = {
    "kind": "notebook",
    "path": "a.ipynb",
    "visible": True,
    "dirty": True,
    "kernel": {"name": "python3", "state": "idle"},
}
CELL = {
    "kind": "cell",
    "path": "a.ipynb",
    "cell": "c0ffee11",
    "cell_type": "code",
    "source": "x = 1",
}
SELECTION = {
    "kind": "selection",
    "path": "a.ipynb",
    "cell": "c0ffee11",
    "first_line": 1,
    "last_line": 1,
    "text": "x",
}
VARIABLE = {"name": "a", "type": "numpy.ndarray", "shape": [2, 3], "dtypes": ["int64"]}
VARIABLES = {"kind": "variables", "path": "a.ipynb", "variables": [VARIABLE], "left_out": 2}
ERROR = {
    "kind": "error",
    "path": "a.ipynb",
    "cell": "c0ffee11",
    "ename": "NameError",
    "evalue": "name 'y' is not defined",
    "traceback": "NameError: name 'y' is not defined",
}
ALL = [NOTEBOOK, CELL, SELECTION, VARIABLES, ERROR]


def lines(home: Path, session: Session) -> list[dict[str, Any]]:
    text = (home / "sessions" / session.id / "events.jsonl").read_text()
    return [json.loads(line) for line in text.splitlines()]


@pytest.mark.parametrize("route", ["messages", "events"])
async def test_it_is_on_the_event_as_it_was_sent(
    api: Any, session: Session, home: Path, route: str
) -> None:
    kind = {"type": "UserMessageAction"} if route == "events" else {}
    body = {**kind, "content": "Look", "context": ALL}
    answer = await api("POST", f"sessions/{session.id}/{route}", body)
    assert answer.status == 201
    [event] = session.stream.read(after=answer.body["id"] - 1, limit=1)
    assert isinstance(event, UserMessageAction)
    kernel = KernelContext(name="python3", state="idle")
    notebook = NotebookContext(path="a.ipynb", visible=True, dirty=True, kernel=kernel)
    assert event.context[0] == notebook
    variable = Variable(name="a", type="numpy.ndarray", shape=[2, 3], dtypes=["int64"])
    assert event.context[3] == VariablesContext(path="a.ipynb", variables=[variable], left_out=2)
    [line] = [line for line in lines(home, session) if line["id"] == event.id]
    assert line["context"] == ALL
    assert decode(json.dumps(line).encode()) == event


async def test_a_message_without_one_is_on_the_log_as_ever(
    api: Any, session: Session, home: Path
) -> None:
    answer = await api("POST", f"sessions/{session.id}/messages", {"content": "Hello"})
    [line] = [line for line in lines(home, session) if line["id"] == answer.body["id"]]
    assert "context" not in line


@pytest.mark.parametrize(
    "part",
    [
        {**CELL, "kind": "password"},
        {**CELL, "source": "x" * 8001},
        {**CELL, "path": ""},
        {**CELL, "html": "<b>"},
        {**CELL, "source": None},
        {**SELECTION, "text": "x" * 8001},
        {**SELECTION, "first_line": -1},
        {**NOTEBOOK, "kernel": {"name": "x" * 201, "state": "idle"}},
        {**NOTEBOOK, "kernel": {"name": "x", "state": "idle", "token": "x"}},
        {**VARIABLES, "variables": [VARIABLE] * 101},
        {**VARIABLES, "variables": [{**VARIABLE, "type": "x" * 201}]},
        {**VARIABLES, "variables": [{**VARIABLE, "dtypes": ["x"] * 21}]},
        {**VARIABLES, "variables": [{**VARIABLE, "shape": ["many"]}]},
        {**VARIABLES, "variables": [{**VARIABLE, "value": "secret"}]},
        {**ERROR, "evalue": "x" * 2001},
        {**ERROR, "traceback": "x" * 8001},
        "text",
    ],
)
async def test_what_does_not_fit_is_refused(api: Any, session: Session, part: Any) -> None:
    before = session.stream.last_id
    body = {"content": "Look", "context": [part]}
    answer = await api("POST", f"sessions/{session.id}/messages", body)
    assert (answer.status, answer.body["code"]) == (422, "invalid_field")
    assert "`$.context[0]" in answer.body["message"]
    assert session.stream.last_id == before


async def test_too_many_parts_are_refused(api: Any, session: Session) -> None:
    body = {"content": "Look", "context": [NOTEBOOK] * 41}
    answer = await api("POST", f"sessions/{session.id}/messages", body)
    assert (answer.status, answer.body["field"]) == (422, "context")


async def test_secrets_are_masked_on_the_log(api: Any, session: Session, home: Path) -> None:
    secret = "s3cret"
    assert (await api("PUT", "secrets/MY_TOKEN", {"value": secret})).status == 204
    variable = {**VARIABLE, "name": secret, "dtypes": [f"{secret}: int64"]}
    context = [
        {**CELL, "source": secret * 1333},
        {**VARIABLES, "variables": [variable]},
        {**ERROR, "evalue": f"bad key {secret}"},
    ]
    body = {"content": "Look", "context": context}
    answer = await api("POST", f"sessions/{session.id}/messages", body)
    assert answer.status == 201
    # The mask is longer than the secret: what was sent at its limit can be read nevertheless.
    [line] = [line for line in lines(home, session) if line["id"] == answer.body["id"]]
    event = decode(json.dumps(line).encode())
    assert isinstance(event, UserMessageAction)
    assert secret not in json.dumps(line)
    assert json.dumps(line).count("<secret_hidden>") == 1333 + 3
