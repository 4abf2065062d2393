"""The remote kernel as what runs the cells."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from ..cells import CellKernel, KernelClient
from ..sandbox import KernelExit
from .connection import KernelConnection, Message


class RemoteKernel(CellKernel):
    """A kernel that came with its sandbox, and ends with it.

    Parameters
    ----------
    connection
        The way to it.
    ended
        Done when it ended.
    end
        Ends it, and the sandbox.
    """

    output_lost = (
        "The connection broke meanwhile. The end of the output is missing, and whether the cell "
        "ran to its end is unknown."
    )

    def __init__(
        self,
        connection: KernelConnection,
        ended: asyncio.Future[KernelExit],
        end: Callable[[], None],
    ) -> None:
        super().__init__()
        self._connection = connection
        self._end_future = ended
        self._end = end
        self._client = _Client(connection)

    @property
    def alive(self) -> bool:
        """Whether it runs."""
        return not self._end_future.done()

    async def start(self) -> None:
        """Do nothing: it runs."""

    async def close(self) -> None:
        """Do nothing: it ends with the sandbox."""

    @property
    def _cell_client(self) -> KernelClient:
        return self._client

    @property
    def _ended(self) -> asyncio.Future[KernelExit]:
        return self._end_future

    async def _send_interrupt(self) -> None:
        self._connection.interrupt()

    async def _kill(self) -> None:
        self._end()

    async def _recover(self) -> None:
        """Do nothing: the connection was opened again."""


class _Client(KernelClient):
    """Keeps the messages of the cell that runs, and no others."""

    def __init__(self, connection: KernelConnection) -> None:
        self._connection = connection
        self._connection.on_message = self._take
        self._cell = ""
        self._over = False
        self._start_anew()

    def execute(
        self,
        code: str,
        silent: bool = False,
        store_history: bool = True,
        user_expressions: dict[str, str] | None = None,
        allow_stdin: bool | None = None,
        stop_on_error: bool = True,
    ) -> str:
        """Ask for code to be executed; the request's id."""
        self._start_anew()
        content = {
            "code": code,
            "silent": silent,
            "store_history": store_history,
            "user_expressions": user_expressions or {},
            "allow_stdin": bool(allow_stdin),
            "stop_on_error": stop_on_error,
        }
        self._cell = self._connection.tell("shell", "execute_request", content)
        return self._cell

    async def get_iopub_msg(self) -> Message:
        """The next message about what happens in the kernel."""
        return await self._queues["iopub"].get()

    async def get_shell_msg(self) -> Message:
        """The next answer to a request."""
        return await self._queues["shell"].get()

    async def get_stdin_msg(self) -> Message:
        """The next question of the kernel."""
        return await self._queues["stdin"].get()

    def input(self, string: str) -> None:
        """Answer the kernel's question."""
        self._connection.tell("stdin", "input_reply", {"value": string})

    def _start_anew(self) -> None:
        self._over = False
        self._queues: dict[str, asyncio.Queue[Message]] = {
            channel: asyncio.Queue() for channel in ("iopub", "shell", "stdin")
        }

    def _take(self, channel: str, kind: str, message: Message) -> None:
        if kind == "lost":
            lost = {"parent_header": {"msg_id": self._cell}, "content": {"status": "lost"}}
            self._queues["shell"].put_nowait(lost)
        elif message["parent_header"].get("msg_id") == self._cell and channel in self._queues:
            if channel == "iopub" and self._over:
                # What a thread of that cell still prints; the next cell must not wait for it.
                return
            self._over |= kind == "status" and message["content"]["execution_state"] == "idle"
            self._queues[channel].put_nowait({**message, "msg_type": kind})
