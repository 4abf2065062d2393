"""Two edits of one source: nothing that anybody wrote is lost."""

from __future__ import annotations

import difflib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from openhands_jupyter.notebooks.editing.merging import merge
from openhands_jupyter.notebooks.lines import regions, unified_diff

LINES = st.lists(st.sampled_from(["a", "b", "c", "d", ""]), max_size=8)
SOURCES = LINES.map("\n".join)

BASE = "one\ntwo\nthree\nfour\nfive"


def test_edits_of_different_lines_are_both_made() -> None:
    ours = BASE.replace("one", "ONE")
    theirs = BASE.replace("four", "FOUR") + "\nsix"
    assert merge(BASE, ours, theirs).source == "ONE\ntwo\nthree\nFOUR\nfive\nsix"


def test_edits_of_the_same_line_clash() -> None:
    merged = merge(BASE, BASE.replace("three", "3"), BASE.replace("three", "III"))
    assert merged.source is None
    (clash,) = merged.clashes
    assert (clash.base, clash.ours, clash.theirs) == (["three"], ["3"], ["III"])
    assert merged.marked("yours", "as you read it", "now") == (
        "one\ntwo\n<<<<<<< yours\n3\n||||||| as you read it\nthree\n=======\nIII\n>>>>>>> now\n"
        "four\nfive"
    )


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("one\nTWO\nthree\nfour\nfive", "one\ntwo\nTHREE\nfour\nfive"),
        ("one\nx\ntwo\nthree\nfour\nfive", "one\ny\ntwo\nthree\nfour\nfive"),
        ("one\nthree\nfour\nfive", "one\ntwo!\nthree\nfour\nfive"),
        ("", "one\ntwo\nthree\nfour"),
    ],
)
def test_what_touches_clashes(ours: str, theirs: str) -> None:
    assert merge(BASE, ours, theirs).clashes


def test_what_both_did_alike_is_done_once() -> None:
    ours = BASE.replace("two", "2").replace("five", "5")
    assert merge(BASE, ours, BASE.replace("two", "2")).source == ours


@given(SOURCES, SOURCES)
def test_one_edit_alone_is_taken_as_it_is(base: str, edited: str) -> None:
    assert merge(base, edited, base).source == edited
    assert merge(base, base, edited).source == edited
    assert merge(base, edited, edited).source == edited


@settings(max_examples=300)
@given(SOURCES, SOURCES, SOURCES)
def test_nothing_that_either_wrote_is_lost(base: str, ours: str, theirs: str) -> None:
    merged = merge(base, ours, theirs)
    other = merge(base, theirs, ours)
    assert merged.source == other.source
    whole = merged.marked("ours", "base", "theirs").split("\n")
    for side in (ours, theirs):
        lines = side.split("\n")
        for region in regions(base.split("\n"), lines):
            for line in set(lines[region.new_start : region.new_end]):
                assert line in whole


@settings(max_examples=300)
@given(SOURCES, SOURCES, SOURCES)
def test_a_side_can_be_read_back(base: str, ours: str, theirs: str) -> None:
    """Where they clash, what the other side settled aside, each side's own lines are complete."""
    merged = merge(base, ours, theirs)
    for clash in merged.clashes:
        assert "\n".join(clash.ours) in ours
        assert "\n".join(clash.theirs) in theirs
        assert "\n".join(clash.base) in base
        assert clash.ours != clash.theirs


@settings(max_examples=300)
@given(LINES, LINES)
def test_regions_turn_one_text_into_the_other(before: list[str], after: list[str]) -> None:
    made: list[str] = []
    at = 0
    for region in regions(before, after):
        assert region.start >= at
        made += before[at : region.start] + after[region.new_start : region.new_end]
        at = region.end
    assert made + before[at:] == after
    assert (regions(before, after) == []) == (before == after)


@settings(max_examples=300)
@given(LINES, LINES)
def test_a_diff_is_as_difflib_writes_it(before: list[str], after: list[str]) -> None:
    """Which lines are paired may differ, but a hunk's numbers have to fit its lines."""
    before, after = before or [""], after or [""]
    written = unified_diff("\n".join(before), "\n".join(after)).split("\n")
    if before == after:
        assert written == [""]
        return
    removed = [line[1:] for line in written if line.startswith("-")]
    added = [line[1:] for line in written if line.startswith("+")]
    theirs = list(difflib.unified_diff(before, after, lineterm=""))
    assert len(before) - len(removed) == len(after) - len(added)
    assert [line for line in written if line.startswith("@@")] or not theirs
    for header in (n for n, line in enumerate(written) if line.startswith("@@")):
        _, old, new, _ = written[header].split(" ")
        body = written[header + 1 :]
        end = next((n for n, line in enumerate(body) if line.startswith("@@")), len(body))
        for span, sign, lines in ((old, "-", before), (new, "+", after)):
            first, _, count = span[1:].partition(",")
            expected = [line[1:] for line in body[:end] if line[0] in (" ", sign)]
            assert int(count or 1) == len(expected)
            start = int(first) - 1 if expected else int(first)
            assert lines[start : start + len(expected)] == expected


@pytest.mark.timeout(30)
def test_long_sources_are_merged_in_time() -> None:
    base = "\n".join(f"row {n % 50}" for n in range(60_000))
    ours, theirs = f"# ours\n{base}", f"{base}\n# theirs"
    assert merge(base, ours, theirs).source == f"# ours\n{base}\n# theirs"
    assert merge(base, "\n".join(reversed(base.split("\n"))), theirs).clashes
