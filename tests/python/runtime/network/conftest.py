"""Servers on the loopback interface, under names that only the proxy of a test knows."""

from __future__ import annotations

import asyncio
import contextlib
import http.server
import ssl
import subprocess
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from package_index import write_wheel
from waiting import PATIENCE

from openhands_jupyter.runtime.egress import (
    EgressProxy,
    Limits,
    Network,
    NetworkPolicy,
    NetworkSettings,
    Rule,
    Upstream,
    Verdict,
)

HOST = "packages.test"
LOOPBACK = "127.0.0.0/8"


@pytest.fixture
def isolation() -> str:
    """The one whose network is looked at here; others have a test or two of their own."""
    return "bubblewrap"


class Certificates(NamedTuple):
    authority: Path
    chain: Path
    key: Path


@pytest.fixture(scope="session")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    """A certificate authority of the tests' own, and a certificate for `HOST`."""
    folder = tmp_path_factory.mktemp("certificates")

    def openssl(*arguments: str) -> None:
        subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True)

    (folder / "ext").write_text(
        f"subjectAltName=DNS:{HOST}\n"
        "basicConstraints=CA:FALSE\n"
        # Python 3.13 and newer check strictly, as RFC 5280 has it.
        "subjectKeyIdentifier=hash\n"
        "authorityKeyIdentifier=keyid\n"
    )
    new = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")
    usage = ("-addext", "keyUsage=critical,keyCertSign")
    authority = ("-subj", "/CN=Test CA", *usage)
    openssl("req", "-x509", *new, "-keyout", "ca.key", "-out", "ca.pem", *authority)
    openssl("req", *new, "-keyout", "key", "-out", "csr", "-subj", f"/CN={HOST}")
    signing = ("-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-extfile", "ext")
    openssl("x509", "-req", "-in", "csr", "-out", "chain", *signing)
    return Certificates(folder / "ca.pem", folder / "chain", folder / "key")


class WebServer(http.server.ThreadingHTTPServer):
    # With the usual few waiting, clients that come at once would have to try again later.
    request_queue_size = 128


class Site:
    """A web server with a package index, and what was asked of it."""

    def __init__(self, folder: Path, address: str, tls: Certificates | None) -> None:
        self.requests: list[str] = []
        self.headers: list[dict[str, str]] = []
        site = self

        class Handler(http.server.SimpleHTTPRequestHandler):
            def __init__(self, *arguments: object) -> None:
                super().__init__(*arguments, directory=str(folder))  # type: ignore[arg-type]

            def do_GET(self) -> None:
                site.requests.append(self.path)
                site.headers.append({name.lower(): value for name, value in self.headers.items()})
                super().do_GET()

            def log_message(self, *_: object) -> None:
                pass

        self._server = WebServer((address, 0), Handler)
        if tls is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(tls.chain, tls.key)
            self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self.port = self._server.server_address[1]
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


@pytest.fixture
def index_folder(tmp_path: Path) -> Path:
    """A simple index with one tiny wheel."""
    folder = tmp_path / "index"
    write_wheel(folder / "simple" / "tinywheel")
    (folder / "big").write_bytes(bytes(range(256)) * 40_000)
    return folder


OpenSite = Callable[..., Site]
Serve = Callable[[type[http.server.BaseHTTPRequestHandler]], int]


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Serves what a handler answers, until the test is over; gives the port."""
    with contextlib.ExitStack() as ends:

        def begin(handler: type[http.server.BaseHTTPRequestHandler]) -> int:
            server = ends.enter_context(http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler))
            thread = threading.Thread(target=server.serve_forever, args=(0.05,))
            thread.start()
            ends.callback(thread.join)
            ends.callback(server.shutdown)
            return server.server_address[1]

        yield begin


@pytest.fixture
def site(index_folder: Path, certificates: Certificates) -> Iterator[OpenSite]:
    """Opens web servers."""
    opened: list[Site] = []

    def open_site(tls: bool = False, address: str = "127.0.0.1") -> Site:
        opened.append(Site(index_folder, address, certificates if tls else None))
        return opened[-1]

    yield open_site
    for each in opened:
        each.close()


class Gate(NamedTuple):
    """A proxy and what it told."""

    proxy: EgressProxy
    path: Path
    verdicts: list[Verdict]

    async def connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_unix_connection(str(self.path))

    async def say(self, data: bytes) -> bytes:
        """What is answered to this until the proxy hangs up."""
        reader, writer = await self.connect()
        try:
            writer.write(data)
            async with asyncio.timeout(PATIENCE):
                return await reader.read(-1)
        finally:
            writer.close()
            await writer.wait_closed()

    async def ask(self, place: str) -> str:
        """The status line for a CONNECT."""
        reader, writer = await self.connect()
        try:
            writer.write(f"CONNECT {place} HTTP/1.1\r\n\r\n".encode())
            async with asyncio.timeout(PATIENCE):
                return (await reader.readline()).decode().strip()
        finally:
            writer.close()
            await writer.wait_closed()


async def to_loopback(host: str) -> list[str]:
    """Finds every name that ends as the tests' do on this machine."""
    if not host.endswith(".test"):
        raise OSError("no such name")
    return ["127.0.0.1"]


def make_proxy(verdicts: list[Verdict], policy: NetworkPolicy, **options: object) -> EgressProxy:
    chosen = {
        "trusted_networks": [LOOPBACK],
        "resolve": to_loopback,
        "upstream": Upstream({}),
        **options,
    }
    return EgressProxy(policy, verdicts.append, **chosen)  # type: ignore[arg-type]


def allowing(*places: str) -> NetworkPolicy:
    """A policy with these, as ``host:port``."""
    rules = [Rule(host, int(port)) for host, port in (place.split(":") for place in places)]
    return NetworkPolicy(mode="allow-list", rules=rules)


OpenGate = Callable[..., AbstractAsyncContextManager[Gate]]


@pytest.fixture
def gate(tmp_path: Path) -> OpenGate:
    """Opens a proxy that takes the loopback interface for the internet."""

    @asynccontextmanager
    async def open_gate(*places: str, **options: object) -> AsyncIterator[Gate]:
        verdicts: list[Verdict] = []
        proxy = make_proxy(verdicts, allowing(*places), **options)
        path = tmp_path / "proxy"
        await proxy.start(path)
        try:
            yield Gate(proxy, path, verdicts)
        finally:
            await proxy.close()
            assert not path.exists()

    return open_gate


@pytest.fixture
def quick() -> Limits:
    return Limits(connections=4, head_seconds=1.5, connect_seconds=2, idle_seconds=2)


class OuterProxy:
    """A proxy that the server has to use, which resolves names itself."""

    def __init__(self, answer: bytes = b"HTTP/1.1 200 OK\r\n\r\n") -> None:
        self.answer = answer
        self.heads: list[str] = []
        self.port = 0

    async def __aenter__(self) -> OuterProxy:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        await self._server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.heads.append((await reader.readuntil(b"\r\n\r\n")).decode())
        writer.write(self.answer)
        if b" 200 " in self.answer:
            writer.write(b"behind " + await reader.read(6))
        writer.close()
        await writer.wait_closed()


@pytest.fixture
def outer_proxy() -> type[OuterProxy]:
    return OuterProxy


class Online(NamedTuple):
    """A sandbox with a proxy, and what was told of it."""

    bench: Any
    proxy: EgressProxy
    verdicts: list[Verdict]
    lost: list[str]

    async def sh(self, command: str) -> str:
        """What a command printed, and its exit code."""
        observation = await self.bench.sh(command, 60)
        return f"{observation.content}exit {observation.exit_code}"


OpenOnline = Callable[..., AbstractAsyncContextManager[Online]]


@pytest.fixture
def online(bench: Any) -> OpenOnline:
    """Opens a sandbox whose proxy takes the loopback interface for the internet."""

    @asynccontextmanager
    async def open_online(
        *places: str,
        settings: NetworkSettings | None = None,
        isolation: str = "bubblewrap",
        **options: object,
    ) -> AsyncIterator[Online]:
        verdicts: list[Verdict] = []
        lost: list[str] = []
        proxy = make_proxy(verdicts, allowing(*places), **options)
        network = Network(proxy, settings or NetworkSettings(), lambda: lost.append("lost"))
        async with bench(network=network, isolation=isolation) as b:
            yield Online(b, proxy, verdicts, lost)

    return open_online
