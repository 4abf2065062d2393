"""The sessions' kernels among Jupyter's own, so that a person can look into them.

A kernel that the agent uses is in the list of running kernels, and a console can be opened on it.
What the person does to it there goes to the session, which tells the agent.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from datetime import UTC, datetime
from logging import Logger
from typing import TYPE_CHECKING, Any, cast
from uuid import uuid4

import zmq.asyncio
from jupyter_client.kernelspec import KernelSpec
from jupyter_server.gateway.managers import GatewayMappingKernelManager
from jupyter_server.prometheus.metrics import KERNEL_CURRENTLY_RUNNING_TOTAL
from jupyter_server.services.kernels.kernelmanager import (
    AsyncMappingKernelManager,
    ServerKernelManager,
)
from tornado import web

if TYPE_CHECKING:
    from jupyter_client import KernelConnectionInfo

    from ..runtime.kernel_host import SharedKernel

KERNEL_NAME = "openhands-sandbox"
PATH = "openhands-session"
"""The folder, which does not exist, that the paths of the Jupyter sessions begin with."""

LONGEST_MESSAGE = 16_000_000
"""Bytes; a longer one is not received, as by the agent's own client."""


class _SharedKernelManager(ServerKernelManager):
    """What Jupyter takes for the manager of a kernel that a session owns.

    The methods are coroutines, as they are in every asynchronous manager.
    """

    shared: SharedKernel

    @property
    def kernel_spec(self) -> KernelSpec:
        """What it is shown as."""
        return KernelSpec(display_name="OpenHands sandbox", language="python")

    @property
    def has_kernel(self) -> bool:
        """Whether it runs."""
        return self.shared.alive

    async def is_alive(self) -> bool:  # type: ignore[override]
        """Whether it runs."""
        return self.shared.alive

    def connect_shell(self, *args: Any, **kw: Any) -> Any:
        """A socket for requests."""
        self.shared.wake()
        return super().connect_shell(*args, **kw)

    async def interrupt_kernel(self) -> None:  # type: ignore[override]
        """Interrupt it."""
        await self.shared.interrupt()

    async def signal_kernel(self, signum: int) -> None:  # type: ignore[override]
        """Refuse: what may be done to it is what the agent can be told of."""
        raise web.HTTPError(400, "This kernel belongs to a session of OpenHands.")

    async def restart_kernel(self, *args: Any, **kw: Any) -> None:  # type: ignore[override]
        """Restart it in its sandbox."""
        await self.shared.restart()

    async def shutdown_kernel(self, *args: Any, **kw: Any) -> None:  # type: ignore[override]
        """End it."""
        await self.shared.shut_down()


class SessionKernel:
    """The kernel of one session, in Jupyter's list while it runs; a `KernelHost`.

    Parameters
    ----------
    kernels, sessions
        The server's managers, an `AsyncMappingKernelManager` and a `SessionManager`; typed in part.
    log
        Where to report what went wrong behind the scenes.
    session_id
        The session of OpenHands.
    on_change
        Called when the kernel has come or gone.

    Attributes
    ----------
    kernel_id
        Its id in Jupyter's list; None while there is none.
    """

    def __init__(
        self,
        kernels: Any,
        sessions: Any,
        log: Logger,
        session_id: str,
        on_change: Callable[[], None],
    ) -> None:
        self.kernel_id: str | None = None
        self._kernels = kernels
        self._sessions = sessions
        self._path = f"{PATH}/{session_id}"
        self._title = ""
        self._on_change = on_change
        self._log = log
        self._work: asyncio.Task[None] | None = None

    @property
    def busy(self) -> bool:
        """Whether it executes something, for whomever."""
        if self.kernel_id is None:
            return False
        return bool(self._kernels.get_kernel(self.kernel_id).execution_state == "busy")

    @property
    def used_at(self) -> datetime | None:
        """When it executed something last, for whomever."""
        if self.kernel_id is None:
            return None
        used: datetime = self._kernels.get_kernel(self.kernel_id).last_activity
        return used

    def show(self, kernel: SharedKernel, connection: dict[str, Any]) -> None:
        """Add a kernel that is ready, or note that the one which is shown was restarted."""
        if self.kernel_id is not None:
            self._kernels.get_kernel(self.kernel_id).execution_state = "idle"
            return
        id = str(uuid4())
        manager = _SharedKernelManager(
            parent=self._kernels, log=self._log, owns_kernel=False, context=self._context()
        )
        manager.shared = kernel
        manager.load_connection_info(cast("KernelConnectionInfo", connection))
        manager.kernel_id, manager.kernel_name = id, KERNEL_NAME
        manager.execution_state, manager.last_activity = "idle", datetime.now(UTC)
        manager.ready.set_result(None)
        # Jupyter has no door for a kernel that somebody else has started; this is what it does
        # itself with those whose connection files it finds.
        self._kernels._kernels[id] = manager
        self._kernels._kernel_connections[id] = 0
        self._kernels._kernel_ports[id] = manager.ports
        self._kernels.start_watching_activity(id)
        KERNEL_CURRENTLY_RUNNING_TOTAL.labels(type=KERNEL_NAME).inc()
        self.kernel_id = id
        self._later(self._add_session)
        self._on_change()

    def hide(self) -> None:
        """Take the kernel off the list."""
        id, self.kernel_id = self.kernel_id, None
        if id is None:
            return
        if id in self._kernels:
            # Else it went because the person shut it down.
            self._kernels.stop_watching_activity(id)
            self._kernels.stop_buffering(id)
            self._kernels.remove_kernel(id)
            KERNEL_CURRENTLY_RUNNING_TOTAL.labels(type=KERNEL_NAME).dec()
        self._kernels._kernel_connections.pop(id, None)
        self._kernels._kernel_ports.pop(id, None)
        self._later(self._drop_session)
        self._on_change()

    def rename(self, title: str) -> None:
        """Show it under the session's title."""
        if title != self._title:
            self._title = title
            self._later(self._rename_session)

    def _context(self) -> zmq.asyncio.Context:
        context = zmq.asyncio.Context(shadow=self._kernels.context)
        context.setsockopt(zmq.MAXMSGSIZE, LONGEST_MESSAGE)
        return context

    @property
    def _name(self) -> str:
        return f"OpenHands: {self._title}" if self._title else "OpenHands"

    def _later(self, step: Callable[[], Any]) -> None:
        """Do one step after the other, in the background."""
        before = self._work

        async def work() -> None:
            if before is not None:
                await asyncio.wait({before})
            try:
                await step()
            except Exception:
                self._log.exception("The kernel's entry among Jupyter's sessions is not current")

        self._work = asyncio.create_task(work())

    async def _add_session(self) -> None:
        """Give it a name in the list, and a console that opens at a click."""
        if self.kernel_id is not None:
            await self._sessions.create_session(
                path=self._path, name=self._name, type="console", kernel_id=self.kernel_id
            )

    async def _rename_session(self) -> None:
        if self.kernel_id is not None:
            with contextlib.suppress(web.HTTPError):
                found = await self._sessions.get_session(path=self._path)
                await self._sessions.update_session(found["id"], name=self._name)

    async def _drop_session(self) -> None:
        # Listing is what drops those whose kernel is gone.
        await self._sessions.list_sessions()


def can_show(kernels: Any) -> bool:
    """Whether a server's kernel manager has a list that kernels of this machine can be in."""
    return isinstance(kernels, AsyncMappingKernelManager) and not isinstance(
        kernels, GatewayMappingKernelManager
    )
