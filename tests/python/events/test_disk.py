"""What is reported has happened: fsync, full disks, and other faults while writing."""

from __future__ import annotations

import asyncio
import errno
import os
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from waiting import PATIENCE, wait_until

from openhands_jupyter.events import (
    AgentStateChangedObservation,
    CmdRunAction,
    Event,
    EventStream,
    FileWriteAction,
    FinishAction,
)
from openhands_jupyter.events.codec import decode
from openhands_jupyter.events.stream import SYNC_PAUSE

IO_ERROR = OSError(errno.EIO, "Input/output error")
RUNNING = AgentStateChangedObservation(state="running")


class Disk:
    """Stands between the log and the disk: counts syncs, holds them up, lets them fail."""

    def __init__(self) -> None:
        self.log: list[str] = []
        self.error: OSError | None = None
        self.free = threading.Event()
        self.free.set()
        self.asked = 0

    def fdatasync(self, descriptor: int) -> None:
        self.asked += 1
        assert self.free.wait(2 * PATIENCE)
        self._sync("log")

    def fsync(self, descriptor: int) -> None:
        self._sync(Path(os.readlink(f"/proc/self/fd/{descriptor}")).name)

    def _sync(self, what: str) -> None:
        if self.error:
            raise self.error
        self.log.append(what)


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Disk:
    disk = Disk()
    monkeypatch.setattr(os, "fdatasync", disk.fdatasync)
    monkeypatch.setattr(os, "fsync", disk.fsync)
    return disk


async def follow(stream: EventStream, seen: list[int]) -> None:
    async for lines in stream.subscribe():
        seen += [decode(line).id for line in lines]


async def settle() -> None:
    """Give what must not happen the time to happen."""
    await asyncio.sleep(3 * SYNC_PAUSE)


async def test_state_change_waits_for_the_disk_and_later_events_wait_for_it(
    disk: Disk, stream: EventStream
) -> None:
    seen: list[int] = []
    follower = asyncio.create_task(follow(stream, seen))
    disk.free.clear()
    stream.append(FinishAction())
    stream.append(RUNNING)
    stream.append(FinishAction())
    await wait_until(lambda: seen and disk.asked)
    await settle()
    assert seen == [0]
    disk.free.set()
    await wait_until(lambda: len(seen) > 2)
    assert seen == [0, 1, 2]
    await stream.close()
    await follower


async def test_state_change_during_a_sync_waits_for_the_next(
    disk: Disk, stream: EventStream
) -> None:
    seen: list[int] = []
    follower = asyncio.create_task(follow(stream, seen))
    disk.free.clear()
    stream.append(RUNNING)
    await wait_until(lambda: disk.asked)
    stream.append(RUNNING)
    disk.free.set()
    await asyncio.wait_for(stream.wait_for(lambda event: event.id == 1), PATIENCE)
    assert disk.log.count("log") == 2
    await stream.close()
    await follower
    assert seen == [0, 1]


async def test_other_events_do_not_wait_for_the_disk(disk: Disk, stream: EventStream) -> None:
    disk.free.clear()
    stream.append(FinishAction())
    assert len(await asyncio.wait_for(anext(stream.subscribe()), PATIENCE)) == 1
    assert disk.log == []
    disk.free.set()


async def test_syncs_are_grouped(disk: Disk, stream: EventStream) -> None:
    started = time.monotonic()
    for _ in range(200):
        for _ in range(5):
            stream.append(FinishAction())
        await asyncio.sleep(0.001)
    await wait_until(lambda: stream._sync_task is None or stream._sync_task.done())
    assert 1 <= disk.log.count("log") <= 1 + (time.monotonic() - started) / SYNC_PAUSE
    calm = len(disk.log)
    await settle()
    assert len(disk.log) == calm


async def test_state_change_does_not_wait_for_the_group(
    disk: Disk, stream: EventStream, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("openhands_jupyter.events.stream.SYNC_PAUSE", 3600)
    stream.append(FinishAction())
    await asyncio.sleep(0)
    stream.append(RUNNING)
    await asyncio.wait_for(anext(stream.subscribe(0)), PATIENCE)
    assert disk.log.count("log") == 1


async def test_blobs_are_on_the_disk_before_their_event(disk: Disk, stream: EventStream) -> None:
    stream.append(FileWriteAction(path="x", content="x" * 70_000))
    stream.append(RUNNING)
    await asyncio.wait_for(anext(stream.subscribe(0)), PATIENCE)
    event = stream.read()[0]
    assert isinstance(event, FileWriteAction)
    assert disk.log == [getattr(event.content, "sha256", ""), "blobs", "log", "session"]


async def test_failed_sync_surfaces_and_the_state_change_is_never_reported(
    disk: Disk, stream: EventStream
) -> None:
    seen: list[int] = []
    follower = asyncio.create_task(follow(stream, seen))
    disk.error = IO_ERROR
    stream.append(FinishAction())
    stream.append(RUNNING)
    await wait_until(lambda: stream._sync_error)
    for _ in range(2):
        with pytest.raises(OSError, match="Input/output error") as caught:
            stream.append(FinishAction())
        assert caught.value.errno == errno.EIO
    # The system reports a lost write once; that the next sync succeeds proves nothing.
    disk.error = None
    with pytest.raises(OSError, match="Input/output error"):
        await stream.close()
    await follower
    assert seen == [0]
    assert stream.last_id == 1


@pytest.mark.parametrize("event", [FinishAction(), RUNNING])
async def test_close_syncs_and_gives_the_session_free_whatever_happens(
    disk: Disk, open_stream: Callable[..., EventStream], event: Event
) -> None:
    stream = open_stream()
    stream.append(event)
    await stream.close()
    assert disk.log.count("log") >= 1
    stream = open_stream()
    disk.error = IO_ERROR
    stream.append(event)
    with pytest.raises(OSError, match="Input/output error"):
        await stream.close()
    disk.error = None
    assert open_stream().last_id == 1


async def test_close_during_a_sync_waits_for_it(disk: Disk, stream: EventStream) -> None:
    seen: list[int] = []
    follower = asyncio.create_task(follow(stream, seen))
    disk.free.clear()
    stream.append(RUNNING)
    await wait_until(lambda: disk.asked)
    closing = asyncio.create_task(stream.close())
    await settle()
    assert not closing.done()
    assert seen == []
    disk.free.set()
    await closing
    await follower
    assert seen == [0]


async def test_cancelled_close_gives_the_session_free(
    disk: Disk, open_stream: Callable[..., EventStream]
) -> None:
    stream = open_stream()
    seen: list[int] = []
    follower = asyncio.create_task(follow(stream, seen))
    disk.free.clear()
    stream.append(RUNNING)
    await wait_until(lambda: disk.asked)
    closing = asyncio.create_task(stream.close())
    await asyncio.sleep(0)
    closing.cancel()
    await asyncio.wait([closing, follower], timeout=PATIENCE)
    disk.free.set()
    assert closing.cancelled()
    assert follower.done()
    assert seen == []
    assert open_stream().last_id == 0


@pytest.mark.parametrize("written", [0, 1, 60])
async def test_write_that_fails_half_way_leaves_the_log_as_it_was(
    open_stream: Callable[..., EventStream],
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    written: int,
) -> None:
    stream = open_stream()
    stream.append(FinishAction())
    before = (folder / "events.jsonl").read_bytes()
    write = os.write
    parts = iter([written] if written else [])

    def write_part(descriptor: int, data: bytes) -> int:
        for part in parts:
            return write(descriptor, data[:part])
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", write_part)
        for _ in range(2):
            with pytest.raises(OSError, match="No space"):
                stream.append(FinishAction())
            assert (folder / "events.jsonl").read_bytes() == before
    assert stream.append(FinishAction()) == 1
    await stream.close()
    stream = open_stream()
    assert [event.id for event in stream.read()] == [0, 1]
    assert stream.torn == b""


async def test_write_in_several_pieces(
    stream: EventStream, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = os.write
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", lambda descriptor, data: write(descriptor, data[:7]))
        for number in range(5):
            stream.append(CmdRunAction(command=f"echo {number}"))
    commands = [event.command for event in stream.read() if isinstance(event, CmdRunAction)]
    assert commands == [f"echo {number}" for number in range(5)]


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 256 KiB."""
    place = tmp_path / "small"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=256k", "openhands-test", str(place)]
    if os.geteuid() or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("needs to mount a file system")
    assert place.is_mount()
    yield place
    subprocess.run(["umount", str(place)], check=True)


async def test_full_disk(small_disk: Path) -> None:
    stream = EventStream(small_disk / "session")
    heard: list[int] = []
    stream.add_listener(lambda event: heard.append(event.id))
    with pytest.raises(OSError, match="No space"):
        for _ in range(1000):
            stream.append(CmdRunAction(command="x" * 3_000))
    count = len(heard)
    assert 10 < count < 100
    for content in ("x" * 5_000, "y" * 70_000):
        with pytest.raises(OSError, match="No space"):
            stream.append(FileWriteAction(path="x", content=content))
    assert sorted(os.listdir(small_disk / "session")) == ["blobs", "events.jsonl", "lock"]
    assert os.listdir(small_disk / "session" / "blobs") == []
    assert [event.id for event in stream.read()] == heard == list(range(count))
    await stream.close()
    reopened = EventStream(small_disk / "session")
    assert (reopened.torn, reopened.last_id) == (b"", count - 1)
    await reopened.close()


async def test_blob_that_cannot_be_written_leaves_the_log_as_it_was(
    stream: EventStream, folder: Path
) -> None:
    (folder / "blobs").write_text("a file where the folder should be")
    with pytest.raises(OSError, match="blobs"):
        stream.append(FileWriteAction(path="x", content="x" * 70_000))
    assert stream.last_id == -1
    assert stream.append(FinishAction()) == 0
