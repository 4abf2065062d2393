"""What a kernel tells a page, and a page the kernel."""

from __future__ import annotations

import json
from typing import Any

import pytest
from magic_kernel import Kernel, Ran

from openhands_jupyter.magics.task import MIME

LAB = {"cellId": "a-cell"}
VERBS = (
    *("status", "list", "stop", "reset", "undo"),
    *("model", "config", "log", "inject", "help"),
)


def payload_of(ran: Ran) -> dict[str, Any]:
    """What the extension draws of a cell's output."""
    [shown] = ran.of("display_data")
    payload: dict[str, Any] = shown["content"]["data"][MIME]
    return payload


def data_of(messages: list[dict[str, Any]]) -> dict[str, Any]:
    """What the kernel said over a comm."""
    [data] = [m["content"]["data"] for m in messages if m["msg_type"] == "comm_msg"]
    return dict(data)


@pytest.fixture
def asked(kernel: Kernel) -> Ran:
    """A cell that a page sent."""
    kernel.run("n = 20")
    return kernel.run("%%openhands --mode ask --into task\nPrint the first {n} numbers", LAB)


def test_a_cell_comes_back_at_once_and_its_page_is_told_the_task(
    kernel: Kernel, asked: Ran
) -> None:
    assert asked.status == "ok"
    payload = payload_of(asked)
    assert payload["state"] == "waiting"
    assert payload["prompt"] == "Print the first 20 numbers"
    told = data_of(kernel.told("c1", {"id": payload["id"]}, "comm_open"))
    assert told["prompt"] == payload["prompt"]
    assert (told["mode"], told["session"], told["state"]) == ("ask", None, "waiting")

    kernel.told("c1", {"state": "running", "session": "s1", "message": 4})
    kernel.told("c1", {"state": "finished", "answer": "Done.", "events": [{"id": 5}]})
    assert (
        "finished s1 Done. [{'id': 5}]"
        in kernel.run("print(task.state, task.session, task.answer, task.events())").text
    )
    # The next cell goes on with the session.
    then = payload_of(kernel.run("%%openhands\nAnd now?", LAB))
    assert data_of(kernel.told("c2", {"id": then["id"]}, "comm_open"))["session"] == "s1"
    kernel.run("%openhands reset")
    anew = payload_of(kernel.run("%%openhands\nAnd now?", LAB))
    assert data_of(kernel.told("c3", {"id": anew["id"]}, "comm_open"))["session"] is None


def test_a_later_cell_waits_for_the_answer(kernel: Kernel, asked: Ran) -> None:
    assert "Write `await task`" in kernel.run("task.wait()").text
    id = payload_of(asked)["id"]
    waiting = kernel.start("print((await task).answer)")
    kernel.send(
        "comm_open", {"comm_id": "c1", "target_name": "openhands-jupyter", "data": {"id": id}}
    )
    kernel.send("comm_msg", {"comm_id": "c1", "data": {"state": "finished", "answer": "42!"}})
    assert "42!" in kernel.ended(waiting).text


def test_only_the_newest_page_counts(kernel: Kernel, asked: Ran) -> None:
    id = payload_of(asked)["id"]
    kernel.told("old", {"id": id}, "comm_open")
    kernel.told("new", {"id": id}, "comm_open")
    kernel.told("old", {"state": "finished", "answer": "old"})
    assert "waiting" in kernel.run("print(task.state)").text


def test_a_page_that_asks_for_something_unknown_is_told_so(kernel: Kernel) -> None:
    assert data_of(kernel.told("c", {"id": "what was in a file"}, "comm_open")) == {
        "type": "unknown"
    }


def test_a_cell_that_was_answered_shows_its_answer(kernel: Kernel, asked: Ran) -> None:
    told = data_of(kernel.told("c", {"id": payload_of(asked)["id"]}, "comm_open"))
    kept = {"asked": told["fingerprint"], "answer": "As before.", "session": "s", "message": 1}
    metadata = {**LAB, "openhands": {"task": kept}}
    again = kernel.run("%%openhands\nPrint the first {n} numbers", metadata)
    payload = payload_of(again)
    assert (payload["state"], payload["answer"]) == ("answered", "As before.")
    assert "As before." in again.text
    # Another question has not been answered.
    assert payload_of(kernel.run("%%openhands\nSomething else", metadata))["state"] == "waiting"


@pytest.mark.parametrize("foreign", ["text", {"task": 3}, {"task": {"asked": None}}, None])
def test_metadata_of_others_is_no_answer(kernel: Kernel, foreign: Any) -> None:
    ran = kernel.run("%%openhands\nA task", {**LAB, "openhands": foreign})
    assert payload_of(ran)["state"] == "waiting"


def test_a_verb_is_answered_in_its_output(kernel: Kernel) -> None:
    ran = kernel.run("%openhands list", LAB)
    payload = payload_of(ran)
    told = data_of(kernel.told("c", {"id": payload["id"]}, "comm_open"))
    assert (told["verb"], told["arguments"]) == ("list", {})
    info = {"id": "s" * 32, "title": "A \x1b[31mtitle", "state": "awaiting_user_input"}
    messages = kernel.told("c", {"data": [info]})
    [update] = [m for m in messages if m["msg_type"] == "update_display_data"]
    text = update["content"]["data"]["text/plain"]
    assert text.strip() == f"{'s' * 32}  awaiting user input: A title"
    shown = ran.of("display_data")[0]["content"]["transient"]["display_id"]
    assert update["content"]["transient"]["display_id"] == shown


def test_a_verb_may_be_refused(kernel: Kernel) -> None:
    payload = payload_of(kernel.run("%openhands config", LAB))
    kernel.told("c", {"id": payload["id"]}, "comm_open")
    messages = kernel.told("c", {"error": {"message": "No.", "hint": "Log in."}})
    assert "No. Log in." in json.dumps([m["content"] for m in messages])


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ("%openhands juggle", "cannot juggle"),
        ("%openhands stop", "no session yet"),
        ("%openhands log many", "no number"),
        ("%openhands inject", "nothing to say"),
        ("%%openhands --mode wild\nx", "invalid choice"),
        ("%%openhands --new --session x\nx", "exclude each other"),
        ("%%openhands --into 1x\nx", "name of a variable"),
        ("%%openhands\n{1/0}", "ZeroDivisionError"),
        ("%%openhands\n   ", "no task"),
    ],
)
def test_errors_are_sentences(kernel: Kernel, cell: str, message: str) -> None:
    ran = kernel.run(cell, LAB)
    assert ran.status == "error"
    assert message in ran.text and "Traceback" not in ran.text


def test_help_names_every_verb(kernel: Kernel) -> None:
    text = kernel.run("%openhands help").text
    for verb in VERBS:
        assert f"%openhands {verb}" in text
