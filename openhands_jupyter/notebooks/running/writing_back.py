"""Outputs of a run put into its notebook, while it runs and at its end."""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from types import TracebackType
from typing import Self

from ...errors import OpenHandsError
from ..changes import Applied, Change, Mismatch, SetCell
from ..delivery.document import Open
from .runs import CellRun

PAUSE = 1.0
"""Seconds between two writings."""

SHARE = 10.0
"""How many times as long as a writing takes is the pause after it."""

ATTEMPTS = 3
"""How often what has to be written at the end is tried."""


class WritingBack:
    """Writes the outputs of cells into their notebook, in whatever way leads to it then.

    Used as an asynchronous context: left when all is written that can be.

    Parameters
    ----------
    open
        Gives the document at a path.
    path
        The notebook.

    Attributes
    ----------
    problem
        Why something could not be written, for people.
    """

    def __init__(self, open: Open, path: str) -> None:
        self.problem: str | None = None
        self._open = open
        self._path = path
        self._waiting: dict[str, CellRun] = {}
        self._noted = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._task = asyncio.create_task(self._keep_writing())
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        assert self._task
        self._task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._task
        for attempt in range(ATTEMPTS):
            if attempt:
                await asyncio.sleep(PAUSE)
            await self._write()
            if not self._waiting:
                self.problem = None
                break

    def note(self, cell: CellRun) -> None:
        """Note that the outputs of a cell are others now."""
        cell.written = False
        self._waiting[cell.id] = cell
        self._noted.set()

    async def _keep_writing(self) -> None:
        while True:
            await self._noted.wait()
            began = time.monotonic()
            # Not left in the middle, so that nothing is written in a wrong order.
            writing = asyncio.ensure_future(self._write())
            try:
                await asyncio.shield(writing)
            except asyncio.CancelledError:
                await writing
                raise
            await asyncio.sleep(max(PAUSE, SHARE * (time.monotonic() - began)))

    async def _write(self) -> None:
        self._noted.clear()
        cells, self._waiting = self._waiting, {}
        try:
            document = await self._open(self._path)
            while cells:
                for cell in cells.values():
                    cell.written = True
                change = Change(steps=[_step(cell) for cell in cells.values()], undoable=False)
                result = await document.change(change)
                if isinstance(result, Applied):
                    return
                self._fit(cells, result)
        except OpenHandsError as error:
            self.problem = f"The outputs could not be written: {error}"
            for cell in cells.values():
                cell.written = False
            self._waiting = cells | self._waiting

    def _fit(self, cells: dict[str, CellRun], mismatch: Mismatch) -> None:
        """Go by the cells as they are now, and leave out those that are no more there."""
        for wrong in mismatch.cells:
            # It gets them also when it was changed since it began, as it would in JupyterLab; but
            # not where what a tab has run was thrown away with the tab.
            if wrong.rev and wrong.cell_type == "code" and not cells[wrong.id].message:
                cells[wrong.id].written_rev = wrong.rev
            else:
                cells.pop(wrong.id).written = False


def _step(cell: CellRun) -> SetCell:
    return SetCell(
        id=cell.id,
        rev=cell.written_rev,
        # As it is now, and as plain dictionaries.
        outputs=json.loads(json.dumps(cell.outputs or [])),
        execution_count=cell.execution_count,
    )
