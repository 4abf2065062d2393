"""As much of a notebook as is shown of it: a browser need not send the rest."""

from __future__ import annotations

import asyncio

from ...events import Action, Masker
from ...events.notebooks import (
    NotebookOutputAction,
    NotebookReadAction,
    NotebookSearchAction,
)
from ..delivery.document import Document, Snapshot
from .outputs import Handle, outputs_of
from .texts import cells_text


async def look(document: Document, action: Action, masker: Masker) -> Snapshot:
    """The notebook, with those outputs whole that the answer to an action is made of.

    Raises
    ------
    OpenHandsError
        Those of `Document.read`, and what is wrong with the action.
    """
    match action:
        case NotebookOutputAction(handle=handle):
            return await document.read([Handle.parse(handle).cell])
        case NotebookSearchAction(where="outputs" | "both"):
            return await document.read()
        case NotebookReadAction(outputs="summary" | "full"):
            return await _with_outputs(document, action, masker)
    return await document.read(())


async def _with_outputs(document: Document, action: NotebookReadAction, masker: Masker) -> Snapshot:
    snapshot = await document.read(action.cells)
    shown = await asyncio.to_thread(
        cells_text, snapshot, action.cells, "none", action.first_line, masker
    )
    ids = {cell.id for cell in shown.cells}
    missing = ids.difference(action.cells)
    if any(cell["id"] in missing and outputs_of(cell) for cell in snapshot.cells):
        return await document.read(ids)
    return snapshot
