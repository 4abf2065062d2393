"""Append, read pages, wait, close."""

from __future__ import annotations

import asyncio
import logging
import os
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest

from openhands_jupyter.errors import OpenHandsError
from openhands_jupyter.events import (
    CmdOutputObservation,
    CmdRunAction,
    Event,
    EventStream,
    FinishAction,
    OpaqueEvent,
    UserMessageAction,
)
from openhands_jupyter.events.codec import decode

TYPES = ("UserMessageAction", "CmdRunAction", "CmdOutputObservation")
COUNT = 1200


def ids(lines: list[bytes]) -> list[int]:
    return [decode(line).id for line in lines]


def fill(stream: EventStream, count: int = COUNT) -> None:
    """Events of three types in turn."""
    for number in range(count):
        stream.append(
            [
                UserMessageAction(content=f"message {number}"),
                CmdRunAction(command=f"echo {number}"),
                CmdOutputObservation(content=f"{number}"),
            ][number % 3]
        )


async def test_ids_are_dense_and_times_grow(stream: EventStream) -> None:
    before = datetime.now(UTC)
    assert [stream.append(FinishAction()) for _ in range(5)] == list(range(5))
    times = [event.time for event in stream.read() if event.time]
    assert times == sorted(times)
    assert len(times) == 5
    assert before <= times[0] <= times[-1] <= datetime.now(UTC)


async def test_ids_go_on_after_reopening(open_stream: Callable[..., EventStream]) -> None:
    first = open_stream()
    fill(first, 3)
    await first.close()
    second = open_stream()
    assert second.torn == b""
    assert second.append(FinishAction()) == 3
    assert ids(second.read_raw()) == [0, 1, 2, 3]


async def test_event_is_in_the_file_when_it_is_reported(stream: EventStream, folder: Path) -> None:
    seen: list[bool] = []

    def look(event: Event) -> None:
        seen.append(f'"id":{event.id},' in (folder / "events.jsonl").read_text())

    stream.add_listener(look)
    fill(stream, 10)
    assert seen == [True] * 10


@pytest.mark.parametrize(
    "event",
    [FinishAction(id=0), decode(b'{"type":"New","id":3}'), OpaqueEvent(raw={"type": "New"})],
    ids=["already on a log", "opaque, from a log", "opaque"],
)
async def test_only_new_events_of_known_types_are_accepted(
    stream: EventStream, event: Event
) -> None:
    with pytest.raises(ValueError, match="log"):
        stream.append(event)
    assert stream.last_id == -1


def test_append_without_an_event_loop_changes_nothing(open_stream: Any, folder: Path) -> None:
    stream = open_stream()
    with pytest.raises(RuntimeError):
        stream.append(FinishAction())
    assert (folder / "events.jsonl").read_bytes() == b""


async def test_listener_that_fails_keeps_the_event_from_nobody(
    stream: EventStream, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(event: Event) -> None:
        raise RuntimeError("listener at fault")

    heard: list[int] = []
    stream.add_listener(fail)
    stream.add_listener(lambda event: heard.append(event.id))
    with caplog.at_level(logging.ERROR):
        assert [stream.append(FinishAction()), stream.append(FinishAction())] == [0, 1]
    assert heard == [0, 1]
    assert ids(stream.read_raw()) == [0, 1]
    assert caplog.text.count("RuntimeError: listener at fault") == 2


@pytest.mark.parametrize("types", [None, TYPES[:1], TYPES[1:], [], ["Unknown"]], ids=str)
@pytest.mark.parametrize("order", ["asc", "desc"])
@pytest.mark.parametrize(
    ("after", "before", "limit"),
    [
        (-1, None, 200),
        (-1, None, 10**9),
        (-5, COUNT + 7, 10**9),
        (0, COUNT - 1, 7),
        (100, 200, 1000),
        (700, 701, 10),
        (700, 702, 10),
        (COUNT - 2, None, 10),
        (COUNT, None, 10),
        (10**9, None, 10),
        (5, 3, 10),
        (-1, -3, 10),
        (-1, None, 0),
        (-1, None, -1),
    ],
)
async def test_pages(
    full: EventStream, after: int, before: int | None, limit: int, order: Any, types: Any
) -> None:
    wanted = [
        number
        for number in range(COUNT)
        if number > after
        and (before is None or number < before)
        and (types is None or TYPES[number % 3] in types)
    ]
    wanted = (wanted if order == "asc" else wanted[::-1])[: max(limit, 0)]
    lines = full.read_raw(after, before, limit, order, types)
    assert ids(lines) == wanted
    assert full.read(after, before, limit, order, types) == [decode(line) for line in lines]


@pytest.fixture
def full(
    open_stream: Callable[..., EventStream], write_log: Callable[[bytes], None], log: bytes
) -> EventStream:
    """A stream of COUNT events."""
    write_log(log)
    return open_stream()


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The log of COUNT events."""

    async def write(folder: Path) -> None:
        stream = EventStream(folder)
        fill(stream)
        await stream.close()

    folder = tmp_path_factory.mktemp("full")
    asyncio.run(write(folder))
    return (folder / "events.jsonl").read_bytes()


async def test_empty_log(stream: EventStream) -> None:
    assert stream.last_id == -1
    assert stream.read() == stream.read(order="desc") == stream.read(types=TYPES) == []


async def test_types_are_read_wherever_they_stand(
    open_stream: Callable[..., EventStream], write_log: Callable[[bytes], None]
) -> None:
    write_log(
        b'{"id":0,"v":3,"type":"CmdRunAction","command":"ls"}\n{ "id": 1, "kind": "no type" }\n'
    )
    stream = open_stream()
    assert ids(stream.read_raw(types=["CmdRunAction"])) == [0]
    assert ids(stream.read_raw(types=[""])) == [1]


@pytest.mark.parametrize("types", [None, TYPES])
async def test_line_damaged_by_something_else_is_reported(
    full: EventStream, folder: Path, types: Any
) -> None:
    with (folder / "events.jsonl").open("r+b") as file:
        file.seek(100)
        file.write(b"#" * 10)
    with pytest.raises(OpenHandsError, match=r"events\.jsonl") as caught:
        full.read(types=types)
    assert caught.value.code == "log_damaged"
    assert caught.value.hint


async def test_file_shrunk_by_something_else_is_reported(full: EventStream, folder: Path) -> None:
    os.truncate(folder / "events.jsonl", 5000)
    with pytest.raises(OpenHandsError, match="changed"):
        full.read(limit=COUNT)
    with pytest.raises(OpenHandsError, match="changed"):
        full.append(FinishAction())
    with pytest.raises(OpenHandsError, match="changed"):
        async for _ in full.subscribe():
            pass
    assert len((folder / "events.jsonl").read_bytes()) == 5000


async def test_file_grown_by_something_else_is_reported(full: EventStream, folder: Path) -> None:
    with (folder / "events.jsonl").open("ab") as file:
        file.write(b"foreign\n")
    with pytest.raises(OpenHandsError, match="changed"):
        full.append(FinishAction())
    assert full.last_id == COUNT - 1


async def test_reading_on_other_threads_during_appends(stream: EventStream) -> None:
    done = threading.Event()

    def read_all() -> int:
        longest = 0
        while not done.is_set() or longest < stream.last_id + 1:
            found = ids(stream.read_raw(limit=10**9))
            assert found == list(range(len(found)))
            assert len(found) >= longest
            assert ids(stream.read_raw(limit=7, order="desc"))[1:2] != [-1]
            longest = len(found)
        return longest

    readers = [asyncio.create_task(asyncio.to_thread(read_all)) for _ in range(3)]
    for _ in range(20):
        fill(stream, 60)
        await asyncio.sleep(0.005)
    done.set()
    assert await asyncio.gather(*readers) == [1200] * 3


async def test_wait_for_finds_past_and_future_events(stream: EventStream) -> None:
    def is_finish(event: Event) -> bool:
        return isinstance(event, FinishAction)

    future = asyncio.create_task(stream.wait_for(is_finish))
    fill(stream, 10)
    await asyncio.sleep(0.01)
    assert not future.done()
    stream.append(FinishAction(message="now"))
    assert (await future).id == 10
    assert (await stream.wait_for(is_finish, after=3)).id == 10
    later = asyncio.create_task(stream.wait_for(is_finish, after=10))
    await asyncio.sleep(0.01)
    assert not later.done()
    await stream.close()
    with pytest.raises(OpenHandsError, match="closed"):
        await later


async def test_closed_stream_accepts_nothing_but_can_be_read(stream: EventStream) -> None:
    fill(stream, 3)
    await asyncio.gather(stream.close(), stream.close())
    with pytest.raises(OpenHandsError, match="closed"):
        stream.append(FinishAction())
    assert ids(stream.read_raw()) == [0, 1, 2]
    assert [event.id async for event in stream.events(after=0)] == [1, 2]


async def test_listener_hears_the_event_as_it_is_on_the_log(stream: EventStream) -> None:
    heard: list[Event] = []
    stream.add_listener(heard.append)
    fill(stream, 6)
    assert heard == stream.read()
    assert all(msgspec.structs.asdict(event)["v"] == 1 for event in heard)
