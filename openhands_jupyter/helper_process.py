"""Processes of our own beside the server: each is spoken to in lines, and ends with it."""

from __future__ import annotations

import asyncio
import os
import select
import signal
import socket
import sys
import threading
from asyncio.subprocess import DEVNULL, Process
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from typing import Any

import msgspec

from .making import made_or_undone

_SECRET_WORDS = ("KEY", "TOKEN", "SECRET", "PASSWORD", "CREDENTIAL")


class HelperProcess:
    """The server's end of a running process; `start` makes it.

    Attributes
    ----------
    alive
        Whether lines can be handed over.
    """

    def __init__(
        self,
        process: Process,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        take: Callable[[bytes], None],
        ended: Callable[[int], None],
    ) -> None:
        self.alive = True
        self._process = process
        self._writer = writer
        self._listener = asyncio.create_task(self._listen(reader, take, ended))

    @classmethod
    async def start(
        cls,
        module: str,
        env: Mapping[str, str],
        limit: int,
        take: Callable[[bytes], None],
        ended: Callable[[int], None],
    ) -> HelperProcess:
        """Start a process.

        Parameters
        ----------
        module
            What it runs; its main function calls `serve`.
        env
            Its environment.
        limit
            Bytes that a line may have.
        take
            Hears each line that the process writes, on the event loop. A line that it cannot
            read (`ValueError`, `msgspec.MsgspecError`) ends the process.
        ended
            Hears, once, how the process ended: as `asyncio.subprocess.Process.returncode`.

        Raises
        ------
        OSError
            When the system refuses to.
        """
        ours, theirs = socket.socketpair()
        try:
            with theirs:
                making = asyncio.create_subprocess_exec(
                    # -P: the current folder may hold modules named like those of libraries.
                    *(sys.executable, "-P", "-m", module, str(theirs.fileno())),
                    pass_fds=[theirs.fileno()],
                    stdin=DEVNULL,
                    stdout=DEVNULL,
                    stderr=DEVNULL,
                    env=env,
                    cwd="/",
                    process_group=0,
                )
                process = await made_or_undone(making, lambda _: _hang_up(ours))
        except OSError:
            ours.close()
            raise
        reader, writer = await asyncio.open_connection(sock=ours, limit=limit)
        return cls(process, reader, writer, take, ended)

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    def send(self, line: bytes) -> None:
        """Hand over a line; nothing where the process is gone."""
        # Not drained: while the process still loads its library it takes lines in all the same,
        # and one that takes nothing in any more ends with the time limit of its callers.
        if self.alive:
            self._writer.write(line)

    def kill(self) -> None:
        """End the process and all that it started, at once."""
        # Before its end has been seen, nothing more may be handed to it.
        self.alive = False
        if self._process.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)

    async def close(self) -> None:
        """End the process."""
        self._writer.close()
        await self._listener

    async def _listen(
        self,
        reader: asyncio.StreamReader,
        take: Callable[[bytes], None],
        ended: Callable[[int], None],
    ) -> None:
        # A line that cannot be read means that the package was replaced under the running server.
        with suppress(ConnectionError, ValueError, msgspec.MsgspecError):
            while data := await reader.readline():
                take(data)
        self._writer.close()
        self.kill()
        ended(await self._process.wait())


def line(message: msgspec.Struct) -> bytes:
    """Encode a message as the line that carries it, either way."""
    return msgspec.json.encode(message) + b"\n"


async def _hang_up(stream: socket.socket) -> None:
    # The process ends by itself with it.
    stream.close()


def without_secrets() -> dict[str, str]:
    """The server's environment without its secrets."""
    return {
        name: value
        for name, value in os.environ.items()
        if not any(word in name.upper() for word in _SECRET_WORDS)
    }


def serve(run: Callable[[socket.socket], Coroutine[Any, Any, None]]) -> None:
    """In the process: serve what comes over the socket that it inherited."""
    connection = socket.socket(fileno=int(sys.argv[1]))
    threading.Thread(target=_end_with_the_server, args=(connection.fileno(),), daemon=True).start()
    asyncio.run(run(connection))


def _end_with_the_server(fd: int) -> None:
    """Leave at once when the server is gone, even when a library blocks everything."""
    poll = select.poll()
    poll.register(fd, 0)
    poll.poll()
    os._exit(0)
