"""Notebooks of each minor format stay valid, and keep what others have put into them."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import Any

import nbformat
import pytest

from openhands_jupyter.events import Masker
from openhands_jupyter.notebooks.addresses import with_ids
from openhands_jupyter.notebooks.changes import Applied, apply
from openhands_jupyter.notebooks.editing.operations import operations_from
from openhands_jupyter.notebooks.editing.planning import plan
from openhands_jupyter.notebooks.names.graph import NameGraph
from openhands_jupyter.notebooks.revisions import cell_rev
from openhands_jupyter.notebooks.showing.outline import outline
from openhands_jupyter.notebooks.showing.outputs import show

OUTPUTS: list[dict[str, Any]] = [
    {"output_type": "stream", "name": "stdout", "text": ["1\n", "2\n"]},
    {"output_type": "display_data", "metadata": {"needs": 1},
     "data": {"text/plain": ["a\n", "b"], "application/json": {"x": [1]}}},
    {"output_type": "error", "ename": "E", "evalue": "v", "traceback": ["E: v"]},
]  # fmt: skip


def notebook(minor: int) -> dict[str, Any]:
    cells: list[dict[str, Any]] = [
        {"cell_type": "markdown", "metadata": {"theirs": {"a": 1}}, "source": ["# T\n", "x"]},
        {"cell_type": "code", "metadata": {"collapsed": True}, "execution_count": 1,
         "outputs": OUTPUTS, "source": ["x = 1\n", "y = 2"]},
        {"cell_type": "raw", "metadata": {"format": "text/x"}, "source": "raw"},
    ]  # fmt: skip
    if minor >= 1:
        cells[0]["attachments"] = {"a.png": {"image/png": "AAAA"}}
    if minor >= 5:
        for number, cell in enumerate(cells):
            cell["id"] = f"cell-{number}"
    return {"nbformat": 4, "nbformat_minor": minor, "metadata": {"theirs": True}, "cells": cells}


@pytest.mark.parametrize("minor", range(6))
def test_an_edited_notebook_is_valid_and_keeps_the_rest(minor: int) -> None:
    book = notebook(minor)
    nbformat.validate(nbformat.from_dict(book))  # type: ignore[no-untyped-call]
    cells: list[Any] = deepcopy(with_ids(book["cells"]))
    whole = json.dumps(cells)
    text, code, raw = (cell["id"] for cell in cells)
    revs = {cell["id"]: cell_rev(cell) for cell in cells}
    operations = operations_from([
        {"op": "split", "id": code, "expect_rev": revs[code], "lines": [2]},
        {"op": "patch", "id": text, "expect_rev": revs[text], "old": "x", "new": "z"},
        {"op": "tag", "id": text, "expect_rev": revs[text], "add": ["t"]},
        {"op": "insert", "type": "markdown", "source": "new", "before": raw},
        {"op": "set_type", "id": raw, "expect_rev": revs[raw], "type": "code"},
    ])  # fmt: skip
    made = plan(cells, operations, revs)
    assert json.dumps(cells) == whole
    assert isinstance(apply(cells, made.change), Applied)
    edited = {**book, "nbformat_minor": 5, "cells": cells}
    nbformat.validate(nbformat.from_dict(edited))  # type: ignore[no-untyped-call]
    assert cells[0]["metadata"] == {"theirs": {"a": 1}, "tags": ["t"]}
    assert cells[0].get("attachments") == book["cells"][0].get("attachments")
    assert (cells[1]["outputs"], cells[2]["outputs"]) == ([], OUTPUTS)
    assert cells[4]["metadata"] == {"format": "text/x"}
    assert outline(cells, NameGraph(cells)).total == 5
    assert "2\na\nb\n[also: application/json" in show(cells, Masker()).text
