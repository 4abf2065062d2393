"""What a person may decide of the single cells of an edit."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import Invalid
from ..events import Action, CellDecision, Masker, NotebookEditAction
from ..events.masking import MASK


def check_cells(
    action: Action | None, cells: Sequence[CellDecision] | None, masker: Masker
) -> None:
    """See that decisions on cells fit the edit that waits for them.

    Parameters
    ----------
    action
        What waits for approval.
    cells
        What is decided of single cells of it; None where nothing is.
    masker
        Knows the secrets, which no log keeps: a text with one could not be written as it is.

    Raises
    ------
    Invalid
        When they do not fit.
    """
    if cells is None:
        return
    edited = action.cells if isinstance(action, NotebookEditAction) else []
    planned = {cell.id: cell for cell in edited}
    if len({cell.id for cell in cells}) < len(cells):
        raise Invalid("cell_decided_twice", "The same cell is decided on twice.")
    for cell in cells:
        if cell.id not in planned:
            raise Invalid(
                "not_a_cell_of_the_edit", f"Nothing waits for a decision on a cell {cell.id}."
            )
        if cell.source is None:
            continue
        if cell.decision == "reject" or planned[cell.id].after is None:
            raise Invalid(
                "source_without_cell",
                f"There is to be no cell {cell.id} that could have another text.",
                "Approve the cell, or leave out the text.",
            )
        if MASK in cell.source or masker.text(cell.source) != cell.source:
            raise Invalid(
                "source_with_secret",
                f"Your text for cell {cell.id} holds a secret, or the mark in place of one.",
                "Approve or reject the agent's text, then write the secret in the notebook itself.",
            )
