"""Which cells an agent has read, in which state: only these may it overwrite."""

from __future__ import annotations

from typing import NamedTuple

from ...errors import Conflict
from ...events import CellEdit
from ..showing.reading import Page
from .planning import PlannedCell


class _Seen(NamedTuple):
    """A cell as it was shown; `next_line` is None when it was shown to its end."""

    rev: str
    source: str | None
    next_line: int | None


class Readings:
    """What one agent has read of notebooks, and written into them, by path."""

    def __init__(self) -> None:
        self._seen: dict[str, dict[str, _Seen]] = {}
        self._unknown: set[str] = set()

    def revs(self, path: str) -> dict[str, str]:
        """The revisions of the cells that were read whole, by id."""
        seen = self._seen.get(path, {})
        return {id: cell.rev for id, cell in seen.items() if cell.next_line is None}

    def sources(self, path: str) -> dict[str, str]:
        """The sources of cells as they were read, by id, as far as they are still known."""
        seen = self._seen.get(path, {})
        return {id: cell.source for id, cell in seen.items() if cell.source is not None}

    def note(self, path: str, id: str, rev: str, source: str | None = None) -> None:
        """Note that a cell is known whole."""
        self._seen.setdefault(path, {})[id] = _Seen(rev, source, None)

    def note_page(self, path: str, id: str, rev: str, source: str, page: Page) -> bool:
        """Note that a page of a cell was shown; pages of one state have to follow each other.

        Returns
        -------
        bool
            Whether the cell has been read whole with it.
        """
        before = self._seen.get(path, {}).get(id)
        due = before.next_line if before is not None and before.rev == rev else 1
        if due is not None and (page.first <= due or not page.total):
            due = page.last + 1 if page.last < page.total else None
        self._seen.setdefault(path, {})[id] = _Seen(rev, source, due)
        return due is None

    def note_edit(
        self, path: str, edit: CellEdit | PlannedCell, rev: str, source: str | None = None
    ) -> None:
        """Note what the agent made of a cell: what it wrote, it need not read."""
        seen = self._seen.setdefault(path, {})
        before = seen.get(edit.id)
        if edit.after is None:
            seen.pop(edit.id, None)
        elif edit.what == "inserted" or (before is not None and before.next_line is None):
            self.note(path, edit.id, rev, source)

    def forget(self, path: str) -> None:
        """Forget a notebook of which nobody knows whether it was changed."""
        self._seen.pop(path, None)
        self._unknown.add(path)

    def note_look(self, path: str) -> None:
        """Note that the agent was shown which cells a notebook has now."""
        self._unknown.discard(path)

    def require_known(self, path: str) -> None:
        """Have the agent look first: what it did perhaps, it would do twice.

        Raises
        ------
        Conflict
            When it has not looked at the notebook since nobody knew whether it was changed.
        """
        if path in self._unknown:
            raise Conflict(
                "notebook_not_read",
                f"Nobody knows whether your last change of {path} was made.",
                "Get its outline or read it first: a cell that you insert again may be there.",
            )
