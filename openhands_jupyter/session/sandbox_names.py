"""Which names of the session's own kernel stand for something else after a run than before."""

from __future__ import annotations

from functools import cache

import msgspec

from ..events import NameChanges
from ..notebooks.in_kernel.expressions import expression, told_in
from ..notebooks.running.name_changes import compare


@cache
def names_asked() -> str:
    """What the kernel is asked after each cell; its answer goes with the cell's own reply."""
    return expression("bindings", {}, kept=True)


def changes(before: str | None, after: str | None) -> NameChanges | None:
    """What became of the names between two answers.

    Parameters
    ----------
    before, after
        As `SandboxRuntime.told`: empty for a kernel that has run nothing, None for no answer.

    Returns
    -------
    NameChanges or None
        None where that is not known, as after the kernel's end.
    """
    if before is None or not after:
        return None
    try:
        return compare(_looks(before), _looks(after))
    except (ValueError, msgspec.ValidationError):
        return None


def _looks(told: str) -> dict[str, str]:
    return msgspec.convert(told_in(told), dict[str, str]) if told else {}
