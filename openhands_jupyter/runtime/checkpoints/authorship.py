"""Which changes are one session's, where others worked in the same folder.

Between two checkpoints next to each other, files were changed by those who were at work then. Who
was there alone changed them. Where several were, an action that names its file changed that one,
and nobody knows about the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

from .model import Change, Entry, Tree, Worker, compare, entry_at, is_folder, kind_of

AT_ONCE = "Another session was at work at the same moment, and may have changed it."
AFTERWARDS = "Another session changed it afterwards."
THEIRS = "Another session changed it."

Load = Callable[[bytes], Tree]


class Step(NamedTuple):
    """Two states next to each other, and who was at work between them."""

    before: Entry
    after: Entry
    by: Sequence[Worker]


class Effects(NamedTuple):
    """What one session did to the files in some span.

    Attributes
    ----------
    targets
        Each path that it changed, or may have changed, as it was before that; None for nothing.
    doubts
        Those of them whose change is not only its own, and why.
    others
        Paths that others alone changed, as `targets`.
    """

    targets: dict[str, Entry | None]
    doubts: dict[str, str]
    others: dict[str, Entry | None]


def effects_of(load: Load, session: str, steps: Iterable[Step]) -> Effects:
    """What a session did in these steps; what it took back itself is left out.

    Where nobody was at work, it counts as done by the session.
    """
    mine = Effects({}, {}, {})
    last: dict[str, Entry | None] = {}
    for step in steps:
        for change in compare(load, step.before, step.after):
            last[change.path] = change.after
            _attribute(mine, session, _owners(step.by, change.path), change)
    changed = {
        path: before for path, before in mine.targets.items() if not same(before, last[path])
    }
    return Effects(
        changed,
        {path: why for path, why in mine.doubts.items() if path in changed},
        {
            path: before
            for path, before in mine.others.items()
            if path not in mine.targets and not same(before, last[path])
        },
    )


def _attribute(effects: Effects, session: str, owners: set[str], change: Change) -> None:
    path = change.path
    if owners and session not in owners:
        effects.others.setdefault(path, change.before)
        if path in effects.targets:
            effects.doubts[path] = AFTERWARDS
        return
    effects.targets.setdefault(path, change.before)
    if len(owners) > 1:
        effects.doubts.setdefault(path, AT_ONCE)


def _owners(by: Sequence[Worker], path: str) -> set[str]:
    """Sessions that may have changed a path."""
    named = {worker.session for worker in by if worker.path and _leads_to(path, worker.path)}
    anything = {worker.session for worker in by if worker.path is None}
    return named or anything or {worker.session for worker in by}


def _leads_to(path: str, named: str) -> bool:
    return named == path or named.startswith(f"{path}/")


def lead_back(load: Load, now: Entry, then: Entry, effects: Effects) -> Iterator[Change]:
    """The changes that take a session's effects back, a folder ahead of what it holds.

    Parameters
    ----------
    load
        Gives trees by their digest.
    now, then
        The present state, and the one before the session's first change.
    effects
        What is to be taken back.
    """
    changes: dict[str, Change] = {}
    for path, after in effects.targets.items():
        before = entry_at(load, now, path)
        if same(before, after):
            continue
        changes[path] = Change(path, kind_of(before, after), before, after)
        if is_folder(before) and not is_folder(after):
            # What was put there since has to go with it, or to keep it.
            for inner in compare(load, before, None, path):
                if inner.path not in effects.targets:
                    changes[inner.path] = inner
        if after:
            changes |= _missing_folders(load, now, then, path, changes)
    return iter(sorted(changes.values(), key=lambda change: change.path.split("/")))


def same(one: Entry | None, other: Entry | None) -> bool:
    """Whether nothing has to be done to make one of the other; of folders, to themselves."""
    if one and other and is_folder(one) and is_folder(other):
        return one.mode == other.mode
    return one == other


def _missing_folders(
    load: Load, now: Entry, then: Entry, path: str, found: dict[str, Change]
) -> dict[str, Change]:
    missing = {}
    for folder in accumulate(path.split("/")[:-1], "{}/{}".format):
        after = entry_at(load, then, folder)
        if folder not in found and is_folder(after) and entry_at(load, now, folder) is None:
            missing[folder] = Change(folder, "added", None, after)
    return missing
