"""Which session, event and model a cell is from, as its metadata says it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import msgspec

from .changes import Change, InsertCell, SetCell, Step

KEY = "openhands"
"""In the metadata of a cell."""


class Provenance(msgspec.Struct, frozen=True, kw_only=True):
    """Where a cell is from, or its last edit by an agent.

    Attributes
    ----------
    session, event
        Ids.
    model
        Name of the model; empty where there was none.
    approver
        ``user`` where the person was asked, else ``nobody``.
    time
        When, in ISO 8601.
    """

    session: str
    event: int
    model: str
    approver: Literal["user", "nobody"]
    time: str


def signed(change: Change, provenance: Provenance, from_code: Mapping[str, int] = {}) -> Change:
    """The change, with its provenance in each cell that it makes or sets.

    Parameters
    ----------
    change, provenance
        What is to be delivered, and where it is from.
    from_code
        The cells that come from code that ran in the sandbox, with the event of that.
    """
    mark = msgspec.to_builtins(provenance)
    return msgspec.structs.replace(
        change,
        steps=[_signed(step, mark, from_code) for step in change.steps],
        session=provenance.session,
        event=provenance.event,
    )


def _signed(step: Step, mark: dict[str, object], from_code: Mapping[str, int]) -> Step:
    match step:
        case InsertCell(cell=cell):
            if cell["id"] in from_code:
                mark = {**mark, "from_code": from_code[cell["id"]]}
            return msgspec.structs.replace(
                step, cell={**cell, "metadata": {**cell["metadata"], KEY: mark}}
            )
        case SetCell(metadata=metadata):
            return msgspec.structs.replace(step, metadata={**(metadata or {}), KEY: mark})
    return step
