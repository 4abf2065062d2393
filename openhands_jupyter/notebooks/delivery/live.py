"""What a browser tab tells of a notebook: all of it, or what is another since it told it last."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from .document import OpenNotebook
from .lean import lean


class Live(msgspec.Struct, frozen=True):
    """A notebook as a tab tells it.

    Attributes
    ----------
    cells
        All of them; where it tells `since`, those that are others since then or are wanted whole.
    version
        What the tab calls this state; None where it could not tell what is another since.
    since
        The version that the server has, where only what is another is told.
    order
        The ids of all cells, where these or their order are others since then.
    """

    cells: list[dict[str, Any]]
    metadata: dict[str, Any]
    nbformat: int
    nbformat_minor: int
    state: OpenNotebook
    outputs_revs: dict[str, str] = {}
    version: str | None = None
    since: str | None = None
    order: list[str] | None = None


class LastRead:
    """The cells of a notebook as a tab told them last, lean.

    Parameters
    ----------
    version
        What the tab calls this state.
    cells
        By id, in their order.
    """

    def __init__(self, version: str, cells: Mapping[str, dict[str, Any]]) -> None:
        self.version = version
        self._cells = cells

    def with_changes(self, live: Live) -> list[dict[str, Any]]:
        """All cells, of an answer that tells what is another since this.

        Raises
        ------
        KeyError
            When a cell is missing that the answer has among its ids.
        """
        told = {cell["id"]: cell for cell in live.cells}
        order = self._cells if live.order is None else live.order
        return [told[id] if id in told else self._cells[id] for id in order]


def last_read(live: Live, whole: list[str]) -> LastRead | None:
    """What to keep of a reading with all cells; None where that is of no use the next time."""
    if live.version is None:
        return None
    wanted = set(whole)
    kept = {cell["id"]: lean(cell) if cell["id"] in wanted else cell for cell in live.cells}
    return LastRead(live.version, kept)
