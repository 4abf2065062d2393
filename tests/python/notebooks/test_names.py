"""Names that cells give each other, and what an edit makes stale by them."""

from __future__ import annotations

import builtins
import contextlib
import io
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from openhands_jupyter.notebooks.names.cell_names import is_built_in, names_in
from openhands_jupyter.notebooks.names.graph import (
    NameGraph,
    OutOfOrder,
    Stale,
    UsedEarly,
    is_python,
    out_of_order,
)


def code(id: str, source: str, count: int | None = None) -> dict[str, Any]:
    return {"cell_type": "code", "id": id, "source": source, "execution_count": count}


def text(id: str, source: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "id": id, "source": source}


def sets(source: str) -> tuple[set[str], set[str], set[str]]:
    """What a cell defines, changes and uses, without Python's own names."""
    names, _ = names_in(source)
    assert names.readable
    used = {name for name in names.uses | names.uses_later if not is_built_in(name)}
    return set(names.defines), set(names.changes), used


@pytest.mark.parametrize(
    ("source", "defines", "changes", "uses"),
    [
        ("x = y + 1", "x", "", "y"),
        ("x = 1\ny = x", "x y", "", ""),
        ("y = x\nx = 1", "x y", "", "x"),
        ("x += 1", "x", "", "x"),
        ("x: int = y", "x", "", "y"),
        ("x: T", "", "", "T"),
        ("a, (b, *c) = d", "a b c", "", "d"),
        ("for i in rows:\n    total = i", "i total", "", "rows"),
        ("with open(p) as f:\n    pass", "f", "", "p"),
        ("import a.b, c as d\nfrom e import f as g", "a d g", "", ""),
        ("df['x'] = df.y", "", "df", "df"),
        ("model.weights[0] = w", "", "model", "model w"),
        ("items.append(x)", "", "items", "items x"),
        ("df.drop('a', inplace=True)", "", "df", "df"),
        ("df.drop('a', inplace=False)", "", "", "df"),
        ("df = load()\ndf['x'] = 1", "df", "", "load"),
        ("del x", "", "x", "x"),
        ("def f(a, *b, c=d, **e):\n    return a + b + c + e + g", "f", "", "d g"),
        ("def f():\n    x = 1\n    return x", "f", "", ""),
        ("def f():\n    return helper()\ndef helper():\n    pass", "f helper", "", ""),
        ("def f():\n    global x\n    x = y", "f x", "", "y"),
        ("def f(n):\n    def g():\n        nonlocal n\n        n = m\n    return g", "f", "", "m"),
        ("@deco\nclass A(B):\n    x = y\n    z = x\n    def m(self):\n        return x",
         "A", "", "deco B y x"),
        ("[a for a in rows if a > low]", "", "", "rows low"),
        ("[(a, b) for a in rows for b in a]", "", "", "rows"),
        ("{k: v for k, v in pairs}", "", "", "pairs"),
        ("[last := a for a in rows]", "last", "", "rows"),
        ("rows.map(lambda a, b=c: a + b + d)", "", "", "rows c d"),
        ("try:\n    x = 1\nexcept E as e:\n    print(e)", "x", "", "E"),
        ("match p:\n    case {'a': a, **rest}:\n        pass\n    case [b, *c]:\n        pass",
         "a rest b c", "", "p"),
        ("if (n := len(a)) > 1:\n    print(n)", "n", "", "a"),
        ("async def f():\n    return x\nawait f()", "f", "", "x"),
        ("f'{x} {y!r:>{w}}'", "", "", "x y w"),
        ("x = [x for x in x]", "x", "", "x"),
        ("print(len([]), __name__, _, _i3, In)", "", "", ""),
    ],
)  # fmt: skip
def test_what_python_does_with_names(source: str, defines: str, changes: str, uses: str) -> None:
    assert sets(source) == (set(defines.split()), set(changes.split()), set(uses.split()))


@pytest.mark.parametrize(
    ("source", "defines", "uses"),
    [
        ("%matplotlib inline\ny = x", "y", "x"),
        ("%time y = f(x)", "y", "f x"),
        ("%timeit -n 10 y = f(x)", "", "f x"),
        ("%%time\ny = x", "y", "x"),
        ("%%timeit\ny = x", "", "x"),
        ("%%capture out\ny = x", "out y", "x"),
        ("%%bash --out found\necho $HOME", "found", ""),
        ("files = !ls {folder} $pattern", "files", "folder pattern"),
        ("!pip install {package}", "", "package"),
        ("df?", "", ""),
        ("%%writefile a.py\nx = y", "", ""),
    ],
)
def test_what_magics_do_with_names(source: str, defines: str, uses: str) -> None:
    assert sets(source) == (set(defines.split()), set(), set(uses.split()))


@pytest.mark.parametrize(
    "source", ["from math import *", "%run a.py", "exec(code)", "%%sql db\nselect 1", "globals()"]
)
def test_what_may_define_anything_is_opaque(source: str) -> None:
    assert names_in(source)[0].opaque


@pytest.mark.parametrize(
    "source", ["def", "x = (", "\0", "-" * 50_000 + "1", "a+" * 50_000 + "a", "x = 1\n" * 50_000]
)
def test_what_cannot_be_read_is_said_to_be_so(source: str) -> None:
    names, _ = names_in(source)
    assert (names.readable, names.opaque) == (False, True)


STATEMENTS = st.sampled_from(
    [
        "a = 1",
        "b = a",
        "c = a + b",
        "a += c",
        "def f():\n    return a",
        "def g(a):\n    return a",
        "b = f()",
        "c = [a for b in (1, 2)]",
        "class A:\n    a = 2\n    b = a",
        "for c in (a, b):\n    pass",
        "del b",
    ]
)


@settings(max_examples=150)
@given(st.lists(STATEMENTS, min_size=1, max_size=5))
def test_a_cell_runs_where_the_names_that_it_uses_are_there(statements: list[str]) -> None:
    """The truth is Python: with the names it runs or fails for another reason, and gives others."""
    source = "\n".join(statements)
    names, _ = names_in(source)
    needed = {n for n in names.uses | names.uses_later if not hasattr(builtins, n)}
    space: dict[str, Any] = {name: (lambda: 1) if name == "f" else 1 for name in needed}
    before = set(space)
    try:
        exec(compile(source, "cell", "exec"), space)
    except NameError as error:
        # A name that the cell itself deletes, or uses in a function before it is bound.
        assert "del b" in statements or error.name in names.defines
        return
    except TypeError:
        return
    assert set(space) - before - {"__builtins__"} <= names.defines


def graph(*cells: dict[str, Any]) -> NameGraph:
    return NameGraph(cells)


LOAD = code("load", "import pandas as pd\ndf = pd.read_csv('a.csv')")
CLEAN = code("clean", "df['x'] = df.y * factor")
PLOT = code("plot", "df.plot()")
FACTOR = code("factor", "factor = 2")
OTHER = code("other", "print('hello')")


def stale(before: list[dict[str, Any]], after: list[dict[str, Any]]) -> dict[str, str]:
    return {
        cell.id: " ".join((["*"] if cell.edited else []) + cell.names)
        for cell in NameGraph(after).stale_since(NameGraph(before))
    }


def test_what_depends_on_an_edit_is_stale_also_through_others() -> None:
    cells = [LOAD, FACTOR, CLEAN, text("notes", "df"), OTHER, PLOT]
    edited = [{**c, "source": "factor = 3"} if c is FACTOR else c for c in cells]
    assert stale(cells, edited) == {"factor": "*", "clean": "factor", "plot": "df"}
    assert stale(cells, cells) == {}


def test_comments_and_formatting_make_nothing_stale() -> None:
    cells = [LOAD, FACTOR, CLEAN]
    edited = [{**c, "source": "# two\nfactor  =  2  # yes"} if c is FACTOR else c for c in cells]
    assert stale(cells, edited) == {}


def test_moving_inserting_and_deleting_make_stale_what_they_cut_off() -> None:
    cells = [LOAD, FACTOR, CLEAN, PLOT]
    assert stale(cells, [LOAD, FACTOR, PLOT, CLEAN]) == {"plot": "df"}
    assert stale(cells, [LOAD, CLEAN, PLOT]) == {"clean": "factor", "plot": "df"}
    again = code("again", "factor = 2")
    assert stale(cells, [LOAD, FACTOR, again, CLEAN, PLOT]) == {
        "again": "*", "clean": "factor", "plot": "df"
    }  # fmt: skip


def test_no_cell_is_taken_to_change_a_module() -> None:
    cells = [code("a", "import numpy as np\nx = 1"), code("b", "y = np.append(x, 1)"),
             code("c", "np.zeros(3)")]  # fmt: skip
    assert graph(*cells).sources["c"] == {"np": "a"}


def test_cells_that_use_each_other_are_followed_to_an_end() -> None:
    before = [code("a", "x = y"), code("b", "y = x")]
    after = [code("a", "x = y"), code("b", "y = x + 1")]
    assert stale(before, after) == {"a": "y", "b": "* x"}


def test_names_used_before_they_are_defined() -> None:
    cells = [
        code("one", "print(total)"),
        code("two", "def f():\n    return later\ntotal = 1"),
        code("three", "f()\nmissing.x"),
        code("four", "later = 1"),
    ]
    assert graph(*cells).used_early() == [
        UsedEarly(id="one", name="total", defined_in="two"),
        UsedEarly(id="three", name="missing"),
    ]
    opaque = [code("zero", "from lib import *"), *cells]
    assert [found.name for found in graph(*opaque).used_early()] == ["total"]


def test_results_older_than_what_they_depend_on_are_stale() -> None:
    cells = [
        code("load", LOAD["source"], 5),
        code("clean", "df['x'] = 1", 2),
        code("plot", PLOT["source"], 6),
        code("other", "print(1)", 1),
        code("never", "df.x", None),
    ]
    assert graph(*cells).stale_by_runs() == [
        Stale(id="clean", names=["df"]),
        Stale(id="plot", names=["df"]),
    ]
    assert graph(code("a", "x = 1", None), code("b", "x", 3)).stale_by_runs() == [
        Stale(id="b", names=["x"])
    ]


def test_cells_that_ran_out_of_order() -> None:
    cells = [
        code("a", "", 3),
        code("b", "", None),
        code("c", "", 1),
        text("t", ""),
        code("d", "", 4),
    ]
    assert out_of_order(cells) == [OutOfOrder(id="c", count=1, count_above=3)]


def test_what_is_told_of_uses_leaves_pythons_own_names_out() -> None:
    cells = [code("a", "print(len(x), max)"), code("b", "max = 3")]
    assert graph(*cells).uses("a") == ["max", "x"]


@pytest.mark.parametrize(
    ("metadata", "answer"),
    [
        ({}, True),
        ({"language_info": {"name": "python"}}, True),
        ({"kernelspec": {"language": "R"}}, False),
        ({"language_info": {"name": "julia"}, "kernelspec": {"language": "python"}}, False),
        ({"language_info": 3, "kernelspec": {"language": None}}, True),
    ],
)
def test_the_language_of_a_notebook(metadata: dict[str, Any], answer: bool) -> None:
    assert is_python(metadata) is answer


@pytest.mark.timeout(60)
def test_a_notebook_of_2000_cells_is_followed() -> None:
    cells = [code("first", "df = 1")]
    cells += [code(f"c{n}", f"df['x{n}'] = df.y\nz{n} = [i for i in df if i > {n}]")
              for n in range(2000)]  # fmt: skip
    edited = [{**cells[0], "source": "df = 2"}, *cells[1:]]
    with contextlib.redirect_stdout(io.StringIO()):
        assert len(NameGraph(edited).stale_since(NameGraph(cells))) == 2001
