"""After a crash: what is whole is kept, what is torn is cut off and said, ids stay dense."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from waiting import wait_until

from openhands_jupyter.errors import Conflict, OpenHandsError
from openhands_jupyter.events import CmdRunAction, EventStream, FinishAction, OpaqueEvent
from openhands_jupyter.events.jsonl import JsonlStore

APPEND_UNTIL_KILLED = """
import asyncio, pathlib, sys
from openhands_jupyter.events import AgentStateChangedObservation, CmdRunAction, EventStream

async def main():
    stream = EventStream(pathlib.Path(sys.argv[1]))
    print("open", flush=True)
    for number in range(20_000):
        stream.append(CmdRunAction(command="x" * (number % 3000)))
        if number % 7 == 0:
            stream.append(AgentStateChangedObservation(state="running"))
            await asyncio.sleep(0)
    await asyncio.sleep(60)

asyncio.run(main())
"""


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A log of four lines, the last with a non-ASCII text."""

    async def write(folder: Path) -> None:
        stream = EventStream(folder)
        for command in ("a", "b", "c", "dé\n日本"):
            stream.append(CmdRunAction(command=command))
        await stream.close()

    folder = tmp_path_factory.mktemp("log")
    asyncio.run(write(folder))
    return (folder / "events.jsonl").read_bytes()


def opened(folder: Path, content: bytes) -> JsonlStore:
    folder.mkdir(exist_ok=True)
    (folder / "events.jsonl").write_bytes(content)
    return JsonlStore(folder)


def test_torn_at_every_byte_of_the_last_line(tmp_path: Path, log: bytes) -> None:
    lines = log.splitlines(keepends=True)
    whole = len(log) - len(lines[-1])
    for size in range(whole, len(log)):
        folder = tmp_path / str(size)
        store = opened(folder, log[:size])
        assert store.torn == log[whole:size]
        assert store.read(0, len(store) - 1) == [line.rstrip() for line in lines[:3]]
        assert (folder / "events.jsonl").read_bytes() == log[:whole]
        kept = [path.read_bytes() for path in folder.glob("torn-*")]
        assert kept == ([log[whole:size]] if size > whole else [])
        store.append(b'{"id":3}')
        assert store.read(3, 3) == [b'{"id":3}']
        store.close()


@pytest.mark.parametrize(
    "rest",
    [
        b"garbage\n",
        b"\n",
        b"{}\n",
        b"null\n",
        b'{"id":3,"type":"Finish\n',
        b"\0" * 5000 + b"\n",
        b"\0" * 5000,
        b"\xff\xfe\n",
        b"garbage\nand more",
    ],
    ids=lambda rest: repr(rest[:20]),
)
async def test_last_line_that_is_no_event_is_cut_off(
    open_stream: Callable[..., EventStream],
    write_log: Callable[[bytes], None],
    folder: Path,
    log: bytes,
    rest: bytes,
) -> None:
    write_log(log + rest)
    stream = open_stream()
    assert stream.torn == rest
    assert (folder / "events.jsonl").read_bytes() == log
    assert stream.append(FinishAction()) == 4
    assert [event.id for event in stream.read()] == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("content", [b"", b"{", b"garbage\n"])
async def test_log_without_a_whole_line(
    open_stream: Callable[..., EventStream], write_log: Callable[[bytes], None], content: bytes
) -> None:
    write_log(content)
    stream = open_stream()
    assert (stream.torn, stream.last_id) == (content, -1)
    assert stream.append(FinishAction()) == 0


@pytest.mark.parametrize(
    "damage",
    [
        lambda lines: [lines[0], *lines[2:]],
        lambda lines: [lines[0], b"\n", *lines[1:]],
        lambda lines: lines[1:],
        lambda lines: [*lines, b"garbage\n", b"garbage\n"],
    ],
    ids=["line missing", "line too many", "first missing", "two lines of garbage"],
)
def test_log_damaged_elsewhere_is_not_opened_and_not_changed(
    folder: Path, log: bytes, damage: Callable[[list[bytes]], list[bytes]]
) -> None:
    content = b"".join(damage(log.splitlines(keepends=True)))
    for _ in range(2):
        with pytest.raises(OpenHandsError, match="damaged") as caught:
            opened(folder, content)
        assert caught.value.code == "log_damaged"
        assert caught.value.hint
        assert (folder / "events.jsonl").read_bytes() == content


def test_failed_opening_leaves_nothing_open(folder: Path, log: bytes) -> None:
    before = os.listdir("/proc/self/fd")
    for _ in range(3):
        with pytest.raises(OpenHandsError):
            opened(folder, log.split(b"\n", 1)[1])
    (folder / "events.jsonl").unlink()
    (folder / "events.jsonl").mkdir()
    with pytest.raises(IsADirectoryError):
        JsonlStore(folder)
    assert os.listdir("/proc/self/fd") == before


def appending(folder: Path) -> subprocess.Popen[str]:
    """A process that holds the session and appends until it is killed."""
    process = subprocess.Popen(
        [sys.executable, "-c", APPEND_UNTIL_KILLED, str(folder)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout
    assert process.stdout.readline() == "open\n"
    return process


async def test_killed_while_it_appends(
    open_stream: Callable[..., EventStream], folder: Path
) -> None:
    """Each process goes on where the one before was killed."""
    last = -1
    log = folder / "events.jsonl"
    for moment in (0.0, 0.05, 0.2):
        before = log.stat().st_size if log.exists() else 0
        with appending(folder) as process:
            await asyncio.sleep(moment)
            if moment:
                await wait_until(lambda before=before: log.stat().st_size > before)
            process.kill()
        stream = open_stream()
        events = stream.read(limit=10**9)
        assert [event.id for event in events] == list(range(len(events)))
        assert not any(isinstance(event, OpaqueEvent) for event in events)
        assert stream.last_id >= last
        last = stream.append(FinishAction())
        await stream.close()
    assert last > 2


async def test_lease_is_held_until_the_process_is_killed(
    open_stream: Callable[..., EventStream], folder: Path
) -> None:
    with appending(folder) as process:
        for _ in range(3):
            with pytest.raises(Conflict) as caught:
                open_stream()
        process.kill()
    assert caught.value.code == "session_in_use"
    assert str(folder) in caught.value.message
    assert caught.value.hint
    stream = open_stream()
    with pytest.raises(Conflict):
        open_stream()
    await stream.close()
    open_stream()


async def test_lease_is_not_inherited_by_what_the_session_starts(
    open_stream: Callable[..., EventStream],
) -> None:
    stream = open_stream()
    child = await asyncio.create_subprocess_exec("sleep", "60", close_fds=False)
    await stream.close()
    open_stream()
    child.kill()
    await child.wait()


def test_files_are_the_owners_alone(folder: Path) -> None:
    JsonlStore(folder).close()
    assert folder.stat().st_mode & 0o777 == 0o700
    assert (folder / "events.jsonl").stat().st_mode & 0o777 == 0o600
