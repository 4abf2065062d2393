"""Running cells in a kernel: outputs, interruption, the end of the kernel; wherever it is."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable
from typing import Any, ClassVar, Protocol

from ..events import Interruption, IPythonOutputObservation
from .outputs import Outputs
from .sandbox import KernelExit

LONGEST_MESSAGE = 16_000_000
"""Bytes; a longer one is not received, so that a single print cannot fill the server's memory."""

OUTPUT_TOO_LONG = (
    f"An output over {LONGEST_MESSAGE // 1_000_000} MB was left out, and what came after it."
)
GRACE_AFTER_STOP = 0.6
GRACE_AFTER_TIMEOUT = 2.0
GRACE_AFTER_REPLY = 2.0
"""Seconds after the end of a cell in which its last outputs have to arrive."""
ASKING_LIMIT = 2.0
"""Seconds that a kernel has to tell what it is asked after a cell that failed."""


class CellClient(Protocol):
    """What a cell needs of a client of its kernel; jupyter_client's is one."""

    def execute(
        self, code: str, *, allow_stdin: bool, user_expressions: dict[str, Any] | None = None
    ) -> str:
        """Ask for code to be executed; the request's id."""

    async def get_iopub_msg(self) -> dict[str, Any]:
        """The next message about what happens in the kernel."""

    async def get_shell_msg(self) -> dict[str, Any]:
        """The next answer to a request."""

    async def get_stdin_msg(self) -> dict[str, Any]:
        """The next question of the kernel."""

    def input(self, string: str) -> None:
        """Answer the kernel's question."""


class KernelClient(CellClient, Protocol):
    """What a kernel needs of a client; jupyter_client's is one."""

    def execute(
        self,
        code: str,
        silent: bool = False,
        store_history: bool = True,
        user_expressions: dict[str, Any] | None = None,
        allow_stdin: bool | None = None,
        stop_on_error: bool = True,
    ) -> str:
        """As that of a `CellClient`; ``silent`` leaves no trace."""


class CellKernel(ABC):
    """A kernel that is started once and runs cells, one at a time, until it ends.

    Attributes
    ----------
    output_lost
        What is said where the last outputs of a cell never came.
    ended_by_person
        What the person did that ended it, as a phrase; empty if they did nothing.
    at_rest
        Set while no cell of the agent runs.
    told
        What the kernel was asked after its last cell; empty before the first, None where it did
        not tell.
    """

    output_lost: ClassVar[str]

    def __init__(self) -> None:
        self.ended_by_person = ""
        self.at_rest = asyncio.Event()
        self.at_rest.set()
        self.told: str | None = ""
        self._cell: Cell | None = None

    @property
    @abstractmethod
    def alive(self) -> bool:
        """Whether it runs."""

    @abstractmethod
    async def start(self) -> None:
        """Start it and wait until it is ready.

        Raises
        ------
        OpenHandsError
            ``kernel_failed`` when it ends or does not answer.
        SandboxDied
            When the sandbox ended.
        """

    @abstractmethod
    async def close(self) -> None:
        """End it. May be called twice."""

    def connection_info(self) -> dict[str, Any] | None:
        """How others on this machine may connect to it; None where they cannot."""
        return None

    def on_end(self, callback: Callable[[], None]) -> None:
        """Have something called once when it has ended."""
        self._ended.add_done_callback(lambda _: callback())

    async def interrupt(self) -> None:
        """Interrupt what it executes, because the person wants it."""
        if self._cell is not None:
            self._cell.outputs.say("\n[The person interrupted the kernel.]\n")
        await self._send_interrupt()

    async def end_for_person(self, what: str) -> None:
        """End it because of what the person did, said as a phrase."""
        self.ended_by_person = what
        await self._kill()
        await asyncio.wait({self._ended}, timeout=5.0)

    @property
    @abstractmethod
    def _ended(self) -> asyncio.Future[KernelExit]:
        """Done when it ended."""

    @property
    @abstractmethod
    def _cell_client(self) -> KernelClient:
        """What to talk to it with."""

    @abstractmethod
    async def _send_interrupt(self) -> None:
        """Interrupt what it executes."""

    @abstractmethod
    async def _kill(self) -> None:
        """End it at once."""

    @abstractmethod
    async def _recover(self) -> None:
        """Go on after the outputs of a cell were lost on the way."""

    async def run(
        self,
        code: str,
        limit: float,
        on_text: Callable[[str], None],
        stopping: asyncio.Event,
        asking: str = "",
    ) -> IPythonOutputObservation:
        """Run one cell.

        Parameters
        ----------
        code
            Its source.
        limit
            Seconds after which it is interrupted.
        on_text
            Called with printed text as it comes.
        stopping
            Set by somebody else to stop it.
        asking
            An expression to be evaluated when it has ended, without a trace, for `told`; its value
            is a text without quotes or backslashes. Empty for none.

        Returns
        -------
        IPythonOutputObservation
            Its outputs; partial ones if it did not end by itself. A kernel that did not react to
            the interrupt has been killed, see `alive`.
        """
        cell = self._cell = Cell(self._cell_client, code, on_text, asking)
        interrupted: Interruption = ""
        self.at_rest.clear()
        try:
            cause = await self._until(cell.done, stopping, cell.ran_away, within=limit)
            if cause is not cell.done and cause is not self._ended:
                interrupted = _why(cause, stopping, cell.ran_away)
                await self._interrupt(cell, stopping)
            if self._ended.done():
                # What it printed last may still be on its way.
                await asyncio.wait({cell.done}, timeout=0.1)
                interrupted = self._how_it_ended(cell, interrupted)
        finally:
            await cell.close()
            self._cell = None
            self.at_rest.set()
        if cell.lost_output:
            interrupted = interrupted or "output_limit"
            cell.outputs.say(f"\n[{self.output_lost}]\n")
            await self._recover()
        if asking:
            self.told = await self._asked(cell, asking, stopping)
        return cell.observation(interrupted)

    async def _asked(self, cell: Cell, asking: str, stopping: asyncio.Event) -> str | None:
        """What the kernel tells after a cell: with its reply, unless the cell failed."""
        if cell.told is not None or stopping.is_set() or self._ended.done():
            return cell.told
        answer = asyncio.ensure_future(self._answer(asking))
        try:
            in_time = await self._until(answer, stopping, within=ASKING_LIMIT) is answer
            return _told_in(answer.result()) if in_time else None
        finally:
            answer.cancel()

    async def _answer(self, expression: str) -> dict[str, Any]:
        client = self._cell_client
        id = client.execute(
            "",
            silent=True,
            store_history=False,
            user_expressions={"told": expression},
            allow_stdin=False,
            stop_on_error=False,
        )
        while (reply := await client.get_shell_msg())["parent_header"].get("msg_id") != id:
            pass
        content: dict[str, Any] = reply["content"]
        return content

    async def _until(self, *events: Any, within: float | None = None) -> Any:
        """Wait for the first of these events or futures or the kernel's end; None for timeout."""
        tasks = {
            asyncio.ensure_future(event.wait())
            if isinstance(event, asyncio.Event)
            else event: event
            for event in events
        }
        waited = {*tasks, self._ended}
        try:
            await asyncio.wait(waited, timeout=within, return_when=asyncio.FIRST_COMPLETED)
            if self._ended.done():
                return self._ended
            return next((event for task, event in tasks.items() if task.done()), None)
        finally:
            for task, event in tasks.items():
                if task is not event:
                    task.cancel()

    async def _interrupt(self, cell: Cell, stopping: asyncio.Event) -> None:
        await self._send_interrupt()
        hurried = stopping.is_set()
        grace = GRACE_AFTER_STOP if hurried else GRACE_AFTER_TIMEOUT
        cause = await self._until(cell.done, *([] if hurried else [stopping]), within=grace)
        if cause is cell.done or cause is self._ended:
            return
        await self._kill()
        await asyncio.wait({self._ended}, timeout=1.0)
        cell.outputs.say(
            "\n[The kernel did not react to the interrupt and was killed: "
            "its variables are gone.]\n"
        )

    def _how_it_ended(self, cell: Cell, interrupted: Interruption) -> Interruption:
        end = self._ended.result()
        if interrupted:
            return interrupted
        if end.sandbox_died:
            return "sandbox_died"
        how = f"by signal {-end.code}" if end.code < 0 else f"with exit code {end.code}"
        what = self.ended_by_person or f"The kernel ended {how}"
        cell.outputs.say(f"\n[{what}: its variables are gone. The next cell gets a new one.]\n")
        return "kernel_died"


class Cell:
    """A cell that runs.

    Attributes
    ----------
    done
        Done when the kernel is idle again.
    ran_away
        Set when it printed more than a cell should.
    outputs
        What came so far.
    input_requested
        The prompt of an ``input()`` call, which nobody can answer.
    lost_output
        Whether the cell ended but its last outputs never came.
    """

    def __init__(
        self, client: CellClient, code: str, on_text: Callable[[str], None], asking: str = ""
    ) -> None:
        self.ran_away = asyncio.Event()
        self.outputs = Outputs(on_text)
        self.input_requested: str | None = None
        self.lost_output = False
        self._client = client
        self._reply: dict[str, Any] = {}
        self._execution_count: int | None = None
        asked = {"told": asking} if asking else None
        self._id = client.execute(code, allow_stdin=True, user_expressions=asked)
        self._tasks = [
            asyncio.ensure_future(task)
            for task in (self._watch_output(), self._watch_reply(), self._watch_input())
        ]
        self.done = asyncio.ensure_future(self._wait_for_end())

    async def close(self) -> None:
        """Stop listening."""
        for task in (self.done, *self._tasks):
            task.cancel()
        await asyncio.gather(self.done, *self._tasks, return_exceptions=True)

    @property
    def told(self) -> str | None:
        """What the kernel was asked with it; None where it was not asked, or did not tell."""
        return _told_in(self._reply)

    def observation(self, interrupted: Interruption) -> IPythonOutputObservation:
        """What came of it."""
        ok = self._reply.get("status") == "ok" and not interrupted
        return IPythonOutputObservation(
            outputs=self.outputs.result(),
            execution_count=self._reply.get("execution_count") or self._execution_count,
            ok=ok,
            interrupted=interrupted,
            input_requested=self.input_requested,
        )

    async def _wait_for_end(self) -> None:
        output, reply, _ = self._tasks
        await reply
        _, late = await asyncio.wait({output}, timeout=GRACE_AFTER_REPLY)
        self.lost_output = bool(late)

    async def _watch_output(self) -> None:
        while True:
            message = await self._next(self._client.get_iopub_msg)
            kind, content = message["msg_type"], message["content"]
            if kind == "status" and content.get("execution_state") == "idle":
                return
            if kind == "execute_input":
                self._execution_count = content.get("execution_count")
            self.outputs.add(kind, content)
            if self.outputs.ran_away:
                self.ran_away.set()

    async def _watch_reply(self) -> None:
        self._reply = (await self._next(self._client.get_shell_msg))["content"]

    async def _watch_input(self) -> None:
        while True:
            message = await self._next(self._client.get_stdin_msg)
            if message["msg_type"] == "input_request":
                self.input_requested = str(message["content"].get("prompt", ""))
                # Which ipykernel takes for the end of input, so that the code gets an EOFError.
                self._client.input("\x04")

    async def _next(self, get: Callable[[], Awaitable[dict[str, Any]]]) -> dict[str, Any]:
        """The next message that belongs to this cell."""
        while True:
            message = await get()
            if message["parent_header"].get("msg_id") == self._id:
                return message


def _told_in(reply: dict[str, Any]) -> str | None:
    try:
        # The `repr` of a text.
        return str(reply["user_expressions"]["told"]["data"]["text/plain"])[1:-1]
    except (KeyError, TypeError):
        return None


def _why(cause: Any, stopping: asyncio.Event, ran_away: asyncio.Event) -> Interruption:
    if cause is stopping:
        return "stopped"
    return "output_limit" if cause is ran_away else "timeout"
