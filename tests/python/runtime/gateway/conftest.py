"""Remote servers, and a wire to them that can be cut."""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

import msgspec
import pytest
from waiting import wait_until

from openhands_jupyter.runtime.gateway.settings import GatewaySettings


@pytest.fixture
def isolation() -> str:
    return "gateway"


class Wire:
    """A port of this machine behind which a server is, until it is cut.

    Attributes
    ----------
    url
        The server's, through the wire.
    """

    def __init__(self, url: str) -> None:
        address = urlsplit(url)
        self._target = (address.hostname, address.port)
        self._writers: set[asyncio.StreamWriter] = set()
        self._blocked = False
        self._accepted = 0
        self.url = ""

    async def open(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    def cut(self) -> None:
        """Break every connection; new ones are possible."""
        for writer in self._writers:
            writer.transport.abort()

    async def cut_and_joined(self) -> None:
        """The same, and wait until there is a new connection."""
        before = self._accepted
        self.cut()
        await wait_until(lambda: self._accepted > before and self._writers)

    def block(self, blocked: bool = True) -> None:
        """Break every connection, and each new one."""
        self._blocked = blocked
        self.cut()

    async def close(self) -> None:
        self._server.close()
        self.block()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._blocked:
            writer.transport.abort()
            return
        self._accepted += 1
        there, back = await asyncio.open_connection(*self._target)
        self._writers |= {writer, back}
        await asyncio.gather(self._copy(reader, back), self._copy(there, writer))
        self._writers -= {writer, back}

    async def _copy(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while data := await reader.read(65536):
                writer.write(data)
                await writer.drain()
        writer.close()


@pytest.fixture
def wire(gateway: GatewaySettings) -> Callable[[], object]:
    """Opens a wire to the remote server; gives it, and the settings that lead through it."""

    @asynccontextmanager
    async def open_wire() -> AsyncIterator[tuple[Wire, GatewaySettings]]:
        wire = Wire(gateway.url or "")
        await wire.open()
        try:
            yield wire, msgspec.structs.replace(gateway, url=wire.url)
        finally:
            await wire.close()

    return open_wire


class Certificate(NamedTuple):
    file: Path
    key: Path


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    """A certificate for this machine, signed by itself."""
    folder = tmp_path_factory.mktemp("certificate")
    file, key = folder / "certificate.pem", folder / "key.pem"
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-nodes", "-newkey", "ec"),
            *("-pkeyopt", "ec_paramgen_curve:P-256", "-keyout", key, "-out", file),
            *("-subj", "/CN=remote", "-addext", "subjectAltName=IP:127.0.0.1"),
            *("-addext", "keyUsage=critical,digitalSignature,keyCertSign"),
        ],
        check=True,
        capture_output=True,
    )
    return Certificate(file, key)
