"""Nothing gets slower as a session gets longer, and masking stays cheap.

Processor time is compared with processor time of the same run, with slack for a busy machine.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator

import msgspec
import pytest

from openhands_jupyter.events import (
    CmdOutputObservation,
    CmdRunAction,
    ConfirmationAction,
    Event,
    EventStream,
    LiveText,
    Masker,
    ModelCall,
    ModelUsageObservation,
    State,
    UserMessageAction,
)

BLOCKS = 10
SLACK = 5

TURN: list[Event] = [
    UserMessageAction(content="go"),
    CmdRunAction(command="ls", cause=0, llm=ModelCall(response_id="r")),
    ConfirmationAction(decision="approve", cause=1),
    CmdOutputObservation(content="a line of output\n" * 20, cause=1),
    ModelUsageObservation(response_id="r", model="m", cause=1),
]
SECRETS = [f"key-{number}-" + "0123456789abcdef" * 4 for number in range(20)]


def turns() -> Iterator[Event]:
    """A session without end, every call answered."""
    for start in itertools.count(0, len(TURN)):
        for event in TURN:
            cause = None if event.cause is None else start + event.cause
            yield msgspec.structs.replace(event, cause=cause)


def cost(action: Callable[[], object]) -> float:
    started = time.process_time()
    action()
    return time.process_time() - started


def assert_steady(block: Callable[[], object]) -> None:
    """The later runs of `block` cost about what the first did."""
    costs = [cost(block) for _ in range(BLOCKS)]
    assert min(costs[BLOCKS // 2 :]) < SLACK * min(costs[: BLOCKS // 2]), costs


def test_folding() -> None:
    state = State()
    numbered = (
        msgspec.structs.replace(event, id=number, source=event.usual_source)
        for number, event in enumerate(turns())
    )

    def fold() -> None:
        for event in itertools.islice(numbered, 2_000):
            state.apply(event)

    assert_steady(fold)
    assert state.last_id == 2_000 * BLOCKS - 1
    assert state.open_calls == {}


@pytest.mark.parametrize("secrets", [[], SECRETS], ids=["no secrets", "secrets"])
async def test_appending(open_stream: Callable[..., EventStream], secrets: list[str]) -> None:
    stream = open_stream(Masker(lambda: secrets))
    events = turns()

    def append() -> None:
        for event in itertools.islice(events, 1_000):
            stream.append(event)

    assert_steady(append)
    assert stream.last_id == 1_000 * BLOCKS - 1


async def test_reading_a_page(stream: EventStream) -> None:
    events = turns()

    def append_and_read() -> float:
        for event in itertools.islice(events, 1_000):
            stream.append(event)
        return cost(lambda: [stream.read_raw(limit=200, order="desc") for _ in range(20)])

    costs = [append_and_read() for _ in range(BLOCKS)]
    assert min(costs[BLOCKS // 2 :]) < SLACK * min(costs[: BLOCKS // 2]), costs


@pytest.mark.parametrize("piece", ["token ", "key-1", "-"], ids=repr)
def test_live_text(piece: str) -> None:
    text = LiveText(Masker(lambda: SECRETS))

    def write() -> None:
        for _ in range(1_000):
            text.write("text", 1, piece)

    assert_steady(write)


@pytest.mark.parametrize("text", ["x", "key-1-0123456789abcdef ", "=", "a b\n"], ids=repr)
def test_masking_is_linear(text: str) -> None:
    masker = Masker(lambda: SECRETS)
    masker.text("")
    short, long = text * (100_000 // len(text)), text * (1_000_000 // len(text))
    once = min(cost(lambda: masker.text(short)) for _ in range(3))
    assert cost(lambda: masker.text(long)) < SLACK * 10 * once + 0.01
