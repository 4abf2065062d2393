"""What all benchmarks share: rounds that alternate, so that a busy machine is busy for all."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """One line of the table.

    Attributes
    ----------
    what
        What was measured.
    ours, floor
        Medians; the floor is the least that this machine needs for the same.
    unit
        Unit of both.
    goal
        The ratio or value that the project wants to reach, as text; nothing is asserted.
    """

    what: str
    ours: float
    floor: float | None
    unit: str
    goal: str = ""

    @property
    def ratio(self) -> str:
        """How many times the floor ours is; empty if there is no floor."""
        return f"{self.ours / self.floor:.2f}" if self.floor else ""


def medians(subjects: Mapping[str, Callable[[], float]], rounds: int) -> dict[str, float]:
    """Run every subject once a round, in turn; give the median of each.

    Parameters
    ----------
    subjects
        Each gives the figure that it measured.
    rounds
        Rounds that count; one more is run before, for warm caches.
    """
    figures: dict[str, list[float]] = {name: [] for name in subjects}
    for _ in range(rounds + 1):
        for name, subject in subjects.items():
            figures[name].append(subject())
    return {name: statistics.median(values[1:]) for name, values in figures.items()}


def table(rows: list[Row]) -> str:
    """The rows in columns, for a terminal."""
    head = ("measure", "ours", "floor", "unit", "ratio", "goal")
    cells = [head] + [
        (
            row.what,
            f"{row.ours:,.2f}",
            f"{row.floor:,.2f}" if row.floor is not None else "",
            row.unit,
            row.ratio,
            row.goal,
        )
        for row in rows
    ]
    widths = [max(len(line[column]) for line in cells) for column in range(len(head))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in cells
    )
