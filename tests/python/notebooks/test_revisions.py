"""Revisions of cells and notebooks: fixed, because the browser computes the same ones."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nbformat import NotebookNode

from openhands_jupyter.notebooks.revisions import cell_rev, notebook_rev

SOURCES = st.text(max_size=50)


def cell(source: Any, cell_type: str = "code", **more: Any) -> dict[str, Any]:
    return {"cell_type": cell_type, "source": source, "metadata": {}, **more}


def test_a_rev_is_the_beginning_of_the_hash() -> None:
    expected = hashlib.sha256("code\0größe = '😀'".encode()).hexdigest()[:8]
    assert cell_rev(cell("größe = '😀'")) == expected


def test_a_source_that_is_a_list_of_lines_has_the_same_rev() -> None:
    assert cell_rev(cell(["a\n", "b"])) == cell_rev(cell("a\nb"))


def test_a_notebook_node_has_the_same_rev() -> None:
    assert cell_rev(NotebookNode(cell("x"))) == cell_rev(cell("x"))


@pytest.mark.parametrize(
    ("source", "as_browsers_say"),
    [
        ("\ud83d", "�"),
        ("\ud83dx", "�x"),
        ("x\ude00", "x�"),
        ("\ude00\ud83d", "��"),
        ("\ud83d\ude00", "😀"),
    ],
)
def test_surrogates_are_encoded_as_in_browsers(source: str, as_browsers_say: str) -> None:
    assert cell_rev(cell(source)) == cell_rev(cell(as_browsers_say))


def test_what_a_person_does_not_write_changes_no_rev() -> None:
    assert cell_rev(cell("x", outputs=[{}], execution_count=3)) == cell_rev(cell("x"))


@given(SOURCES, SOURCES)
def test_different_sources_have_different_revs(one: str, other: str) -> None:
    assert (cell_rev(cell(one)) == cell_rev(cell(other))) == (one == other)


def test_the_type_is_part_of_the_rev() -> None:
    assert cell_rev(cell("x")) != cell_rev(cell("x", "markdown"))


def test_the_notebooks_rev_is_of_ids_order_and_revs() -> None:
    one, two = cell("1", id="aaaa"), cell("2", id="bbbb")
    lines = f"aaaa:{cell_rev(one)}\nbbbb:{cell_rev(two)}\n"
    assert notebook_rev([one, two]) == hashlib.sha256(lines.encode()).hexdigest()[:8]
    assert notebook_rev([two, one]) != notebook_rev([one, two])
    assert notebook_rev([one]) != notebook_rev([one, two])
    assert notebook_rev([]) == hashlib.sha256(b"").hexdigest()[:8]
