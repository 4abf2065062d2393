"""Events to lines of JSON and back, with secrets masked on the way out."""

from __future__ import annotations

import contextlib
from functools import reduce
from operator import or_
from typing import Any, TypeVar

import msgspec

from . import (
    actions,
    agents,
    browsing,
    checkpoints,
    files,
    hooks,
    kernels,
    mcp,
    memory,
    notebook_runs,
    notebooks,
    observations,
    running,
    skills,
    warnings,
)
from .event import Action, Blob, Event, Observation, OpaqueEvent
from .masking import Masker, map_texts

_MODULES = (
    actions,
    agents,
    browsing,
    checkpoints,
    files,
    hooks,
    kernels,
    mcp,
    memory,
    notebook_runs,
    notebooks,
    observations,
    running,
    skills,
    warnings,
)


def _leaves(base: type[Event]) -> list[type[Event]]:
    """By name, so that what is generated from them stays as it is when one moves."""
    found = {
        kind
        for module in _MODULES
        for kind in vars(module).values()
        if isinstance(kind, type) and issubclass(kind, base) and kind is not base
    }
    return sorted(found, key=lambda kind: kind.__name__)


ACTIONS: tuple[type[Event], ...] = tuple(_leaves(Action))
OBSERVATIONS: tuple[type[Event], ...] = tuple(_leaves(Observation))
TYPES: dict[str, type[Event]] = {kind.__name__: kind for kind in (*ACTIONS, *OBSERVATIONS)}
AnyEvent: Any = reduce(or_, TYPES.values())

T = TypeVar("T")


class _Numbered(msgspec.Struct, frozen=True):
    id: int


class _Tagged(msgspec.Struct, frozen=True):
    type: str = ""


_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(AnyEvent)
_type_decoder = msgspec.json.Decoder(_Tagged)
_id_decoder = msgspec.json.Decoder(_Numbered)


def encode(event: Event, masker: Masker) -> tuple[bytes, Event]:
    """One line of JSON, without the line end and without secrets.

    Returns
    -------
    tuple
        The line, and the event as it stands there.
    """
    if isinstance(event, OpaqueEvent):
        event = msgspec.structs.replace(event, raw=masker.value(event.raw))
        return _encoder.encode(event.raw), event
    return to_json(event, masker)


def to_json(value: T, masker: Masker) -> tuple[bytes, T]:
    """JSON of `value`, without secrets and without what UTF-8 cannot say, and the value so."""
    clean: T = masker.value(value)
    try:
        return _encoder.encode(clean), clean
    except UnicodeEncodeError:
        clean = map_texts(clean, well_formed)
        return _encoder.encode(clean), clean


def well_formed(text: str) -> str:
    """`text` with its surrogates joined where they are pairs, and replaced where they are not."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def decode(line: bytes) -> Event:
    """The event on one line.

    An event of a type that this version does not know, or with a value that it cannot read,
    becomes an `OpaqueEvent`.

    Raises
    ------
    msgspec.DecodeError
        When the line is not JSON, or has no event's id.
    """
    try:
        event: Event = _decoder.decode(line)
    except msgspec.ValidationError:
        return _opaque(msgspec.json.decode(line))
    for output in _outputs_of(event):
        _restore_blobs(output.data)
        _restore_blobs(output.metadata)
    return event


def type_of(line: bytes) -> str:
    """Name of the type of the event on one line.

    Raises
    ------
    msgspec.DecodeError
        When the line is not a JSON object.
    """
    return _type_decoder.decode(line).type


def id_of(line: bytes) -> int:
    """Id of the event on one line.

    Raises
    ------
    msgspec.DecodeError
        When the line is not an event.
    """
    return _id_decoder.decode(line).id


def _opaque(raw: Any) -> OpaqueEvent:
    """What can be read of an event's envelope; a newer version may write parts in other ways."""
    head: dict[str, Any] = {"id": msgspec.convert(raw, _Numbered).id}
    for field in msgspec.structs.fields(Event):
        with contextlib.suppress(KeyError, msgspec.ValidationError):
            head[field.name] = msgspec.convert(raw[field.name], field.type)
    return OpaqueEvent(**head, raw=raw)


def _outputs_of(event: Event) -> list[running.Output]:
    match event:
        case (
            running.IPythonOutputObservation()
            | kernels.KernelCodeObservation()
            | mcp.MCPObservation()
            | browsing.BrowserOutputObservation()
        ):
            return event.outputs
        case notebook_runs.NotebookRunObservation():
            return [output for cell in event.cells for output in cell.outputs]
    return []


def _restore_blobs(bundle: dict[str, Any]) -> None:
    """Make a mime bundle, whose values may be anything, what it was before it was encoded."""
    for key, content in bundle.items():
        if isinstance(content, dict) and content.get("type") == "Blob":
            with contextlib.suppress(msgspec.ValidationError):
                bundle[key] = msgspec.convert(content, Blob)
