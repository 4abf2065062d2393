"""What became of names and files while code ran."""

from __future__ import annotations

import msgspec


class NameChanges(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Names of a kernel that stand for something else after a run than before.

    Attributes
    ----------
    changed
        Those whose object is seen to be another one, or to hold something else: at least these.
    left_out
        How many more there are.
    """

    new: list[str] = []
    changed: list[str] = []
    deleted: list[str] = []
    left_out: int = 0


class TouchedFiles(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Files of the workspace that are others after a run than before, whoever changed them.

    Attributes
    ----------
    created, changed, deleted
        Paths from the workspace on, the first of each kind.
    left_out
        How many more there are.
    """

    created: list[str] = []
    changed: list[str] = []
    deleted: list[str] = []
    left_out: int = 0
