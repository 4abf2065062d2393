"""How a cell is named, and what is said where it cannot be found."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openhands_jupyter.errors import Invalid, NotFound
from openhands_jupyter.notebooks.addresses import Addresses, with_ids


def cells(*ids: str) -> list[dict[str, Any]]:
    return [{"id": name, "cell_type": "code", "source": f"{name} = 1"} for name in ids]


def test_a_cell_is_found_by_id_prefix_and_position() -> None:
    addresses = Addresses(cells("c0ffee11", "c0ffee22", "deadbeef"))
    assert addresses.id("c0ffee22") == "c0ffee22"
    assert addresses.id("c0ffee2") == "c0ffee22"
    assert addresses.id("dead") == "deadbeef"
    assert addresses.id("@0") == "c0ffee11"
    assert addresses.id("@2") == "deadbeef"


def test_a_whole_id_wins_over_a_prefix_however_short_it_is() -> None:
    addresses = Addresses(cells("ab", "abcd", "abcdef"))
    assert addresses.id("ab") == "ab"
    assert addresses.id("abcd") == "abcd"


def test_an_ambiguous_prefix_is_refused_with_the_ids() -> None:
    with pytest.raises(Invalid) as caught:
        Addresses(cells("c0ffee11", "c0ffee22", "deadbeef")).id("c0ff")
    assert caught.value.code == "cell_ambiguous"
    assert "c0ffee11, c0ffee22" in caught.value.hint
    assert "deadbeef" not in caught.value.hint


@pytest.mark.parametrize("address", ["", "dea", "nowhere", "@", "@-1", "@1x", "import os\n" * 99])
def test_an_unknown_cell_is_refused_with_the_ids(address: str) -> None:
    with pytest.raises(NotFound) as caught:
        Addresses(cells("c0ffee11", "deadbeef")).id(address)
    assert caught.value.code == "cell_not_found"
    assert "c0ffee11, deadbeef" in caught.value.hint
    assert len(caught.value.message) < 120


@pytest.mark.parametrize("address", ["@2", "@" + "9" * 5000])
def test_a_position_beyond_the_end_is_refused(address: str) -> None:
    with pytest.raises(NotFound) as caught:
        Addresses(cells("c0ffee11", "deadbeef")).id(address)
    assert "@0 to @1" in caught.value.hint


def test_an_empty_notebook_says_so() -> None:
    for address in ("@0", "abcd"):
        with pytest.raises(NotFound) as caught:
            Addresses([]).id(address)
        assert "no cells" in caught.value.hint


def test_in_a_long_notebook_the_nearest_ids_are_named() -> None:
    addresses = Addresses(cells(*(f"cell-{n:04}" for n in range(2000))))
    with pytest.raises(NotFound) as caught:
        addresses.id("cel-1234")
    assert "cell-1234" in caught.value.hint
    assert "2,000 ids" in caught.value.hint
    assert len(caught.value.hint) < 1000


def test_cells_without_an_id_get_the_same_one_each_time() -> None:
    old = [
        {"cell_type": "code", "source": "x"},
        {"cell_type": "code", "source": ["x"]},
        {"cell_type": "markdown", "source": "x"},
        {"cell_type": "code", "source": "\ud83d", "id": None},
    ]
    named = with_ids(old)
    assert len({cell["id"] for cell in named}) == 4
    assert with_ids(old) == named
    # What is inserted elsewhere changes no id.
    assert with_ids([{"cell_type": "raw", "source": ""}, *old])[1:] == named
    assert "id" not in old[0]


def test_the_first_of_the_same_id_keeps_it() -> None:
    named = with_ids(cells("aaaa", "bbbb", "aaaa", "aaaa"))
    assert [cell["id"] for cell in named[:2]] == ["aaaa", "bbbb"]
    assert len({cell["id"] for cell in named}) == 4


@given(st.lists(st.tuples(st.sampled_from(["", "a", "b"]), st.sampled_from(["x", "y"]))))
def test_all_ids_are_unique_and_nothing_else_changes(given_cells: list[tuple[str, str]]) -> None:
    old: list[dict[str, Any]] = [
        {"cell_type": "code", "source": source, "metadata": {}, **({"id": name} if name else {})}
        for name, source in given_cells
    ]
    before = json.dumps(old)
    named = with_ids(old)
    assert len({cell["id"] for cell in named}) == len(old)
    assert json.dumps(old) == before
    for cell, kept in zip(named, old, strict=True):
        assert {**cell, "id": ""} == {**kept, "id": ""}
    assert with_ids(named) == named
