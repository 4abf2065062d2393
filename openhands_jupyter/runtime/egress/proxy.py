"""The proxy of one sandbox: the only way out of it, and only to what is allowed."""

from __future__ import annotations

import asyncio
import functools
import secrets
import socket
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import msgspec

from ...hosts import is_address
from .dial import Dialer, Resolve
from .policy import NetworkPolicy
from .request import Reason, Refused, Request, parse
from .streams import Stream, join, refuse
from .upstream import Upstream

BACKLOG = 256
RETRY = 0.1


@dataclass(frozen=True)
class Limits:
    """What one sandbox may use.

    Attributes
    ----------
    connections
        At a time; further ones wait.
    head_bytes, head_seconds
        For the head of a request.
    connect_seconds
        For finding and reaching the host.
    idle_seconds
        For a connection on which nothing is sent in either direction.
    """

    connections: int = 64
    head_bytes: int = 32768
    head_seconds: float = 10.0
    connect_seconds: float = 20.0
    idle_seconds: float = 600.0


class Verdict(msgspec.Struct, frozen=True):
    """What came of an attempt to reach a place.

    Attributes
    ----------
    host, port
        The place; the name is a valid one, or an IP address.
    allowed
        Whether there is a connection.
    reason
        ``listed``; or ``not_listed``, which a person can change; or another one.
    """

    host: str
    port: int
    allowed: bool
    reason: Reason


class EgressProxy:
    """Lets the programs of one sandbox reach what a policy allows.

    It can be started again after it was closed, as for a sandbox that replaces another.

    Parameters
    ----------
    policy
        What may be reached; see the attribute.
    on_verdict
        Told of each attempt, allowed or not, on the event loop. Programs in the sandbox cause
        these at any rate they like.
    trusted_networks
        Networks (CIDR) that may be reached although they are not public, such as that of an
        institution's mirror. To be given by an administrator only.
    resolve, upstream, limits
        For tests and special needs; the defaults are those of the system and its environment.

    Attributes
    ----------
    canary
        A host that exists nowhere; attempts to reach it are not told.
    """

    def __init__(
        self,
        policy: NetworkPolicy,
        on_verdict: Callable[[Verdict], None],
        *,
        trusted_networks: Iterable[str] = (),
        resolve: Resolve | None = None,
        upstream: Upstream | None = None,
        limits: Limits | None = None,
    ) -> None:
        self._policy = policy
        self._on_verdict = on_verdict
        self._limits = limits or Limits()
        self._trusted = tuple(trusted_networks)
        self._resolve = resolve
        self._upstream = upstream or Upstream()
        self._connections: dict[asyncio.Task[None], Request | None] = {}
        self._listener: socket.socket | None = None
        self._dialer: Dialer | None = None
        self._path: Path | None = None
        self.canary = f"{secrets.token_hex(8)}.invalid"

    @property
    def policy(self) -> NetworkPolicy:
        """What may be reached now; a change also ends connections that it no longer allows."""
        return self._policy

    @policy.setter
    def policy(self, policy: NetworkPolicy) -> None:
        self._policy = policy
        for task, request in self._connections.items():
            if request is not None and not policy.allows(request.host, request.port):
                task.cancel()

    async def start(self, path: Path) -> None:
        """Listen on a unix socket, which must not exist.

        Raises
        ------
        OSError
            When that is not possible.
        """
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            listener.setblocking(False)
            listener.bind(str(path))
            listener.listen(BACKLOG)
        except BaseException:
            listener.close()
            raise
        self._path = path
        self._dialer = Dialer(self._trusted, self._resolve, self._upstream, self._limits.head_bytes)
        self._listener = listener
        self._listen()

    async def close(self) -> None:
        """Stop listening and end all connections. May be called twice."""
        if self._listener is not None:
            asyncio.get_running_loop().remove_reader(self._listener)
            self._listener.close()
            self._listener = None
        for task in self._connections:
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)
        if self._dialer is not None:
            self._dialer.close()
            self._dialer = None
        if self._path is not None:
            self._path.unlink(missing_ok=True)
            self._path = None

    def _listen(self) -> None:
        if self._listener is not None:
            asyncio.get_running_loop().add_reader(self._listener, self._accept, self._listener)

    def _accept(self, listener: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        try:
            connection, _ = listener.accept()
        except BlockingIOError:
            return
        except OSError:
            # No descriptors are left.
            loop.remove_reader(listener)
            loop.call_later(RETRY, self._listen)
            return
        task = asyncio.create_task(self._serve(connection))
        self._connections[task] = None
        task.add_done_callback(functools.partial(self._over, connection))
        if len(self._connections) >= self._limits.connections:
            loop.remove_reader(listener)

    def _over(self, connection: socket.socket, task: asyncio.Task[None]) -> None:
        # A task that was cancelled before it began has not closed it.
        connection.close()
        del self._connections[task]
        self._listen()

    async def _serve(self, connection: socket.socket) -> None:
        connection.setblocking(False)
        client = await asyncio.open_connection(sock=connection, limit=self._limits.head_bytes)
        try:
            try:
                request, server = await self._open(client[0])
            except Refused as refused:
                await refuse(client, refused)
                return
            try:
                self._tell(request, "listed")
                server[1].write(request.head)
                if request.tunnel:
                    client[1].write(b"HTTP/1.1 200 Connection established\r\n\r\n")
                await join(client, server, self._limits.idle_seconds)
            finally:
                server[1].transport.abort()
        except OSError:
            # Nobody is left to answer to.
            pass
        finally:
            client[1].transport.abort()

    async def _open(self, reader: asyncio.StreamReader) -> tuple[Request, Stream]:
        request = parse(await self._head(reader))
        task = asyncio.current_task()
        assert task is not None
        assert self._dialer is not None
        try:
            self._check(request)
            # From here on a change of the policy ends it.
            self._connections[task] = request
            async with asyncio.timeout(self._limits.connect_seconds):
                return request, await self._dialer.connect(request)
        except TimeoutError:
            self._tell(request, "unreachable")
            raise Refused(504, f"{request.place} does not answer.", "unreachable") from None
        except Refused as refused:
            self._tell(request, refused.reason)
            raise

    async def _head(self, reader: asyncio.StreamReader) -> bytes:
        try:
            async with asyncio.timeout(self._limits.head_seconds):
                return await reader.readuntil(b"\r\n\r\n")
        except asyncio.LimitOverrunError:
            raise Refused(431, "The head of the request is too long.") from None
        except asyncio.IncompleteReadError:
            raise ConnectionError from None
        except TimeoutError:
            raise Refused(408, "The request did not come in time.") from None

    def _check(self, request: Request) -> None:
        if is_address(request.host):
            raise Refused(
                403,
                f"{request.place} was not reached: a sandbox reaches hosts by name only, "
                "never by IP address.",
                "ip_address",
            )
        if not self._policy.allows(request.host, request.port):
            raise Refused(
                403,
                f"{request.place} is not on the list of hosts that this sandbox may reach.",
                "not_listed",
            )

    def _tell(self, request: Request, reason: Reason) -> None:
        if request.host != self.canary:
            verdict = Verdict(request.host, request.port, reason == "listed", reason)
            self._on_verdict(verdict)
