"""Schemas and names that every provider takes, whatever a server sends."""

from __future__ import annotations

import re
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mcp_servers.bad import RECURSIVE

from openhands_jupyter.mcp.names import tool_name
from openhands_jupyter.mcp.schemas import LARGEST, plain_schema

KNOWN = {
    *("type", "properties", "required", "items", "enum", "description", "default", "anyOf"),
    *("minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems"),
    "additionalProperties",
}


def assert_plain(schema: Any, root: bool = True) -> None:
    assert set(schema) <= KNOWN
    if root:
        assert schema["type"] == "object" and "anyOf" not in schema
    assert isinstance(schema.get("type", ""), str)
    if schema.get("type") == "object":
        assert set(schema.get("required", ())) <= set(schema["properties"])
        for name, one in schema["properties"].items():
            assert re.fullmatch(r"[a-zA-Z0-9_.-]{1,64}", name)
            assert_plain(one, root=False)
    if schema.get("type") == "array":
        assert_plain(schema["items"], root=False)
    for one in schema.get("anyOf", ()):
        assert_plain(one, root=False)


def test_references_are_put_in_place_and_unknown_words_left_out() -> None:
    found = plain_schema(RECURSIVE)
    assert_plain(found)
    tree = found["properties"]["tree"]
    assert tree["properties"]["children"]["items"] == {"description": "As further out."}
    assert found["properties"]["when"] == {"type": "string"}
    assert found["properties"]["either"] == {"anyOf": [{"type": "string"}, {"type": "integer"}]}
    assert found["required"] == ["tree"]


@pytest.mark.parametrize(
    ("schema", "properties", "required"),
    [
        (None, set(), set()),
        (True, set(), set()),
        ({"type": "array", "items": {"type": "string"}}, set(), set()),
        ({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}}, set(), set()),
        ({"$ref": "https://x.example/schema"}, set(), set()),
        ({"properties": {"x": True}}, {"x"}, set()),
        (
            {
                "anyOf": [
                    {"properties": {"x": {"type": "string"}, "y": {}}, "required": ["x", "y"]},
                    {"properties": {"x": {"type": "string"}}, "required": ["x"]},
                ]
            },
            {"x", "y"},
            {"x"},
        ),
        (
            {
                "allOf": [{"$ref": "#/definitions/a"}, {"properties": {"y": {}}}],
                "definitions": {"a": {"properties": {"x": {}}, "required": ["x"]}},
            },
            {"x", "y"},
            {"x"},
        ),
    ],
)
def test_the_root_is_an_object(schema: Any, properties: set[str], required: set[str]) -> None:
    found = plain_schema(schema)
    assert_plain(found)
    assert set(found["properties"]) == properties
    assert set(found.get("required", ())) == required


def test_a_schema_that_would_grow_without_end_stays_small() -> None:
    levels = {
        f"l{n}": {"properties": {k: {"$ref": f"#/$defs/l{n + 1}"} for k in "abcdefgh"}}
        for n in range(12)
    }
    found = plain_schema({"$ref": "#/$defs/l0", "$defs": levels})
    assert_plain(found)
    many = {f"p{n}": {"type": "array", "description": "d" * 900} for n in range(5000)}
    for schema in (found, plain_schema({"properties": many, "required": list(many)})):
        assert len(msgspec.json.encode(schema)) <= LARGEST
        assert_plain(schema)
        assert schema["properties"]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from([*sorted(KNOWN), "$ref", "$defs", "allOf", "oneOf", "const", "x", "ö"]),
            inner | st.sampled_from(["object", "array", "#", "#/$defs/x", "#/properties/x"]),
            max_size=4,
        )
    ),
    max_leaves=20,
)


@settings(max_examples=200, deadline=None)
@given(JSON)
def test_anything_becomes_a_schema_that_providers_take(schema: Any) -> None:
    assert_plain(plain_schema(schema))


def test_names_are_taken_by_providers_and_of_no_two_tools_the_same() -> None:
    assert tool_name("my-db", "select_rows") == "my-db__select_rows"
    pairs = [
        ("a", "b__c"),
        ("a__b", "c"),
        ("a_b", "c"),
        ("a.b", "c"),
        ("a b", "c"),
        ("ä", "ö"),
        ("✓", "✗"),
        ("s", "t" * 100),
        ("s", "t" * 101),
        ("s" * 100, "t"),
        ("_a", "b"),
    ]
    names = [tool_name(*pair) for pair in pairs]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"[a-zA-Z0-9_-]{3,64}", name) for name in names)
