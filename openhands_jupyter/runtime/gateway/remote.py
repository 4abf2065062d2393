"""The remote kernel from its start to its end, with the stream to agentd beside it."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import socket
from pathlib import Path
from typing import Annotated, Any

import msgspec

from ..launch import Command, Elsewhere, Launch
from ..sandbox import KernelExit
from . import carrier
from .bootstrap import bootstrap
from .connection import KernelConnection, KernelLost
from .kernel import RemoteKernel
from .notes import Note, left_over
from .refusals import GatewayRefused
from .server import Gateway
from .settings import GatewaySettings

START_TIMEOUT = 60.0
DESCRIBE_TIMEOUT = 15.0
END_TIMEOUT = 5.0
KILL_TIMEOUT = 0.3
"""Seconds to wait for the end of a kernel; the request goes on, and so does the note."""

DELETE_AGAIN = (0.5, 1.0, 2.0, 4.0)
"""Seconds before each further try; what is not ended then is left to the next start."""

POLL = 5.0
"""Seconds after which agentd says that it has nothing to say."""

SILENCE = 5.0
"""Seconds without that, after which it is asked whether there is still a kernel."""

_abandoned: set[asyncio.Task[Any]] = set()
"""Ends of kernels that nobody waits for any more."""


# What is there is not trusted: it becomes part of sentences, some of which a model reads.
_Path = Annotated[str, msgspec.Meta(max_length=4096, pattern=r"^/[^\x00-\x1f\x7f]*$")]
_Name = Annotated[str, msgspec.Meta(max_length=200, pattern=r"^[^\x00-\x1f\x7f]*$")]


class _Facts(msgspec.Struct):
    folder: _Path
    host: _Name
    user: _Name
    scratch: _Path
    python: _Name
    ipykernel: _Name


class _Fetched(msgspec.Struct):
    data: str
    ended: bool
    stderr: str = ""


class RemoteSandbox:
    """A remote kernel with agentd beside it.

    Attributes
    ----------
    command
        What is known of what runs there.
    cgroup
        None: limits there are not ours.
    elsewhere
        Where it is, and what runs the cells.
    """

    elsewhere: Elsewhere
    cgroup = None

    def __init__(self, settings: GatewaySettings) -> None:
        self.command = Command(argv=[], env={})
        self._settings = settings
        self._gateway = Gateway(settings)
        self._id = ""
        self._note: Note | None = None
        self._connection: KernelConnection | None = None
        self._ended: asyncio.Future[KernelExit] = asyncio.get_running_loop().create_future()
        self._deleting: asyncio.Task[None] | None = None
        self._writer: asyncio.StreamWriter | None = None
        self._pumps: list[asyncio.Task[None]] = []
        self._troubles: list[str] = []
        self._stderr = ""

    async def start(self) -> None:
        """Start a kernel there, and agentd beside it.

        Raises
        ------
        GatewayRefused
            When that cannot be done.
        """
        await sweep(self._gateway, self._settings.notes)
        kernelspec = await self._gateway.kernelspec(self._settings.kernel)
        self._id = await self._gateway.start_kernel(kernelspec)
        if self._settings.notes is not None:
            self._note = await asyncio.to_thread(
                Note.write, self._settings.notes, self._gateway.address, self._id
            )
        self._connection = KernelConnection(self._gateway, self._id, self._lose)
        kernel = RemoteKernel(self._connection, self._ended, self.kill)
        try:
            await self._connection.open()
            async with asyncio.timeout(START_TIMEOUT):
                await self._bootstrap(self._connection)
            async with asyncio.timeout(DESCRIBE_TIMEOUT):
                facts = msgspec.convert(await self._exchange({"describe": True}), _Facts)
        except (TimeoutError, KernelLost, msgspec.ValidationError) as error:
            raise GatewayRefused(
                f"The kernel {kernelspec} started on {self._gateway.host} but does not answer.",
                "It has to be a Python kernel with ipykernel 6 or newer; its log says more.",
            ) from error
        self.command = Command(argv=[], env={}, scratch=facts.scratch)
        about = f"as {facts.user} on {facts.host}, Python {facts.python}"
        self.elsewhere = Elsewhere(self._gateway.host, facts.folder, about, kernel)

    async def open(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """The stream to agentd; closing it does not end it, `end` does."""
        ours, theirs = socket.socketpair()
        reader, self._writer = await asyncio.open_connection(sock=theirs)
        self._pumps = [asyncio.create_task(pump) for pump in (self._hand_on(reader), self._fetch())]
        return await asyncio.open_connection(sock=ours)

    def kill(self) -> None:
        """End it at once; `end` still has to be called."""
        if self._deleting is None and self._id:
            self._deleting = asyncio.ensure_future(self._delete())
            self._deleting.add_done_callback(_abandoned.discard)
            _abandoned.add(self._deleting)
        self._finish()

    async def end(self) -> str:
        """End it; what agentd wrote on its standard error."""
        patience = END_TIMEOUT if self._deleting is None else KILL_TIMEOUT
        self.kill()
        if self._deleting is not None:
            await asyncio.wait({self._deleting}, timeout=patience)
        if self._note is not None:
            # The end may come after that of this process.
            self._note.leave()
        if self._connection is not None:
            await self._connection.close()
        for pump in self._pumps:
            pump.cancel()
        await asyncio.gather(*self._pumps, return_exceptions=True)
        if self._writer is not None:
            self._writer.close()
        if self._deleting is None:
            self._gateway.close()
        return self._stderr

    @property
    def can_pause(self) -> bool:
        """It cannot be paused from here."""
        return False

    async def pause(self) -> None:
        """Nothing."""

    async def wake(self) -> None:
        """Nothing."""

    async def troubles(self, patience: float) -> list[str]:
        """What became of it; see `Started.troubles`."""
        told, self._troubles = self._troubles, []
        return told

    async def _bootstrap(self, connection: KernelConnection) -> None:
        code = await asyncio.to_thread(bootstrap, self._settings.folder or "")
        content = {
            "code": code,
            "silent": True,
            "store_history": False,
            "user_expressions": {},
            "allow_stdin": False,
            "stop_on_error": False,
        }
        answer = await connection.request("shell", "execute_request", content)
        if answer.get("status") != "ok":
            what = f"{answer.get('ename')}: {answer.get('evalue')}"
            raise GatewayRefused(
                f"Our part of the sandbox does not run in the kernel of {self._gateway.host} "
                f"({what[:300]}).",
                "It has to be a Python kernel with ipykernel, on Linux.",
            )

    async def _exchange(self, content: dict[str, Any]) -> dict[str, Any]:
        assert self._connection is not None
        return await self._connection.request("control", carrier.MESSAGE, content)

    async def _hand_on(self, reader: asyncio.StreamReader) -> None:
        offset = 0
        with contextlib.suppress(KernelLost):
            while data := await reader.read(carrier.MOST_SENT):
                encoded = base64.b64encode(data).decode()
                await self._exchange({"offset": offset, "data": encoded})
                offset += len(data)

    async def _fetch(self) -> None:
        assert self._writer is not None
        offset = 0
        try:
            while True:
                try:
                    async with asyncio.timeout(POLL + SILENCE):
                        answer = await self._exchange({"offset": offset, "wait": POLL})
                except TimeoutError:
                    assert self._connection is not None
                    await self._connection.probe()
                    continue
                fetched = msgspec.convert(answer, _Fetched)
                if fetched.ended:
                    self._stderr = fetched.stderr
                    break
                data = base64.b64decode(fetched.data)
                offset += len(data)
                self._writer.write(data)
                await self._writer.drain()
        except (KernelLost, msgspec.ValidationError, ValueError, ConnectionError):
            pass
        finally:
            self._writer.close()

    def _lose(self, why: str) -> None:
        self._troubles.append(why)
        self._finish()

    def _finish(self) -> None:
        if not self._ended.done():
            self._ended.set_result(KernelExit(-9, sandbox_died=True))
        if self._writer is not None:
            self._writer.close()

    async def _delete(self) -> None:
        with contextlib.suppress(KernelLost, TimeoutError):
            async with asyncio.timeout(KILL_TIMEOUT):
                await self._exchange({"end": True})
        gone = False
        for seconds in (*DELETE_AGAIN, None):
            try:
                await self._gateway.delete(self._id)
                gone = True
            except GatewayRefused as error:
                # A Jupyter server cannot end a kernel while it restarts it by itself.
                if not error.lasting and seconds is not None:
                    await asyncio.sleep(seconds)
                    continue
            break
        self._gateway.close()
        if self._note is not None:
            (self._note.remove if gone else self._note.leave)()


async def start(launch: Launch) -> RemoteSandbox:
    """Start a remote kernel; see `RemoteSandbox.start`."""
    sandbox = RemoteSandbox(launch.gateway)
    starting = asyncio.ensure_future(sandbox.start())
    try:
        await asyncio.shield(starting)
    except asyncio.CancelledError:
        # Its kernel may be about to start and has no name yet: it is ended when it has one.
        _abandon(_end_after(starting, sandbox))
        raise
    except BaseException:
        await sandbox.end()
        raise
    return sandbox


async def check(settings: GatewaySettings) -> str:
    """See whether the server can be used, without starting a kernel; its name.

    Raises
    ------
    SandboxUnavailable
        When it cannot be used.
    """
    gateway = Gateway(settings)
    try:
        await gateway.kernelspec(settings.kernel)
    finally:
        gateway.close()
    return gateway.host


async def prune(settings: GatewaySettings) -> int:
    """End the kernels that killed servers left there; how many there were.

    Raises
    ------
    SandboxUnavailable
        When the server cannot be used.
    """
    gateway = Gateway(settings)
    try:
        return await sweep(gateway, settings.notes)
    finally:
        gateway.close()


async def sweep(gateway: Gateway, notes: Path | None) -> int:
    """End the kernels of killed servers; how many there were."""
    if notes is None:
        return 0
    found = await asyncio.to_thread(left_over, notes, gateway.address)
    for note in found:
        try:
            await gateway.delete(note.kernel)
        except GatewayRefused:
            note.leave()
        else:
            note.remove()
    return len(found)


def _abandon(work: Any) -> None:
    task = asyncio.ensure_future(work)
    _abandoned.add(task)
    task.add_done_callback(_abandoned.discard)


async def _end_after(starting: asyncio.Task[None], sandbox: RemoteSandbox) -> None:
    await asyncio.wait({starting})
    starting.exception()
    await sandbox.end()
