"""Carries bytes between the server and agentd; this module is executed in the remote kernel.

Its text is sent there, so it needs nothing but the standard library, Python 3.8 or newer, and the
kernel that it is in. agentd is a child process of that kernel, so that cells share no memory with
the shell and the files. Its stream is carried by messages of the type ``openhands_exchange`` on the
kernel's control channel, which ipykernel serves on a thread of its own: they are answered while a
cell runs, and leave alone which cell an output belongs to.

- ``{"offset": n, "data": "…"}`` hands on bytes in base64, before which there were n.
- ``{"offset": n, "wait": seconds}`` confirms n bytes of agentd's and asks for those that follow, if
  need be when they come. The answer is ``{"data": "…", "ended": false}``; when agentd has ended,
  it is said with what it wrote on its standard error.
- ``{"describe": true}`` asks where this is.
- ``{"end": true}`` ends agentd.

What is asked again is answered again, so that nothing is lost or doubled where a connection breaks.
"""

from __future__ import annotations

import asyncio
import base64
import getpass
import glob
import os
import platform
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from typing import Any

MESSAGE = "openhands_exchange"
MOST_HELD = 4_000_000
"""Bytes of agentd's that are kept here; it waits until some have been fetched."""

MOST_SENT = 500_000
"""Bytes in one answer."""

LAST_WORDS = 4000
END_TIMEOUT = 2.0

_START = (
    "import os, sys; archive, channel = map(int, sys.argv[1:]); os.set_inheritable(archive, False);"
    " sys.path.append('/proc/{}/fd/{}'.format(os.getpid(), archive)); "
    "from agentd.actions import load; from agentd.server import main; load(); main(channel)"
)


class Carrier:
    """Answers the messages; `start` makes it.

    Parameters
    ----------
    kernel
        The kernel that it is in.
    process
        agentd.
    connection
        The stream to agentd.
    stderr
        The file that agentd's standard error goes to.
    facts
        What is told of this place.
    mark
        By which what agentd started is known.
    """

    def __init__(
        self,
        kernel: Any,
        process: Any,
        connection: socket.socket,
        stderr: Any,
        facts: Any,
        mark: str,
    ) -> None:
        self._kernel = kernel
        self._process = process
        self._connection = connection
        self._stderr = stderr
        self._facts = facts
        self._mark = mark
        self._opening: Any = None
        self._writer: Any = None
        self._news: Any = None
        self._room: Any = None
        self._handed_on = 0
        self._held = bytearray()
        self._held_from = 0
        self._ended = False
        self._tasks: set[Any] = set()

    def handle(self, stream: Any, ident: Any, parent: Any) -> None:
        """Take a message (called by the kernel); it is answered later, so that others can come."""
        self._keep(self._answer(stream, ident, parent))

    def _keep(self, work: Any) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _answer(self, stream: Any, ident: Any, parent: Any) -> None:
        try:
            answer = await self._exchange(parent["content"])
        except Exception as error:  # There must be an answer.
            answer = {"error": f"{type(error).__name__}: {error}"}
        self._kernel.session.send(stream, MESSAGE + "_reply", answer, parent, ident=ident)

    async def _exchange(self, content: Any) -> Any:
        if "describe" in content:
            return self._facts
        if self._opening is None:
            self._opening = asyncio.get_running_loop().create_task(self._open())
        await self._opening
        if "end" in content:
            self._writer.close()
            # One that was stopped would not see the end of its stream.
            self._process.send_signal(signal.SIGCONT)
            return {}
        if "data" in content:
            return self._hand_on(content["offset"], base64.b64decode(content["data"]))
        return await self._fetch(content["offset"], content["wait"])

    async def _open(self) -> None:
        # Here, because these belong to the loop that messages are answered on.
        self._news, self._room = asyncio.Event(), asyncio.Event()
        reader, self._writer = await asyncio.open_connection(sock=self._connection)
        self._keep(self._receive(reader))

    def _hand_on(self, offset: int, data: bytes) -> Any:
        fresh = data[self._handed_on - offset :]
        self._handed_on += len(fresh)
        self._writer.write(fresh)
        return {}

    async def _fetch(self, offset: int, wait: float) -> Any:
        if offset > self._held_from:
            del self._held[: offset - self._held_from]
            self._held_from = offset
            self._room.set()
        if not self._held and not self._ended:
            self._news.clear()
            timer = asyncio.get_running_loop().call_later(wait, self._news.set)
            await self._news.wait()
            timer.cancel()
        start = offset - self._held_from
        data = bytes(self._held[start : start + MOST_SENT]) if start >= 0 else b""
        answer = {"data": base64.b64encode(data).decode(), "ended": False}
        if self._ended and not data:
            answer.update(ended=True, stderr=self._last_words())
        return answer

    async def _receive(self, reader: asyncio.StreamReader) -> None:
        try:
            while True:
                data = await reader.read(65536)
                if not data:
                    break
                self._held += data
                self._news.set()
                while len(self._held) > MOST_HELD:
                    self._room.clear()
                    await self._room.wait()
        except OSError:
            pass
        finally:
            # Where agentd was killed, it could not do it itself.
            loop = asyncio.get_running_loop()
            await loop.run_in_executor(None, _clear_up, self._process, self._mark)
            self._ended = True
            self._news.set()

    def _last_words(self) -> str:
        self._stderr.seek(0)
        return str(self._stderr.read()[-LAST_WORDS:].decode("utf-8", "replace"))


def _clear_up(process: Any, mark: str) -> None:
    """End what agentd has left running, and remove its files; where it still can, it does it."""
    try:
        process.wait(END_TIMEOUT)
    except subprocess.TimeoutExpired:
        process.kill()
    give_up = time.monotonic() + END_TIMEOUT
    while _kill_marked(mark) and time.monotonic() < give_up:
        time.sleep(0.005)
    for folder in glob.glob(os.path.join(tempfile.gettempdir(), f"openhands-{mark}*")):
        shutil.rmtree(folder, ignore_errors=True)


def _kill_marked(mark: str) -> bool:
    variable = f"OPENHANDS_SANDBOX={mark}".encode()
    found = False
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/environ", "rb") as file:
                marked = variable in file.read().split(b"\0")
            if marked:
                os.kill(int(name), signal.SIGKILL)
                found = True
        except OSError:
            continue
    return found


def start(shell: Any, archive: bytes, folder: str, mark: str) -> None:
    """Start agentd and begin to carry.

    Parameters
    ----------
    shell
        The IPython shell of the kernel.
    archive
        agentd's modules in a zip file.
    folder
        Where to work; made if it is not there. Empty for where the kernel is.
    mark
        The value of the environment variable by which agentd finds what it started.
    """
    if not sys.platform.startswith("linux"):
        raise RuntimeError(f"it runs on {platform.system()}, and Linux is needed")
    kernel = shell.kernel
    if folder:
        folder = os.path.abspath(os.path.expanduser(folder))
        os.makedirs(folder, exist_ok=True)
        os.chdir(folder)
    ours, theirs = socket.socketpair()
    # A fork of the kernel must not keep agentd alive after it.
    os.register_at_fork(after_in_child=ours.close)
    stderr = tempfile.TemporaryFile()  # noqa: SIM115
    environment = dict(os.environ, OPENHANDS_SANDBOX=mark)
    path = environment.get("PATH", "/usr/bin:/bin")
    environment["PATH"] = f"{os.path.dirname(sys.executable)}:{path}"
    # A file without a name, so that nothing can be left of it.
    with theirs, tempfile.TemporaryFile() as file:
        file.write(archive)
        file.flush()
        fds = (file.fileno(), theirs.fileno())
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _START, *map(str, fds)],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=stderr,
            pass_fds=fds,
            # So that it is not interrupted with the cells.
            start_new_session=True,
        )
    carrier = Carrier(kernel, process, ours, stderr, _facts(), mark)
    kernel.control_handlers[MESSAGE] = carrier.handle


def _facts() -> Any:
    import ipykernel

    try:
        user = getpass.getuser()
    except (KeyError, OSError):
        # A container's user need not have a name.
        user = str(os.getuid())
    return {
        "folder": os.getcwd(),
        "host": socket.gethostname(),
        "user": user,
        "scratch": tempfile.gettempdir(),
        "python": platform.python_version(),
        "ipykernel": getattr(ipykernel, "__version__", "?"),
    }
