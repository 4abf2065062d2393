"""What condensers that forget a part of the history have in common."""

from __future__ import annotations

from collections.abc import Sequence

from ...events import CondensationAction
from ...events.blobs import cut
from ..entries import QUOTED, Condensed, Entry, Said, length
from .base import Need, Prompt

SUMMARY_SHARE = 0.2
"""Share of the target that a summary may take."""

QUOTED_SHARE = 0.1
"""Share of it that the person's own words may take, in the place of their messages."""


def forget(prompt: Prompt, need: Need, keep_first: int) -> Sequence[Entry]:
    """The entries that have to go: those after the first ones, until the rest is short enough.

    The newest response of the model, with the results of its calls, stays.
    """
    entries, sizes = prompt.entries, prompt.history.sizes()
    protected = prompt.protected()
    first = min(keep_first, protected)
    left = need.size
    wanted = need.target * (1 - SUMMARY_SHARE - QUOTED_SHARE)
    end = first
    while end < protected and left > wanted:
        left -= sizes[end]
        end += 1
    return entries[first:end]


def replacing(
    prompt: Prompt, need: Need, name: str, gone: Sequence[Entry], summary: str
) -> CondensationAction:
    """The condensation that puts a text in the place of entries, and the person's own words."""
    return CondensationAction(
        condenser=name,
        reason=need.reason,
        forgotten_start=gone[0].id,
        forgotten_end=gone[-1].id,
        summary=summary,
        quoted=_quoted(prompt, gone, room=int(need.target * QUOTED_SHARE)),
    )


def _quoted(prompt: Prompt, gone: Sequence[Entry], room: int) -> list[int]:
    """The newest messages of the person for which there is room; also those quoted before."""
    ids: list[int] = []
    for entry in gone:
        if isinstance(entry, Condensed):
            ids += entry.quoted
        elif isinstance(entry, Said) and entry.by_person and entry.shown != "refused":
            ids.append(entry.id)
    quoted: list[int] = []
    for id in reversed(ids):
        message = prompt.history.part(id)
        if not isinstance(message, Said):
            continue
        room -= min(length(message.text), QUOTED)
        if room < 0:
            break
        quoted.insert(0, id)
    return quoted


def as_text(entry: Entry, longest: int) -> str:
    """An entry as a model is told of it that shall sum it up."""
    if isinstance(entry, Said):
        return f"MESSAGE:\n{cut(entry.told(), longest)}"
    lines = [f"AGENT:\n{cut(entry.text, longest)}"] if entry.text else []
    for call in entry.calls:
        lines.append(f"CALL {call.call.name}: {cut(call.call.arguments, longest)}")
        lines.append(f"RESULT: {cut(call.told(), longest)}")
    return "\n".join(lines)
