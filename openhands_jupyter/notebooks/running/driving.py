"""Runs cells of notebooks in the notebooks' own kernels, as their person would."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from logging import Logger
from weakref import WeakValueDictionary

from ...errors import Conflict, NotFound, OpenHandsError
from ...events import UserKernel
from ...events.notebook_runs import RunState
from ..cells import Cell, source_of
from ..changes import CellMismatch, Mismatch
from ..delivery.document import Document, OutcomeUnknown, Snapshot, read_only
from ..delivery.notebooks import Notebooks
from ..delivery.tab_document import TabDocument
from ..delivery.tabs import no_kernel
from ..revisions import cell_rev
from .kernels import Attachment, KernelDied, Kernels
from .listening import Execution, Listener
from .name_changes import NotKnown, compare, looks_of
from .planning import may_fail, refuse_task
from .runs import REMEMBERED, CellRun, CellToRun, Run
from .writing_back import WritingBack

INPUT_LOOKED_AT = 0.3
"""Seconds after which it is looked whether a tab asks for input."""

LOOKED_AT = 1.0
"""Seconds for which the cells of a file are taken to be as they were."""


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

    async def kernel(self, snapshot: Snapshot) -> UserKernel:
        """The kernel in which cells of a notebook would run now.

        Raises
        ------
        Conflict
            When the person has chosen that it has none.
        """
        if snapshot.delivery != "tab":
            return await self._kernels.found(snapshot.path, _kernel_name(snapshot))
        shown = snapshot.state.kernel
        kernel = await self._kernels.look(shown.id) if shown else None
        if kernel is None:
            raise no_kernel(snapshot.path)
        return kernel

    async def start(
        self,
        path: str,
        cells: Sequence[CellToRun],
        stop_on_error: bool = True,
        kernel: UserKernel | None = None,
        on_text: Callable[[str], None] | None = None,
        on_end: Callable[[], None] | None = None,
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
        kernel
            The one that the notebook has to have, or, without an id, that is to be started where
            none runs; None for any.
        on_text
            Called with what is printed.
        on_end
            Called when it has ended.

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
        snapshot = await (await self._notebooks.open(path)).read(())
        if wrong := mismatches(snapshot, cells):
            return Mismatch(cells=wrong, nb_rev=snapshot.nb_rev)
        if snapshot.delivery != "tab" and snapshot.state.read_only:
            raise read_only(path)
        run = Run(path, _to_run(snapshot, cells), stop_on_error, on_text, kernel, on_end)
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
                    await Driver(run, self._notebooks, self._kernels).drive()
        except OutcomeUnknown:
            run.end("unknown", "The browser did not say whether it has begun with a cell.")
        except OpenHandsError as error:
            run.end("error", " ".join(filter(None, (error.message, error.hint))))
        except asyncio.CancelledError:
            run.end("unknown", "The server was stopped.")
            raise
        except Exception:
            self._log.exception("A run of cells of %s failed", run.path)
            run.end("unknown", "Something went wrong here; the server's log says what.")


class Driver:
    """Runs cells in the notebook's kernel, through the browser tab that has the notebook open.

    Without a tab they are given to the kernel from here, and the outputs are written into the
    notebook; so are those of a tab that was closed meanwhile.

    Parameters
    ----------
    run
        What is to be run.
    notebooks
        The way to notebooks.
    kernels
        The kernels.
    """

    def __init__(self, run: Run, notebooks: Notebooks, kernels: Kernels) -> None:
        self._run = run
        self._notebooks = notebooks
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
        run.kernel = await self._find_kernel()
        state: RunState = "kernel_dead"
        async with WritingBack(self._notebooks.open, run.path) as writing:
            try:
                with suppress(KernelDied):
                    kernel = await self._kernels.attach(run.kernel)
                    async with (
                        self._listener(kernel, writing) as listener,
                        self._names_compared(kernel, run.kernel),
                    ):
                        state = await self._run_all(listener)
            except OpenHandsError:
                await self._keep_what_tabs_have_not(writing)
                raise
            await self._keep_what_tabs_have_not(writing)
        run.end(state, writing.problem)

    async def _find_kernel(self) -> str:
        path = self._run.path
        snapshot = await self._look(await self._notebooks.open(path))
        if snapshot.delivery == "tab":
            if snapshot.state.kernel is None:
                raise no_kernel(path)
            self._require_wanted(await self._kernels.look(snapshot.state.kernel.id))
            return snapshot.state.kernel.id
        name = _kernel_name(snapshot)
        self._require_wanted(await self._kernels.found(path, name))
        return await self._kernels.of(path, name)

    def _require_wanted(self, found: UserKernel | None) -> None:
        """See that a kernel is the one that was approved; one to be started, at least by its name.

        The notebook, which names it, may name another program by now.
        """
        wanted = self._run.wanted
        if wanted is None:
            return
        if found is None or found.name != wanted.name or wanted.id not in ("", found.id):
            raise Conflict(
                "kernel_changed",
                f"{self._run.path} has another kernel now, so nothing was run.",
                "Run the cells again.",
            )

    @asynccontextmanager
    async def _names_compared(self, kernel: Attachment, id: str) -> AsyncIterator[None]:
        """Note what became of the kernel's names meanwhile."""
        run = self._run
        before: dict[str, str] | None = None
        try:
            before = await looks_of(self._kernels, kernel, id)
        except NotKnown as why:
            run.names_problem = str(why)
        yield
        if before is None:
            return
        if run.stopping:
            # Whoever stops it waits for the end.
            run.names_problem = "the run was stopped"
            return
        try:
            run.names = compare(before, await looks_of(self._kernels, kernel, id))
        except NotKnown as why:
            run.names_problem = str(why)

    def _listener(self, kernel: Attachment, writing: WritingBack) -> Listener:
        def note(cell: CellRun) -> None:
            if not cell.message:
                writing.note(cell)

        def ask(prompt: str) -> None:
            self._run.move("awaiting_input", prompt)

        return Listener(kernel, self._run.cells, note, ask, self._run.say)

    async def _keep_what_tabs_have_not(self, writing: WritingBack) -> None:
        """Write the outputs of cells whose tab was closed, or reloaded, before it had them all."""
        by_tab = {cell.message: cell for cell in self._run.cells if cell.message}
        if not by_tab:
            return
        document = await self._notebooks.open(self._run.path)
        landed: list[str] = []
        if isinstance(document, TabDocument):
            with suppress(OpenHandsError):
                landed = await document.landed(list(by_tab))
        for message, cell in by_tab.items():
            if message in landed:
                cell.written = True
            else:
                writing.note(cell)

    async def _run_all(self, listener: Listener) -> RunState:
        beside = [
            asyncio.create_task(work) for work in (self._interrupt_when_asked(), self._see_input())
        ]
        try:
            for cell in self._run.cells:
                if cell.status == "queued":
                    if self._run.stopping:
                        return "interrupted"
                    if state := await self._run_one(listener, cell):
                        return state
        finally:
            for task in beside:
                task.cancel()
        failed = any(cell.status == "error" and not cell.may_fail for cell in self._run.cells)
        return "error" if failed else "done"

    async def _run_one(self, listener: Listener, cell: CellRun) -> RunState | None:
        """Run a cell; the end of the run, if it is with this one."""
        run = self._run
        self._execution = None
        begun = await self._begin(listener, cell)
        if not isinstance(begun, Execution):
            run.mismatch = begun
            cell.end("changed")
            return "changed"
        run.move("running")
        self._execution = begun
        if run.stopping:
            # Asked for while it was on its way to the kernel.
            run.stop_asked.set()
        status = await listener.until_end(self._execution)
        # One that is interrupted as it begins ends without an error.
        cell.end("interrupted" if begun.interrupted else status)
        if cell.status == "interrupted":
            return "interrupted"
        goes_on = status == "done" or cell.may_fail or not run.stop_on_error
        return None if goes_on else "error"

    async def _see_input(self) -> None:
        """Note when a tab asks the person for input, which is not asked for here."""
        run = self._run
        while True:
            await asyncio.sleep(INPUT_LOOKED_AT)
            asking = any(
                notebook.path == run.path and notebook.awaiting_input
                for notebook in self._notebooks.open_in_browser()
            )
            in_tab = any(cell.message and cell.status == "running" for cell in run.cells)
            if in_tab and asking != (run.state == "awaiting_input"):
                run.move("awaiting_input" if asking else "running")

    async def _begin(self, listener: Listener, cell: CellRun) -> Execution | list[CellMismatch]:
        """Give a cell to the kernel, if it is as expected."""
        document = await self._notebooks.open(self._run.path)
        if not isinstance(document, TabDocument):
            wanted = [CellToRun(id=cell.id, rev=cell.rev, source=cell.source)]
            if wrong := mismatches(await self._look(document), wanted):
                return wrong
            cell.give()
            return listener.run(cell)
        cell.give()
        answer = await document.run(cell.id, cell.rev, cell.source)
        if isinstance(answer, Mismatch):
            return answer.cells
        if answer.kernel != self._run.kernel:
            raise KernelDied
        cell.message = answer.message
        return listener.follow(cell, answer.message)

    async def _interrupt_when_asked(self) -> None:
        while True:
            await self._run.stop_asked.wait()
            self._run.stop_asked.clear()
            execution = self._execution
            if execution and self._run.kernel:
                await execution.began.wait()
                # A quick one is over by now, and what follows may be the person's.
                if not execution.ended.is_set():
                    execution.interrupted = True
                    await self._kernels.interrupt(self._run.kernel)

    async def _look(self, document: Document) -> Snapshot:
        """The notebook as it is, or was a moment ago."""
        known = self._snapshot
        recent = time.monotonic() - self._looked < LOOKED_AT
        if not recent or known is None or known.delivery != document.delivery:
            self._looked = time.monotonic()
            self._snapshot = known = await document.read(())
        return known


def mismatches(snapshot: Snapshot, cells: Sequence[CellToRun]) -> list[CellMismatch]:
    """The cells that are not as expected."""
    present = {cell["id"]: cell for cell in snapshot.cells}
    wrong = {}
    for wanted in cells:
        cell = present.get(wanted.id)
        if cell is None:
            wrong[wanted.id] = CellMismatch(id=wanted.id, reason="gone")
        elif (rev := cell_rev(cell)) != wanted.rev or wanted.source not in (None, source_of(cell)):
            wrong[wanted.id] = CellMismatch.changed(cell, rev)
    return list(wrong.values())


def _to_run(snapshot: Snapshot, cells: Sequence[CellToRun]) -> list[CellRun]:
    present = {cell["id"]: cell for cell in snapshot.cells}
    return [_cell_to_run(present[cell.id], cell.rev) for cell in cells]


def _cell_to_run(cell: Cell, rev: str) -> CellRun:
    source = source_of(cell)
    run = CellRun(cell["id"], rev, source, may_fail(cell))
    if cell["cell_type"] != "code" or not source.strip():
        run.end("skipped")
    else:
        refuse_task(cell["id"], source)
    return run


def _kernel_name(snapshot: Snapshot) -> str | None:
    """The kernel that a notebook names."""
    kernelspec = snapshot.metadata.get("kernelspec")
    name = kernelspec.get("name") if isinstance(kernelspec, dict) else None
    return name if isinstance(name, str) else None
