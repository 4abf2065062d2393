"""Which decisions on the cells of an edit are taken."""

from __future__ import annotations

import pytest

from openhands_jupyter.errors import Invalid
from openhands_jupyter.events import (
    Action,
    CellDecision,
    CellEdit,
    CmdRunAction,
    Masker,
    NotebookEditAction,
)
from openhands_jupyter.events.masking import MASK
from openhands_jupyter.session.decisions import check_cells

EDIT = NotebookEditAction(
    path="a.ipynb",
    operations=[],
    cells=[
        CellEdit(id="new", what="inserted", cell_type="code", after="x"),
        CellEdit(id="old", what="deleted", cell_type="code", before="x"),
    ],
)
SECRET = "canary-9f8e7d"
MASKER = Masker(lambda: [SECRET])


def test_decisions_that_fit() -> None:
    cells = [
        CellDecision(id="new", decision="approve", source="y"),
        CellDecision(id="old", decision="reject"),
    ]
    check_cells(EDIT, cells, MASKER)
    check_cells(EDIT, [], MASKER)
    check_cells(CmdRunAction(command="ls"), None, MASKER)


@pytest.mark.parametrize(
    ("action", "cells", "code"),
    [
        (None, [CellDecision(id="new", decision="reject")], "not_a_cell_of_the_edit"),
        (
            CmdRunAction(command="ls"),
            [CellDecision(id="new", decision="reject")],
            "not_a_cell_of_the_edit",
        ),
        (EDIT, [CellDecision(id="other", decision="reject")], "not_a_cell_of_the_edit"),
        (EDIT, [CellDecision(id="new", decision="reject")] * 2, "cell_decided_twice"),
        (EDIT, [CellDecision(id="new", decision="reject", source="")], "source_without_cell"),
        (EDIT, [CellDecision(id="old", decision="approve", source="")], "source_without_cell"),
        (
            EDIT,
            [CellDecision(id="new", decision="approve", source=f"k = '{SECRET}'")],
            "source_with_secret",
        ),
        (
            EDIT,
            [CellDecision(id="new", decision="approve", source=f"k = '{MASK}'")],
            "source_with_secret",
        ),
    ],
)
def test_decisions_that_do_not_fit(
    action: Action | None, cells: list[CellDecision], code: str
) -> None:
    with pytest.raises(Invalid) as refused:
        check_cells(action, cells, MASKER)
    assert refused.value.code == code
