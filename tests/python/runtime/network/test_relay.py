"""The relay by itself, as a plain process between a port and a unix socket."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from waiting import PATIENCE

from openhands_jupyter.runtime.agentd.relay import NAME, Relay

ROOT = Path(__file__).resolve().parents[4]
BODY = os.urandom(3_000_000)
START = """
import sys
from openhands_jupyter.runtime.agentd.relay import Relay
relay = Relay(sys.argv[1], int(sys.argv[2]), lambda: print("ended", flush=True))
print(*relay.pids, flush=True)
sys.stdin.read()
"""


@pytest.fixture
def port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Started:
    """A process that started a relay, as agentd does."""

    def __init__(self, path: Path, port: int) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", START, str(path), str(port)],
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.relay = int(self.said())

    def said(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def relay_is_gone(self) -> bool:
        try:
            # Where nobody reaps orphans, a zombie is as good as gone.
            return ") Z " in Path(f"/proc/{self.relay}/stat").read_text()
        except FileNotFoundError:
            return True

    def open_kinds(self) -> list[str]:
        """What the relay has open, without the inode numbers."""
        names = []
        for link in Path(f"/proc/{self.relay}/fd").iterdir():
            with contextlib.suppress(FileNotFoundError):
                names.append(os.readlink(link).split(":")[0])
        return sorted(names)

    def close(self) -> None:
        self.process.kill()
        self.process.communicate()
        give_up = time.monotonic() + PATIENCE
        while not self.relay_is_gone():
            assert time.monotonic() < give_up
            time.sleep(0.01)


@pytest.fixture
def relay(tmp_path: Path, port: int) -> Iterator[Started]:
    started = Started(tmp_path / "proxy", port)
    yield started
    started.close()


async def ask(port: int, data: bytes) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)

    async def send() -> None:
        writer.write(data)
        await writer.drain()
        writer.write_eof()

    sending = asyncio.create_task(send())
    try:
        async with asyncio.timeout(PATIENCE):
            return await reader.read(-1)
    finally:
        await asyncio.gather(sending, return_exceptions=True)
        writer.close()
        await asyncio.gather(writer.wait_closed(), return_exceptions=True)


async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(50_000):
        writer.write(data)
        await writer.drain()
    writer.write(b".")
    writer.close()
    await writer.wait_closed()


async def test_both_directions_and_their_ends_are_passed_on(relay, port, tmp_path):
    async with await asyncio.start_unix_server(echo, str(tmp_path / "proxy")):
        assert await ask(port, b"") == b"."
        answers = await asyncio.gather(*(ask(port, BODY) for _ in range(4)))
    assert set(answers) == {BODY + b"."}


async def test_more_connections_than_it_has_room_for_wait(relay, port, tmp_path):
    async with await asyncio.start_unix_server(echo, str(tmp_path / "proxy"), backlog=500):
        answers = await asyncio.gather(*(ask(port, b"%d" % number) for number in range(300)))
    assert answers == [b"%d." % number for number in range(300)]


async def test_a_client_or_a_proxy_that_breaks_off_does_not_disturb_the_others(
    relay, port, tmp_path
):
    async def break_off(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if await reader.read(1) == b"!":
            writer.transport.abort()
        else:
            await echo(reader, writer)

    async with await asyncio.start_unix_server(break_off, str(tmp_path / "proxy")):
        for _ in range(20):
            client = socket.create_connection(("127.0.0.1", port))
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            client.sendall(b"x" * 1000)
            client.close()
            await asyncio.gather(ask(port, b"!" * 100_000), return_exceptions=True)
        assert await ask(port, b"xabc") == b"abc."


async def test_a_proxy_that_is_gone_is_said(relay, port):
    assert (await ask(port, b"CONNECT a.test:443 HTTP/1.1\r\n\r\n")).startswith(
        b"HTTP/1.1 503 The network of this sandbox has ended."
    )


async def test_a_proxy_that_takes_nobody_does_not_stop_it(relay, port, tmp_path):
    with socket.socket(socket.AF_UNIX) as full:
        full.bind(str(tmp_path / "proxy"))
        full.listen(0)
        held = []
        with pytest.raises(BlockingIOError):
            while True:
                held.append(socket.socket(socket.AF_UNIX))
                held[-1].setblocking(False)
                held[-1].connect(str(tmp_path / "proxy"))
        assert (await ask(port, b"x")).startswith(b"HTTP/1.1 503 ")
        for each in held:
            each.close()


def test_a_taken_port_is_an_error(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(OSError):
        Relay(str(tmp_path / "proxy"), taken.getsockname()[1], lambda: None)


def test_it_is_in_a_session_of_its_own_and_ignores_interrupts(relay, port):
    # It answers, so it has started and ignores interrupts by now.
    with socket.create_connection(("127.0.0.1", port)) as client:
        assert client.recv(100).startswith(b"HTTP/1.1 503 ")
    assert os.getsid(relay.relay) == relay.relay
    os.kill(relay.relay, signal.SIGINT)
    time.sleep(0.2)
    assert not relay.relay_is_gone()


def test_it_keeps_nothing_of_who_started_it(relay, port):
    with socket.create_connection(("127.0.0.1", port)) as client:
        client.recv(100)
    give_up = time.monotonic() + PATIENCE
    # The connection to the client may still be open for a moment after the client closed it.
    while (kinds := relay.open_kinds()) != ["/dev/null"] * 3 + ["anon_inode", "pipe", "socket"]:
        assert time.monotonic() < give_up, kinds
        time.sleep(0.01)
    assert Path(f"/proc/{relay.relay}/comm").read_bytes() == NAME + b"\n"


def test_its_end_is_told_once(relay):
    os.kill(relay.relay, signal.SIGKILL)
    assert relay.said() == "ended"
    assert relay.process.poll() is None
    rest, _ = relay.process.communicate("", 10)
    assert rest == ""


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_it_does_not_outlive_who_started_it(relay, how):
    relay.process.send_signal(how)
    relay.process.wait(10)
    give_up = time.monotonic() + PATIENCE
    while not relay.relay_is_gone():
        assert time.monotonic() < give_up
        time.sleep(0.01)
