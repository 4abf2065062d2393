"""Events to lines and back: nothing is lost, also of what this version does not know."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from datetime import UTC
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import jsonschema
import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import inspect

from openhands_jupyter.events import (
    Blob,
    CmdRunAction,
    Event,
    EventStream,
    IPythonOutputObservation,
    Masker,
    OpaqueEvent,
    Output,
    UserMessageAction,
)
from openhands_jupyter.events.codec import TYPES, decode, encode
from openhands_jupyter.events.schema import event_schema

TEXT = st.text(st.characters(exclude_categories=("Cs",)), max_size=20)
# JSON knows no infinity.
NUMBER = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
LEAF = st.none() | st.booleans() | NUMBER | TEXT
JSON = st.recursive(
    LEAF, lambda inner: st.lists(inner) | st.dictionaries(TEXT, inner), max_leaves=5
)
QUIET = settings(deadline=None, database=None, max_examples=150)

NEWER: dict[str, dict[str, Any]] = {
    "unknown type": {"type": "TeleportAction", "target": {"x": 1.5, "deep": [None, "é\u2028"]}},
    "unknown type with huge number": {"type": "CountAction", "n": 10**40},
    "wrong type of a value": {"type": "CmdRunAction", "command": ["ls", "-l"]},
    "missing value": {"type": "CmdRunAction"},
    "new word in a fixed set": {"type": "AgentStateChangedObservation", "state": "dreaming"},
    "new source": {"type": "CmdRunAction", "command": "ls", "source": "scheduler"},
    "several causes": {"type": "CmdRunAction", "command": "ls", "cause": [1, 2]},
    "another kind of time": {"type": "CmdRunAction", "command": "ls", "time": {"tai": 1}},
    "another kind of version": {"type": "CmdRunAction", "command": "ls", "v": "2.1"},
    "no type": {"command": "ls"},
}


def values(kind: inspect.Type) -> st.SearchStrategy[Any]:
    """Values of any type that events are made of."""
    match kind:
        case inspect.StructType(cls=struct, fields=fields):
            return st.builds(struct, **{field.name: values(field.type) for field in fields})
        case inspect.UnionType(types=types):
            return st.one_of([values(one) for one in types])
        case inspect.ListType(item_type=item):
            return st.lists(values(item), max_size=3)
        case inspect.DictType(key_type=key, value_type=value):
            return st.dictionaries(values(key), values(value), max_size=3)
        case inspect.LiteralType(values=words):
            return st.sampled_from(sorted(words))
        case inspect.DateTimeType():
            return st.datetimes(timezones=st.just(UTC))
        case inspect.FloatType():
            return st.floats(allow_nan=False, allow_infinity=False)
    return {
        inspect.AnyType: JSON,
        inspect.BoolType: st.booleans(),
        inspect.IntType: st.integers(-(2**63), 2**63 - 1),
        inspect.NoneType: st.none(),
        inspect.StrType: TEXT,
    }[type(kind)]


def events() -> st.SearchStrategy[Event]:
    """Events of every type, every field filled."""
    return st.sampled_from(list(TYPES.values())).flatmap(
        lambda kind: values(inspect.type_info(kind))
    )


def line_of(event: Event) -> bytes:
    return encode(event, Masker())[0]


@QUIET
@given(events())
def test_round_trip(event: Event) -> None:
    line = line_of(event)
    assert b"\n" not in line
    assert decode(line) == event


@QUIET
@given(events())
def test_schema_validates_every_event(event: Event) -> None:
    VALIDATOR.validate(json.loads(line_of(event)))


VALIDATOR = jsonschema.Draft202012Validator(event_schema())


def test_schema_is_a_schema_and_refuses_what_is_no_event() -> None:
    VALIDATOR.check_schema(VALIDATOR.schema)
    assert VALIDATOR.is_valid({"type": "CmdRunAction", "command": "ls"})
    for wrong in NEWER.values():
        assert not VALIDATOR.is_valid(wrong), wrong


def test_schema_names_every_type() -> None:
    definitions = event_schema()["$defs"]
    for name in TYPES:
        assert definitions[name]["properties"]["type"] == {"enum": [name]}


def test_module_prints_the_schema() -> None:
    printed = subprocess.run(
        [sys.executable, "-m", "openhands_jupyter.events.schema"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(printed.stdout) == event_schema()
    assert printed.stderr == ""


@pytest.mark.parametrize("newer", NEWER.values(), ids=NEWER)
def test_what_is_not_known_is_kept_as_it_was(newer: dict[str, Any]) -> None:
    written = {"v": 2, "id": 7, "session": "s", **newer, "field_of_the_future": [1]}
    event = decode(json.dumps(written).encode())
    assert isinstance(event, OpaqueEvent)
    assert (event.id, event.session) == (7, "s")
    assert json.loads(line_of(event)) == written


def test_field_of_a_newer_version_does_not_hide_the_event() -> None:
    event = decode(b'{"v":2,"id":7,"type":"CmdRunAction","command":"ls","shell":"fish"}')
    assert isinstance(event, CmdRunAction)
    assert (event.id, event.command) == (7, "ls")


@pytest.mark.parametrize(
    "line", [b"", b"{", b"null", b"7", b"[]", b"{}", b'{"id":"7"}', b'{"id":true}', b"\xff", b'{"i']
)
def test_what_is_no_event_is_an_error(line: bytes) -> None:
    with pytest.raises(msgspec.DecodeError):
        decode(line)


def test_blob_in_a_mime_bundle_comes_back_as_a_blob() -> None:
    blob = Blob(sha256="a" * 64, media_type="image/png", size=3)
    event = IPythonOutputObservation(
        outputs=[Output(kind="display_data", data={"image/png": blob, "text/plain": "x"})]
    )
    assert decode(line_of(event)) == event


async def test_every_line_tells_who_when_and_why(stream: EventStream, folder: Path) -> None:
    stream.append(UserMessageAction(content="go"))
    stream.append(CmdRunAction(command="ls", cause=0))
    first, second = (json.loads(line) for line in stream.read_raw())
    assert list(first)[:7] == ["type", "v", "id", "session", "time", "source", "cause"]
    assert first.pop("time").endswith("Z")
    assert first == {
        "type": "UserMessageAction",
        "v": 1,
        "id": 0,
        "session": "session",
        "source": "user",
        "cause": None,
        "content": "go",
    }
    assert (second["source"], second["cause"]) == ("agent", 0)
    assert (folder / "events.jsonl").read_bytes().splitlines() == stream.read_raw()


@settings(QUIET, max_examples=40)
@given(st.lists(events(), max_size=5))
def test_every_type_goes_through_a_stream(given_events: list[Event]) -> None:
    new = [msgspec.structs.replace(event, id=-1) for event in given_events]

    async def write_and_read() -> list[Event]:
        with TemporaryDirectory() as folder:
            stream = EventStream(Path(folder) / "session")
            for event in new:
                stream.append(event)
            await stream.close()
            return stream.read()

    for number, (event, read) in enumerate(zip(new, asyncio.run(write_and_read()), strict=True)):
        stamp = {"v": 1, "id": number, "session": "session", "time": read.time}
        source = event.source or event.usual_source
        assert read == msgspec.structs.replace(event, **stamp, source=source)
