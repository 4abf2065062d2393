"""The kernels of notebooks, in Jupyter's own managers."""

from __future__ import annotations

import asyncio
import time
from queue import Empty
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import msgspec
from jupyter_client.asynchronous.client import AsyncKernelClient
from jupyter_client.kernelspec import NoSuchKernel
from jupyter_server.utils import ensure_async
from tornado.web import HTTPError

from ...errors import Conflict, NotFound, OpenHandsError
from ...events import UserKernel

if TYPE_CHECKING:
    from jupyter_server.services.kernels.kernelmanager import AsyncMappingKernelManager

SHARED_DRIVE = "RTC:"
"""What jupyter-collaboration puts before a path."""

STARTS_WITHIN = 60.0
"""Seconds that a kernel has to come back: Jupyter looks every few whether one has died."""

LOOKED_AFTER = 0.1

SETTLES_WITHIN = 1.0
SETTLED_AFTER = 0.05
"""Seconds that a kernel has to get idle, and after which it is looked at again."""

ASKED_AGAIN = 0.5
"""Seconds after which a kernel is asked again whether it is there."""


class KernelDied(Exception):
    """The kernel is not the one any more that it was: it died, or was restarted or shut down."""


class Kernels:
    """Finds the kernel of a notebook, and starts one as JupyterLab does.

    Parameters
    ----------
    kernels, sessions
        The server's managers; typed in part.
    """

    def __init__(self, kernels: Any, sessions: Any) -> None:
        self._kernels = kernels
        self._sessions = sessions
        self._starting: dict[str, asyncio.Task[str]] = {}

    async def of(self, path: str, name: str | None) -> str:
        """The id of a notebook's kernel; one is started where there is none.

        Parameters
        ----------
        path
            The notebook.
        name
            The kernel that its metadata name.

        Raises
        ------
        NotFound
            When there is no such kernel.
        OpenHandsError
            When it cannot be started.
        """
        if found := await self.find(path):
            return found
        # Two that ask at once get the same.
        if path not in self._starting:
            task = asyncio.create_task(self._start(path, name))
            self._starting[path] = task
            task.add_done_callback(lambda _: self._starting.pop(path))
        return await asyncio.shield(self._starting[path])

    async def found(self, path: str, name: str | None) -> UserKernel:
        """The kernel of a notebook as it is now, or, without an id, the one that would be started.

        Raises
        ------
        Conflict
            When it is behind a gateway.
        NotFound
            When there is no such kernel to be started.
        """
        self._require_here()
        if running := await self.running(path):
            return running
        name = name or self._kernels.default_kernel_name
        try:
            await ensure_async(self._kernels.kernel_spec_manager.get_kernel_spec(name))
        except NoSuchKernel as error:
            raise _not_installed(path, name) from error
        return await self._described(name, id="")

    async def find(self, path: str) -> str | None:
        """The id of a notebook's kernel; None where none runs."""
        for session in await self._sessions.list_sessions():
            if session["type"] == "notebook" and _plain(session["path"]) == path:
                id: str = session["kernel"]["id"]
                return id
        return None

    async def attach(self, id: str) -> Attachment:
        """Hold on to a kernel as it is now; one that Jupyter is about to start again is waited for.

        Raises
        ------
        Conflict
            When it is behind a gateway.
        KernelDied
            When there is none with this id, or it does not come back.
        """
        self._require_here()
        for _ in range(round(STARTS_WITHIN / LOOKED_AFTER)):
            if id not in self._kernels:
                break
            manager = self._kernels.get_kernel(id)
            if manager.ready.done() and await ensure_async(manager.is_alive()):
                return Attachment(self._kernels, id)
            await asyncio.sleep(LOOKED_AFTER)
        raise KernelDied

    async def running(self, path: str) -> UserKernel | None:
        """The kernel of a notebook; None where none runs."""
        id = await self.find(path)
        return None if id is None else await self.look(id)

    async def look(self, id: str) -> UserKernel | None:
        """A kernel as it is now; None where there is none with this id."""
        if id not in self._kernels:
            return None
        model = await ensure_async(self._kernels.kernel_model(id))
        return await self._described(model["name"], id=id, state=model["execution_state"])

    async def settled(self, id: str) -> UserKernel:
        """A kernel when it is idle, or what it is else after a moment.

        Whoever has just asked it something gets the answer before it is known to be idle again.
        One that was never used is known as ``starting`` for as long as nobody uses it, so it is
        asked itself.

        Raises
        ------
        KernelDied
            When there is none with this id.
        """
        until = time.monotonic() + SETTLES_WITHIN
        while True:
            found = await self.look(id)
            if found is None:
                raise KernelDied
            if found.state == "starting" and await self._answers(id):
                return msgspec.structs.replace(found, state="idle")
            if found.state == "idle" or time.monotonic() > until:
                return found
            await asyncio.sleep(SETTLED_AFTER)

    async def _answers(self, id: str) -> bool:
        """Whether a kernel answers where it would run code, and so is idle."""
        client = Attachment(self._kernels, id).client()
        client.start_channels(iopub=False, stdin=False, hb=False)
        try:
            client.kernel_info()
            await client.get_shell_msg(timeout=SETTLES_WITHIN)
        except Empty:
            return False
        finally:
            client.stop_channels()
        return True

    async def _described(self, name: str, *, id: str, state: str = "") -> UserKernel:
        """A kernel with what its kernelspec says."""
        try:
            spec = await ensure_async(self._kernels.kernel_spec_manager.get_kernel_spec(name))
        except NoSuchKernel:
            return UserKernel(id=id, name=name, state=state)
        return UserKernel(
            id=id,
            name=spec.display_name or name,
            language=spec.language.lower(),
            state=state,
        )

    async def restart(self, id: str) -> None:
        """Restart a kernel, as JupyterLab does.

        Raises
        ------
        KernelDied
            When there is none with this id.
        OpenHandsError
            When it does not come back.
        """
        if id not in self._kernels:
            raise KernelDied
        try:
            await ensure_async(self._kernels.restart_kernel(id))
        except (HTTPError, OSError, RuntimeError) as error:
            raise OpenHandsError(
                "kernel_not_started",
                f"The kernel could not be restarted: {error}",
                "The server's log says why.",
            ) from error

    async def interrupt(self, id: str) -> None:
        """Interrupt what a kernel does."""
        if id in self._kernels:
            await ensure_async(self._kernels.interrupt_kernel(id))

    def _require_here(self) -> None:
        # It loads a parser for as long as two seconds; a server has done that.
        from jupyter_server.services.kernels.kernelmanager import AsyncMappingKernelManager

        if not isinstance(self._kernels, AsyncMappingKernelManager):
            raise Conflict(
                "kernel_elsewhere",
                "The kernels of this server are behind a gateway.",
                "Run the cells in JupyterLab.",
            )

    async def _start(self, path: str, name: str | None) -> str:
        try:
            session = await self._sessions.create_session(
                path=path, name=path.rpartition("/")[2], type="notebook", kernel_name=name
            )
        except (NoSuchKernel, KeyError) as error:
            raise _not_installed(path, name) from error
        except (HTTPError, OSError, RuntimeError) as error:
            raise OpenHandsError(
                "kernel_not_started",
                f"The kernel of {path} could not be started: {error}",
                "The server's log says why.",
            ) from error
        id: str = session["kernel"]["id"]
        return id


class Attachment:
    """One life of a kernel: it ends when the kernel dies, is restarted or shut down.

    Parameters
    ----------
    kernels
        The server's manager.
    id
        The kernel, which is there.
    """

    def __init__(self, kernels: AsyncMappingKernelManager, id: str) -> None:
        self._kernels = kernels
        self._id = id
        self._manager: Any = kernels.get_kernel(id)
        # Jupyter replaces it whenever it starts or ends a kernel, whoever asks for that.
        self._life = self._manager.ready

    def client(self) -> AsyncKernelClient:
        """A new client of it."""
        client: AsyncKernelClient = self._manager.client()
        # A kernel answers but one of those that call themselves the same.
        client.session.session = uuid4().hex
        return client

    async def connect(self, client: AsyncKernelClient) -> None:
        """Wait until a client, whose channels are open, hears the kernel.

        Raises
        ------
        KernelDied
            When it ended.
        """
        while True:
            await self.check()
            # One that is busy answers on the control channel.
            message = client.session.msg("kernel_info_request")
            client.control_channel.send(message)
            client.kernel_info()
            try:
                await client.iopub_channel.get_msg(timeout=ASKED_AGAIN)
                return
            except Empty:
                continue

    async def check(self) -> None:
        """Make sure that it lives.

        Raises
        ------
        KernelDied
            When it does not.
        """
        if (
            self._id not in self._kernels
            or self._manager.ready is not self._life
            or not await ensure_async(self._manager.is_alive())
        ):
            raise KernelDied


def _not_installed(path: str, name: str | None) -> NotFound:
    # The name is the notebook's, which may be any text that is meant for a model.
    return NotFound(
        "kernel_not_installed",
        f"{path} is for the kernel {(name or '')[:40]!r}, which is not installed.",
        "Choose another kernel for it in JupyterLab.",
    )


def _plain(path: str | None) -> str:
    return (path or "").removeprefix(SHARED_DRIVE).strip("/")
