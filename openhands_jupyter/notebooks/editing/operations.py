"""What an agent may ask for in one edit of a notebook."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from ...errors import Invalid
from ...events.notebooks import CellType


class _Operation(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    tag_field="op",
    forbid_unknown_fields=True,
    omit_defaults=True,
):
    """One of a list of operations that are done together or not at all.

    Every address (an id, a prefix of one, or ``"@12"``) and every ``expect_rev`` is of the
    notebook as it is before the whole list.
    """


class Replace(_Operation, frozen=True, kw_only=True, tag="replace"):
    """Give a cell another source; its id, type, outputs and metadata stay."""

    id: str
    expect_rev: str
    source: str


class Patch(_Operation, frozen=True, kw_only=True, tag="patch"):
    """Put `new` in place of `old`, which has to occur once, or at least once with `all`."""

    id: str
    expect_rev: str
    old: str
    new: str
    all: bool = False


class Insert(_Operation, frozen=True, kw_only=True, tag="insert"):
    """A new cell `after` or `before` another one, or at the end.

    Those that are inserted after the same cell stand in the order of the list. One that comes from
    code that was run in the sandbox names it in `from_code`, and has that very code as its source
    unless it gives another one.
    """

    type: CellType
    source: str = ""
    from_code: int | None = None
    after: str | None = None
    before: str | None = None


class Move(_Operation, frozen=True, kw_only=True, tag="move"):
    """Put a cell `after` or `before` another one, or at the end."""

    id: str
    after: str | None = None
    before: str | None = None


class Delete(_Operation, frozen=True, kw_only=True, tag="delete"):
    """Remove a cell."""

    id: str
    expect_rev: str


class SetType(_Operation, frozen=True, kw_only=True, tag="set_type"):
    """Make it a cell of another type; a code cell loses its outputs by it."""

    id: str
    expect_rev: str
    type: CellType


class Split(_Operation, frozen=True, kw_only=True, tag="split"):
    """Begin a new cell with each of these lines, counted from 1; outputs go with the last part."""

    id: str
    expect_rev: str
    lines: list[int]


class Expected(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A cell and the revision that it must have."""

    id: str
    expect_rev: str


class Merge(_Operation, frozen=True, kw_only=True, tag="merge"):
    """Append cells to the first of them, a blank line between; they must follow each other."""

    cells: list[Expected]


class ClearOutputs(_Operation, frozen=True, kw_only=True, tag="clear_outputs"):
    """Remove the outputs and the execution count of a code cell."""

    id: str
    expect_rev: str


class Tag(_Operation, frozen=True, kw_only=True, tag="tag"):
    """Add tags to a cell, and remove some."""

    id: str
    expect_rev: str
    add: list[str] = []
    remove: list[str] = []


Operation = Replace | Patch | Insert | Move | Delete | SetType | Split | Merge | ClearOutputs | Tag


def operations_from(value: Any) -> list[Operation]:
    """The operations of a tool call, such as ``[{"op": "delete", "id": …, "expect_rev": …}]``.

    Raises
    ------
    Invalid
        ``bad_operation``, with the place of what is wrong.
    """
    try:
        return msgspec.convert(value, list[Operation])
    except msgspec.ValidationError as error:
        raise Invalid(
            "bad_operation",
            f"The list of operations is not valid: {error}.",
            "Each operation is an object with `op` and the fields of that operation.",
        ) from None


def resolved(operation: Operation, id_of: Callable[[str], str]) -> Operation:
    """The same operation with ids in place of the addresses, which may lead elsewhere later."""
    if isinstance(operation, Merge):
        cells = [msgspec.structs.replace(cell, id=id_of(cell.id)) for cell in operation.cells]
        return msgspec.structs.replace(operation, cells=cells)
    addresses = {name: getattr(operation, name, None) for name in ("id", "after", "before")}
    ids = {name: id_of(value) for name, value in addresses.items() if value is not None}
    return msgspec.structs.replace(operation, **ids)


def whole_cells(operations: Iterable[Operation]) -> list[str]:
    """Addresses of the cells of which an edit takes away, or elsewhere, more than their source."""
    found: list[str] = []
    for operation in operations:
        match operation:
            case Delete(id=id) | SetType(id=id) | Split(id=id) | ClearOutputs(id=id):
                found.append(id)
            case Merge(cells=cells):
                found += [cell.id for cell in cells]
    return found


def operation_name(operation: Operation) -> str:
    """What `op` says of it."""
    return str(operation.__struct_config__.tag)
