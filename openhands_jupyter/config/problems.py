"""What is wrong with how something is configured, and where that is written."""

from __future__ import annotations

from typing import Literal

import msgspec

Severity = Literal["error", "warning"]


class Problem(msgspec.Struct, frozen=True, kw_only=True):
    """One entry that is not in force as it was written; all others are.

    Attributes
    ----------
    severity
        ``error`` for what was meant to hold here and does not, ``warning`` for what does not
        concern this program, or may not be set in that place.
    where
        The file, or the place; empty where the message says it.
    message
        A sentence or two for the person.
    line
        Of the file, from 1; None where it has none, or it is not known.
    """

    severity: Severity
    where: str
    message: str
    line: int | None = None

    def __str__(self) -> str:
        """What stands in a log."""
        at = place(self.where, self.line)
        return f"{at}: {self.message}" if at else self.message


def place(where: str, line: int | None) -> str:
    """A file and a line of it, as both are shown."""
    return where if line is None else f"{where}, line {line}"
