"""JSON schemas of servers' tools, made such that every provider takes them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

import msgspec

LARGEST = 16 * 1024
"""Bytes of a schema as JSON; of a larger one the outermost level alone is kept."""

NODES = 1000
DEPTH = 10
"""Schemas within a schema, and levels of them; what is beyond may be anything."""

PROPERTIES = 200
VALUES = 100
DESCRIPTION = 500
NAME = 64

_TYPES = frozenset({"string", "number", "integer", "boolean", "object", "array", "null"})
_NUMBERS = ("minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems")
_NAME_CHARACTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-")

Schema = dict[str, Any]


def plain_schema(schema: Any) -> Schema:
    """The schema of a tool's arguments in the words that all providers know.

    References are put in place (recursive ones end), what is unknown is left out, and the root is
    an object without alternatives. It tells a model what to write; the server checks it.

    Parameters
    ----------
    schema
        Anything that a server sent.

    Returns
    -------
    dict
        With ``type`` ``object`` and ``properties``, at most `LARGEST` bytes.
    """
    found = _Plain(schema).root()
    if len(msgspec.json.encode(found)) <= LARGEST:
        return found
    return _outermost(found)


class _Plain:
    def __init__(self, schema: Any) -> None:
        self._document = schema
        self._nodes = 0

    def root(self) -> Schema:
        found = self._schema(self._document, (), 0)
        if found.get("type") == "object":
            return found
        variants = [one for one in found.get("anyOf", ()) if one.get("type") == "object"]
        if not variants:
            # Arguments are an object whatever the schema says.
            return {"type": "object", "properties": {}}
        return _merged(variants, any_of=True)

    def _schema(self, schema: Any, refs: tuple[str, ...], depth: int) -> Schema:
        self._nodes += 1
        if not isinstance(schema, Mapping) or self._nodes > NODES or depth > DEPTH:
            return {}
        reference = schema.get("$ref")
        if isinstance(reference, str):
            if reference in refs:
                return {"description": "As further out."}
            target = self._target(reference)
            rest = {key: value for key, value in schema.items() if key != "$ref"}
            refs = (*refs, reference)
            return self._schema({**target, **rest}, refs, depth)
        found: Schema = {}
        if isinstance(text := schema.get("description"), str) and text.strip():
            found["description"] = " ".join(text[:DESCRIPTION].split())
        parts = [self._schema(one, refs, depth) for one in _list(schema.get("allOf"))]
        kinds = self._kinds(schema)
        variants = [
            self._schema(one, refs, depth + 1)
            for key in ("anyOf", "oneOf")
            for one in _list(schema.get(key))
        ]
        variants = [one for one in variants if one.get("type") != "null"]
        if len(variants) == 1:
            parts.append(variants.pop())
        if len(kinds) == 1:
            found |= self._typed(kinds[0], schema, refs, depth)
        elif kinds:
            variants += [self._typed(kind, schema, refs, depth) for kind in kinds]
        if parts:
            found = _merged([*parts, found], any_of=False)
        if variants and "type" not in found:
            found["anyOf"] = [one for one in variants if one]
        elif variants and found["type"] == "object":
            found = _merged([found, _merged(variants, any_of=True)], any_of=False)
        return {key: value for key, value in found.items() if value != []}

    def _kinds(self, schema: Mapping[str, Any]) -> list[str]:
        given = schema.get("type")
        kinds = [given] if isinstance(given, str) else _list(given)
        kinds = [kind for kind in kinds if isinstance(kind, str) and kind in _TYPES]
        if not kinds:
            values = _values(schema)
            if "properties" in schema:
                kinds = ["object"]
            elif "items" in schema:
                kinds = ["array"]
            elif values:
                kinds = sorted({_kind_of(value) for value in values})
        return [kind for kind in kinds if kind != "null"] or kinds[:1]

    def _typed(
        self, kind: str, schema: Mapping[str, Any], refs: tuple[str, ...], depth: int
    ) -> Schema:
        found: Schema = {"type": kind}
        values = [value for value in _values(schema) if _kind_of(value) == kind]
        if values:
            found["enum"] = values[:VALUES]
        for key in _NUMBERS:
            value = schema.get(key)
            if isinstance(value, int | float) and not isinstance(value, bool):
                found[key] = value
        if isinstance(schema.get("default"), str | int | float | bool):
            default = schema["default"]
            if not isinstance(default, str) or len(default) <= DESCRIPTION:
                found["default"] = default
        if kind == "array":
            found["items"] = self._schema(schema.get("items"), refs, depth + 1)
        if kind == "object":
            found |= self._object(schema, refs, depth)
        return found

    def _object(self, schema: Mapping[str, Any], refs: tuple[str, ...], depth: int) -> Schema:
        given = schema.get("properties")
        properties = {
            name: self._schema(one, refs, depth + 1)
            for name, one in list(given.items() if isinstance(given, Mapping) else ())[:PROPERTIES]
            if isinstance(name, str) and _is_name(name)
        }
        found: Schema = {"properties": properties}
        required = [n for n in _list(schema.get("required")) if isinstance(n, str)]
        if required := [name for name in dict.fromkeys(required) if name in properties]:
            found["required"] = required
        if schema.get("additionalProperties") is False:
            found["additionalProperties"] = False
        return found

    def _target(self, reference: str) -> Mapping[str, Any]:
        """What a reference within the document points to (RFC 6901); nothing for others."""
        if not reference.startswith("#"):
            return {}
        target = self._document
        for step in unquote(reference[1:]).split("/")[1:]:
            step = step.replace("~1", "/").replace("~0", "~")
            if isinstance(target, Mapping):
                target = target.get(step)
            elif isinstance(target, list) and step.isdigit() and int(step) < len(target):
                target = target[int(step)]
            else:
                return {}
        return target if isinstance(target, Mapping) else {}


def _merged(schemas: list[Schema], *, any_of: bool) -> Schema:
    """Several schemas as one: what all of them allow, or with `any_of` what one of them does."""
    found: Schema = {}
    properties: Schema = {}
    required: list[str] | None = None
    closed = bool(schemas)
    for schema in schemas:
        found |= {k: v for k, v in schema.items() if k not in ("properties", "required")}
        properties |= schema.get("properties", {})
        closed = closed and schema.get("additionalProperties") is False
        names = schema.get("required", [])
        if required is None:
            required = list(names)
        elif any_of:
            required = [name for name in required if name in names]
        else:
            required += [name for name in names if name not in required]
    if any_of and not closed:
        found.pop("additionalProperties", None)
    if found.get("type") == "object":
        found["properties"] = properties
        if required:
            found["required"] = required
    return found


def _outermost(schema: Schema) -> Schema:
    """Of an object's properties only what each is called and of which type it is."""
    properties: Schema = {}
    size = 0
    for name, one in schema["properties"].items():
        kept = {k: v for k, v in one.items() if k == "type"}
        if isinstance(one.get("description"), str):
            kept["description"] = one["description"][:80]
        if kept.get("type") == "array":
            kept["items"] = {}
        size += len(name) + len(msgspec.json.encode(kept)) + 8
        if size > LARGEST - 1024:
            break
        properties[name] = kept
    required = [name for name in schema.get("required", []) if name in properties][:20]
    return {
        "type": "object",
        "properties": properties,
        **({"required": required} if required else {}),
    }


def _values(schema: Mapping[str, Any]) -> list[Any]:
    values = [schema["const"]] if "const" in schema else _list(schema.get("enum"))
    return [
        value
        for value in values
        if isinstance(value, int | float | bool)
        or (isinstance(value, str) and len(value) <= DESCRIPTION)
    ]


def _kind_of(value: Any) -> str:
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "integer"
    return "number" if isinstance(value, float) else "string"


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _is_name(name: str) -> bool:
    return 0 < len(name) <= NAME and _NAME_CHARACTERS.issuperset(name)
