"""Streams in a folder of the test's own, closed when it is over."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from openhands_jupyter.events import EventStream, Masker

OpenStream = Callable[..., EventStream]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where the session's log lies; not made yet."""
    return tmp_path / "session"


@pytest.fixture
def write_log(folder: Path) -> Callable[[bytes], None]:
    """Puts a log where the session's log lies."""

    def write_log(content: bytes) -> None:
        folder.mkdir()
        (folder / "events.jsonl").write_bytes(content)

    return write_log


@pytest.fixture
def open_stream(folder: Path, jp_asyncio_loop: asyncio.AbstractEventLoop) -> Iterator[OpenStream]:
    """Opens the session's stream, as often as asked (one at a time: there is a lease)."""
    streams: list[EventStream] = []

    def open_stream(masker: Masker | None = None) -> EventStream:
        streams.append(EventStream(folder, masker))
        return streams[-1]

    yield open_stream
    for stream in streams:
        jp_asyncio_loop.run_until_complete(stream.close())


@pytest.fixture
def stream(open_stream: OpenStream) -> EventStream:
    """An empty stream."""
    return open_stream()
