"""How a cell's outputs are put together and kept within bounds."""

from __future__ import annotations

import pytest

from openhands_jupyter.events import Output
from openhands_jupyter.runtime import outputs as outputs_module
from openhands_jupyter.runtime.agentd.text import HeadAndTail, cut
from openhands_jupyter.runtime.outputs import Outputs


@pytest.fixture
def collected():
    return Outputs(lambda text: None)


def stream(outputs, text, name="stdout"):
    outputs.add("stream", {"name": name, "text": text})


def display(outputs, data, **transient):
    outputs.add("display_data", {"data": data, "metadata": {}, "transient": transient})


def test_streams_are_merged_only_when_they_follow_each_other(collected):
    for text, name in (("a", "stdout"), ("b", "stdout"), ("c", "stderr"), ("d", "stdout")):
        stream(collected, text, name)
    assert [(o.name, o.text) for o in collected.result()] == [
        ("stdout", "ab"),
        ("stderr", "c"),
        ("stdout", "d"),
    ]


def test_unknown_messages_are_left_alone(collected):
    collected.add("comm_open", {"data": {}})
    collected.add("status", {"execution_state": "busy"})
    assert collected.result() == []


def test_long_text_keeps_head_tail_and_what_was_displayed_between(collected, monkeypatch):
    monkeypatch.setattr(outputs_module, "KEPT_CHARACTERS", 10)
    stream(collected, "0123456789")
    display(collected, {"text/plain": "shown"})
    stream(collected, "abcdefghij")
    assert [o.text or o.data for o in collected.result()] == [
        "01234",
        {"text/plain": "shown"},
        "\n[... 10 characters left out ...]\n",
        "fghij",
    ]


def test_displays_are_bounded(collected, monkeypatch):
    monkeypatch.setattr(outputs_module, "KEPT_DISPLAYS", 2)
    for n in range(5):
        display(collected, {"text/plain": str(n)})
    assert [o.text or o.data["text/plain"] for o in collected.result()] == [
        "0",
        "1",
        "\n[... 3 displayed objects left out ...]\n",
    ]


def test_large_displays_are_bounded(collected, monkeypatch):
    monkeypatch.setattr(outputs_module, "KEPT_RICH_CHARACTERS", 100)
    display(collected, {"text/plain": "small"})
    display(collected, {"image/png": "x" * 200})
    assert collected.result()[0] == Output(kind="display_data", data={"text/plain": "small"})
    assert "1 displayed objects left out" in collected.result()[1].text


def test_an_update_of_another_display_changes_nothing(collected):
    display(collected, {"text/plain": "a"}, display_id="1")
    display(collected, {"text/plain": "b"})
    collected.add("update_display_data", {"data": {"text/plain": "c"}, "transient": {}})
    changed = {"data": {"text/plain": "d"}, "transient": {"display_id": "1"}}
    collected.add("update_display_data", changed)
    assert [o.data["text/plain"] for o in collected.result()] == ["d", "b"]


def test_streaming_stops_at_its_bound_and_says_so(monkeypatch):
    monkeypatch.setattr(outputs_module, "STREAMED_CHARACTERS", 6)
    streamed: list[str] = []
    outputs = Outputs(streamed.append)
    for text in ("abcd", "efgh", "ijkl"):
        stream(outputs, text)
    assert "".join(streamed).startswith("abcdef\n[... there is more output")
    assert "ijkl" not in "".join(streamed)
    assert outputs.result()[0].text == "abcdefghijkl"


@pytest.mark.parametrize("pieces", [["0123456789"], list("0123456789"), ["01234", "56789"]])
def test_head_and_tail(pieces):
    kept = HeadAndTail(4)
    for piece in pieces:
        kept.add(piece)
    assert kept.text() == "01\n[... 6 characters left out ...]\n89"
    assert kept.size == 10


def test_cut_leaves_short_text_alone():
    assert cut("short", 100) == "short"
