"""How the cells of a Python notebook depend on each other through names."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import msgspec

from ..cells import Cell, source_of
from .cell_names import is_built_in, names_in
from .name_reader import CellNames


class Stale(msgspec.Struct, frozen=True, kw_only=True):
    """A cell whose result may no longer be what its code would give.

    Attributes
    ----------
    edited
        Whether its own code is new or another one.
    names
        Names that it takes from cells that are edited or stale, in alphabetical order.
    """

    id: str
    edited: bool = False
    names: list[str] = []


class UsedEarly(msgspec.Struct, frozen=True, kw_only=True):
    """A name that a cell uses and that no cell above it defines.

    Attributes
    ----------
    defined_in
        Id of the first cell further down that defines it; None if no cell does.
    """

    id: str
    name: str
    defined_in: str | None = None


class OutOfOrder(msgspec.Struct, frozen=True, kw_only=True):
    """A cell that ran before one above it.

    Attributes
    ----------
    count, count_above
        Its execution count, and the highest one above it.
    """

    id: str
    count: int
    count_above: int


def is_python(metadata: Mapping[str, Any]) -> bool:
    """Whether a notebook with this metadata is in Python, as it is where nothing is said."""
    info = metadata.get("language_info")
    spec = metadata.get("kernelspec")
    told = info.get("name") if isinstance(info, dict) else None
    told = told or (spec.get("language") if isinstance(spec, dict) else None)
    return not isinstance(told, str) or told.lower() in ("python", "ipython", "python3")


class NameGraph:
    """The names of all code cells, and from which cell each name comes when all run in order.

    To read a cell for the first time takes about a millisecond: not for an event loop.

    Attributes
    ----------
    names
        Of each code cell, by id.
    sources
        Of each code cell, by id: name to the cell above that gave or changed it last.
    """

    def __init__(self, cells: Sequence[Cell]) -> None:
        self.names: dict[str, CellNames] = {}
        self.sources: dict[str, dict[str, str]] = {}
        self._cells = [cell for cell in cells if cell["cell_type"] == "code"]
        self._code: dict[str, str] = {}
        self._defined_first: dict[str, str] = {}
        for cell in self._cells:
            self.names[cell["id"]], self._code[cell["id"]] = names_in(source_of(cell))
        self._needed = {id: names.uses | names.uses_later for id, names in self.names.items()}
        self._link()

    def stale_since(self, before: NameGraph) -> list[Stale]:
        """Which cells an edit makes stale, in order.

        A cell is stale when its code changed, other than by comments and formatting, or when a
        name that it uses comes from another cell or from a stale one.

        Parameters
        ----------
        before
            The graph of the notebook as it was.
        """
        stale: dict[str, Stale] = {}
        for id, code in self._code.items():
            edited = before._code.get(id) != code
            names = [n for n in self._needed[id] if self._is_another(n, id, before, stale)]
            if edited or names:
                stale[id] = Stale(id=id, edited=edited, names=sorted(names))
        return list(stale.values())

    def stale_by_runs(self) -> list[Stale]:
        """Which cells have results that are older than those of cells that they depend on.

        Told from execution counts; cells that never ran are not among them.
        """
        stale: dict[str, Stale] = {}
        counts = {cell["id"]: _count(cell) for cell in self._cells}
        for id, sources in self.sources.items():
            count = counts[id]
            if count is None:
                continue
            names = sorted(
                name
                for name, source in sources.items()
                if source in stale or (counts[source] or count + 1) > count
            )
            if names:
                stale[id] = Stale(id=id, names=names)
        return list(stale.values())

    def used_early(self) -> list[UsedEarly]:
        """Names that are missing when the notebook runs from top to bottom.

        What may come from a cell above whose names cannot be read is left out.
        """
        found = []
        opaque = False
        for id, names in self.names.items():
            for name in sorted(names.uses - self.sources[id].keys()):
                later = self._defined_first.get(name)
                later = None if later == id else later
                if later is not None or not (opaque or names.opaque or is_built_in(name)):
                    found.append(UsedEarly(id=id, name=name, defined_in=later))
            opaque = opaque or names.opaque
        return found

    def uses(self, id: str) -> list[str]:
        """The names that a cell takes from outside of it, without Python's own."""
        return sorted(n for n in self._needed[id] if n in self._defined_first or not is_built_in(n))

    def _link(self) -> None:
        latest: dict[str, str] = {}
        modules = {name for names in self.names.values() for name in names.modules}
        for id, names in self.names.items():
            needed = self._needed[id]
            self.sources[id] = {name: latest[name] for name in needed if name in latest}
            for name in names.defines | (names.changes - modules):
                latest[name] = id
            for name in names.defines:
                self._defined_first.setdefault(name, id)

    def _is_another(self, name: str, id: str, before: NameGraph, stale: Collection[str]) -> bool:
        """Whether a cell gets a name from another cell than before, or from one that is stale."""
        source = self.sources[id].get(name)
        if source != before.sources.get(id, {}).get(name):
            return True
        if source is not None:
            return source in stale
        return self._given_below(name, id) != before._given_below(name, id)

    def _given_below(self, name: str, id: str) -> tuple[str, str] | None:
        """The cell from further down that a name may come from, and its code."""
        later = self._defined_first.get(name)
        return None if later is None or later == id else (later, self._code[later])


def out_of_order(cells: Sequence[Cell]) -> list[OutOfOrder]:
    """The cells that ran before one above them, told from their execution counts."""
    found = []
    highest = 0
    for cell in cells:
        count = _count(cell)
        if count is None:
            continue
        if count < highest:
            found.append(OutOfOrder(id=cell["id"], count=count, count_above=highest))
        highest = max(highest, count)
    return found


def _count(cell: Cell) -> int | None:
    count = cell.get("execution_count")
    return count if isinstance(count, int) else None
