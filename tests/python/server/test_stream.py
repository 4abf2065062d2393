"""The socket: everything once, in order, whatever the connection does."""

from __future__ import annotations

import asyncio
import json
import random
from itertools import chain, count, takewhile
from typing import Any

import pytest
from api_client import Stream, note
from tornado.httpclient import HTTPClientError
from waiting import PATIENCE

from openhands_jupyter.server import stream as stream_module
from openhands_jupyter.session import Session


def ids(events: list[dict[str, Any]]) -> list[int]:
    return [event["id"] for event in events]


async def test_hello_then_the_log_then_what_comes(connect: Any, session: Session) -> None:
    session.stream.append(note("before"))
    client = await connect(session.id)
    hello = await client.frame()
    assert hello["type"] == "hello"
    assert hello["session"]["id"] == session.id
    assert hello["session"]["title"] == "A session"
    assert hello["last_id"] == session.stream.last_id
    assert ids(await client.events(hello["last_id"])) == list(range(hello["last_id"] + 1))
    last = session.stream.append(note("after Grüße"))
    [event] = await client.events(last)
    assert (event["id"], event["thought"]) == (last, "after Grüße")


async def test_it_goes_on_behind_the_last_event_known(connect: Any, session: Session) -> None:
    known = session.stream.append(note("known"))
    news = [session.stream.append(note(str(number))) for number in range(3)]
    client = await connect(session.id, after=known)
    assert ids(await client.events(news[-1])) == news


async def test_a_client_that_knows_more_than_the_log_misses_nothing(
    connect: Any, session: Session
) -> None:
    client = await connect(session.id, after=99)
    hello = await client.frame()
    assert hello["last_id"] < 99
    last = session.stream.append(note("new"))
    assert ids(await client.events(last)) == [last]


@pytest.mark.parametrize("after", ["x", "-2", "1.5", ""])
async def test_a_bad_position_is_refused(connect: Any, session: Session, after: str) -> None:
    with pytest.raises(HTTPClientError) as caught:
        await connect(session.id, after=after)
    assert caught.value.code == 422


@pytest.mark.parametrize("session_id", ["0" * 32, "none", "..%2f.."])
async def test_an_unknown_session_has_no_socket(connect: Any, session_id: str) -> None:
    with pytest.raises(HTTPClientError) as caught:
        await connect(session_id)
    assert caught.value.code == 404


async def test_a_long_log_comes_in_lists(connect: Any, session: Session) -> None:
    for number in range(1200):
        session.stream.append(note(str(number)))
    client = await connect(session.id)
    frames = []
    while not frames or frames[-1][-1] < session.stream.last_id:
        frame = await client.until(lambda frame: frame["type"] == "events")
        frames.append(ids(frame["events"]))
    assert max(map(len, frames)) == 500
    assert list(chain.from_iterable(frames)) == list(range(session.stream.last_id + 1))


async def test_a_frame_is_never_so_large_that_a_proxy_refuses_it(
    connect: Any, session: Session
) -> None:
    for _ in range(100):
        session.stream.append(note("x" * 60_000))
    client = await connect(session.id)
    seen: list[int] = []
    while not seen or seen[-1] < session.stream.last_id:
        message = await client.connection.read_message()
        assert len(message) < 1_100_000
        seen += ids(json.loads(message).get("events", []))
    assert seen == list(range(session.stream.last_id + 1))


async def test_nothing_is_lost_or_doubled_over_many_breaks(connect: Any, session: Session) -> None:
    chance = random.Random(2)

    async def produce() -> None:
        for number in takewhile(lambda number: number < 1500 or breaks <= 20, count()):
            # Before and not after it: when the last event is seen, this has to be over.
            if chance.random() < 0.2:
                await asyncio.sleep(chance.random() * 0.01)
            session.stream.append(note(f"{number} " + "x" * chance.randrange(200)))

    seen: list[int] = []
    breaks = 0
    producer = asyncio.create_task(produce())
    while not producer.done() or seen[-1] < session.stream.last_id:
        client: Stream = await connect(session.id, after=seen[-1] if seen else -1)
        for _ in range(chance.randrange(1, 6)):
            frame = await client.until(lambda frame: frame["type"] in ("events", "hello"))
            seen += ids(frame.get("events", []))
            if seen and producer.done() and seen[-1] == session.stream.last_id:
                break
        client.connection.close()
        breaks += 1
    await producer
    assert seen == list(range(session.stream.last_id + 1))


async def test_two_clients_see_the_same(connect: Any, session: Session) -> None:
    clients = [await connect(session.id), await connect(session.id)]
    for number in range(300):
        session.stream.append(note(str(number)))
        if number % 50 == 0:
            await asyncio.sleep(0.01)
    first, second = [await client.events(session.stream.last_id) for client in clients]
    assert first == second
    assert ids(first) == list(range(session.stream.last_id + 1))


async def test_a_slow_client_delays_nobody_and_catches_up(connect: Any, session: Session) -> None:
    slow = await connect(session.id)
    fast = await connect(session.id)
    text = "x" * 20_000
    seen = 0
    # Far more than the buffers between the two ends of a connection hold.
    for _ in range(60):
        for _ in range(20):
            session.stream.append(note(text))
        events = await fast.events(session.stream.last_id)
        seen += len(events)
    assert seen == session.stream.last_id + 1
    assert ids(await slow.events(session.stream.last_id)) == list(range(seen))


async def test_live_text_comes_and_ends(connect: Any, session: Session) -> None:
    live = session.stream.live
    live.write("output", 1, "line 1\n")
    client = await connect(session.id)

    async def items() -> list[dict[str, Any]]:
        frame = await client.until(lambda frame: frame["type"] == "live")
        return list(frame["items"])

    assert await items() == [{"kind": "output", "cause": 1, "text": "line 1\n"}]
    live.write("output", 1, "line 2\n")
    assert await items() == [{"kind": "output", "cause": 1, "offset": 7, "text": "line 2\n"}]
    live.end(1)
    assert await items() == [{"kind": "output", "cause": 1, "end": True}]


async def test_changes_of_the_session_are_told(connect: Any, api: Any, session: Session) -> None:
    client = await connect(session.id)
    await client.events(session.stream.last_id)
    for title, mode in (("One", "ask"), ("Two", "agent")):
        await api("PATCH", f"sessions/{session.id}", {"title": title, "mode": mode})
        frame = await client.until(
            lambda frame: frame["type"] == "session" and frame["session"]["mode"] == mode  # noqa: B023
        )
        assert frame["session"]["title"] == title


async def test_the_last_of_many_quick_changes_is_told(connect: Any, session: Session) -> None:
    client = await connect(session.id)
    for number in range(50):
        session.rename(f"Title {number}")
        if number % 10 == 0:
            await asyncio.sleep(0)
    await client.until(
        lambda frame: frame["type"] == "session" and frame["session"]["title"] == "Title 49"
    )


async def test_that_an_agent_works_is_no_change_again_and_again(
    connect: Any, session: Session
) -> None:
    # From here on its time of work is another one whenever somebody looks.
    session.controller._log.set_state("running")
    client = await connect(session.id)
    hello = await client.frame()
    last = session.stream.last_id
    for _ in range(20):
        await asyncio.sleep(0.005)
        last = session.stream.append(note("at work"))
    told = []
    async for frame in client.frames():
        told.append(frame["type"])
        if frame["type"] == "events" and frame["events"][-1]["id"] == last:
            break
    assert hello["type"] == "hello"
    assert told.count("session") <= 2


async def test_heartbeats(connect: Any, session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream_module, "HEARTBEAT", 0.05)
    client = await connect(session.id)
    for _ in range(3):
        frame = await client.until(lambda frame: frame["type"] == "heartbeat")
        assert frame["last_id"] == session.stream.last_id


async def test_what_a_client_sends_is_ignored(connect: Any, session: Session) -> None:
    client = await connect(session.id)
    before = session.stream.last_id
    await client.connection.write_message('{"type": "CmdRunAction", "command": "id"}')
    await client.connection.write_message(b"\x00\xff", binary=True)
    last = session.stream.append(note("still here"))
    assert last == before + 1
    await client.events(last)


async def test_the_socket_closes_with_the_deleted_session(
    connect: Any, api: Any, session: Session
) -> None:
    client = await connect(session.id)
    await client.events(session.stream.last_id)
    assert (await api("DELETE", f"sessions/{session.id}")).status == 204
    async for _ in client.frames():
        pass
    assert client.connection.close_code == 4404


async def test_the_socket_closes_with_the_server(
    connect: Any, session: Session, jp_serverapp: Any
) -> None:
    client = await connect(session.id)
    await client.events(session.stream.last_id)
    await jp_serverapp.extension_manager.stop_all_extensions()
    async for _ in client.frames():
        pass
    assert client.connection.close_code == 1001


async def test_a_fault_closes_the_socket_and_is_logged(
    connect: Any,
    session: Session,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    def fail(after: int) -> Any:
        raise RuntimeError("the disk is gone")

    monkeypatch.setattr(session.stream, "subscribe", fail)
    client = await connect(session.id)
    async for _ in client.frames():
        pass
    assert client.connection.close_code == 1011
    assert "the disk is gone" in caplog.text


async def test_no_task_is_left_behind(connect: Any, session: Session) -> None:
    before = asyncio.all_tasks()
    clients = [await connect(session.id) for _ in range(5)]
    for client in clients:
        await client.events(session.stream.last_id)
    ours = asyncio.all_tasks() - before
    assert len(ours) >= 4 * len(clients)
    for client in clients:
        client.connection.close()
    _, left = await asyncio.wait(ours, timeout=PATIENCE)
    assert left == set()
