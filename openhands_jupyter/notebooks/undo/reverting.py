"""Taking back what one edit did to the content of one cell, whatever became of it since."""

from __future__ import annotations

from typing import Any, get_args

from ...errors import Invalid
from ...events.notebooks import CellType, WhyLeft
from ..cells import Cell, new_cell
from ..changes import Change, InsertCell, SetCell
from ..delivery.document import checked
from ..editing.merging import merge
from ..lines import unified_diff
from ..provenance import KEY
from ..revisions import cell_rev, rev_of
from .records import CellRecord, Content, KeptOutputs, outputs_digest

GONE = "Somebody deleted it since."

_BY_PROGRAMS = {
    *("ExecuteTime", "collapsed", "execution", "jupyter", "openhands", "scrolled", "trusted"),
}
"""Metadata that programs write while a person looks at a cell, runs it, or accepts an edit."""


class Blocked(Exception):
    """The cell has to be left alone; see `LeftCell` for the attributes."""

    def __init__(self, reason: WhyLeft, why: str, both: str = "") -> None:
        super().__init__(why)
        self.reason = reason
        self.why = why
        self.both = both


def reverted(record: CellRecord, cell: Cell | None, notes: list[str]) -> Cell | None:
    """A cell as it would be without an edit.

    Parameters
    ----------
    record
        What the edit did.
    cell
        The cell as it is, its source as one string; None where there is none. It is not changed.
    notes
        Gets what else happens, or does not, as phrases.

    Raises
    ------
    Blocked
        Where something that somebody else did would be lost.
    """
    if not record.is_whole:
        raise Blocked("not_kept", "What it held before is not kept, as it was too long.")
    before, after = record.before, record.after
    if before is None and after is None:
        return cell
    if before is None:
        assert after is not None
        if cell is not None:
            _check_as_inserted(after, cell)
        return None
    if after is None:
        return _back(record.id, before, cell, notes)
    if cell is None:
        raise Blocked("gone", GONE)
    return _changed_back(before, after, cell, notes)


def _check_as_inserted(inserted: Content, cell: Cell) -> None:
    now = (cell["cell_type"], cell["source"], cell.get("attachments") or {}, _own(cell["metadata"]))
    then = (
        *(inserted.cell_type, inserted.source),
        *(inserted.attachments or {}, _own(inserted.metadata)),
    )
    if now != then:
        diff = unified_diff(inserted.source, cell["source"])
        raise Blocked("changed", "Somebody changed it since it was inserted.", diff)


def _own(metadata: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in metadata.items() if key not in _BY_PROGRAMS}


def _back(id: str, deleted: Content, cell: Cell | None, notes: list[str]) -> Cell:
    if cell is not None:
        if cell_rev(cell) == rev_of(deleted.cell_type, deleted.source):
            return cell
        diff = unified_diff(deleted.source, cell["source"])
        raise Blocked("exists", "It is there again, with another text.", diff)
    back = new_cell(id, deleted.cell_type, deleted.source, deleted.metadata)
    if deleted.attachments is not None:
        back["attachments"] = deleted.attachments
    try:
        checked(Change(steps=[InsertCell(after=None, cell=back)]))
    except Invalid as error:
        raise Blocked("not_allowed", error.message) from None
    return _with_outputs(back, deleted.outputs, notes)


def _changed_back(before: Content, after: Content, cell: Cell, notes: list[str]) -> Cell:
    back = {**cell, "metadata": _metadata(before, after, cell["metadata"], notes)}
    merged = merge(after.source, before.source, cell["source"])
    if merged.source is None:
        raise Blocked(
            "clash",
            "Somebody changed the same lines since.",
            merged.marked("before the edit", "after the edit", "now"),
        )
    back["source"] = merged.source
    if before.cell_type != after.cell_type != cell["cell_type"] != before.cell_type:
        raise Blocked("changed", f"Somebody made it a {cell['cell_type']} cell since.")
    if before.cell_type != cell["cell_type"] == after.cell_type:
        _retype(back, before.cell_type, notes)
        return _with_outputs(back, before.outputs, notes)
    if before.outputs is None or before.outputs.digest == _digest_of(cell):
        return back
    if after.outputs is None or after.outputs.digest != _digest_of(cell):
        notes.append("keeps its outputs, as it was run since")
        return back
    return _with_outputs(back, before.outputs, notes)


def _metadata(
    before: Content, after: Content, now: dict[str, Any], notes: list[str]
) -> dict[str, Any]:
    """The metadata without what the edit did to it; a key that somebody changed since stays."""
    back, changed = dict(now), after.metadata
    for key, value in changed.items():
        old = before.metadata.get(key)
        if back.get(key) == value or (key == KEY and _is_mark_of(value, back.get(key))):
            back[key] = old
        elif back.get(key) != old and key not in _BY_PROGRAMS:
            notes.append(f"keeps its {key}, which somebody changed since")
    return {key: value for key, value in back.items() if value is not None or key not in changed}


def _is_mark_of(edit: Any, now: Any) -> bool:
    """Whether a cell has the mark of an edit, also where a person has accepted it since."""
    return isinstance(now, dict) and isinstance(edit, dict) and edit.items() <= now.items()


def _retype(cell: dict[str, Any], cell_type: str, notes: list[str]) -> None:
    if cell_type not in get_args(CellType):
        raise Blocked("not_allowed", f"It was a cell of the type {cell_type!r}, not known here.")
    if cell_type == "code":
        if cell.get("attachments"):
            raise Blocked("changed", "Somebody attached files to it, which code cannot have.")
        cell.pop("attachments", None)
        cell |= {"outputs": [], "execution_count": None}
    else:
        if cell.pop("outputs", None):
            notes.append(f"loses its outputs, as it is {cell_type} again")
        cell.pop("execution_count", None)
    cell["cell_type"] = cell_type


def _with_outputs(cell: dict[str, Any], kept: KeptOutputs | None, notes: list[str]) -> Cell:
    if kept is None or cell["cell_type"] != "code":
        return cell
    if kept.is_whole and _are_valid(kept):
        return {**cell, "outputs": kept.outputs, "execution_count": kept.execution_count}
    notes.append("comes without its outputs, which are not kept")
    return cell


def _are_valid(kept: KeptOutputs) -> bool:
    try:
        checked(Change(steps=[SetCell(id="", rev="", outputs=kept.outputs)]))
    except Invalid:
        return False
    return True


def _digest_of(cell: Cell) -> str:
    if cell["cell_type"] != "code":
        return ""
    return outputs_digest(list(cell.get("outputs") or []), cell.get("execution_count"))
