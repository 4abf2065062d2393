"""The example of the README over HTTP: tour model, real sandbox, the log afterwards."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from openhands_jupyter.llm.tour.failing_cell import WHY_REQUEST
from openhands_jupyter.llm.tour.notebooks import SAMPLE_NOTEBOOK
from openhands_jupyter.llm.tour.tidying import TIDY_REQUEST

TASK = "Write a Python script that computes Fibonacci numbers and run it"


def finished(frame: dict[str, Any]) -> bool:
    return frame["type"] == "session" and frame["session"]["state"] == "finished"


@pytest.mark.sandbox
async def test_a_task_is_done_and_can_be_read_afterwards(
    api: Any, connect: Any, home: Path
) -> None:
    session = (await api("POST", "sessions", {})).body
    path = f"sessions/{session['id']}"
    client = await connect(session["id"])
    sent = await api("POST", f"{path}/messages", {"content": TASK})
    await client.until(finished)

    events = (await api("GET", f"{path}/events", limit=1000)).body["events"]
    kinds = [event["type"] for event in events]
    expected = [
        "UserMessageAction",
        "FileWriteAction",
        "FileWriteObservation",
        "CmdRunAction",
        "CmdOutputObservation",
        "FinishAction",
    ]
    assert [kind for kind in kinds if kind in expected] == expected
    one = {event["type"]: event for event in events}
    assert one["UserMessageAction"]["id"] == sent.body["id"]
    assert one["FileWriteObservation"]["cause"] == one["FileWriteAction"]["id"]
    assert one["CmdOutputObservation"]["cause"] == one["CmdRunAction"]["id"]
    assert one["CmdOutputObservation"]["exit_code"] == 0
    assert "55" in one["CmdOutputObservation"]["content"]
    assert one["UserMessageAction"]["source"] == "user"
    assert one["FinishAction"]["source"] == "agent"
    assert (Path(session["workspace"]) / "fib.py").is_file()
    lines = (home / "sessions" / session["id"] / "events.jsonl").read_text().splitlines()
    # The checkpoint at the turn's end may have been written since.
    assert [json.loads(line) for line in lines[: len(events)]] == events
    assert (await api("GET", path)).body["state"] == "finished"


@pytest.mark.sandbox
async def test_what_is_risky_waits_for_the_person(api: Any, connect: Any) -> None:
    session = (await api("POST", "sessions", {})).body
    path = f"sessions/{session['id']}"
    workspace = Path(session["workspace"])
    (workspace / "old.tmp").write_text("x")
    client = await connect(session["id"])
    for decision, stays in (("reject", True), ("approve", False)):
        message = {"content": "Delete the temporary files here"}
        await api("POST", f"{path}/messages", message)
        waiting = await client.until(
            lambda frame: frame["type"] == "session" and frame["session"]["pending"] is not None
        )
        assert (workspace / "old.tmp").exists()
        action = waiting["session"]["pending"]
        body = {"decision": decision, "reason": "I said so"}
        answer = await api("POST", f"{path}/confirmations/{action}", body)
        assert answer.status == 201
        await client.until(finished)
        assert (workspace / "old.tmp").exists() == stays
        # An answer that got lost may be asked for again, even when all is over.
        again = await api("POST", f"{path}/confirmations/{action}", body)
        assert (again.status, again.body) == (200, answer.body)
        other = {"decision": "approve" if stays else "reject"}
        stale = await api("POST", f"{path}/confirmations/{action}", other)
        assert (stale.status, stale.body["code"]) == (409, "confirmation_stale")


@pytest.mark.usefixtures("shared_models")
@pytest.mark.parametrize(
    ("model", "code", "mentions"),
    [
        ("anthropic/claude-sonnet-4-5", "model_auth", "key"),
        ("openai/local", "model_unreachable", "base_url"),
    ],
)
async def test_a_model_that_cannot_be_asked_is_an_error_with_advice(
    api: Any, connect: Any, model: str, code: str, mentions: str
) -> None:
    if code == "model_unreachable":
        await api("PUT", "settings", {"model": model, "base_url": "http://127.0.0.1:9/v1"})
        await api("PUT", "secrets/LLM_API_KEY", {"value": "sk-canary-0123456789"})
    session = (await api("POST", "sessions", {"model": model})).body
    path = f"sessions/{session['id']}"
    client = await connect(session["id"])
    await api("POST", f"{path}/messages", {"content": "Hello"})
    await client.until(
        lambda frame: frame["type"] == "session" and frame["session"]["state"] == "error"
    )
    events = (await api("GET", f"{path}/events", type="AgentStateChangedObservation")).body
    error = events["events"][-1]
    assert (error["state"], error["code"]) == ("error", code)
    assert error["reason"] and mentions in (error["reason"] + error["hint"]).lower()


async def test_an_agent_at_work_counts_as_activity_of_the_server(
    api: Any, connect: Any, jp_fetch: Any
) -> None:
    session = (await api("POST", "sessions", {})).body
    path = f"sessions/{session['id']}"
    client = await connect(session["id"])
    await api("POST", f"{path}/messages", {"content": TASK})
    await client.until(finished)
    (last,) = (await api("GET", f"{path}/events", order="desc", limit=1)).body["events"]
    status = json.loads((await jp_fetch("api", "status")).body)
    assert status["last_activity"] >= last["time"]


@pytest.mark.sandbox
async def test_the_tour_mends_and_tidies_a_notebook(api: Any, connect: Any) -> None:
    session = (await api("POST", "sessions", {})).body
    path = f"sessions/{session['id']}"
    notebook = Path(session["workspace"], SAMPLE_NOTEBOOK)
    client = await connect(session["id"])

    async def ask(request: str, **decision: Any) -> dict[str, Any]:
        """Give a task, take the decision on what is asked, and return what was asked."""
        await api("POST", f"{path}/messages", {"content": request})
        waiting = await client.until(
            lambda frame: finished(frame) or frame.get("session", {}).get("pending") is not None
        )
        pending = waiting["session"]["pending"]
        asked = (await api("GET", f"{path}/events", after=pending - 1, limit=1)).body["events"][0]
        if "cells" in decision:
            decision["cells"] = decision["cells"](asked)
        body = {"decision": "approve", **decision}
        assert (await api("POST", f"{path}/confirmations/{pending}", body)).status == 201
        await client.until(finished)
        return dict(asked)

    def cells() -> list[dict[str, Any]]:
        return list(json.loads(notebook.read_text())["cells"])

    # It makes a sample, sees in the sandbox what fails, and mends it.
    asked = await ask(WHY_REQUEST)
    assert (asked["type"], asked.get("kernel", "user")) == ("NotebookRunAction", "user")
    assert [cell["id"] for cell in asked["planned"]] == [c["id"] for c in cells() if c["source"]]
    last = cells()[-1]
    assert "math.floor(average)" in "".join(last["source"])
    assert "".join(last["outputs"][0]["text"]) == "About 10 degrees on average.\n"

    def keep_the_empty_cell(asked: dict[str, Any]) -> list[dict[str, Any]]:
        (gone,) = [cell for cell in asked["cells"] if cell["what"] == "deleted"]
        return [{"id": gone["id"], "decision": "reject"}]

    await ask(TIDY_REQUEST, cells=keep_the_empty_cell)
    sources = ["".join(cell["source"]) for cell in cells()]
    assert sources[:2] == ["# Temperatures", "import math\nimport statistics"]
    assert "" in sources
    assert "average = statistics.mean(temperatures)" in sources
    told = (await api("GET", f"{path}/events", limit=1, order="desc", type="FinishAction")).body
    assert "rejected" in told["events"][0]["message"]
