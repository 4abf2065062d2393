"""What the event stream adds to writing the same lines to a file."""

from __future__ import annotations

import asyncio
import os
import tempfile
import time
from pathlib import Path

import msgspec
from measure import Row, medians

from openhands_jupyter.events import CmdOutputObservation, CmdRunAction, Event, EventStream

COUNT = 5_000


def rows(rounds: int = 5) -> list[Row]:
    """Events appended a second, all of them on the disk at the end."""
    rates = medians({"ours": append, "floor": write}, rounds)
    return [
        Row(
            "event appended, on disk (G11)",
            1e6 / rates["ours"],
            1e6 / rates["floor"],
            "µs",
            "≤ 50 µs",
        )
    ]


def events() -> list[Event]:
    """Commands and their output, in turn, of the size that agents write."""
    pairs = (
        (
            CmdRunAction(command=f"echo step {number}", thought="I run a small command now."),
            CmdOutputObservation(content="step\n" + "x" * 180, exit_code=0),
        )
        for number in range(COUNT // 2)
    )
    return [event for pair in pairs for event in pair]


def append() -> float:
    async def run() -> float:
        with tempfile.TemporaryDirectory() as folder:
            stream = EventStream(Path(folder) / "session")
            batch = events()
            started = time.perf_counter()
            for event in batch:
                stream.append(event)
            await stream.close()
            return COUNT / (time.perf_counter() - started)

    return asyncio.run(run())


def write() -> float:
    with tempfile.TemporaryDirectory() as folder:
        file = os.open(Path(folder) / "events.jsonl", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        batch = events()
        encoder = msgspec.json.Encoder()
        started = time.perf_counter()
        for event in batch:
            os.write(file, encoder.encode(event) + b"\n")
        os.fdatasync(file)
        rate = COUNT / (time.perf_counter() - started)
        os.close(file)
        return rate
