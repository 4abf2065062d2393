"""How soon what a model writes reaches those who watch: from the model server to ten sockets."""

from __future__ import annotations

import asyncio
import re
import statistics
import time

from driven import Driven, driven
from measure import Row
from timed_model import served
from waiting import wait_until

CLIENTS = 10
PACE = 0.005
"""Seconds between two tokens: 200 a second."""

_STAMP = re.compile(rb"<t:(\d+)>")


def rows(rounds: int = 5) -> list[Row]:
    """The first token, and 10,000 that come fast; fewer where few rounds are wanted."""
    return asyncio.run(_rows(10_000 if rounds > 1 else 2_000))


async def _rows(many: int) -> list[Row]:
    with served() as model:
        async with driven(model) as ours:
            # Each answer is one token, which comes a while after the rest of the beginning.
            firsts = [await delays(ours, 1, 0.1, f"first-{n}") for n in range(20)]
            stream = await delays(ours, many, PACE, "many")
    first = statistics.median(min(delay) for delay in firsts)
    share = len(stream) // 10
    early, late = (statistics.median(part) for part in (stream[:share], stream[-share:]))
    quantiles = statistics.quantiles(stream, n=100)
    return [
        Row(
            "first token, model server to socket (G16)", first, None, "ms", "≤ 2.2 (the best peer)"
        ),
        Row(f"{many:,} tokens to {CLIENTS} sockets, p50 (G16)", quantiles[49], None, "ms", "≤ 12"),
        Row(f"{many:,} tokens to {CLIENTS} sockets, p99 (G16)", quantiles[98], None, "ms", "≤ 25"),
        Row("last tenth of them ÷ first (G16)", late, early, "ms", "ratio ≤ 1.2"),
    ]


async def delays(ours: Driven, count: int, pace: float, name: str) -> list[float]:
    """Milliseconds of each token to each client, in the order in which they came."""
    session = await ours.session()
    found: list[float] = []

    def hear(frame: bytes) -> None:
        if b'"live"' in frame[:20]:
            now = time.monotonic_ns()
            found.extend((now - int(stamp)) / 1e6 for stamp in _STAMP.findall(frame))

    clients = [await ours.connect(session, hear) for _ in range(CLIENTS)]
    await ours.say(session, f"[tokens {count} {name} pace={pace}]")
    await wait_until(lambda: len(found) >= count * CLIENTS, count * pace + 60)
    for client in clients:
        client.close()
    return found
