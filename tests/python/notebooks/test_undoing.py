"""Undo of an agent's edits: all that it did, and nothing that anybody else wrote."""

from __future__ import annotations

import re
from collections import Counter
from copy import deepcopy
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from openhands_jupyter.errors import OpenHandsError
from openhands_jupyter.events.masking import Masker
from openhands_jupyter.notebooks.changes import (
    Applied,
    Change,
    DeleteCell,
    MoveCell,
    SetCell,
    apply,
)
from openhands_jupyter.notebooks.editing.operations import operations_from
from openhands_jupyter.notebooks.editing.planning import plan
from openhands_jupyter.notebooks.revisions import cell_rev
from openhands_jupyter.notebooks.undo.kept import KeptEdit, KeptEdits
from openhands_jupyter.notebooks.undo.records import CellRecord, records
from openhands_jupyter.notebooks.undo.undoing import UndoPlan, plan_undo

Cells = list[dict[str, Any]]

RAN = {
    "outputs": [{"output_type": "stream", "name": "stdout", "text": "1\n"}],
    "execution_count": 3,
}


def code(id: str, source: str, **more: Any) -> dict[str, Any]:
    cell = {"cell_type": "code", "id": id, "metadata": {}, "source": source}
    return {**cell, "outputs": [], "execution_count": None, **deepcopy(more)}


def text(id: str, source: str, **more: Any) -> dict[str, Any]:
    return {"cell_type": "markdown", "id": id, "metadata": {}, "source": source, **more}


def notebook() -> Cells:
    return [
        text("title", "# Title"),
        code("load", "import a\nb = 1\nc = 2", **RAN),
        code("plot", "plot(b)", metadata={"tags": ["figure"], "other": {"kept": 1}}, **RAN),
        text("notes", "one\n\ntwo", attachments={"a.png": {"image/png": "AAAA"}}),
    ]


def kept(made: list[CellRecord]) -> list[CellRecord]:
    """The records as they come back from a log."""
    return msgspec.json.decode(msgspec.json.encode(made), type=list[CellRecord])


def edit(cells: Cells, *operations: dict[str, Any]) -> list[CellRecord]:
    """Do what an agent asks for, with the revisions that cells have; what to keep of it."""
    revs = {cell["id"]: cell_rev(cell) for cell in cells}
    full = [
        {"expect_rev": revs[op["id"]], **op} if "id" in op and op["op"] != "move" else op
        for op in operations
    ]
    return do(cells, plan(cells, operations_from(full), revs).change)


def do(cells: Cells, change: Change) -> list[CellRecord]:
    made = records(cells, change)
    assert isinstance(apply(cells, change), Applied)
    return kept(made)


def undo(cells: Cells, *edits: list[CellRecord]) -> UndoPlan:
    """Undo, and check that what was told is what was done; the cells are those afterwards."""
    before = deepcopy(cells)
    undoing = plan_undo(edits, cells)
    assert cells == before
    assert isinstance(apply(cells, undoing.change), Applied)
    old, new = ({cell["id"]: cell for cell in some} for some in (before, cells))
    told = {cell.id: cell for cell in undoing.cells}
    assert not told.keys() & {cell.id for cell in undoing.left}
    for id in old | new:
        if old.get(id) != new.get(id):
            assert id in told
    for cell in undoing.left:
        assert old.get(cell.id) == new.get(cell.id)
        assert cell.source == (old[cell.id]["source"] if cell.id in old else None)
    for id, cell in told.items():
        assert cell.before == (old[id]["source"] if id in old else None)
        assert cell.after == (new[id]["source"] if id in new else None)
        assert (cell.what == "inserted") == (id not in old)
        assert (cell.what == "deleted") == (id not in new)
        if cell.position is not None:
            assert cells[cell.position]["id"] == id
    return undoing


def cell_of(cells: Cells, id: str) -> dict[str, Any]:
    return next(cell for cell in cells if cell["id"] == id)


def ids(cells: Cells) -> list[str]:
    return [cell["id"] for cell in cells]


REPLACE = {"op": "replace", "id": "load", "source": "import a\nb = 10\nc = 2"}
MERGE = {
    "op": "merge",
    "cells": [{"id": c["id"], "expect_rev": cell_rev(c)} for c in notebook()[1:3]],
}


@pytest.mark.parametrize(
    "operations",
    [
        [REPLACE],
        [{"op": "delete", "id": "notes"}, {"op": "delete", "id": "plot"}],
        [{"op": "insert", "type": "code", "source": "x", "before": "title"}],
        [{"op": "move", "id": "title"}, {"op": "move", "id": "plot", "before": "load"}],
        [{"op": "split", "id": "load", "lines": [2, 3]}],
        [MERGE],
        [{"op": "set_type", "id": "plot", "type": "raw"}],
        [{"op": "clear_outputs", "id": "load"}],
        [{"op": "tag", "id": "plot", "add": ["x"], "remove": ["figure"]}],
        [{"op": "tag", "id": "title", "add": ["x"]}],
    ],
    ids=lambda operations: operations[0]["op"],
)
def test_an_edit_is_undone_and_redone_exactly(operations: list[dict[str, Any]]) -> None:
    cells = notebook()
    made = edit(cells, *operations)
    edited = deepcopy(cells)
    undoing = plan_undo([made], cells)
    undone = do(cells, undoing.change)
    assert cells == notebook()
    assert undoing.left == []
    undo(cells, undone)
    assert cells == edited


def test_a_turn_is_undone_edit_by_edit() -> None:
    cells = notebook()
    edits = [
        edit(cells, REPLACE),
        edit(cells, {"op": "split", "id": "load", "lines": [2]}),
        edit(
            cells, {"op": "move", "id": "plot", "before": "title"}, {"op": "delete", "id": "title"}
        ),
        edit(cells, {"op": "replace", "id": "load", "source": "import x"}),
    ]
    undoing = undo(cells, *edits)
    assert cells == notebook()
    assert undoing.left == []
    told = undoing.told()
    assert "title: comes back; @0" in told
    assert "load: as it was; @1 (is moved back)" not in told
    assert "-import x\n+import a\n+b = 1\n+c = 2" in told
    assert "plot: is moved back; @2" in told


def test_what_somebody_wrote_in_the_cell_since_stays() -> None:
    cells = notebook()
    made = edit(cells, {**REPLACE, "source": "import aa\nb = 1\nc = 2"})
    cell_of(cells, "load")["source"] += "\nmine = 3"
    undoing = undo(cells, made)
    assert cell_of(cells, "load")["source"] == "import a\nb = 1\nc = 2\nmine = 3"
    assert undoing.left == []


def test_what_somebody_wrote_between_two_edits_stays() -> None:
    cells = notebook()
    first = edit(cells, {**REPLACE, "source": "import aa\nb = 1\nc = 2"})
    cell_of(cells, "load")["source"] += "\nmine = 3"
    second = edit(cells, {**REPLACE, "source": "import aaa\nb = 1\nc = 2\nmine = 3"})
    undo(cells, first, second)
    assert cell_of(cells, "load")["source"] == "import a\nb = 1\nc = 2\nmine = 3"


def test_where_both_changed_the_same_lines_both_are_shown() -> None:
    cells = notebook()
    made = edit(cells, REPLACE, {"op": "delete", "id": "notes"})
    cell_of(cells, "load")["source"] = "import a\nb = 11\nc = 2"
    (left,) = undo(cells, made).left
    assert (left.id, left.reason) == ("load", "clash")
    assert left.both == (
        "import a\n<<<<<<< before the edit\nb = 1\n||||||| after the edit\nb = 10\n=======\n"
        "b = 11\n>>>>>>> now\nc = 2"
    )
    # The rest is undone.
    assert ids(cells) == ids(notebook())


def test_a_new_cell_that_somebody_changed_stays() -> None:
    cells = notebook()
    made = edit(cells, {"op": "insert", "type": "code", "source": "x = 1"})
    cells[-1]["source"] = "x = 1\ny = 2"
    undoing = undo(cells, made)
    assert [cell.reason for cell in undoing.left] == ["changed"]
    assert undoing.left[0].both.endswith("+y = 2")
    assert len(cells) == 5


@pytest.mark.parametrize(
    ("metadata", "stays"),
    [({"openhands": {"accepted": True}, "execution": {}}, False), ({"tags": ["mine"]}, True)],
)
def test_a_new_cell_with_metadata_of_others(metadata: dict[str, Any], stays: bool) -> None:
    cells = notebook()
    made = edit(cells, {"op": "insert", "type": "code", "source": "x = 1"})
    cells[-1] |= {**RAN, "metadata": metadata}
    assert bool(undo(cells, made).left) == stays
    assert len(cells) == 4 + stays


def test_what_is_undone_by_hand_already() -> None:
    cells = notebook()
    made = edit(
        cells,
        REPLACE,
        {"op": "delete", "id": "title"},
        {"op": "insert", "type": "code", "source": "x = 1"},
        {"op": "set_type", "id": "plot", "type": "raw"},
    )
    cells = notebook()
    undoing = undo(cells, made)
    assert cells == notebook()
    assert (undoing.cells, undoing.left) == ([], [])
    assert undoing.change.steps == []


def test_a_changed_cell_that_was_deleted_since_is_said_to_be_gone() -> None:
    cells = notebook()
    made = edit(cells, REPLACE)
    del cells[1]
    (left,) = undo(cells, made).left
    assert (left.id, left.reason, left.source) == ("load", "gone", None)


def test_a_deleted_cell_comes_back_between_what_is_left_of_its_neighbours() -> None:
    for gone, at in (("title", 0), ("plot", 1), ("", 1)):
        cells = notebook()
        made = edit(cells, {"op": "delete", "id": "load"})
        cells = [cell for cell in cells if cell["id"] != gone]
        undo(cells, made)
        assert cells[at] == notebook()[1]
    cells = [text("new", "x"), text("newer", "y")]
    undo(cells, made)
    assert ids(cells) == ["new", "load", "newer"]


def test_a_cell_that_was_moved_on_stays_where_it_is() -> None:
    cells = notebook()
    made = edit(cells, {"op": "move", "id": "title"})
    cells.insert(1, cells.pop())
    order = ids(cells)
    (left,) = undo(cells, made).left
    assert ids(cells) == order
    assert left.why == "It stays where it is, as somebody moved it since."


def test_a_cell_whose_neighbours_are_gone_stays_where_it_is() -> None:
    cells = notebook()
    made = edit(cells, {"op": "move", "id": "load"})
    cells = [cell for cell in cells if cell["id"] not in ("title", "plot")]
    (left,) = undo(cells, made).left
    assert ids(cells) == ["notes", "load"]
    assert "its neighbours are gone" in left.why


def test_the_parts_of_a_cell_are_put_together_only_as_a_whole() -> None:
    cells = notebook()
    made = edit(cells, {"op": "split", "id": "load", "lines": [2]})
    cells[1]["source"] = "import mine"
    undoing = undo(cells, made)
    # Else `b = 1` would be nowhere.
    assert cells[2]["source"] == "b = 1\nc = 2"
    assert [(cell.id, cell.reason) for cell in undoing.left] == [
        ("load", "clash"),
        (cells[2]["id"], "linked"),
    ]
    assert "load" in undoing.left[1].why


def test_text_that_was_deleted_in_one_edit_and_written_again_in_another() -> None:
    cells = notebook()
    edits = [
        edit(cells, {**REPLACE, "source": "import a"}),
        edit(cells, {"op": "insert", "type": "code", "source": "  b = 1\nc = 2"}),
    ]
    cells[1]["source"] = "import mine"
    assert len(undo(cells, *edits).left) == 2
    assert cells[-1]["source"] == "  b = 1\nc = 2"


def test_outputs_come_back_unless_the_cell_was_run() -> None:
    cells = notebook()
    made = edit(cells, {"op": "clear_outputs", "id": "load"}, {"op": "clear_outputs", "id": "plot"})
    new = {"outputs": [], "execution_count": 9}
    cells[1] |= new
    (left,) = undo(cells, made).left
    assert left.why == "It keeps its outputs, as it was run since."
    assert cells[1] == notebook()[1] | new
    assert cells[2] == notebook()[2]


def test_metadata_of_others_stays() -> None:
    cells = notebook()
    change = Change(
        steps=[
            SetCell(
                id="plot",
                rev=cell_rev(cells[2]),
                metadata={"tags": ["a"], "other": None, "openhands": {"session": "s"}},
            )
        ]
    )
    made = do(cells, change)
    cells[2]["metadata"] |= {"tags": ["a", "mine"], "later": 1}
    del cells[2]["metadata"]["openhands"]
    undoing = undo(cells, made)
    assert cells[2]["metadata"] == {"tags": ["a", "mine"], "other": {"kept": 1}, "later": 1}
    assert undoing.cells[0].notes == ["keeps its tags, which somebody changed since"]


def test_files_that_were_attached_since_are_not_lost() -> None:
    cells = [code("cell", "# text")]
    made = edit(cells, {"op": "set_type", "id": "cell", "type": "markdown"})
    cells[0]["attachments"] = {"mine.png": {"image/png": "AAAA"}}
    assert undo(cells, made).left[0].reason == "changed"
    assert "attachments" in cells[0]


def test_a_type_that_somebody_chose_since_stays() -> None:
    cells = notebook()
    made = edit(cells, {"op": "set_type", "id": "plot", "type": "markdown"})
    cells[2]["cell_type"] = "raw"
    assert undo(cells, made).left[0].reason == "changed"


def test_a_mask_is_never_written_into_a_cell() -> None:
    secret = "not-for-the-log"
    cells = [
        code("first", f"key = '{secret}'"),
        code("second", "print(key)", outputs=[{**RAN["outputs"][0], "text": secret}]),
    ]
    made = edit(cells, {"op": "delete", "id": "first"}, {"op": "delete", "id": "second"})
    masked = Masker(lambda: [secret]).value(made)
    undoing = undo(cells, masked)
    assert [(cell.id, cell.reason) for cell in undoing.left] == [
        ("first", "not_kept"),
        ("second", "linked"),
    ]
    # Where it is in the outputs alone, the cell comes back without them.
    undoing = undo(cells, [record for record in masked if record.id == "second"])
    assert cells == [code("second", "print(key)")]
    assert undoing.cells[0].notes == ["comes without its outputs, which are not kept"]


def test_what_is_too_long_is_kept_in_part_and_the_oldest_goes_first(tmp_path: Path) -> None:
    long = code("long", "x" * 3000, outputs=[{**RAN["outputs"][0], "text": "y" * 9000}])
    cells = [long, code("half", "x = '\ud800'")]
    before = deepcopy(cells)
    gone = [DeleteCell(id=cell["id"], rev=cell_rev(cell)) for cell in cells]
    made = records(cells, Change(steps=list(gone)))
    one = [KeptEdit(path="/a.ipynb", records=made)]

    def after_undo(most: int) -> tuple[UndoPlan, Cells]:
        store = KeptEdits(tmp_path / str(most), most_of_an_edit=most)
        store.put(7, one)
        (found,) = store.of(7)
        now: Cells = []
        told = plan_undo([found.records], now)
        assert isinstance(apply(now, told.change), Applied)
        return told, now

    assert after_undo(20_000)[1] == before
    told, now = after_undo(6_000)
    assert (now[0]["source"], now[0]["outputs"], now[1]) == (long["source"], [], before[1])
    assert told.cells[0].notes == ["comes without its outputs, which are not kept"]
    told, now = after_undo(1_000)
    assert now == [] and {cell.reason for cell in told.left} == {"not_kept"}

    store = KeptEdits(tmp_path / "some", most_of_all=40_000)
    for event in (2, 10, 11, 12):
        store.put(event, one)
    assert [event for event in (2, 10, 11, 12) if store.has(event)] == [10, 11, 12]
    assert store.of(2) == []
    again = KeptEdits(tmp_path / "some", most_of_all=40_000)
    again.put(12, [])
    assert not again.has(12) and store.of(11) == one
    (tmp_path / "file").touch()
    with pytest.raises(OpenHandsError, match="not changed"):
        KeptEdits(tmp_path / "file" / "edits").put(1, one)


def test_a_mark_goes_with_its_edit_also_when_somebody_accepted_it() -> None:
    mark = {"session": "s", "event": 1}
    cells = [code("a", "x"), code("b", "y", metadata={"openhands": {"session": "other"}})]
    before = deepcopy(cells)
    steps = [
        SetCell(id=cell["id"], rev=cell_rev(cell), source="z", metadata={"openhands": mark})
        for cell in cells
    ]
    made = records(cells, Change(steps=list(steps)))
    assert isinstance(apply(cells, Change(steps=list(steps))), Applied)
    cells[0]["metadata"]["openhands"] = {**mark, "accepted": True}
    undo(cells, made)
    assert cells == before


def test_what_nbformat_does_not_allow_does_not_hold_up_the_rest() -> None:
    strange = {"cell_type": "heading", "id": "strange", "metadata": {}, "source": "x"}
    broken = code("broken", "x", outputs=[{"output_type": "nothing"}])
    cells = [*notebook(), strange, broken]
    steps = [{"op": "delete", "id": id} for id in ("strange", "broken", "title")]
    made = edit(cells, *steps)
    undoing = undo(cells, made)
    assert [(cell.id, cell.reason) for cell in undoing.left] == [("strange", "not_allowed")]
    assert ids(cells) == [*ids(notebook()), "broken"]
    assert cells[-1]["outputs"] == []


def test_records_of_another_notebook_are_refused() -> None:
    change = Change(steps=[MoveCell(id="none", after=None)])
    with pytest.raises(ValueError, match="does not fit"):
        records(notebook(), change)


@pytest.mark.timeout(60)
def test_a_large_notebook_is_undone_in_time() -> None:
    cells = [code(f"cell-{n:05}", f"x{n} = 1\ny = 2\n)") for n in range(2000)]
    before = deepcopy(cells)
    operations: list[dict[str, Any]] = []
    for n in range(0, 1998, 3):
        operations += [
            {"op": "replace", "id": f"cell-{n:05}", "source": "y = 3"},
            {"op": "move", "id": f"cell-{n + 1:05}", "after": "cell-00000"},
            {"op": "delete", "id": f"cell-{n + 2:05}"},
        ]
    made = edit(cells, *operations)
    undo(cells, made)
    assert cells == before


TYPES = st.sampled_from(["code", "markdown", "raw"])
LINES = st.lists(st.sampled_from(["a", "b", ")", ""]), max_size=4).map("\n".join)
TAGS = st.lists(st.sampled_from(["mine", "x"]), unique=True, max_size=2)


@st.composite
def a_notebook(draw: st.DrawFn) -> Cells:
    cells = []
    for n in range(draw(st.integers(0, 6))):
        make = draw(st.sampled_from([code, text]))
        cell = make(f"cell-{n}", draw(LINES))
        if tags := draw(TAGS):
            cell["metadata"] = {"tags": tags}
        if make is text and draw(st.booleans()):
            cell["attachments"] = {"a.png": {"image/png": "AAAA"}}
        elif make is code and draw(st.booleans()):
            cell |= deepcopy(RAN)
        cells.append(cell)
    return cells


def agents_operations(data: st.DataObject, cells: Cells, lines: st.SearchStrategy[str]) -> Any:
    """Operations that can be done, one for a cell at most, some of cells that are moved too."""
    free = ids(cells)
    operations: list[dict[str, Any]] = []
    for _ in range(data.draw(st.integers(1, 4))):
        kind = data.draw(
            st.sampled_from(
                ["insert", "replace", "delete", "merge", "split", "type", "tag", "move"]
            )
        )
        beside = data.draw(st.sampled_from(free)) if free else None
        place = {data.draw(st.sampled_from(["after", "before"])): beside} if beside else {}
        if kind == "insert":
            new = {"op": "insert", "type": data.draw(TYPES), "source": data.draw(lines)}
            operations.append({**new, **place})
            continue
        if beside is None:
            continue
        free.remove(beside)
        cell = cell_of(cells, beside)
        at = ids(cells).index(beside)
        match kind:
            case "replace":
                operations.append({"op": kind, "id": beside, "source": data.draw(lines)})
            case "delete":
                operations.append({"op": kind, "id": beside})
            case "move":
                other = {"after": data.draw(st.sampled_from(free))} if free else {}
                operations.append({"op": kind, "id": beside, **other})
            case "tag":
                operations.append({"op": kind, "id": beside, "add": ["x"], "remove": ["mine"]})
            case "type" if not cell.get("attachments"):
                operations.append({"op": "set_type", "id": beside, "type": data.draw(TYPES)})
            case "split" if "\n" in cell["source"]:
                operations.append({"op": kind, "id": beside, "lines": [2]})
            case "merge" if at + 1 < len(cells) and cells[at + 1]["id"] in free:
                pair = cells[at : at + 2]
                moves = any(op["op"] == "move" for op in operations)
                if not moves and not pair[1].get("attachments"):
                    free.remove(pair[1]["id"])
                    named = [{"id": c["id"], "expect_rev": cell_rev(c)} for c in pair]
                    # First, as an insertion may come between them.
                    operations.insert(0, {"op": kind, "cells": named})
    gone = {op["id"] for op in operations if op["op"] == "delete"}
    gone |= {cell["id"] for op in operations for cell in op.get("cells", [])[1:]}
    return [op for op in operations if not gone & {op.get("after"), op.get("before")}]


@settings(max_examples=300)
@given(a_notebook(), st.data())
def test_without_other_edits_all_is_exactly_as_before(cells: Cells, data: st.DataObject) -> None:
    pictures, edits = [deepcopy(cells)], []
    for _ in range(data.draw(st.integers(1, 4))):
        if operations := agents_operations(data, cells, LINES):
            edits.append(edit(cells, *operations))
            pictures.append(deepcopy(cells))
    undoing = plan_undo(edits, cells)
    undone = do(cells, undoing.change)
    assert cells == pictures[0]
    assert undoing.left == []
    again = do(cells, plan_undo([undone], cells).change)
    assert cells == pictures[-1]
    undo(cells, again)
    assert cells == pictures[0]


def written(cells: Cells) -> Counter[str]:
    """What the person typed and is there, and how often; they type no line twice."""
    return Counter(line for cell in cells for line in re.findall(r"mine \d+", cell["source"]))


class Turn:
    """Edits of one turn, or one undo, and what the person's lines had to do with them."""

    def __init__(self, cells: Cells) -> None:
        self.before = deepcopy(cells)
        self.edits: list[list[CellRecord]] = []
        self.brought: set[str] = set()
        self.took: set[str] = set()
        self.alone = True

    def add(self, made: list[CellRecord], before: Counter[str], after: Counter[str]) -> None:
        self.edits.append(made)
        # Also where it is another copy of what is there: that one goes with an undo.
        self.brought |= (after - before).keys() - self.took
        gone = before.keys() - after.keys()
        self.took = (self.took | (gone - self.brought)) - after.keys()


class Together(RuleBasedStateMachine):
    """A person and an agent edit a notebook, in any order, and turns are undone, in any order.

    What must never be lost is every line that the person typed, until they delete it themselves or
    the agent does. An undo removes none of them, but those that the undone edits themselves had
    brought; of those that the undone edits had taken, each is back, or the cell that it was in is
    told to be left alone.
    """

    def __init__(self) -> None:
        super().__init__()
        self.turns: list[Turn] = []
        self.deleted: Cells = []
        self.count = 0
        self.cells: Cells = [
            code("first", f"{self.typed()}\n{self.typed()}\n{self.typed()}"),
            text("second", f"{self.typed()}\n\n{self.typed()}"),
        ]

    def typed(self) -> str:
        self.count += 1
        return f"mine {self.count}"

    def some(self, data: st.DataObject) -> dict[str, Any]:
        """A cell that the person is about to change."""
        for turn in self.turns:
            turn.alone = False
        at = data.draw(st.integers(0, len(self.cells) - 1))
        return self.cells[at]

    @rule(data=st.data())
    def person_inserts(self, data: st.DataObject) -> None:
        for turn in self.turns:
            turn.alone = False
        at = data.draw(st.integers(0, len(self.cells)))
        make = data.draw(st.sampled_from([code, text]))
        typed = self.typed()
        self.cells.insert(at, make(typed.replace(" ", "-"), typed))

    @precondition(lambda self: self.cells)
    @rule(data=st.data(), removes=st.booleans(), types=st.booleans())
    def person_edits_lines(self, data: st.DataObject, removes: bool, types: bool) -> None:
        cell = self.some(data)
        lines = cell["source"].split("\n")
        at = data.draw(st.integers(0, len(lines) - 1))
        lines[at : at + removes] = [self.typed()] if types else []
        cell["source"] = "\n".join(lines)

    @precondition(lambda self: self.cells)
    @rule(data=st.data())
    def person_moves_a_line(self, data: st.DataObject) -> None:
        cell, other = self.some(data), self.some(data)
        lines = cell["source"].split("\n")
        line = lines.pop(data.draw(st.integers(0, len(lines) - 1)))
        cell["source"] = "\n".join(lines)
        other["source"] += f"\n{line}"

    @precondition(lambda self: self.cells)
    @rule(data=st.data())
    def person_deletes_a_cell(self, data: st.DataObject) -> None:
        cell = self.some(data)
        self.cells.remove(cell)
        self.deleted.append(cell)

    @rule(data=st.data())
    def person_brings_a_cell_back(self, data: st.DataObject) -> None:
        gone = [cell for cell in self.deleted if cell["id"] not in ids(self.cells)]
        if gone:
            self.person_inserts(data)
            self.cells.append(data.draw(st.sampled_from(gone)))

    @precondition(lambda self: self.cells)
    @rule(data=st.data())
    def person_moves(self, data: st.DataObject) -> None:
        cell = self.some(data)
        self.cells.remove(cell)
        self.cells.insert(data.draw(st.integers(0, len(self.cells))), cell)

    @precondition(lambda self: self.cells)
    @rule(data=st.data(), cell_type=TYPES)
    def person_changes_more(self, data: st.DataObject, cell_type: str) -> None:
        cell = self.some(data)
        cell["metadata"] = {"tags": data.draw(TAGS)}
        rest = {"code": {"outputs": [], "execution_count": self.count}}.get(cell_type, {})
        for key in ("outputs", "execution_count", "attachments"):
            cell.pop(key, None)
        cell |= {"cell_type": cell_type, **rest}

    @rule(data=st.data(), goes_on=st.booleans(), times=st.integers(1, 2))
    def agent_edits(self, data: st.DataObject, goes_on: bool, times: int) -> None:
        if not goes_on or not self.turns:
            self.turns.append(Turn(self.cells))
        turn = self.turns[-1]
        for other in self.turns[:-1]:
            other.alone = False
        # It also writes again what it knows from before.
        known = sorted({f"mine {n + 1}" for n in range(self.count)} - written(self.cells).keys())
        words = st.sampled_from(["a", "b", "agent", *sorted(turn.took), *known[:2]])
        for _ in range(times):
            lines = st.lists(words, max_size=4).map("\n".join)
            if operations := agents_operations(data, self.cells, lines):
                before = written(self.cells)
                made = edit(self.cells, *operations)
                turn.add(made, before, written(self.cells))

    @precondition(lambda self: self.turns)
    @rule(data=st.data())
    def a_turn_is_undone(self, data: st.DataObject) -> None:
        turn = data.draw(st.sampled_from(self.turns))
        undoing_turn = Turn(self.cells)
        before = written(self.cells)
        undoing = plan_undo(turn.edits, self.cells)
        made = records(self.cells, undoing.change)
        undo(self.cells, *turn.edits)
        after = written(self.cells)
        assert before.keys() - after.keys() <= turn.brought
        left = {cell.id for cell in undoing.left}
        in_left = {
            line
            for one in turn.edits
            for record in one
            if record.id in left and record.before
            for line in re.findall(r"mine \d+", record.before.source)
        }
        assert turn.took - after.keys() <= in_left
        if turn.alone:
            assert self.cells == turn.before
            assert undoing.left == []
        undoing_turn.add(kept(made), before, after)
        for other in self.turns:
            other.alone = False
        self.turns.append(undoing_turn)

    @invariant()
    def ids_are_unlike(self) -> None:
        assert len(set(ids(self.cells))) == len(self.cells)


TestTogether = Together.TestCase
TestTogether.settings = settings(
    max_examples=200,
    stateful_step_count=20,
    deadline=None,
    phases=[Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink],
)
