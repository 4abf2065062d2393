"""Running the agent's earlier cells again, after a rewind."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable

from ..events import (
    Event,
    EventStream,
    FilesRestoredObservation,
    IPythonOutputObservation,
    IPythonRunCellAction,
    Observation,
    ReplayObservation,
    RewindAction,
)
from ..events.masking import MASK

_READ_AT_ONCE = 500


def cells_to_replay(stream: EventStream, before: int) -> tuple[list[IPythonRunCellAction], int]:
    """The agent's cells before an event that succeeded and were not undone by a rewind. Blocks.

    Returns
    -------
    tuple
        The cells, and how many more there are that hold a secret and so are not on the log whole.
    """
    cells: dict[int, IPythonRunCellAction] = {}
    succeeded: set[int] = set()
    rewinds: dict[int, int] = {}
    for event in _read(stream, before):
        match event:
            case IPythonRunCellAction(source="agent"):
                cells[event.id] = event
            case IPythonOutputObservation(cause=int(cause), ok=True):
                succeeded.add(cause)
            case RewindAction():
                rewinds[event.id] = event.event
            case FilesRestoredObservation(cause=int(cause)) if cause in rewinds:
                succeeded = {cell for cell in succeeded if cell < rewinds[cause]}
    found = [cell for id, cell in cells.items() if id in succeeded]
    whole = [cell for cell in found if MASK not in cell.code]
    return whole, len(found) - len(whole)


def _read(stream: EventStream, before: int) -> Iterable[Event]:
    kinds = (
        IPythonRunCellAction,
        IPythonOutputObservation,
        RewindAction,
        FilesRestoredObservation,
    )
    names = [kind.__name__ for kind in kinds]
    last = -1
    while page := stream.read(after=last, before=before, limit=_READ_AT_ONCE, types=names):
        yield from page
        last = page[-1].id


async def replay(
    stream: EventStream,
    rewind: RewindAction,
    run: Callable[[IPythonRunCellAction], Awaitable[Observation | None]],
) -> ReplayObservation:
    """Run earlier cells again, until one fails.

    Parameters
    ----------
    stream
        The session's log.
    rewind
        What asked for it.
    run
        Runs one cell and gives its answer; None when no more is to be run.
    """
    cells, secret = await asyncio.to_thread(cells_to_replay, stream, rewind.event)
    reason = f"{secret} of them held a secret, which no log keeps." if secret else ""
    done = 0
    for cell in cells:
        answer = await run(cell)
        if not isinstance(answer, IPythonOutputObservation) or answer.interrupted:
            reason = "It was stopped, or the sandbox ended."
            break
        if not answer.ok:
            reason = "A cell failed that had succeeded before; the rest was not run."
            break
        done += 1
    return ReplayObservation(cause=rewind.id, cells=len(cells) + secret, done=done, reason=reason)
