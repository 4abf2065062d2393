"""Runs cells of notebooks in the notebooks' own kernels, as their person would."""

from __future__ import annotations

import asyncio
import re
import time
from collections import OrderedDict
from collections.abc import Sequence
from contextlib import suppress
from logging import Logger
from weakref import WeakValueDictionary

from ..errors import Invalid, NotFound, OpenHandsError
from .cells import Cell, source_of
from .changes import CellMismatch, Mismatch
from .document import Open, Snapshot, read_only
from .kernels import Attachment, KernelDied, Kernels
from .listening import Execution, Listener
from .notebooks import Notebooks
from .revisions import cell_rev
from .runs import CellRun, CellToRun, Run, RunState
from .writing_back import WritingBack

REMEMBERED = 20
"""Runs that have ended and can still be asked for."""

LOOKED_AT = 1.0
"""Seconds for which the cells of a file are taken to be as they were."""

_STARTS_AGENT = re.compile(
    r"^\s*%%?\s*openhands\b|run_(?:cell|line)_magic\(\s*['\"]openhands['\"]", re.MULTILINE
)


class Runs:
    """The runs of a server.

    Parameters
    ----------
    notebooks
        The way to notebooks.
    kernels
        The kernels of notebooks.
    log
        Where to report faults of our own.
    """

    def __init__(self, notebooks: Notebooks, kernels: Kernels, log: Logger) -> None:
        self._notebooks = notebooks
        self._kernels = kernels
        self._log = log
        self._runs: OrderedDict[str, Run] = OrderedDict()
        self._tasks: set[asyncio.Task[None]] = set()
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def start(
        self, path: str, cells: Sequence[CellToRun], stop_on_error: bool = True
    ) -> Run | Mismatch:
        """Begin to run cells; runs of one notebook wait for each other.

        Parameters
        ----------
        path
            The notebook.
        cells
            In the order in which they are run; those that are no code are skipped.
        stop_on_error
            Whether a cell that fails is the last.

        Returns
        -------
        Run or Mismatch
            The run, or which cells are not as expected, and none is run.

        Raises
        ------
        NotFound, Invalid, Conflict
            When the notebook cannot be read, cannot take outputs, or a cell would start an agent.
        """
        path = path.strip("/")
        snapshot = await (await self._notebooks.open(path)).read()
        if wrong := mismatches(snapshot, cells):
            return Mismatch(cells=wrong, nb_rev=snapshot.nb_rev)
        if snapshot.delivery != "tab" and snapshot.state.read_only:
            raise read_only(path)
        run = Run(path, _to_run(snapshot, cells), stop_on_error)
        self._remember(run)
        task = asyncio.create_task(self._drive(run))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return run

    def get(self, id: str) -> Run:
        """The run with an id.

        Raises
        ------
        NotFound
            When there is none, or no more.
        """
        if id not in self._runs:
            raise NotFound(
                "run_not_found",
                f"There is no run {id[:40]!r}.",
                "Its outputs are in the notebook: read that.",
            )
        return self._runs[id]

    async def close(self) -> None:
        """Write what is known, and listen to no kernel any more; what they run goes on."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _remember(self, run: Run) -> None:
        ended = [id for id, run in self._runs.items() if run.ended]
        for id in ended[: max(len(ended) - REMEMBERED, 0)]:
            del self._runs[id]
        self._runs[run.id] = run

    async def _drive(self, run: Run) -> None:
        """Run it when those before it have ended."""
        turn = self._turns.setdefault(run.path, asyncio.Lock())
        try:
            async with turn:
                if not run.ended:
                    await InKernel(run, self._notebooks.open, self._kernels).drive()
        except OpenHandsError as error:
            run.end("error", " ".join(filter(None, (error.message, error.hint))))
        except asyncio.CancelledError:
            run.end("unknown", "The server was stopped.")
            raise
        except Exception:
            self._log.exception("A run of cells of %s failed", run.path)
            run.end("unknown", "Something went wrong here; the server's log says what.")


class InKernel:
    """Runs cells in the notebook's kernel and writes the outputs into the notebook.

    Parameters
    ----------
    run
        What is to be run.
    open
        Gives the document at a path.
    kernels
        The kernels.
    """

    def __init__(self, run: Run, open: Open, kernels: Kernels) -> None:
        self._run = run
        self._open = open
        self._kernels = kernels
        self._execution: Execution | None = None
        self._looked = 0.0
        self._snapshot: Snapshot | None = None

    async def drive(self) -> None:
        """Run them.

        Raises
        ------
        OpenHandsError
            When there is no kernel to be had, or no notebook any more.
        """
        run = self._run
        run.move("running")
        kernelspec = (await self._look()).metadata.get("kernelspec") or {}
        run.kernel = await self._kernels.of(run.path, kernelspec.get("name"))
        state: RunState = "kernel_dead"
        async with WritingBack(self._open, run.path) as writing:
            with suppress(KernelDied):
                kernel = await self._kernels.attach(run.kernel)
                async with self._listener(kernel, writing) as listener:
                    state = await self._run_all(listener)
        run.end(state, writing.problem)

    def _listener(self, kernel: Attachment, writing: WritingBack) -> Listener:
        def ask(prompt: str) -> None:
            self._run.move("awaiting_input", prompt)

        return Listener(kernel, self._run.cells, writing.note, ask)

    async def _run_all(self, listener: Listener) -> RunState:
        interrupting = asyncio.create_task(self._interrupt_when_asked())
        try:
            for cell in self._run.cells:
                if cell.status == "queued":
                    if self._run.stopping:
                        return "interrupted"
                    if state := await self._run_one(listener, cell):
                        return state
        finally:
            interrupting.cancel()
        failed = any(cell.status == "error" and not cell.may_fail for cell in self._run.cells)
        return "error" if failed else "done"

    async def _run_one(self, listener: Listener, cell: CellRun) -> RunState | None:
        """Run a cell; the end of the run, if it is with this one."""
        run = self._run
        if wrong := mismatches(await self._look(), [CellToRun(id=cell.id, rev=cell.rev)]):
            run.mismatch = wrong
            cell.end("changed")
            return "changed"
        run.move("running")
        cell.give()
        self._execution = listener.run(cell)
        status = await listener.until_end(self._execution)
        cell.end("interrupted" if status == "error" and run.stopping else status)
        if cell.status == "interrupted":
            return "interrupted"
        goes_on = status == "done" or cell.may_fail or not run.stop_on_error
        return None if goes_on else "error"

    async def _interrupt_when_asked(self) -> None:
        while True:
            await self._run.stop_asked.wait()
            self._run.stop_asked.clear()
            if self._execution and self._run.kernel:
                await self._execution.began.wait()
                await self._kernels.interrupt(self._run.kernel)

    async def _look(self) -> Snapshot:
        """The notebook as it is, or was a moment ago."""
        if not self._snapshot or time.monotonic() - self._looked > LOOKED_AT:
            self._looked = time.monotonic()
            self._snapshot = await (await self._open(self._run.path)).read()
        return self._snapshot


def mismatches(snapshot: Snapshot, cells: Sequence[CellToRun]) -> list[CellMismatch]:
    """The cells that are not as expected."""
    present = {cell["id"]: cell for cell in snapshot.cells}
    wrong = {}
    for wanted in cells:
        cell = present.get(wanted.id)
        if cell is None:
            wrong[wanted.id] = CellMismatch(id=wanted.id, reason="gone")
        elif (rev := cell_rev(cell)) != wanted.rev:
            wrong[wanted.id] = CellMismatch(
                id=wanted.id,
                reason="changed",
                rev=rev,
                cell_type=cell["cell_type"],
                source=cell["source"],
            )
    return list(wrong.values())


def _to_run(snapshot: Snapshot, cells: Sequence[CellToRun]) -> list[CellRun]:
    present = {cell["id"]: cell for cell in snapshot.cells}
    return [_cell_to_run(present[cell.id], cell.rev) for cell in cells]


def _cell_to_run(cell: Cell, rev: str) -> CellRun:
    source = source_of(cell)
    tags = cell["metadata"].get("tags") or []
    run = CellRun(cell["id"], rev, source, "raises-exception" in tags)
    if cell["cell_type"] != "code" or not source.strip():
        run.end("skipped")
    elif _STARTS_AGENT.search(source):
        raise Invalid(
            "cell_runs_agent",
            f"Cell {cell['id']} gives OpenHands a task, which only a person may do.",
            "Do what it says yourself, or ask the person to run it.",
        )
    return run
