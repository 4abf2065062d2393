"""An agent and a person at one cell: nothing is overwritten, and the agent is told how it fits."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from openhands_jupyter.notebooks.changes import Applied, DeleteCell, Mismatch, SetCell, apply
from openhands_jupyter.notebooks.editing.conflicts import told_of_conflicts, wanted_sources
from openhands_jupyter.notebooks.editing.operations import operations_from
from openhands_jupyter.notebooks.editing.planning import CellsChanged, plan
from openhands_jupyter.notebooks.revisions import cell_rev

READ = "import pandas\n\ndf = load()\ndf.plot()"


def code(id: str, source: str) -> dict[str, Any]:
    cell = {"cell_type": "code", "id": id, "metadata": {}, "source": source}
    return {**cell, "outputs": [], "execution_count": None}


def told(now: list[dict[str, Any]], *operations: dict[str, Any]) -> str:
    """What is told where a cell was read as `READ`."""
    before = code("cell-11", READ)
    full = operations_from([{"expect_rev": cell_rev(before), **op} for op in operations])
    with pytest.raises(CellsChanged) as caught:
        plan(now, full, {"cell-11": cell_rev(before)})
    bases = {"cell-11": READ}
    return told_of_conflicts(caught.value.cells, bases, wanted_sources(full, bases))


def test_edits_that_fit_together_are_shown_so() -> None:
    now = code("cell-11", READ.replace("import pandas", "import pandas as pd"))
    text = told([now], {"op": "patch", "id": "cell", "old": "plot()", "new": "plot(x='a')"})
    assert f"Cell cell-11 is now at rev {cell_rev(now)}." in text
    assert "-import pandas\n+import pandas as pd" in text
    assert text.endswith("as:\nimport pandas as pd\n\ndf = load()\ndf.plot(x='a')")


def test_edits_of_the_same_lines_are_shown_side_by_side() -> None:
    now = code("cell-11", READ.replace("load()", "load('mine')"))
    text = told(
        [now], {"op": "replace", "id": "cell-11", "source": READ.replace("load()", "get()")}
    )
    assert text.endswith(
        "import pandas\n\n<<<<<<< your edit\ndf = get()\n||||||| as you read it\ndf = load()\n"
        "=======\ndf = load('mine')\n>>>>>>> as it is now\ndf.plot()"
    )


def test_where_nothing_was_to_be_written_the_change_alone_is_told() -> None:
    now = code("cell-11", f"{READ}\n# mine")
    text = told([now], {"op": "delete", "id": "cell-11"})
    assert text.endswith("+# mine")
    assert "fit together" not in text


def test_a_cell_that_is_gone_and_one_of_another_type() -> None:
    assert told([], {"op": "delete", "id": "cell-11"}) == "Cell cell-11 was deleted."
    retyped = {"cell_type": "raw", "id": "cell-11", "metadata": {}, "source": READ}
    assert "changed to raw" in told([retyped], {"op": "delete", "id": "cell-11"})


def test_a_cell_whose_old_source_is_not_known_is_shown_whole() -> None:
    now = [code("cell-11", "x = 1")]
    delete = operations_from([{"op": "delete", "id": "cell-11", "expect_rev": "00000000"}])
    with pytest.raises(CellsChanged) as caught:
        plan(now, delete, {"cell-11": "00000000"})
    assert "It holds:\n     1\tx = 1" in told_of_conflicts(caught.value.cells, {}, {})


SOURCES = st.text(alphabet="ab\n", max_size=6)
IDS = ["cell-0", "cell-1", "cell-2"]


@settings(max_examples=150)
@given(
    st.lists(SOURCES, min_size=3, max_size=3),
    st.lists(st.tuples(st.sampled_from(["replace", "delete"]), st.sampled_from(IDS), SOURCES),
             min_size=1, max_size=3, unique_by=lambda op: op[1]),
    st.lists(st.tuples(st.sampled_from(IDS), SOURCES.map(lambda text: f"mine {text}")), max_size=2),
    st.booleans(),
)  # fmt: skip
def test_what_a_person_wrote_meanwhile_stays(
    sources: list[str],
    asked: list[tuple[str, str, str]],
    typed: list[tuple[str, str]],
    before_planning: bool,
) -> None:
    cells = [code(id, source) for id, source in zip(IDS, sources, strict=True)]
    read = {cell["id"]: cell_rev(cell) for cell in cells}
    asking = [{"op": kind, "id": id, "expect_rev": read[id]} for kind, id, _ in asked]
    for operation, (kind, _, source) in zip(asking, asked, strict=True):
        operation |= {"source": source} if kind == "replace" else {}
    operations = operations_from(asking)
    now = deepcopy(cells)
    for id, source in typed:
        now[IDS.index(id)]["source"] = source
    expected = deepcopy(now)
    clash = {id for id, _ in typed} & {id for _, id, _ in asked}
    if before_planning and clash:
        with pytest.raises(CellsChanged) as caught:
            plan(now, operations, read)
        assert {cell.id for cell in caught.value.cells} == clash
        return
    made = plan(now if before_planning else cells, operations, read)
    outcome = apply(now, made.change)
    written = {step.id for step in made.change.steps if isinstance(step, DeleteCell | SetCell)}
    if clash & written:
        assert isinstance(outcome, Mismatch)
        assert {cell.id for cell in outcome.cells} == clash & written
        assert now == expected
        return
    assert isinstance(outcome, Applied)
    left = {cell["id"]: cell["source"] for cell in now}
    assert all(left[id] == expected[IDS.index(id)]["source"] for id, _ in typed)
