"""The window: only the beginning and the newest part of the history stay."""

from __future__ import annotations

import msgspec

from ...events import CondensationAction
from ..entries import Said, Turn
from .base import Condenser, Need, Prompt
from .forgetting import forget, replacing

_DROPPED = "[Earlier steps were left out here, as the conversation became too long.]"


class Window(Condenser):
    """Leaves out the middle of the history, and where that is not enough, the newest results too.

    Parameters
    ----------
    keep_first
        How many of the first entries (messages, responses with their results) always stay.
    """

    name = "conversation_window"

    def __init__(self, keep_first: int) -> None:
        self._keep_first = keep_first

    async def propose(self, prompt: Prompt, need: Need) -> CondensationAction | None:
        gone = forget(prompt, need, self._keep_first)
        if gone:
            condensation = replacing(prompt, need, self.name, gone, _DROPPED)
        else:
            condensation = CondensationAction(condenser=self.name, reason=need.reason)
        if gone and prompt.size_with(condensation) <= need.target:
            return condensation
        masked = self._what_is_left(prompt, need, condensation)
        return msgspec.structs.replace(condensation, masked=masked)

    def _what_is_left(
        self, prompt: Prompt, need: Need, condensation: CondensationAction
    ) -> list[int]:
        """The largest results and messages that are left, as many as have to go."""
        start, end = condensation.forgotten_start, condensation.forgotten_end
        parts: list[tuple[int, int]] = []
        for entry in prompt.entries:
            if start is not None and end is not None and start <= entry.id <= end:
                continue
            if isinstance(entry, Said):
                parts.append((entry.saving(), entry.id))
            elif isinstance(entry, Turn):
                parts += [(call.saving(), call.id) for call in entry.calls]
        wanted = prompt.size_with(condensation) - need.target
        masked = []
        for saving, id in sorted(parts, reverse=True):
            if wanted <= 0 or not saving:
                break
            masked.append(id)
            wanted -= saving
        return masked
