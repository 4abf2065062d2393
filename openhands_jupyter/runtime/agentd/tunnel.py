"""Connections that pass through the channel, where client and sandbox share no folder for sockets.

A frame of the channel that begins with a zero byte belongs here: the zero byte, one byte that says
what it is, four bytes with the number of the connection, most significant first, and the rest:

- ``o`` opens a connection: to the socket in the rest, or to the client's proxy if it is empty
- ``d`` data
- ``a`` as many bytes of data, in four bytes, have been passed on
- ``e`` no more data comes from this side
- ``c`` the connection is over

The client's connections have even numbers, the sandbox's odd ones. Each side sends at most `WINDOW`
bytes that the other has not passed on, so that one connection never waits for another.
"""

from __future__ import annotations

import contextlib
import os
import queue
import socket
import threading
from typing import TYPE_CHECKING

WINDOW = 1 << 20
PIECE = 1 << 16
BACKLOG = 128

if TYPE_CHECKING:
    from collections.abc import Callable


def frame(kind: bytes, number: int, rest: bytes = b"") -> bytes:
    """A frame of the channel."""
    return b"\0" + kind + number.to_bytes(4, "big") + rest


def parts(body: bytes) -> tuple[bytes, int, bytes]:
    """What a frame says, which connection it is about, and the rest."""
    return body[1:2], int.from_bytes(body[2:6], "big"), body[6:]


class Tunnel:
    """The sandbox's end.

    Parameters
    ----------
    send
        Sends a frame.
    """

    def __init__(self, send: Callable[[bytes], None]) -> None:
        self._send = send
        self._connections: dict[int, _Connection] = {}
        self._next = 1

    def receive(self, body: bytes) -> None:
        """Take a frame that came."""
        kind, number, rest = parts(body)
        if kind == b"o":
            self._open(number, rest.decode())
        elif number in self._connections:
            self._connections[number].take(kind, rest)

    def listen(self, path: str) -> None:
        """Have the client's proxy answer at a socket."""
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(path)
        listener.listen(BACKLOG)
        threading.Thread(target=self._accept, args=(listener,), daemon=True).start()

    def _accept(self, listener: socket.socket) -> None:
        while True:
            client, _ = listener.accept()
            number, self._next = self._next, self._next + 2
            self._send(frame(b"o", number))
            self._open(number, client)

    def _open(self, number: int, to: str | socket.socket) -> None:
        def forget() -> None:
            self._connections.pop(number, None)

        self._connections[number] = _Connection(number, to, self._send, forget)


class _Connection:
    """One connection, with a thread for each direction."""

    def __init__(
        self,
        number: int,
        to: str | socket.socket,
        send: Callable[[bytes], None],
        forget: Callable[[], None],
    ) -> None:
        self._number = number
        self._to = to
        self._send = send
        self._forget = forget
        self._incoming: queue.Queue[tuple[bytes, bytes]] = queue.Queue()
        self._credit = WINDOW
        self._changed = threading.Condition()
        self._over = False
        threading.Thread(target=self._inward, daemon=True).start()

    def take(self, kind: bytes, rest: bytes) -> None:
        """What the client says of it."""
        if kind == b"a":
            with self._changed:
                self._credit += int.from_bytes(rest, "big")
                self._changed.notify()
        else:
            self._incoming.put((kind, rest))

    def _inward(self) -> None:
        """From the client to the socket."""
        outward = threading.Thread(target=self._outward, daemon=True)
        try:
            self._socket = _connected(self._to) if isinstance(self._to, str) else self._to
        except OSError:
            self._send(frame(b"c", self._number))
            self._forget()
            return
        outward.start()
        with contextlib.suppress(OSError):
            while True:
                kind, data = self._incoming.get()
                if kind == b"d":
                    self._socket.sendall(data)
                    self._send(frame(b"a", self._number, len(data).to_bytes(4, "big")))
                elif kind == b"e":
                    self._socket.shutdown(socket.SHUT_WR)
                else:
                    break
        self._end(outward)

    def _outward(self) -> None:
        """From the socket to the client."""
        with contextlib.suppress(OSError):
            while True:
                piece = self._socket.recv(PIECE)
                if not piece:
                    break
                with self._changed:
                    while self._credit < len(piece) and not self._over:
                        self._changed.wait()
                    self._credit -= len(piece)
                if self._over:
                    return
                self._send(frame(b"d", self._number, piece))
        self._send(frame(b"e", self._number))

    def _end(self, outward: threading.Thread) -> None:
        with self._changed:
            self._over = True
            self._changed.notify()
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        outward.join()
        self._socket.close()
        self._send(frame(b"c", self._number))
        self._forget()


def _connected(path: str) -> socket.socket:
    connection = socket.socket(socket.AF_UNIX)
    try:
        connection.connect(path)
    except OSError:
        connection.close()
        raise
    return connection


def private_folder(path: str, files: dict[str, str]) -> None:
    """Make a folder that is for this user alone, with files in it."""
    os.mkdir(path, 0o700)
    for name, content in files.items():
        with open(os.path.join(path, name), "x", encoding="utf-8") as file:
            file.write(content)
