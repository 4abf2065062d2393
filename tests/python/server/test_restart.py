"""A server in a process of its own, killed in the middle of a command, and started again."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from model_server import ModelServer, call
from server_process import KEY, Server
from waiting import PATIENCE, wait_until

MARK = "86399.5"
COMMAND = f"echo begun >> ran.txt; echo some output; sleep {MARK}"


def lines(path: Path) -> int:
    return len(path.read_text().splitlines()) if path.exists() else 0


def processes_with(text: str) -> list[str]:
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            command = path.read_bytes().split(b"\0")
        except OSError:
            continue
        if text.encode() in command:
            found.append(path.parent.name)
    return found


@pytest.fixture
def server(tmp_path: Path, model_server: ModelServer) -> Iterator[Server]:
    server = Server(tmp_path, model_server)
    yield server
    server.end()


@pytest.mark.sandbox
@pytest.mark.slow
async def test_killed_in_a_command_and_started_again(
    server: Server, model_server: ModelServer
) -> None:
    model_server.play(
        call("execute_bash", command=COMMAND, timeout=0),
        call("finish", message="I looked at what happened."),
    )
    await server.start()
    session = (await server.send("POST", "sessions", {})).body
    path = f"sessions/{session['id']}"
    await server.send("POST", f"{path}/messages", {"content": "Run it"})
    await wait_until(lambda: lines(server.root / "ran.txt"))
    server.process.send_signal(signal.SIGKILL)
    server.process.wait(PATIENCE)
    await wait_until(lambda: not processes_with(MARK))

    log = server.home / "sessions" / session["id"] / "events.jsonl"
    with log.open("ab") as file:
        file.write(b'{"type":"CmdOutputObs')
    await server.start()
    listed = (await server.send("GET", "sessions")).body["sessions"]
    assert [info["id"] for info in listed] == [session["id"]]

    async def settled() -> bool:
        info = (await server.send("GET", path)).body
        return info["state"] in ("paused", "stopped", "awaiting_user_input", "error")

    await wait_until(settled)
    events = await server.events(session["id"])
    assert [event["id"] for event in events] == list(range(len(events)))
    [action] = [event for event in events if event["type"] == "CmdRunAction"]
    [closed] = [
        event
        for event in events
        if event.get("cause") == action["id"] and event["type"].endswith("Observation")
    ]
    assert closed["type"] == "ErrorObservation" and closed["code"] == "interrupted"
    assert any(event.get("code") == "log_repaired" for event in events)
    assert len(model_server.requests) == 1, "nothing goes on by itself"

    await server.send("POST", f"{path}/messages", {"content": "What happened?"})

    async def finished() -> bool:
        return bool((await server.send("GET", path)).body["state"] == "finished")

    await wait_until(finished)
    assert lines(server.root / "ran.txt") == 1, "nothing is run twice"
    server.end()
    assert KEY not in server.log.read_text()
    assert KEY not in log.read_text()
    assert any(KEY in str(request.headers) for request in model_server.requests)
