"""Observation masking: old results are left out, while it stays told that there were some."""

from __future__ import annotations

from ...events import CondensationAction
from ..entries import Call, Turn
from .base import Condenser, Need, Prompt


class ObservationMasking(Condenser):
    """Leaves out the results of the oldest calls, as many as have to be.

    Parameters
    ----------
    attention_window
        How many of the newest results always stay.
    """

    name = "observation_masking"

    def __init__(self, attention_window: int) -> None:
        self._attention_window = attention_window

    async def propose(self, prompt: Prompt, need: Need) -> CondensationAction | None:
        calls = [call for e in prompt.entries if isinstance(e, Turn) for call in e.calls]
        old = calls[: max(0, len(calls) - self._attention_window)]
        masked = _enough(old, need.size - need.target)
        return CondensationAction(condenser=self.name, reason=need.reason, masked=masked)


def _enough(calls: list[Call], wanted: int) -> list[int]:
    """The first calls that save so many characters together."""
    masked = []
    for call in calls:
        if wanted <= 0:
            break
        if saving := call.saving():
            masked.append(call.id)
            wanted -= saving
    return masked
