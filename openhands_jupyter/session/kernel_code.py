"""Code of the agent's in a person's kernel, beside their names."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import msgspec
from jupyter_client.asynchronous.client import AsyncKernelClient

from ..errors import Conflict
from ..events import Interruption, KernelCodeAction, KernelCodeObservation, UserKernel
from ..notebooks.in_kernel.expressions import expression
from ..notebooks.running.kernels import Attachment, KernelDied, Kernels
from ..runtime.cells import Cell

BEGINS_WITHIN = 5.0
"""Seconds that a kernel has to begin: later it does not, so that nothing waits there unknown."""

LATEST = 1.0
"""Seconds for which the answer of a kernel that was too late is waited for."""

CHECKED = 1.0
"""Seconds after which it is looked whether the kernel lives."""

GRACE = 2.0
GRACE_AFTER_STOP = 0.6
"""Seconds in which what is interrupted has to end, and after a stop."""

GOES_ON = "The code did not react to the interrupt and still runs in the person's kernel."
NOT_BEGUN = f"It had not begun, but may within {BEGINS_WITHIN:.0f} seconds if the kernel gets idle."
MAY_HAVE_RUN = "It is not known whether it was run."
UNKNOWN = "It is not known whether names of the person are bound otherwise now."

TOLD = "application/vnd.openhands.told+json"
"""As in `notebooks.in_kernel.scratch`."""


class Told(msgspec.Struct):
    """What the kernel tells of the names; it comes from outside."""

    late: bool = False
    ok: bool = False
    kept: list[str] = []
    changed: list[str] = []


class KernelCode:
    """Code that runs in a person's kernel.

    Parameters
    ----------
    kernels
        The kernels of the server.
    kernel
        The one in which it runs.
    action
        What is run.
    limit
        Seconds after which it is interrupted.
    on_text
        Called with what is printed.
    """

    def __init__(
        self,
        kernels: Kernels,
        kernel: UserKernel,
        action: KernelCodeAction,
        limit: float,
        on_text: Callable[[str], None],
    ) -> None:
        self._kernels = kernels
        self._kernel = kernel
        self._action = action
        self._limit = limit
        self._on_text = on_text

    async def run(self) -> KernelCodeObservation:
        """Run it; cancelled, it interrupts the code and tells what came of it so far.

        Raises
        ------
        Conflict
            When the kernel was busy all the while: then the code will not run later either.
        KernelDied
            When there is no such kernel any more.
        """
        attachment = await self._kernels.attach(self._kernel.id)
        client = attachment.client()
        client.start_channels(stdin=False, hb=False)
        try:
            await attachment.connect(client)
            return await self._run(attachment, client)
        finally:
            client.stop_channels()

    async def _run(
        self, attachment: Attachment, client: AsyncKernelClient
    ) -> KernelCodeObservation:
        asked = {
            "code": self._action.code,
            "keep": self._action.keep,
            "until": time.time() + BEGINS_WITHIN,
        }
        heard = _Heard(client, expression("scratch", asked))
        cell = Cell(heard, self._action.code, self._on_text)
        why: Interruption = ""
        try:
            why = await self._until_end(attachment, heard, cell)
        except Conflict:
            await cell.close()
            raise
        except asyncio.CancelledError:
            why = "stopped"
            if heard.began.is_set() and not cell.done.done():
                await self._interrupt(cell, GRACE_AFTER_STOP)
        ended = cell.done.done()
        await cell.close()
        if heard.told is not None and heard.told.late:
            raise kernel_busy(self._action.path)
        return self._observation(cell, heard, why, ended)

    async def _until_end(self, attachment: Attachment, heard: _Heard, cell: Cell) -> Interruption:
        """Wait for its end, or end it; why it was ended."""
        ran_away = asyncio.ensure_future(cell.ran_away.wait())
        try:
            await self._until_begun(attachment, heard)
            ends = time.monotonic() + self._limit
            while (left := ends - time.monotonic()) > 0:
                await asyncio.wait(
                    {cell.done, ran_away},
                    timeout=min(left, CHECKED),
                    return_when=asyncio.FIRST_COMPLETED,
                )
                if cell.done.done():
                    return ""
                if ran_away.done():
                    break
                await attachment.check()
        except KernelDied:
            return "kernel_died"
        finally:
            ran_away.cancel()
        await self._interrupt(cell, GRACE)
        return "output_limit" if cell.ran_away.is_set() else "timeout"

    async def _until_begun(self, attachment: Attachment, heard: _Heard) -> None:
        """Wait until the kernel begins with it; one that dies at once may not have told of that."""
        latest = time.monotonic() + BEGINS_WITHIN + LATEST
        began = asyncio.ensure_future(heard.began.wait())
        try:
            while not began.done():
                await asyncio.wait({began}, timeout=CHECKED)
                await attachment.check()
                if time.monotonic() > latest and not began.done():
                    raise kernel_busy(self._action.path)
        finally:
            began.cancel()

    async def _interrupt(self, cell: Cell, grace: float) -> None:
        await self._kernels.interrupt(self._kernel.id)
        await asyncio.wait({cell.done}, timeout=grace)

    def _observation(
        self, cell: Cell, heard: _Heard, why: Interruption, ended: bool
    ) -> KernelCodeObservation:
        told = heard.told
        notice = ""
        if not heard.began.is_set():
            notice = MAY_HAVE_RUN if why == "kernel_died" else NOT_BEGUN
        elif told is None and why != "kernel_died":
            notice = UNKNOWN if ended else GOES_ON
        return KernelCodeObservation(
            path=self._action.path,
            kernel=self._kernel,
            outputs=cell.outputs.result(),
            ok=told is not None and told.ok and not why,
            interrupted=why,
            seconds=heard.seconds,
            kept=told.kept if told else [],
            changed=told.changed if told else [],
            notice=notice,
        )


class _Heard:
    """A kernel's client for one piece of code, and what is heard of that; a `CellClient`.

    Attributes
    ----------
    began
        Set when the kernel begins with it.
    told
        What the kernel tells of names; None while it has not.
    """

    def __init__(self, client: AsyncKernelClient, expression: str) -> None:
        self.began = asyncio.Event()
        self.told: Told | None = None
        self._client = client
        self._expression = expression
        self._id = ""
        self._began_at = 0.0
        self._ended_at: float | None = None

    @property
    def seconds(self) -> float | None:
        """How long it ran, or has been running; None before."""
        if not self.began.is_set():
            return None
        return round((self._ended_at or time.monotonic()) - self._began_at, 3)

    def execute(
        self, code: str, *, allow_stdin: bool, user_expressions: dict[str, Any] | None = None
    ) -> str:
        """Have it run, unseen by whoever else uses the kernel."""
        # What waits behind it is not stopped by its errors.
        self._id = self._client.execute(
            self._expression,
            silent=True,
            store_history=False,
            allow_stdin=False,
            stop_on_error=False,
        )
        return self._id

    async def get_iopub_msg(self) -> dict[str, Any]:
        """The next message about what happens in the kernel."""
        while True:
            message: dict[str, Any] = await self._client.get_iopub_msg()
            if message["parent_header"].get("msg_id") != self._id or not self._take(message):
                return message

    async def get_shell_msg(self) -> dict[str, Any]:
        """The next answer to a request."""
        message: dict[str, Any] = await self._client.get_shell_msg()
        return message

    async def get_stdin_msg(self) -> dict[str, Any]:
        """Nothing: the code is not allowed to ask."""
        await asyncio.Event().wait()
        raise AssertionError

    def input(self, string: str) -> None:
        """Nothing is asked that would be answered."""

    def _take(self, message: dict[str, Any]) -> bool:
        """Note what a message says of the code; whether it was for us alone."""
        content = message["content"]
        match message["msg_type"], content.get("execution_state"):
            case "status", "busy":
                self._began_at = time.monotonic()
                self.began.set()
            case "status", "idle":
                self._ended_at = time.monotonic()
            case "display_data", _ if TOLD in content["data"]:
                with suppress(msgspec.ValidationError):
                    self.told = msgspec.convert(content["data"][TOLD], Told)
                return True
        return False


def kernel_busy(path: str) -> Conflict:
    """The error where nothing was run in a kernel because it does something else."""
    return Conflict(
        "kernel_busy",
        f"The kernel of {path} is busy or starting. Nothing was run, and nothing will be later.",
        "Try again when it is idle, use the sandbox, or ask the user.",
    )
