"""Outlines, searches and pages of notebooks."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from openhands_jupyter.errors import Invalid
from openhands_jupyter.events import Masker
from openhands_jupyter.notebooks.names.graph import NameGraph
from openhands_jupyter.notebooks.revisions import cell_rev, notebook_rev
from openhands_jupyter.notebooks.showing.outline import outline
from openhands_jupyter.notebooks.showing.reading import page
from openhands_jupyter.notebooks.showing.search import Match, search

PLAIN = Masker()


def code(id: str, source: str, count: int | None = None, *outputs: Any) -> dict[str, Any]:
    return {"cell_type": "code", "id": id, "source": source, "metadata": {},
            "execution_count": count, "outputs": list(outputs)}  # fmt: skip


def text(id: str, source: str, cell_type: str = "markdown") -> dict[str, Any]:
    return {"cell_type": cell_type, "id": id, "source": source, "metadata": {}}


def stream(printed: str) -> dict[str, Any]:
    return {"output_type": "stream", "name": "stdout", "text": printed}


ERROR = {"output_type": "error", "ename": "E", "evalue": "v", "traceback": ["E: v"]}


def test_an_outline_says_of_each_cell_what_it_is() -> None:
    cells = [
        text("intro-1", "# Sales\n\nBy year."),
        code("load-22", "\n\nimport pandas as pd\ndf = pd.read_csv(path)", 4, stream("ok")),
        code("plot-33", "df.plot()", 2, ERROR, ERROR),
        code("new-444", ""),
        text("raw-555", "x", "raw"),
        text("odd-666", "x", "widget"),
    ]
    made = outline(cells, NameGraph(cells))
    assert (made.nb_rev, made.total) == (notebook_rev(cells), 6)
    assert [msgspec.to_builtins(cell) for cell in made.cells] == [
        {"id": "intro-1", "position": 0, "type": "markdown", "rev": cell_rev(cells[0]),
         "first_line": "# Sales", "lines": 3},
        {"id": "load-22", "position": 1, "type": "code", "rev": cell_rev(cells[1]),
         "first_line": "import pandas as pd", "lines": 4, "status": "ran", "count": 4,
         "defines": ["df", "pd"], "uses": ["path"], "outputs": ["stdout"]},
        {"id": "plot-33", "position": 2, "type": "code", "rev": cell_rev(cells[2]),
         "first_line": "df.plot()", "lines": 1, "status": "failed", "count": 2, "stale": True,
         "uses": ["df"], "outputs": ["error"]},
        {"id": "new-444", "position": 3, "type": "code", "rev": cell_rev(cells[3]),
         "first_line": "", "lines": 0, "status": "not_run"},
        {"id": "raw-555", "position": 4, "type": "raw", "rev": cell_rev(cells[4]),
         "first_line": "x", "lines": 1},
        {"id": "odd-666", "position": 5, "type": "widget", "rev": cell_rev(cells[5]),
         "first_line": "x", "lines": 1},
    ]  # fmt: skip


def test_headings_are_a_tree() -> None:
    cells = [
        text("a", "# One\ntext\n## One.A ##\n```python\n# no heading\n```\n### Deep"),
        code("b", "# no heading"),
        text("c", "#no heading\n    # nor this\n## One.B\n# Two"),
        text("d", "~~~\n# open to the end"),
    ]
    (one, two) = outline(cells).headings
    assert (one.title, one.id, [h.title for h in one.below]) == ("One", "a", ["One.A", "One.B"])
    assert [h.title for h in one.below[0].below] == ["Deep"]
    assert (two.title, two.id, two.below) == ("Two", "c", [])


def test_an_outline_is_of_a_part_or_of_what_is_asked_for() -> None:
    cells = [
        code(f"cell-{n:03}", f"x = {n}  # {'Even' if n % 2 == 0 else 'odd'}") for n in range(500)
    ]
    assert len(outline(cells).cells) == 200
    assert [c.position for c in outline(cells, first=498, limit=5).cells] == [498, 499]
    found = outline(cells, query="eVEN", first=10, limit=2)
    assert (found.total, [c.position for c in found.cells]) == (250, [20, 22])
    assert found.nb_rev == notebook_rev(cells)


def test_without_a_graph_no_names_are_told() -> None:
    (cell,) = outline([code("a", "x <- 3", 1)]).cells
    assert (cell.defines, cell.uses, cell.stale) == ([], [], False)


@pytest.mark.timeout(60)
def test_an_outline_of_2000_cells_and_many_outputs() -> None:
    cells = [
        code(f"c{n}", f"y{n} = x\n" * 20, n + 1, *[stream("z" * 500)] * 20) for n in range(2000)
    ]
    assert outline(cells, NameGraph(cells)).total == 2000


SEARCHED = [
    code("load-22", "df = load()\nprint(df)", 1, stream("1 row\n2 rows"), ERROR),
    text("text-33", "About df.*\n"),
]


def test_lines_are_found_in_sources_and_outputs() -> None:
    found = search(SEARCHED, r"\bdf\b", PLAIN)
    assert found.matches == [
        Match(id="load-22", line=1, text="df = load()"),
        Match(id="load-22", line=2, text="print(df)"),
        Match(id="text-33", line=1, text="About df.*"),
    ]
    assert (found.total, found.notice) == (3, "")
    assert search(SEARCHED, "df.*", PLAIN, is_regex=False).total == 1
    assert search(SEARCHED, "row|^E", PLAIN, where="outputs").matches == [
        Match(id="load-22", line=1, text="1 row", output="out:load-22/0"),
        Match(id="load-22", line=2, text="2 rows", output="out:load-22/0"),
        Match(id="load-22", line=1, text="E: v", output="out:load-22/1"),
    ]
    assert search(SEARCHED, "print|row", PLAIN, where="both").total == 3


def test_only_the_first_matches_are_shown_and_lines_are_cut() -> None:
    found = search(
        [code("a", "\n".join(["x" * 1000 + "needle" + "y" * 1000] * 300))], "needle", PLAIN
    )
    assert (len(found.matches), found.total) == (200, 300)
    line = found.matches[0].text
    assert "needle" in line
    assert (line[0], line[-1], len(line)) == ("…", "…", 302)


def test_secrets_are_not_found() -> None:
    masker = Masker(lambda: ["hunter2-hunter2"])
    assert search([code("a", "key = 'hunter2-hunter2'")], "hunter", masker).total == 0


@pytest.mark.parametrize("pattern", ["", "(", "[a", "x" * 1001, "(?P<a>x)(?P<a>"])
def test_what_is_no_pattern_is_refused(pattern: str) -> None:
    with pytest.raises(Invalid) as caught:
        search(SEARCHED, pattern, PLAIN)
    assert caught.value.code == "bad_pattern"


@pytest.mark.timeout(60)
def test_a_pattern_that_would_take_for_ever_ends_with_what_was_found() -> None:
    cells = [code("a", "hello\n" + "a" * 60 + "b"), code("b", "never seen")]
    found = search(cells, r"^(a|a|aa)+c$|hello", PLAIN, seconds=1)
    assert "too long" in found.notice
    assert [match.text for match in found.matches] == ["hello"]


@pytest.mark.timeout(60)
def test_a_pattern_that_would_take_all_memory_is_ended() -> None:
    # Where memory is refused or time is up first depends on the machine.
    pattern = r"(?:(?:(?:a|b){1,9999}){1,9999}){1,9999}c"
    try:
        found = search([code("a", "ab" * 3_000_000)], pattern, PLAIN, seconds=1)
    except Invalid as error:
        assert "memory" in error.message
    else:
        assert "too long" in found.notice


def test_no_more_than_a_limit_is_looked_through(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("openhands_jupyter.notebooks.showing.search.CHARACTERS", 15)
    found = search([code("a", "x" * 10), code("b", "x" * 10)], "x", PLAIN)
    assert [match.id for match in found.matches] == ["a"]
    assert "ended after" in found.notice


def test_pages_follow_each_other() -> None:
    source = "\n".join(f"line {n}" for n in range(1, 5001))
    one = page(source)
    assert (one.first, one.total) == (1, 5000)
    assert one.text.startswith("     1\tline 1\n     2\tline 2\n")
    assert len(one.text) <= 16_000
    two = page(source, one.last + 1, 3)
    assert two.text.split("\n") == [f"{n:6}\tline {n}" for n in range(one.last + 1, one.last + 4)]


@pytest.mark.parametrize(("first", "count"), [(3, None), (1, 0), (-5, 0), (99, 9)])
def test_pages_without_lines(first: int, count: int | None) -> None:
    empty = page("a\nb", first, count)
    assert (empty.text, empty.first, empty.last, empty.total) == ("", 0, 0, 2)
    assert page("").total == 0


@given(st.lists(st.text(alphabet="ab", max_size=30), min_size=1, max_size=20), st.integers(1, 80))
def test_every_line_is_on_one_page(lines: list[str], limit: int) -> None:
    source = "\n".join(lines)
    read: list[str] = []
    first = 1
    while (shown := page(source, first, limit=limit)).last:
        read += [line.partition("\t")[2] for line in shown.text.split("\n")]
        first = shown.last + 1
    assert read == (lines if source else [])


def test_a_line_that_is_very_long_is_cut() -> None:
    assert "[… 998,000 characters]" in page("x" * 1_000_000).text
