"""The scripted model server itself: other tests believe what it says."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import httpx
import pytest
from model_server import ModelServer, call, hang, reset, status, text
from waiting import PATIENCE

TESTS = Path(__file__).resolve().parents[2]


def ask(url: str, content: str = "hello", stream: bool = False, **options: Any) -> httpx.Response:
    body = {"model": "m", "stream": stream, "messages": [{"role": "user", "content": content}]}
    return httpx.post(f"{url}/chat/completions", json=body, **options)


def said(response: httpx.Response) -> str:
    return str(response.json()["choices"][0]["message"]["content"])


def test_turns_are_played_in_order_and_then_the_last_word(model_server: ModelServer) -> None:
    model_server.play(text("one"), text("two"), final=text("over"))
    assert [said(ask(model_server.url)) for _ in range(4)] == ["one", "two", "over", "over"]


def test_conversations_play_the_script_that_is_meant_for_them(model_server: ModelServer) -> None:
    model_server.play(text("default"))
    model_server.play(text("one"), text("two"), when=r"task \d+")
    url = model_server.url
    first = [said(ask(url, message)) for message in ("do task 1", "do task 2", "do task 1")]
    assert first == ["one", "one", "two"]
    assert said(ask(url, "something else")) == "default"


def test_a_stream_ends_as_the_protocol_says(model_server: ModelServer) -> None:
    model_server.play(call("ls", path="."))
    lines = [line for line in ask(model_server.url, stream=True).text.splitlines() if line]
    assert lines[-1] == "data: [DONE]"
    last = json.loads(lines[-2].removeprefix("data: "))
    assert last["choices"][0]["finish_reason"] == "tool_calls"


def test_faults_happen_and_are_logged(model_server: ModelServer) -> None:
    model_server.play(status(429, retry_after="3"), reset(), text("x" * 100).cut(), hang())
    url = model_server.url
    assert ask(url).headers["retry-after"] == "3"
    for stream in (False, True):
        with pytest.raises(httpx.TransportError):
            ask(url, stream=stream)
    with pytest.raises(httpx.ReadTimeout):
        ask(url, timeout=httpx.Timeout(PATIENCE, read=0.2))
    model_server.wait_for(lambda requests: requests[-1].outcome == "disconnected")
    outcomes = [request.outcome for request in model_server.requests]
    assert outcomes == ["answered", "fault", "fault", "disconnected"]
    assert model_server.requests[2].pieces == 3


def test_waiting_for_what_does_not_come_tells_what_came(model_server: ModelServer) -> None:
    ask(model_server.url)
    with pytest.raises(TimeoutError, match="answered"):
        model_server.wait_for(lambda requests: len(requests) == 2, timeout=0.05)


def test_as_a_command_it_takes_scripts_and_shows_its_log(tmp_path: Path) -> None:
    script = tmp_path / "script.json"
    script.write_text('[{"turns": [{"text": "from a file"}]}]')
    command = [sys.executable, "-m", "model_server", "--script", str(script)]
    environment = os.environ | {"PYTHONPATH": str(TESTS)}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            url = server.stdout.readline().strip()
            assert said(ask(url)) == "from a file"
            root = url.removesuffix("/v1")
            scripts = [{"turns": [{"text": "over HTTP"}]}]
            assert httpx.put(f"{root}/__script", json=scripts).status_code == 204
            assert said(ask(url)) == "over HTTP"
            log = httpx.get(f"{root}/__log").json()
            assert [entry["outcome"] for entry in log] == ["answered", "answered"]
            assert httpx.delete(f"{root}/__log").status_code == 204
            assert httpx.get(f"{root}/__log").json() == []
        finally:
            server.kill()


def test_a_pace_takes_its_time(model_server: ModelServer) -> None:
    model_server.play(text("x" * 80).paced(0.05, piece=16).delayed(0.1))
    began = time.monotonic()
    ask(model_server.url, stream=True)
    assert time.monotonic() - began >= 0.3
