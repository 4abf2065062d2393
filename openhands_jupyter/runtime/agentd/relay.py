"""The relay: a port of the sandbox's own machine, behind which the server's proxy answers.

The sandbox has a network of its own, in which nothing but this port answers. The relay is a process
by itself, which copies bytes between connections to the port and to the proxy's unix socket, and
decides nothing.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import selectors
import signal
import socket
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

PORT = 3128
BACKLOG = 128
CHUNK = 65536
NAME = b"openhands-relay"
MOST_PAIRS = 200
"""Connections at a time; further ones wait. Each needs two descriptors."""

_PR_SET_NAME = 15
_NO_PROXY = (
    b"HTTP/1.1 503 The network of this sandbox has ended.\r\n"
    b"Connection: close\r\nContent-Length: 0\r\n\r\n"
)


class Relay:
    """A relay that runs; connections to the port succeed from the start.

    It is forked, which takes a tenth of the time of starting a program, so there must not be
    another thread yet. It ends with the process that started it.

    Parameters
    ----------
    path
        The proxy's socket.
    port
        The port, on 127.0.0.1.
    on_end
        Called when the process ended, however.

    Attributes
    ----------
    pids
        Its process; none once that ended.

    Raises
    ------
    OSError
        When the port is taken.
    """

    pids: set[int]

    def __init__(self, path: str, port: int, on_end: Callable[[], None]) -> None:
        with socket.socket() as listener:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(("127.0.0.1", port))
            listener.listen(BACKLOG)
            leash, self._leash = os.pipe()
            pid = os.fork()
            if pid == 0:
                _become_relay(listener, path, leash)
        os.close(leash)
        self.pids = {pid}
        self._on_end = on_end
        threading.Thread(target=self._watch, args=(pid,), daemon=True).start()

    def _watch(self, pid: int) -> None:
        os.waitpid(pid, 0)
        self.pids = set()
        self._on_end()


def _become_relay(listener: socket.socket, path: str, leash: int) -> None:
    """Relay until the leash ends, with nothing that belongs to the process forked from."""
    try:
        os.setsid()
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        ctypes.CDLL(None).prctl(_PR_SET_NAME, NAME, 0, 0, 0)
        nowhere = os.open(os.devnull, os.O_RDWR)
        for standard in range(3):
            os.dup2(nowhere, standard)
        for fd in map(int, os.listdir("/proc/self/fd")):
            if fd > 2 and fd not in (listener.fileno(), leash):
                with contextlib.suppress(OSError):
                    os.close(fd)
        _Pairs(listener, path, leash).serve()
    finally:
        os._exit(0)


class _End:
    """One of the two connections of a pair.

    Attributes
    ----------
    peer
        The other one.
    unsent
        What is still to be sent on this one.
    ended
        Whether all was received from this one.
    """

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self.peer = self
        self.unsent = memoryview(b"")
        self.ended = False

    def wanted(self) -> int:
        """The events to wait for: to read only when what was read last has been passed on."""
        reading = not self.ended and not self.peer.unsent
        return (selectors.EVENT_READ if reading else 0) | (
            selectors.EVENT_WRITE if self.unsent else 0
        )

    def receive(self) -> None:
        """Read what is there, and pass it on."""
        data = self.connection.recv(CHUNK)
        self.ended = not data
        self.peer.unsent = memoryview(data)
        self.peer.send()

    def send(self) -> None:
        """Send what can be sent now, and the end after it."""
        if self.unsent:
            with contextlib.suppress(BlockingIOError):
                self.unsent = self.unsent[self.connection.send(self.unsent) :]
        if not self.unsent and self.peer.ended:
            self.connection.shutdown(socket.SHUT_WR)

    def is_over(self) -> bool:
        """Whether nothing will be sent on this one any more."""
        return self.peer.ended and not self.unsent


class _Pairs:
    """All connections, in one loop.

    Parameters
    ----------
    listener
        The port.
    path
        The proxy's socket.
    leash
        A descriptor whose end ends the relay.
    """

    def __init__(self, listener: socket.socket, path: str, leash: int) -> None:
        self._listener = listener
        self._path = path
        self._leash = leash
        self._selector = selectors.DefaultSelector()
        self._pairs = 0

    def serve(self) -> None:
        """Relay until the leash ends."""
        self._listener.setblocking(False)
        self._selector.register(self._listener, selectors.EVENT_READ)
        self._selector.register(self._leash, selectors.EVENT_READ)
        while True:
            for key, events in self._selector.select():
                if key.fileobj == self._leash:
                    return
                if key.fileobj is self._listener:
                    self._accept()
                elif key.data.connection.fileno() >= 0:
                    self._step(key.data, events)

    def _accept(self) -> None:
        try:
            client, _ = self._listener.accept()
        except OSError:
            return
        proxy = socket.socket(socket.AF_UNIX)
        proxy.setblocking(False)
        try:
            proxy.connect(self._path)
        except OSError:
            proxy.close()
            _refuse(client)
            return
        client.setblocking(False)
        ends = _End(client), _End(proxy)
        for end, peer in (ends, ends[::-1]):
            end.peer = peer
            self._selector.register(end.connection, selectors.EVENT_READ, end)
        self._pairs += 1
        if self._pairs == MOST_PAIRS:
            self._selector.unregister(self._listener)

    def _step(self, end: _End, events: int) -> None:
        try:
            if events & selectors.EVENT_WRITE:
                end.send()
            if events & selectors.EVENT_READ:
                end.receive()
        except BlockingIOError:
            return
        except OSError:
            self._close(end)
            return
        if end.is_over() and end.peer.is_over():
            self._close(end)
            return
        self._watch(end)
        self._watch(end.peer)

    def _watch(self, end: _End) -> None:
        wanted = end.wanted()
        watched = self._selector.get_map().get(end.connection)
        if watched is None:
            if wanted:
                self._selector.register(end.connection, wanted, end)
        elif not wanted:
            self._selector.unregister(end.connection)
        elif watched.events != wanted:
            self._selector.modify(end.connection, wanted, end)

    def _close(self, end: _End) -> None:
        for connection in (end.connection, end.peer.connection):
            if connection in self._selector.get_map():
                self._selector.unregister(connection)
            connection.close()
        if self._pairs == MOST_PAIRS:
            self._selector.register(self._listener, selectors.EVENT_READ)
        self._pairs -= 1


def _refuse(client: socket.socket) -> None:
    """Say that there is no proxy any more, to a client that may not have asked yet."""
    with client, contextlib.suppress(OSError):
        client.settimeout(0.2)
        with contextlib.suppress(socket.timeout):
            client.recv(CHUNK)
        client.sendall(_NO_PROXY)
