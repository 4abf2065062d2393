"""Which cells edits moved text between: to take back one of them alone would lose lines."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from .records import CellRecord, Content

_TELLING = re.compile(r"\w")
"""What a line has to hold to count: a bracket alone is nothing that anybody would miss."""


def linked(edits: Sequence[Sequence[CellRecord]]) -> list[frozenset[str]]:
    """The cells of edits, in groups that are to be taken back together or not at all.

    Two cells belong together where one lost a line that the other got, also in different edits:
    by a split, a merge, or because an agent wrote again what it had deleted. To undo only the one
    that got the line would remove it from the notebook. Indentation does not count.
    """
    groups = _Groups()
    got: dict[str, list[str]] = defaultdict(list)
    lost: dict[str, list[str]] = defaultdict(list)
    for edit in edits:
        for record in edit:
            groups.add(record.id)
            before, after = _lines(record.before), _lines(record.after)
            for line in after - before:
                got[line].append(record.id)
            for line in before - after:
                lost[line].append(record.id)
            if not record.is_whole:
                # Nobody knows which lines it had.
                groups.join(other.id for other in edit)
    for line in got.keys() & lost.keys():
        groups.join(got[line] + lost[line])
    return groups.all()


def _lines(content: Content | None) -> Counter[str]:
    source = content.source if content else ""
    return Counter(line.strip() for line in source.split("\n") if _TELLING.search(line))


class _Groups:
    """Names that belong together, directly or through others."""

    def __init__(self) -> None:
        self._group: dict[str, list[str]] = {}

    def add(self, name: str) -> None:
        self._group.setdefault(name, [name])

    def join(self, names: Iterable[str]) -> None:
        first, *others = names
        for other in others:
            group, joined = self._group.get(first, [first]), self._group.get(other, [other])
            if group is not joined:
                group += joined
                self._group |= dict.fromkeys(group, group)

    def all(self) -> list[frozenset[str]]:
        return list(dict.fromkeys(frozenset(group) for group in self._group.values()))
