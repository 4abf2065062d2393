"""Subscribers: whatever they do and whenever they join, none lost, none twice, in order."""

from __future__ import annotations

import asyncio
import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from openhands_jupyter.events import (
    AgentStateChangedObservation,
    CmdRunAction,
    Event,
    EventStream,
)
from openhands_jupyter.events.codec import decode
from openhands_jupyter.events.stream import BATCH, RECENT


def ids(lines: list[bytes]) -> list[int]:
    return [decode(line).id for line in lines]


def fill(stream: EventStream, count: int) -> None:
    for _ in range(count):
        stream.append(CmdRunAction(command="ls"))


async def until_id(stream: EventStream, last: int, after: int = -1) -> list[int]:
    """Ids that a subscriber gets until it has seen `last`."""
    seen: list[int] = []
    async for lines in stream.subscribe(after):
        seen += ids(lines)
        if seen[-1] >= last:
            break
    return seen


@pytest.mark.parametrize("seed", range(8))
async def test_random_interleavings(open_stream: Callable[..., EventStream], seed: int) -> None:
    """Any number of subscribers, at any moment, after any id, of any speed, some cancelled."""
    chance = random.Random(seed)
    stream = open_stream()
    seen: dict[asyncio.Task[None] | None, tuple[int, list[int]]] = {}
    tasks: list[asyncio.Task[None]] = []

    async def subscriber(after: int) -> None:
        got: list[int] = []
        seen[asyncio.current_task()] = (min(after, stream.last_id), got)
        slow = chance.random() < 0.3
        async for lines in stream.subscribe(after):
            assert 0 < len(lines) <= BATCH
            got += ids(lines)
            if slow:
                await asyncio.sleep(chance.random() / 50)

    # When a subscriber takes its turn at chance depends on the machine, and so how many there are.
    while stream.last_id < 3000 or len(seen) < 5:
        if len(tasks) < 25 and chance.random() < 0.3:
            tasks.append(asyncio.create_task(subscriber(chance.randint(-3, stream.last_id + 3))))
        for _ in range(chance.choice([1, 1, 10, RECENT + 50])):
            state = chance.random() < 0.05
            stream.append(
                AgentStateChangedObservation(state="running") if state else CmdRunAction(command="")
            )
        if tasks and chance.random() < 0.05:
            chance.choice(tasks).cancel()
        await asyncio.sleep(chance.choice([0, 0, 0.002]))
    await stream.close()
    await asyncio.wait(tasks)

    for task, (after, got) in seen.items():
        complete = list(range(max(after, -1) + 1, stream.last_id + 1))
        cancelled = task is not None and task.cancelled()
        assert got == (complete[: len(got)] if cancelled else complete)


@pytest.mark.parametrize("after", [-1, -2, -10_000, 0, 4, 5, 1_000])
@pytest.mark.parametrize("reopened", [False, True])
async def test_joining_after_any_id(
    open_stream: Callable[..., EventStream], reopened: bool, after: int
) -> None:
    stream = open_stream()
    fill(stream, 5)
    if reopened:
        await stream.close()
        stream = open_stream()
    seen = asyncio.create_task(until_id(stream, 7, after))
    await asyncio.sleep(0)
    fill(stream, 3)
    assert await seen == list(range(max(min(after, 4), -1) + 1, 8))


async def test_backlog_comes_in_batches_from_the_file(
    open_stream: Callable[..., EventStream],
) -> None:
    stream = open_stream()
    fill(stream, 2 * BATCH + 10)
    sizes = []
    async for lines in stream.subscribe():
        sizes.append(len(lines))
        if sum(sizes) == 2 * BATCH + 10:
            break
    assert sizes == [BATCH, BATCH, 10]


async def test_slow_subscriber_reads_the_file_and_holds_nobody_up(stream: EventStream) -> None:
    slow = stream.subscribe()
    fill(stream, 1)
    got = ids(await anext(slow))
    quick = asyncio.create_task(until_id(stream, 10 * RECENT))
    for _ in range(10):
        fill(stream, RECENT)
        await asyncio.sleep(0)
    assert await quick == list(range(10 * RECENT + 1))
    while got[-1] < 10 * RECENT:
        got += ids(await anext(slow))
    assert got == list(range(10 * RECENT + 1))
    await slow.aclose()  # type: ignore[attr-defined]


async def test_newest_events_come_without_touching_the_file(
    stream: EventStream, folder: Path
) -> None:
    fill(stream, RECENT)
    (folder / "events.jsonl").unlink()
    assert await until_id(stream, RECENT - 1) == list(range(RECENT))


async def test_events_are_the_same_as_read(stream: EventStream) -> None:
    fill(stream, 3)
    seen: list[Event] = []
    async for event in stream.events(after=0):
        seen.append(event)
        if event.id == 2:
            break
    assert seen == stream.read(after=0)


async def test_close_ends_everyone_after_the_last_event(stream: EventStream) -> None:
    async def all_ids(after: int) -> list[int]:
        return [event.id async for event in stream.events(after)]

    waiting = [asyncio.create_task(all_ids(after)) for after in (-1, 1, 50)]
    await asyncio.sleep(0.01)
    fill(stream, 2 * RECENT)
    stream.append(AgentStateChangedObservation(state="stopped"))
    late = asyncio.create_task(all_ids(-1))
    await stream.close()
    everything = list(range(2 * RECENT + 1))
    assert await asyncio.gather(*waiting) == [everything, everything, everything]
    assert await late == everything
    assert await all_ids(-1) == everything


async def test_subscriber_behind_when_the_session_is_deleted_ends(
    stream: EventStream, folder: Path
) -> None:
    fill(stream, 3 * RECENT)
    subscription = stream.subscribe()
    got = ids(await anext(subscription))
    await stream.close()
    shutil.rmtree(folder)
    async for lines in subscription:
        got += ids(lines)
    assert got == list(range(len(got)))


async def test_cancelled_while_it_reads_the_file(stream: EventStream) -> None:
    fill(stream, 4 * RECENT)
    for _ in range(20):
        task = asyncio.create_task(until_id(stream, 4 * RECENT - 1))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task])
        assert task.cancelled()
    assert await until_id(stream, 4 * RECENT - 1) == list(range(4 * RECENT))
