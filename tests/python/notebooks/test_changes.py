from __future__ import annotations

import copy
import json
from pathlib import Path

import msgspec
import pytest

from openhands_jupyter.notebooks.changes import Applied, Change, Mismatch, apply

VECTORS = sorted((Path(__file__).parents[2] / "notebook_changes").glob("*.json"))


@pytest.mark.parametrize("path", VECTORS, ids=lambda path: path.stem)
def test_a_change_does_what_both_sides_agree_on(path: Path) -> None:
    vector = json.loads(path.read_text())
    cells = copy.deepcopy(vector["before"])
    result = apply(cells, msgspec.convert(vector["change"], Change))
    if "mismatch" in vector:
        assert result == msgspec.convert({"type": "mismatch", **vector["mismatch"]}, Mismatch)
        assert cells == vector["before"]
    else:
        assert result == msgspec.convert({"type": "applied", **vector["applied"]}, Applied)
        assert cells == vector["after"]
        assert list(result.revs) == list(vector["applied"]["revs"])


def test_there_are_vectors() -> None:
    assert len(VECTORS) > 30


def test_what_a_change_does_not_name_stays_the_very_same() -> None:
    vector = json.loads((VECTORS[0].parent / "steps_build_on_each_other.json").read_text())
    cells = copy.deepcopy(vector["before"])
    untouched = [cell for cell in cells if cell["id"] in ("bbbb", "dddd")]
    before = list(cells)
    apply(cells, msgspec.convert(vector["change"], Change))
    assert all(any(cell is one for cell in cells) for one in untouched)
    # The dictionaries that were there are as they were: whoever holds them is not surprised.
    assert before == vector["before"]
