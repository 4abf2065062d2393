"""Live text: all of it, in order, in few deliveries, without secrets."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import random
import time
from collections.abc import AsyncIterator

import pytest

from openhands_jupyter.events import LiveItem, LiveText, Masker
from openhands_jupyter.events.live import PAUSE, TAIL
from openhands_jupyter.events.masking import MASK

SECRET = "p'w\"d-é-4711"


def live(*secrets: str) -> LiveText:
    return LiveText(Masker(lambda: secrets))


async def collect(text: LiveText, seen: list[LiveItem]) -> None:
    async for items in text.subscribe():
        seen += items


@contextlib.asynccontextmanager
async def subscriber(text: LiveText) -> AsyncIterator[list[LiveItem]]:
    """What a subscriber gets until the end of the block."""
    seen: list[LiveItem] = []
    task = asyncio.create_task(collect(text, seen))
    await asyncio.sleep(0)
    yield seen
    await asyncio.sleep(0.1)
    text.close()
    await task


def whole(items: list[LiveItem]) -> str:
    """The text that the items amount to; each must begin where the one before ended."""
    text = ""
    for item in items:
        assert item.offset == len(text)
        text += item.text
    return text


async def test_subscriber_gets_the_first_piece_at_once_and_the_rest_in_few() -> None:
    text = live()
    async with subscriber(text) as seen:
        text.write("text", 3, "first ")
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert seen == [LiveItem(kind="text", cause=3, text="first ")]
        started = time.monotonic()
        for number in range(1000):
            text.write("text", 3, f"{number} ")
            await asyncio.sleep(0)
        assert len(seen) <= 2 + (time.monotonic() - started) / PAUSE
    assert whole(seen) == "first " + "".join(f"{number} " for number in range(1000))


async def test_kinds_and_causes_are_apart() -> None:
    text = live()
    async with subscriber(text) as seen:
        for kind in ("text", "reasoning", "tool_call", "output"):
            for cause in (1, 2):
                text.write(kind, cause, f"{kind}{cause}")  # type: ignore[arg-type]
        await asyncio.sleep(0.05)
        text.end(1)
    assert [(i.kind, i.cause, i.text) for i in seen if not i.end] == [
        (kind, cause, f"{kind}{cause}")
        for kind in ("text", "reasoning", "tool_call", "output")
        for cause in (1, 2)
    ]
    assert {(i.kind, i.cause) for i in seen if i.end} == {
        (kind, 1) for kind in ("text", "reasoning", "tool_call", "output")
    }


async def test_late_joiner_gets_what_there_is_and_nothing_that_ended() -> None:
    text = live()
    text.write("text", 1, "gone")
    text.end(1)
    text.write("text", 2, "so far")
    async with subscriber(text) as seen:
        text.write("text", 2, ", and on")
    assert {item.cause for item in seen} == {2}
    assert whole(seen) == "so far, and on"


async def test_the_same_cause_begins_anew_after_its_end() -> None:
    text = live()
    async with subscriber(text) as seen:
        text.write("output", 1, "first try")
        await asyncio.sleep(0.05)
        text.end(1)
        text.write("output", 1, "second")
    assert seen == [
        LiveItem(kind="output", cause=1, text="first try"),
        LiveItem(kind="output", cause=1, end=True),
        LiveItem(kind="output", cause=1, text="second"),
    ]


async def test_text_that_came_and_went_unseen_is_not_mentioned() -> None:
    text = live()
    async with subscriber(text) as seen:
        text.write("text", 1, "flash")
        text.end(1)
        text.end(99)
    assert seen == []


async def test_only_the_tail_of_a_long_text_is_kept() -> None:
    text = live()
    for number in range(100):
        text.write("output", 1, f"{number:05}" * 2000)
    async with subscriber(text) as seen:
        pass
    (item,) = seen
    complete = "".join(f"{number:05}" * 2000 for number in range(100))
    assert TAIL <= len(item.text) <= 2 * TAIL
    assert complete[item.offset :] == item.text


async def test_slow_subscriber_misses_only_what_is_no_longer_kept() -> None:
    text = live()
    subscription = text.subscribe()
    text.write("output", 1, "a" * 10)
    assert (await anext(subscription))[0].text == "a" * 10
    for _ in range(10):
        text.write("output", 1, "b" * TAIL)
    (item,) = await anext(subscription)
    assert item.offset > 10
    assert item.offset + len(item.text) == 10 + 10 * TAIL
    await subscription.aclose()  # type: ignore[attr-defined]


async def test_subscribing_to_what_is_closed_ends() -> None:
    text = live()
    text.write("text", 1, "x")
    text.close()
    assert [items async for items in text.subscribe()] == []


@pytest.mark.parametrize("form", [SECRET, repr(SECRET)[1:-1], "cCd3ImQtw6ktNDcxM"], ids=repr)
@pytest.mark.parametrize("pieces", [1, 2, 3])
async def test_secret_split_at_any_place_is_not_shown(form: str, pieces: int) -> None:
    message = f"<{form}> and {form[:5]} are"
    for places in itertools.combinations(range(1, len(message)), pieces - 1):
        text = live(SECRET)
        subscription = text.subscribe()
        shown: list[LiveItem] = []
        bounds = (0, *places, len(message))
        for start, end in itertools.pairwise(bounds):
            text.write("output", 1, message[start:end])
            shown += text._news({})
        assert shown[-1].text == f"<{MASK}> and {form[:5]} are"
        assert not any(form[:7] in item.text for item in shown)
        await subscription.aclose()  # type: ignore[attr-defined]


async def test_random_pieces_with_many_secrets() -> None:
    random_numbers = random.Random(11)
    secrets = [f"key-{number}-{random_numbers.randbytes(8).hex()}" for number in range(20)]
    text = live(*secrets)
    words = [random_numbers.choice([*secrets, "key-", "plain", "key-1"]) for _ in range(400)]
    message = " ".join(words) + " ."
    async with subscriber(text) as seen:
        while message:
            size = random_numbers.randint(1, 9)
            text.write("output", 1, message[:size])
            message = message[size:]
            if not random_numbers.randrange(20):
                await asyncio.sleep(0.002)
    expected = " ".join(MASK if word in secrets else word for word in words) + " ."
    assert whole(seen) == expected
