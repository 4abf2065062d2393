"""What is known of cells that run, or ran."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from typing import Any
from uuid import uuid4

import msgspec

from ...events import NameChanges, UserKernel
from ...events.notebook_runs import GOING_ON, CellStatus, RunState
from ..changes import CellMismatch

REMEMBERED = 20
"""Runs that have ended and can still be asked for."""


class CellToRun(msgspec.Struct, frozen=True, kw_only=True):
    """A cell, and the revision that it has to have.

    Attributes
    ----------
    source
        The source that it has to have, where that was approved; None for any of the revision,
        which is short enough for somebody to make two sources that have the same.
    """

    id: str
    rev: str
    source: str | None = None


class CellRun:
    """A cell of a run.

    Attributes
    ----------
    may_fail
        Whether an error of its own does not end the run, because it is tagged so.
    written
        Whether all of that is in the notebook.
    written_rev
        The revision in which the cell gets them.
    message
        Id of the message by which a browser tab has given it to the kernel; the tab then shows the
        outputs itself.
    """

    def __init__(self, id: str, rev: str, source: str, may_fail: bool = False) -> None:
        self.id = id
        self.rev = rev
        self.source = source
        self.may_fail = may_fail
        self.status: CellStatus = "queued"
        self.execution_count: int | None = None
        self.written = False
        self.written_rev = rev
        self.message: str | None = None
        self._began: float | None = None
        self._seconds: float | None = None
        self._outputs: Callable[[], list[dict[str, Any]]] | None = None

    @property
    def outputs(self) -> list[dict[str, Any]] | None:
        """What it has printed and shown so far, as nbformat has it; None before it was begun."""
        return self._outputs() if self._outputs else None

    def has_outputs(self, so_far: Callable[[], list[dict[str, Any]]]) -> None:
        """Note what tells its outputs."""
        self._outputs = so_far

    @property
    def seconds(self) -> float | None:
        """How long it ran, or has been running; None before."""
        if self._seconds is None and self._began is not None:
            return time.monotonic() - self._began
        return self._seconds

    def give(self) -> None:
        """Note that the kernel was asked to run it."""
        self.status = "waiting"

    def begin(self) -> None:
        """Note that the kernel has begun with it."""
        self.status = "running"
        self._began = self._began or time.monotonic()

    def end(self, status: CellStatus, seconds: float | None = None) -> None:
        """Note how it ended; in `seconds`, where somebody else has measured them."""
        self._seconds = self.seconds if seconds is None else seconds
        self.status = status


class Run:
    """Cells that are run one after the other, by `Runs.start`.

    Attributes
    ----------
    id
        By which `Runs.get` finds it.
    path
        The notebook, as it was called when the run began.
    state
        Where it is.
    kernel
        Id of the kernel; None until there is one.
    wanted
        The kernel that it has to be, or, without an id, that is to be started; None for any.
    cells
        In the order in which they are run.
    prompt
        What a cell asks for, while it waits for input.
    problem
        What went wrong otherwise than in a cell, for people.
    mismatch
        Cells that were not as expected, and so were not run.
    names
        What became of the kernel's names; None until it has ended, and where that is not known.
    names_problem
        Why that is not known, for people.
    """

    def __init__(
        self,
        path: str,
        cells: Sequence[CellRun],
        stop_on_error: bool,
        on_text: Callable[[str], None] | None = None,
        wanted: UserKernel | None = None,
        on_end: Callable[[], None] | None = None,
    ) -> None:
        self.id = uuid4().hex[:12]
        self.path = path
        self.cells = list(cells)
        self.stop_on_error = stop_on_error
        self.state: RunState = "queued"
        self.kernel: str | None = None
        self.prompt: str | None = None
        self.problem: str | None = None
        self.mismatch: list[CellMismatch] = []
        self.names: NameChanges | None = None
        self.names_problem = ""
        self.stopping = False
        self.stop_asked = asyncio.Event()
        self._moved = asyncio.Event()
        self._on_text = on_text
        self._on_end = on_end
        self.wanted = wanted

    @property
    def ended(self) -> bool:
        """Whether nothing more is expected of it."""
        return self.state not in GOING_ON

    async def wait(self, seconds: float, past_input: bool = False) -> RunState:
        """Wait until it has ended or asks for input, at most so long.

        Parameters
        ----------
        seconds
            How long.
        past_input
            Whether it is waited on while it asks for input, which somebody may give.

        Returns
        -------
        RunState
            Where it is then.
        """
        try:
            async with asyncio.timeout(seconds):
                while not self.ended and (past_input or self.state != "awaiting_input"):
                    self._moved.clear()
                    await self._moved.wait()
        except TimeoutError:
            pass
        return self.state

    def stop(self) -> None:
        """Interrupt the cell that runs, and run no more; `wait` tells when it has come to that.

        A cell that has not begun, because the kernel does something else, is interrupted when it
        begins: what the person runs themselves is left alone. One that goes on in spite of it can
        be interrupted again.
        """
        self.stopping = True
        self.stop_asked.set()
        if self.state == "queued":
            self.end("interrupted")

    def say(self, text: str) -> None:
        """Pass on what a cell prints to whoever watches."""
        if self._on_text:
            self._on_text(text)

    def move(self, state: RunState, prompt: str | None = None) -> None:
        """Note where it is."""
        self.state, self.prompt = state, prompt
        self._moved.set()

    def end(self, state: RunState, problem: str | None = None) -> None:
        """Note how it ended, and with it the cells that have no end of their own."""
        lost: CellStatus = "interrupted" if state == "interrupted" else "unknown"
        for cell in self.cells:
            if cell.status == "running":
                cell.end(lost)
            elif cell.status == "waiting" and state in ("unknown", "kernel_dead"):
                cell.end("unknown")
            elif cell.status in ("queued", "waiting"):
                cell.end("not_run")
        self.problem = problem or self.problem
        self.move(state)
        if self._on_end:
            self._on_end()
