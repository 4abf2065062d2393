"""What a kernel prints and shows while it runs cells, whoever has asked it to."""

from __future__ import annotations

import asyncio
import json
import time
from collections import deque
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionComplete
from nbformat.v4 import new_code_cell, new_notebook

from ...events.notebook_runs import CellStatus
from .kernels import Attachment
from .printed import Printed
from .runs import CellRun

CHECKED = 1.0
"""Seconds after which it is looked whether the kernel lives."""

LONGEST = 20_000_000
"""Characters of a cell's outputs that are kept."""

LEAST = 100
"""Characters that each output counts as at least."""

KEPT_FOR = 10.0
"""Seconds that messages are kept until it is known which cell they are of."""

MARKS = ("execute_input", "status")
"""Messages that say how far a cell is. They are short, and kept however much is printed."""


class Listener:
    """Hears what a kernel says of the cells of a run, and gives it cells to run.

    Used as an asynchronous context: entered when it hears everything.

    Parameters
    ----------
    kernel
        The kernel.
    cells
        Those of the run; their outputs, counts and ends are noted.
    on_output
        Called with a cell whose outputs are others now.
    on_input
        Called with the prompt when a cell that was given to the kernel from here asks for input.
    on_text
        Called with what is printed.
    """

    def __init__(
        self,
        kernel: Attachment,
        cells: list[CellRun],
        on_output: Callable[[CellRun], None],
        on_input: Callable[[str], None],
        on_text: Callable[[str], None],
    ) -> None:
        self._kernel = kernel
        self._client = kernel.client()
        self._outputs = _Outputs(cells, on_output)
        self._outputs.kc = self._client
        self._on_input = on_input
        self._on_text = on_text
        self._followed: dict[str, Execution] = {}
        self._early = _Early()
        self._tasks: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> Self:
        self._client.start_channels(hb=False)
        try:
            await self._kernel.connect(self._client)
        except BaseException:
            self._client.stop_channels()
            raise
        self._tasks = [
            asyncio.create_task(work) for work in (self._hear(), self._watch(), self._asked())
        ]
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._client.stop_channels()

    def run(self, cell: CellRun) -> Execution:
        """Have the kernel run a cell."""
        # What somebody else has queued behind it is not stopped by its errors.
        id = self._client.execute(cell.source, allow_stdin=True, stop_on_error=False)
        self._outputs.acts = True
        return self.follow(cell, id)

    def follow(self, cell: CellRun, message: str) -> Execution:
        """Note what the kernel says of a cell.

        Parameters
        ----------
        cell
            One of the run.
        message
            Id of the message that asks the kernel to run it.
        """
        if message not in self._followed:
            self._followed[message] = execution = Execution(self._outputs, cell, self._on_text)
            for early in self._early.of(message):
                execution.take(early)
        return self._followed[message]

    async def until_end(self, execution: Execution) -> CellStatus:
        """Wait for the end of a cell.

        Raises
        ------
        KernelDied
            When the kernel ended before.
        """
        ending = asyncio.create_task(execution.ended.wait())
        try:
            await asyncio.wait((ending, *self._tasks), return_when=asyncio.FIRST_COMPLETED)
        finally:
            ending.cancel()
        if not execution.ended.is_set():
            for task in self._tasks:
                if task.done():
                    task.result()
        return execution.status

    async def _hear(self) -> None:
        while True:
            message = await self._client.iopub_channel.get_msg(timeout=None)
            parent = message["parent_header"].get("msg_id", "")
            if execution := self._followed.get(parent):
                execution.take(message)
                continue
            # A browser tells which message it has sent only when it is sent.
            self._early.keep(parent, message)

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(CHECKED)
            await self._kernel.check()

    async def _asked(self) -> None:
        while True:
            message = await self._client.stdin_channel.get_msg(timeout=None)
            if message["msg_type"] == "input_request":
                self._on_input(message["content"].get("prompt", ""))


class _Early:
    """Messages that nobody follows yet, for a while, and not more than the outputs of one cell."""

    def __init__(self) -> None:
        self._kept: deque[tuple[float, str, dict[str, Any], int]] = deque()
        self._room = LONGEST

    def keep(self, parent: str, message: dict[str, Any]) -> None:
        """Keep an answer to the message with the id `parent`, if there is room for it."""
        now = time.monotonic()
        while self._kept and self._kept[0][0] < now - KEPT_FOR:
            self._room += self._kept.popleft()[3]
        size = 0 if message["msg_type"] in MARKS else _size(message["content"])
        if size <= self._room:
            self._room -= size
            self._kept.append((now, parent, message, size))

    def of(self, parent: str) -> list[dict[str, Any]]:
        """What is kept of the answers to a message, in order."""
        return [message for _, id, message, _ in self._kept if id == parent]


class Execution:
    """A cell that the kernel was asked to run.

    Attributes
    ----------
    began, ended
        Set when the kernel begins with it, and when it is done.
    status
        How it ended; ``not_run`` where the kernel has put it away.
    interrupted
        Whether it was interrupted from here.
    """

    def __init__(self, outputs: _Outputs, cell: CellRun, on_text: Callable[[str], None]) -> None:
        self.began = asyncio.Event()
        self.ended = asyncio.Event()
        self.status: CellStatus = "not_run"
        self.interrupted = False
        self._outputs = outputs
        self._cell = cell
        self._on_text = on_text
        outputs.begin(cell)

    def take(self, message: dict[str, Any]) -> None:
        """Note a message of the kernel."""
        match message["msg_type"]:
            case "execute_input":
                self._cell.execution_count = message["content"].get("execution_count")
                self._cell.begin()
                self.status = "done"
                self.began.set()
            case "stream":
                self._on_text(message["content"].get("text", ""))
            case "error":
                stopped = message["content"].get("ename") == "KeyboardInterrupt"
                self.status = "interrupted" if stopped else "error"
        if self._outputs.take(message, self._cell):
            self.ended.set()


class _Outputs(NotebookClient):
    """The outputs of a run's cells: nbclient's reading of a kernel's messages.

    Attributes
    ----------
    acts
        Whether it answers widgets for outputs in place of a browser.
    """

    acts = False

    def __init__(self, cells: list[CellRun], on_output: Callable[[CellRun], None]) -> None:
        nodes = [new_code_cell() for _ in cells]  # type: ignore[no-untyped-call]
        super().__init__(new_notebook(cells=nodes))  # type: ignore[no-untyped-call]
        self.record_timing = self.store_widget_state = False
        self._cells = cells
        self._on_output = on_output
        self._room = [LONGEST] * len(cells)
        # The last printed text of each cell, whose output gets it when it is asked for.
        self._printing: dict[int, tuple[Any, Printed]] = {}

    def begin(self, cell: CellRun) -> None:
        """Let a cell have the outputs that come for it."""
        self.clear_before_next_output = False
        index = self._cells.index(cell)
        cell.has_outputs(lambda: self._so_far(index))
        self._on_output(cell)

    def _so_far(self, index: int) -> list[dict[str, Any]]:
        if printing := self._printing.get(index):
            out, printed = printing
            out["text"] = printed.text
        outputs: list[dict[str, Any]] = self.nb.cells[index].outputs
        return outputs

    def take(self, message: dict[str, Any], cell: CellRun) -> bool:
        """Read a message; whether it was the last one of the cell."""
        index = self._cells.index(cell)
        try:
            self.process_message(message, self.nb.cells[index], index)
        except CellExecutionComplete:
            return True
        if message["msg_type"] == "update_display_data":
            # It may be an output of any cell.
            for other in self._cells[: index + 1]:
                self._on_output(other)
        elif message["msg_type"] != "status":
            self._on_output(cell)
        return False

    def output(
        self, outs: list[Any], msg: dict[str, Any], display_id: str | None, cell_index: int
    ) -> Any:
        """Add an output; printed text goes on where it ended, as in JupyterLab."""
        if not self._fits(outs, msg["content"], cell_index):
            return None
        out = super().output(outs, msg, display_id, cell_index)
        if out and out["output_type"] == "stream" and outs[-1] is out:
            return self._printed(outs, out, cell_index)
        return out

    def _printed(self, outs: list[Any], out: Any, index: int) -> Any:
        """Have a new text at the end go on where the one before it ended, if that is its like."""
        known = self._printing.get(index)
        before = outs[-2] if len(outs) > 1 else None
        if known and known[0] is before and before["name"] == out["name"]:
            outs.pop()
        else:
            self._so_far(index)
            known = self._printing[index] = (out, Printed())
        kept, printed = known
        printed.write(out["text"])
        return kept

    def handle_comm_msg(self, outs: list[Any], msg: dict[str, Any], cell_index: int) -> None:
        """Leave widgets to a browser that has the notebook open."""
        if self.acts and msg["content"].get("target_name", "jupyter.widget") == "jupyter.widget":
            super().handle_comm_msg(outs, msg, cell_index)

    def _fits(self, outs: list[Any], content: dict[str, Any], index: int) -> bool:
        if self._room[index] < 0:
            return False
        self._room[index] -= _size(content)
        if self._room[index] < 0:
            note = f"\n[what follows is not kept: more than {LONGEST // 1_000_000} MB]\n"
            outs.append({"output_type": "stream", "name": "stderr", "text": note})
            return False
        return True


def _size(content: dict[str, Any]) -> int:
    """The room that an output takes; one of no text takes some although nothing is in it."""
    text, data = content.get("text", ""), content.get("data", {})
    return len(text) if text else LEAST + len(json.dumps(data))
