"""Edits of a notebook: what they become, what is told of them, and what is refused."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from openhands_jupyter.errors import Conflict, Invalid, NotFound
from openhands_jupyter.notebooks.changes import Applied, DeleteCell, SetCell, apply
from openhands_jupyter.notebooks.editing.operations import Insert, operations_from
from openhands_jupyter.notebooks.editing.planning import CellsChanged, Plan, plan
from openhands_jupyter.notebooks.revisions import cell_rev, notebook_rev


def code(id: str, source: str, **more: Any) -> dict[str, Any]:
    cell = {"cell_type": "code", "id": id, "metadata": {}, "source": source}
    return {**cell, "outputs": [], "execution_count": None, **more}


def text(id: str, source: str, cell_type: str = "markdown", **more: Any) -> dict[str, Any]:
    return {"cell_type": cell_type, "id": id, "metadata": {}, "source": source, **more}


RAN = {
    "outputs": [{"output_type": "stream", "name": "stdout", "text": "1\n"}],
    "execution_count": 3,
}


def notebook() -> list[dict[str, Any]]:
    return [
        text("title-1", "# Title"),
        code("load-22", "import pandas as pd\ndf = pd.read_csv('a.csv')", **RAN),
        code("plot-33", "df.plot()", metadata={"tags": ["figure"], "other": {"kept": 1}}),
        text("notes-4", "one\n\ntwo", attachments={"a.png": {"image/png": "AAAA"}}),
    ]


def seen(cells: list[dict[str, Any]]) -> dict[str, str]:
    return {cell["id"]: cell_rev(cell) for cell in cells}


def planned(cells: list[dict[str, Any]], *operations: dict[str, Any], **more: Any) -> Plan:
    """Plan operations, each with the revision that its cell has."""
    revs = seen(cells)
    full = [
        {"expect_rev": revs[op["id"]], **op}
        if "id" in op and op["op"] != "move" and op["id"] in revs
        else op
        for op in operations
    ]
    return plan(cells, operations_from(full), more.pop("read", revs), **more)


def after(cells: list[dict[str, Any]], *operations: dict[str, Any]) -> list[dict[str, Any]]:
    """The cells when operations were planned and applied, which has to come out as planned."""
    made = planned(cells, *operations)
    working = deepcopy(cells)
    applied = apply(working, made.change)
    assert isinstance(applied, Applied)
    assert applied.nb_rev == made.nb_rev == notebook_rev(working)
    order = [cell["id"] for cell in working]
    for cell in made.cells:
        if cell.position is None:
            assert cell.what == "deleted"
            assert cell.id not in order
            continue
        assert order[cell.position] == cell.id
        assert cell.rev == cell_rev(working[cell.position])
        assert [cell.previous, cell.next] == [
            order[cell.position - 1] if cell.position else None,
            order[cell.position + 1] if cell.position + 1 < len(order) else None,
        ]
    return working


def sources(cells: list[dict[str, Any]]) -> list[str]:
    return [cell["source"] for cell in cells]


def test_replace_keeps_all_but_the_source() -> None:
    cells = notebook()
    new = after(cells, {"op": "replace", "id": "load-22", "source": "df = 1"})
    assert new[1] == {**cells[1], "source": "df = 1"}
    assert new[:1] + new[2:] == cells[:1] + cells[2:]


def test_what_is_told() -> None:
    cells = notebook()
    made = planned(
        cells,
        {"op": "patch", "id": "load", "old": "'a.csv'", "new": "'b.csv'",
         "expect_rev": cell_rev(cells[1])},
        {"op": "insert", "after": "load-22", "type": "code", "source": "df.head()"},
        {"op": "delete", "id": "plot-33"},
        {"op": "tag", "id": "title-1", "add": ["intro"]},
    )  # fmt: skip
    new = next(cell.id for cell in made.cells if cell.what == "inserted")
    told = made.told()
    assert told.splitlines()[0] == f"4 cells edited; nb_rev {made.nb_rev}."
    assert f"title-1: changed; rev {cell_rev(cells[0])}; @0, at the top, before load-22" in told
    assert "(tags: intro)" in told
    assert "-df = pd.read_csv('a.csv')\n+df = pd.read_csv('b.csv')" in told
    assert f"@2, after load-22, before notes-4\n{''}" in told
    assert f"{new}: inserted; rev " in told
    assert "plot-33: deleted\n@@ -1 +1 @@\n-df.plot()" in told


def test_asking_for_what_is_there_already_changes_nothing() -> None:
    cells = notebook()
    made = planned(
        cells,
        {"op": "replace", "id": "plot-33", "source": "df.plot()"},
        {"op": "tag", "id": "plot-33", "add": ["figure"], "remove": ["none"]},
        {"op": "set_type", "id": "plot-33", "type": "code"},
        {"op": "clear_outputs", "id": "plot-33"},
        {"op": "move", "id": "plot-33", "after": "load-22"},
        {"op": "move", "id": "plot-33", "before": "notes-4"},
        {"op": "move", "id": "notes-4"},
    )
    assert made.change.steps == []
    assert [cell.what for cell in made.cells] == ["unchanged", "unchanged"]
    assert made.told().startswith("0 cells edited;")


def test_a_cell_that_is_written_twice_is_set_once() -> None:
    cells = notebook()
    made = planned(
        cells,
        {"op": "patch", "id": "load-22", "old": "a.csv", "new": "b.csv"},
        {"op": "patch", "id": "load-22", "old": "b.csv", "new": "c.csv"},
        {"op": "tag", "id": "load-22", "add": ["in"]},
    )
    (step,) = made.change.steps
    assert isinstance(step, SetCell)
    assert step.rev == cell_rev(cells[1])
    assert step.source is not None
    assert "c.csv" in step.source


def test_a_cell_that_is_written_and_deleted_is_deleted_as_it_was() -> None:
    cells = notebook()
    made = planned(
        cells,
        {"op": "replace", "id": "plot-33", "source": "x"},
        {"op": "delete", "id": "plot-33"},
    )
    assert made.change.steps == [DeleteCell(id="plot-33", rev=cell_rev(cells[2]))]


def test_new_cells_stand_in_the_order_of_the_list() -> None:
    def insert(source: str, **where: str) -> dict[str, Any]:
        return {"op": "insert", "type": "code", "source": source, **where}

    new = after(
        notebook(),
        insert("a1", after="title-1"),
        insert("a2", after="title-1"),
        insert("b1", before="title-1"),
        insert("b2", before="@0"),
        insert("e1"),
        insert("e2"),
        insert("a3", after="@0"),
    )
    got = [s for s in sources(new) if len(s) == 2]
    assert got == ["b1", "b2", "a1", "a2", "a3", "e1", "e2"]
    assert sources(new)[2] == "# Title"


def test_cells_are_inserted_into_an_empty_notebook() -> None:
    insert = {"op": "insert", "type": "markdown", "source": "x"}
    (cell,) = after([], insert)
    assert cell == {"cell_type": "markdown", "id": cell["id"], "metadata": {}, "source": "x"}


def test_moved_cells_stand_in_the_order_of_the_list() -> None:
    new = after(
        notebook(),
        {"op": "move", "id": "title-1", "after": "notes-4"},
        {"op": "move", "id": "load-22", "after": "notes-4"},
        {"op": "move", "id": "plot-33"},
    )
    assert [cell["id"] for cell in new] == ["notes-4", "title-1", "load-22", "plot-33"]


def test_split_and_merge() -> None:
    cells = notebook()
    first, second = after(cells, {"op": "split", "id": "load-22", "lines": [2]})[1:3]
    assert first == {**cells[1], "source": "import pandas as pd", "outputs": [],
                     "execution_count": None}  # fmt: skip
    assert second == {**cells[1], "id": second["id"], "source": "df = pd.read_csv('a.csv')"}
    parts = [{"id": c["id"], "expect_rev": cell_rev(c)} for c in (cells[1], cells[2])]
    merged = after(cells, {"op": "merge", "cells": parts})
    assert [cell["id"] for cell in merged] == ["title-1", "load-22", "notes-4"]
    assert merged[1]["source"] == f"{cells[1]['source']}\n\n{cells[2]['source']}"
    assert merged[1]["outputs"] == []


def test_a_part_of_a_text_takes_the_attachments_that_it_shows() -> None:
    attachments = {"a.png": {"image/png": "AAAA"}, "b.png": {"image/png": "BBBB"}}
    source = "![](attachment:a.png)\n![](attachment:b.png)\nx"
    cells = [text("text-1", source, attachments=attachments)]
    first, second, third = after(cells, {"op": "split", "id": "text-1", "lines": [2, 3]})
    assert first["attachments"] == attachments
    assert second["attachments"] == {"b.png": attachments["b.png"]}
    assert "attachments" not in third


def test_types_and_tags_and_outputs() -> None:
    cells = notebook()
    new = after(
        cells,
        {"op": "set_type", "id": "title-1", "type": "raw"},
        {"op": "clear_outputs", "id": "load-22"},
        {"op": "tag", "id": "plot-33", "add": ["x", "x"], "remove": ["figure"]},
    )
    assert new[0]["cell_type"] == "raw"
    assert (new[1]["outputs"], new[1]["execution_count"]) == ([], None)
    assert new[2]["metadata"] == {"tags": ["x"], "other": {"kept": 1}}
    assert (
        "tags"
        not in after(cells, {"op": "tag", "id": "plot-33", "remove": ["figure"]})[2]["metadata"]
    )


def test_the_whole_notebook_can_be_expected() -> None:
    cells = notebook()
    insert = {"op": "insert", "type": "code", "source": "x"}
    assert planned(cells, insert, expect_nb_rev=notebook_rev(cells)).change.nb_rev == notebook_rev(
        cells
    )
    with pytest.raises(Conflict) as caught:
        planned(cells, insert, expect_nb_rev="00000000")
    assert caught.value.code == "notebook_changed"
    assert notebook_rev(cells) in caught.value.message


@pytest.mark.parametrize(
    "operation",
    [
        {"op": "replace", "source": "x"},
        {"op": "patch", "old": "df", "new": "x"},
        {"op": "delete"},
        {"op": "set_type", "type": "raw"},
        {"op": "split", "lines": [2]},
    ],
)
def test_a_cell_that_was_never_read_is_not_overwritten(operation: dict[str, Any]) -> None:
    cells = notebook()
    operation |= {"id": "load-22", "expect_rev": cell_rev(cells[1])}
    with pytest.raises(Conflict) as caught:
        plan(cells, operations_from([operation]), {"title-1": cell_rev(cells[0])})
    assert caught.value.code == "cells_not_read"
    assert "load-22" in caught.value.message
    assert plan(cells, operations_from([operation]), seen(cells)).change.steps


def test_a_revision_that_nobody_but_the_agent_is_to_blame_for() -> None:
    cells = notebook()
    rev = cell_rev(cells[1])
    operation = {"op": "delete", "id": "load-22", "expect_rev": "00000000"}
    with pytest.raises(Conflict, match="load-22 is at") as caught:
        plan(cells, operations_from([operation]), {"load-22": rev})
    assert caught.value.code == "wrong_revision"


def test_every_cell_that_changed_meanwhile_is_named() -> None:
    cells = notebook()
    read = seen(cells) | {"gone-55": "01234567"}
    now = deepcopy(cells)
    now[1]["source"] += "  # mine"
    now[2]["source"] += "  # mine"
    operations = [
        {"op": "replace", "id": "title-1", "expect_rev": read["title-1"], "source": "x"},
        {"op": "replace", "id": "load-22", "expect_rev": read["load-22"], "source": "x"},
        # This revision stood in the outline, but the source was not read.
        {"op": "delete", "id": "plot-33", "expect_rev": cell_rev(now[2])},
        {"op": "delete", "id": "gone", "expect_rev": "01234567"},
    ]
    with pytest.raises(CellsChanged) as caught:
        plan(now, operations_from(operations), read)
    told = {cell.id: (cell.reason, cell.source) for cell in caught.value.cells}
    assert told == {
        "load-22": ("changed", now[1]["source"]),
        "plot-33": ("changed", now[2]["source"]),
        "gone-55": ("gone", None),
    }
    assert cell_rev(now[1]) in caught.value.message
    assert "gone: gone-55" in caught.value.message


def test_outputs_are_cleared_and_tags_set_without_having_read_the_cell() -> None:
    cells = notebook()
    rev = cell_rev(cells[1])
    operations = [
        {"op": "clear_outputs", "id": "load-22", "expect_rev": rev},
        {"op": "tag", "id": "load-22", "expect_rev": rev, "add": ["x"]},
    ]
    assert plan(cells, operations_from(operations), {}).change.steps
    with pytest.raises(CellsChanged):
        plan(cells, operations_from([{**operations[0], "expect_rev": "00000000"}]), {})


@pytest.mark.parametrize(
    ("operations", "error", "code", "said"),
    [
        ([], Invalid, "no_operations", "empty"),
        ([{"op": "replace", "id": "nowhere", "expect_rev": "0", "source": ""}],
         NotFound, "cell_not_found", "Operation 1 (replace): There is no cell 'nowhere'."),
        ([{"op": "delete", "id": "plot-33"}, {"op": "replace", "id": "plot-33", "source": "x"}],
         Conflict, "cell_deleted_before", "Operation 2 (replace): Cell plot-33 was deleted"),
        ([{"op": "delete", "id": "plot-33"},
          {"op": "insert", "after": "plot-33", "type": "code", "source": ""}],
         Conflict, "cell_deleted_before", "Operation 2 (insert)"),
        ([{"op": "insert", "after": "@0", "before": "@1", "type": "code", "source": ""}],
         Invalid, "two_places", "Both"),
        ([{"op": "move", "id": "plot-33", "after": "plot-33"}], Invalid, "same_cell", "itself"),
        ([{"op": "clear_outputs", "id": "title-1"}], Invalid, "no_outputs", "title-1"),
        ([{"op": "set_type", "id": "notes-4", "type": "code"}], Invalid, "has_attachments", "lost"),
        ([{"op": "tag", "id": "title-1", "add": ["a,b"]}], Invalid, "bad_tag", "a,b"),
        ([{"op": "split", "id": "load-22", "lines": [1]}], Invalid, "bad_split", "[1]"),
        ([{"op": "split", "id": "load-22", "lines": [3]}], Invalid, "bad_split", "it has 2"),
        ([{"op": "split", "id": "load-22", "lines": []}], Invalid, "bad_split", "[]"),
        ([{"op": "patch", "id": "plot-33", "old": "", "new": "x"}],
         Invalid, "patch_empty", "empty"),
        ([{"op": "replace", "id": "plot-33", "source": "x" * 1_000_001}],
         Invalid, "source_too_long", "1,000,001"),
        ([{"op": "insert", "type": "code", "source": "x" * 1_000_001}],
         Invalid, "source_too_long", "1,000,001"),
        ([{"op": "merge", "cells": []}], Invalid, "merge_too_few", "two"),
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_refused(
    operations: list[dict[str, Any]], error: type[Exception], code: str, said: str
) -> None:
    with pytest.raises(error) as caught:
        planned(notebook(), *operations)
    assert isinstance(caught.value, (Conflict, Invalid, NotFound))
    assert caught.value.code == code
    assert said in caught.value.message
    assert caught.value.hint


def test_cells_apart_are_not_merged() -> None:
    cells = notebook()
    for pair in ([0, 2], [1, 0], [1, 1]):
        parts = [{"id": cells[n]["id"], "expect_rev": cell_rev(cells[n])} for n in pair]
        with pytest.raises(Invalid) as caught:
            planned(cells, {"op": "merge", "cells": parts})
        assert caught.value.code == "merge_apart"


def test_cells_of_unknown_types_are_left_alone() -> None:
    cells = [{"cell_type": "widget", "id": "odd-11", "metadata": {}, "source": "a\nb", "x": 1}]
    assert after(cells, {"op": "replace", "id": "odd-11", "source": "c"}) == [
        {**cells[0], "source": "c"}
    ]
    with pytest.raises(Invalid) as caught:
        planned(cells, {"op": "split", "id": "odd-11", "lines": [2]})
    assert caught.value.code == "unknown_cell_type"


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({}, "Expected `array`"),
        ([{"op": "rename"}], "Invalid value 'rename'"),
        ([{"id": "x"}], "`op`"),
        ([{"op": "delete", "id": "x"}], "`expect_rev`"),
        ([{"op": "delete", "id": "x", "expect_rev": "1", "force": True}], "`force`"),
        ([{"op": "insert", "type": "sql", "source": ""}], "'sql'"),
    ],
)
def test_what_is_no_list_of_operations_is_refused(value: Any, said: str) -> None:
    with pytest.raises(Invalid) as caught:
        operations_from(value)
    assert caught.value.code == "bad_operation"
    assert said in caught.value.message


def test_a_patch_that_does_not_fit_names_what_resembles_it() -> None:
    source = "def area(r):\n    return 3.14 * r ** 2\n\nprint(area(2))\n"

    def refused(old: str) -> Invalid:
        with pytest.raises(Invalid) as caught:
            planned([code("area-11", source)], {"op": "patch", "id": "area-11", "old": old,
                                                "new": ""})  # fmt: skip
        return caught.value

    near = refused("return 3.14 * r ** 3")
    assert near.code == "patch_not_found"
    assert "     2\t    return 3.14 * r ** 2" in near.hint
    spaces = refused("def area(r):\n  return 3.14*r**2")
    assert "white space only" in spaces.hint
    assert "     1\tdef area(r):\n     2\t    return 3.14 * r ** 2" in spaces.hint
    assert "Nothing" in refused("import tensorflow").hint
    twice = refused("area")
    assert twice.code == "patch_ambiguous"
    assert "lines 1, 4" in twice.message
    assert refused("\n").code == "patch_ambiguous"


def test_a_patch_can_replace_each_occurrence() -> None:
    patch = {"op": "patch", "id": "aaaa-11", "old": "a", "new": "bb", "all": True}
    assert sources(after([code("aaaa-11", "a = a")], patch)) == ["bb = bb"]


@pytest.mark.timeout(30)
def test_a_source_of_a_megabyte_is_edited() -> None:
    lines = [f"row_{n} = {n % 7}" for n in range(80_000)]
    source = "\n".join(lines)
    assert len(source) > 1_000_000
    cells = [code("data-11", source)]
    new = after(
        cells, {"op": "patch", "id": "data-11", "old": "row_34999 = 6", "new": "x = 66666666"}
    )
    assert "x = 66666666" in new[0]["source"]
    made = planned(cells, {"op": "replace", "id": "data-11", "source": "\n".join(reversed(lines))})
    assert len(made.told()) < 10_000
    with pytest.raises(Invalid):
        planned(cells, {"op": "patch", "id": "data-11", "old": "row_x = 1", "new": "y"})


@pytest.mark.timeout(30)
def test_a_notebook_of_2000_cells_is_edited() -> None:
    cells = [code(f"cell-{n:05}", f"x = {n}") for n in range(2000)]
    operations: list[dict[str, Any]] = []
    for n in range(0, 2000, 4):
        operations += [
            {"op": "replace", "id": f"cell-{n:05}", "source": "y"},
            {"op": "insert", "after": f"cell-{n:05}", "type": "code", "source": "z"},
            {"op": "move", "id": f"cell-{n + 1:05}", "after": "cell-00000"},
            {"op": "delete", "id": f"cell-{n + 2:05}"},
        ]
    assert len(after(cells, *operations)) == 2000


METADATA = st.dictionaries(st.sampled_from(["tags", "mine", "trusted"]), st.just(["x"]))
SOURCES = st.text(alphabet="ab\n", max_size=8)


@st.composite
def notebooks(draw: st.DrawFn) -> list[dict[str, Any]]:
    cells = []
    for n in range(draw(st.integers(0, 7))):
        make = draw(st.sampled_from([code, text]))
        cell = make(f"cell-{n}", draw(SOURCES), metadata=draw(METADATA))
        if make is code and draw(st.booleans()):
            cell |= deepcopy(RAN)
        cells.append(cell)
    return cells


KINDS = ["replace", "delete", "move", "tag", "set_type", "patch", "split", "clear_outputs"]


@st.composite
def edits(draw: st.DrawFn) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """A notebook and operations that are valid in it."""
    cells = draw(notebooks())
    alive = {cell["id"]: cell for cell in cells}
    operations: list[dict[str, Any]] = []
    touched: set[str] = set()
    if len(cells) > 2 and draw(st.booleans()):
        first = draw(st.integers(0, len(cells) - 2))
        parts = cells[first : first + draw(st.integers(2, 3))]
        named = [{"id": c["id"], "expect_rev": cell_rev(c)} for c in parts]
        operations.append({"op": "merge", "cells": named})
        for cell in parts[1:]:
            del alive[cell["id"]]
        touched.add(parts[0]["id"])
    for _ in range(draw(st.integers(1, 6))):
        where = draw(st.sampled_from(["after", "before", ""]))
        place = {where: draw(st.sampled_from(sorted(alive)))} if where and alive else {}
        kinds = ["insert"] + (KINDS if alive else [])
        kind = draw(st.sampled_from(kinds))
        if kind == "insert":
            new = {"op": "insert", "type": "code", "source": draw(SOURCES)}
            operations.append({**new, **place})
            continue
        id = draw(st.sampled_from(sorted(alive)))
        operation = {"op": kind, "id": id}
        is_as_it_was = id not in touched
        touched.add(id)
        if kind == "replace":
            operation["source"] = draw(SOURCES)
        elif kind == "move" and id not in place.values():
            operation |= place
        elif kind == "tag":
            operation |= {"add": ["y"], "remove": ["x"]}
        elif kind == "set_type":
            operation["type"] = draw(st.sampled_from(["code", "markdown", "raw"]))
        elif kind == "delete":
            del alive[id]
        elif kind == "patch" and is_as_it_was and "a" in alive[id]["source"]:
            operation |= {"old": "a", "new": draw(SOURCES), "all": True}
        elif kind == "split" and is_as_it_was and "\n" in alive[id]["source"]:
            operation["lines"] = [2]
        elif kind == "clear_outputs" and is_as_it_was and alive[id]["cell_type"] == "code":
            pass
        elif kind != "move":
            continue
        operations.append(operation)
    return cells, operations or [{"op": "insert", "type": "raw", "source": "x"}]


@settings(max_examples=200)
@given(edits())
def test_what_is_not_named_stays_byte_for_byte(
    edit: tuple[list[dict[str, Any]], list[dict[str, Any]]],
) -> None:
    cells, operations = edit
    whole = json.dumps(cells)
    new = after(cells, *operations)
    assert json.dumps(cells) == whole
    named = {op.get("id") for op in operations}
    named |= {cell["id"] for op in operations for cell in op.get("cells", [])}
    before = [json.dumps(cell) for cell in cells if cell["id"] not in named]
    known = {cell["id"] for cell in cells}
    kept = [json.dumps(c) for c in new if c["id"] in known and c["id"] not in named]
    assert kept == before
    new_sources = [c["source"] for c in new if c["id"] not in known]
    for operation in operations:
        if operation["op"] == "insert":
            new_sources.remove(operation["source"])
    assert len(new_sources) == sum(op["op"] == "split" for op in operations)


@given(st.lists(st.text(alphabet="ab", max_size=3), min_size=2, max_size=6), st.data())
def test_the_parts_of_a_split_are_the_whole(lines: list[str], data: st.DataObject) -> None:
    starts = data.draw(st.sets(st.integers(2, len(lines)), min_size=1))
    cells = [code("cell-1", "\n".join(lines), **deepcopy(RAN))]
    parts = after(cells, {"op": "split", "id": "cell-1", "lines": sorted(starts)})
    assert "\n".join(sources(parts)) == cells[0]["source"]
    assert [len(part["outputs"]) for part in parts] == [0] * len(starts) + [1]


def test_cells_that_are_linked_by_operations_are_one_group() -> None:
    cells = [_cell(id) for id in ("aaaa", "bbbb", "cccc", "dddd", "eeee")]
    revs = {cell["id"]: cell_rev(cell) for cell in cells}
    operations = operations_from(
        [
            {"op": "merge", "cells": [{"id": i, "expect_rev": revs[i]} for i in ("aaaa", "bbbb")]},
            {"op": "move", "id": "dddd", "before": "cccc"},
            {"op": "tag", "id": "aaaa", "expect_rev": revs["aaaa"], "add": ["t"]},
            {"op": "split", "id": "eeee", "expect_rev": revs["eeee"], "lines": [2]},
            {"op": "insert", "type": "code", "source": "new", "after": "@2"},
        ]
    )
    made = plan(cells, operations, revs)
    groups = {cell.id: cell.group for cell in made.cells}
    (part,), (new,) = made.parts[3].made, made.parts[4].made
    assert groups["aaaa"] == groups["bbbb"]
    assert groups["eeee"] == groups[part]
    assert len({groups[id] for id in ("aaaa", "dddd", "eeee", new)}) == 4
    assert isinstance(made.parts[4].operation, Insert)
    assert made.parts[4].operation.after == "cccc"

    left = made.without({"bbbb", part})
    again = plan(cells, [p.operation for p in left], revs, made=[p.made for p in left])
    assert {cell.id for cell in again.edits()} == {"dddd", new}
    assert [cell.id for cell in again.cells if cell.what == "inserted"] == [new]


def test_other_texts_in_place_of_those_that_were_planned() -> None:
    cells = [_cell("aaaa"), _cell("bbbb"), _cell("cccc")]
    revs = {cell["id"]: cell_rev(cell) for cell in cells}
    operations = operations_from(
        [
            {"op": "replace", "id": "aaaa", "expect_rev": revs["aaaa"], "source": "agent"},
            {"op": "move", "id": "bbbb"},
            {"op": "insert", "type": "markdown", "source": "agent"},
        ]
    )
    made = plan(cells, operations, revs)
    (new,) = made.parts[2].made
    mine = made.with_sources({"aaaa": "one", "bbbb": "two", new: "three"})
    after = [dict(cell) for cell in cells]
    assert isinstance(apply(after, mine.change), Applied)
    assert {cell["id"]: cell["source"] for cell in after} == {
        "aaaa": "one",
        "bbbb": "two",
        "cccc": "cccc\nmore",
        new: "three",
    }
    assert {cell.id: (cell.after, cell.rev) for cell in mine.cells} == {
        cell["id"]: (cell["source"], cell_rev(cell)) for cell in after if cell["id"] != "cccc"
    }
    assert made.with_sources({}) is made


def _cell(id: str) -> dict[str, Any]:
    return {"id": id, "cell_type": "code", "source": f"{id}\nmore", "metadata": {}, "outputs": []}
