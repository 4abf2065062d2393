"""Whether a notebook gives what is saved in it when it runs from top to bottom, from nothing."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Literal

import msgspec

from ..cells import Cell, source_of
from ..lines import unified_diff
from ..names.graph import NameGraph, OutOfOrder, UsedEarly, out_of_order
from .clean_folder import FilesUsed
from .comparing import comparable

Outcome = Literal["same", "different", "failed", "not_compared", "not_run"]

EXPECTED = "raises-exception"
"""Jupyter's tag of a cell that may raise."""

_OF_A_FILE = re.compile(r"\[Errno \d+\] (?P<why>[^:]+): (?P<quote>['\"])(?P<path>.+?)(?P=quote)")


class Ran(msgspec.Struct, frozen=True, kw_only=True):
    """What came of running a cell.

    Attributes
    ----------
    outputs
        As nbformat has them.
    stopped
        Why it did not end by itself, as a sentence; empty if it did.
    """

    outputs: list[dict[str, Any]] = []
    stopped: str = ""


class CheckedCell(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A code cell after the check.

    Attributes
    ----------
    number
        Its place among all cells, from 1.
    title
        The first line of its source.
    outcome
        ``not_compared``: it ran, and nothing is saved to compare with. ``not_run``: one before it
        failed.
    diff
        From what is saved to what it gave.
    problem
        Why it failed.
    """

    id: str
    number: int
    title: str
    outcome: Outcome
    diff: str = ""
    problem: str = ""


class FileTrouble(msgspec.Struct, frozen=True, kw_only=True):
    """A file that a cell could not use; `why` is what the system said."""

    path: str
    why: str


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """A place of the network that was not reached, and why."""

    host: str
    port: int
    why: str


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """What the check found.

    Attributes
    ----------
    outcome
        ``failed`` where a cell did, ``different`` where outputs are.
    cells
        The code cells, in order.
    used_early
        Names that are used above the cell that defines them, or defined nowhere.
    out_of_order
        Cells that ran before one above them, by the counts that are saved.
    troubles
        Files that were not there, or that may not be written.
    files
        What was used in the workspace.
    network
        What programs wanted to reach and could not.
    """

    outcome: Literal["same", "different", "failed"]
    cells: list[CheckedCell]
    used_early: list[UsedEarly] = []
    out_of_order: list[OutOfOrder] = []
    troubles: list[FileTrouble] = []
    files: FilesUsed | None = None
    network: list[Place] = []


async def check(
    cells: Sequence[Cell],
    run: Callable[[str], Awaitable[Ran]],
    names: Mapping[str, str] | None = None,
) -> Report:
    """Run all code cells of a notebook in Python in order, and compare what comes of them.

    It ends at the first cell that raises what it is not expected to: by the tag
    ``raises-exception``, or because the same kind of error is saved.

    Parameters
    ----------
    cells
        The notebook's cells as they are saved, each with an id of its own.
    run
        Runs one piece of code in a kernel that has run nothing before.
    names
        Texts to take for others in what comes of it, such as where the workspace is.

    Returns
    -------
    Report
        Without what was used: that only the one who runs the cells knows.
    """
    graph = NameGraph(cells)
    checked: list[CheckedCell] = []
    troubles: dict[tuple[str, str], FileTrouble] = {}
    failed = False
    for number, cell in enumerate(cells, 1):
        if cell["cell_type"] != "code" or not source_of(cell).strip():
            continue
        ran = None if failed else await run(source_of(cell))
        checked.append(_checked(number, cell, ran, names or {}))
        failed = failed or checked[-1].outcome == "failed"
        for trouble in _troubles(ran.outputs if ran else []):
            troubles[trouble.path, trouble.why] = trouble
    outcomes = {cell.outcome for cell in checked}
    different: Literal["same", "different"] = "different" if "different" in outcomes else "same"
    return Report(
        outcome="failed" if failed else different,
        cells=checked,
        used_early=graph.used_early(),
        out_of_order=out_of_order(cells),
        troubles=list(troubles.values()),
    )


def _checked(number: int, cell: Cell, ran: Ran | None, names: Mapping[str, str]) -> CheckedCell:
    title = source_of(cell).strip().split("\n", 1)[0]
    whole = CheckedCell(id=cell["id"], number=number, title=title, outcome="not_run")
    if ran is None:
        return whole
    saved = cell.get("outputs") or []
    was_run = bool(saved) or cell.get("execution_count") is not None
    old, new = comparable(saved), comparable(ran.outputs, names)
    diff = unified_diff(old, new) if was_run else ""
    if problem := ran.stopped or _unexpected(cell, ran.outputs):
        return msgspec.structs.replace(whole, outcome="failed", problem=problem, diff=diff)
    outcome: Outcome = "same" if old == new else "different"
    return msgspec.structs.replace(whole, outcome=outcome if was_run else "not_compared", diff=diff)


def _unexpected(cell: Cell, outputs: Sequence[Mapping[str, Any]]) -> str:
    """The error that a cell raised, unless it was to be expected."""
    saved = {out.get("ename") for out in cell.get("outputs") or [] if _is_error(out)}
    if EXPECTED in (cell["metadata"].get("tags") or []):
        return ""
    for output in filter(_is_error, outputs):
        if output.get("ename") not in saved:
            return f"{output.get('ename')}: {output.get('evalue')}"
    return ""


def _is_error(output: Mapping[str, Any]) -> bool:
    return output.get("output_type") == "error"


def _troubles(outputs: Sequence[Mapping[str, Any]]) -> list[FileTrouble]:
    found = (_OF_A_FILE.search(str(out.get("evalue"))) for out in outputs if _is_error(out))
    return [FileTrouble(path=one["path"], why=one["why"]) for one in found if one]
