"""A Docker daemon as it is reached on another machine: over TCP, with TLS or without."""

from __future__ import annotations

import contextlib
import selectors
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager

PIECE = 65536


class Elsewhere:
    """Passes connections on to a daemon's socket.

    Attributes
    ----------
    host
        Its address, as in ``DOCKER_HOST``.
    passed
        How many connections were made.
    """

    def __init__(self, path: str, tls: ssl.SSLContext | None) -> None:
        self._path = path
        self._tls = tls
        self._open: set[socket.socket] = set()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._threads: list[threading.Thread] = []
        self.host = f"tcp://127.0.0.1:{self._listener.getsockname()[1]}"
        self.passed = 0

    def run(self) -> None:
        """Accept until it is closed."""
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            thread = threading.Thread(target=self._pass, args=(client,))
            self._threads.append(thread)
            thread.start()

    def cut(self) -> None:
        """Break all connections, as a network does."""
        for connection in list(self._open):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Accept no more, and end what is open."""
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.cut()
        for thread in self._threads:
            thread.join()

    def _pass(self, client: socket.socket) -> None:
        with contextlib.ExitStack() as stack:
            stack.enter_context(client)
            if self._tls is not None:
                try:
                    client = stack.enter_context(self._tls.wrap_socket(client, server_side=True))
                except OSError:
                    return
            daemon = stack.enter_context(socket.socket(socket.AF_UNIX))
            daemon.connect(self._path)
            self.passed += 1
            self._open |= {client, daemon}
            with contextlib.suppress(OSError):
                _pump(client, daemon)
            self._open -= {client, daemon}


def _pump(client: socket.socket, daemon: socket.socket) -> None:
    with selectors.DefaultSelector() as selector:
        selector.register(client, selectors.EVENT_READ, daemon)
        selector.register(daemon, selectors.EVENT_READ, client)
        while selector.get_map():
            for key, _ in selector.select():
                source, target = key.fileobj, key.data
                data = source.recv(PIECE)
                while isinstance(source, ssl.SSLSocket) and source.pending():
                    data += source.recv(PIECE)
                if data:
                    target.sendall(data)
                    continue
                selector.unregister(source)
                if source is client or isinstance(target, ssl.SSLSocket):
                    # As in a proxy for HTTP: nobody asks any more, or everything was answered.
                    return
                target.shutdown(socket.SHUT_WR)


@contextmanager
def elsewhere(host: str, tls: ssl.SSLContext | None = None) -> Iterator[Elsewhere]:
    """The daemon at a socket, under an address of TCP.

    Parameters
    ----------
    host
        Where it is.
    tls
        What to encrypt with.
    """
    there = Elsewhere(host.removeprefix("unix://"), tls)
    accepting = threading.Thread(target=there.run)
    accepting.start()
    try:
        yield there
    finally:
        there.close()
        accepting.join()
