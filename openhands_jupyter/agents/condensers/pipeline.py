"""Several condensers, one after the other."""

from __future__ import annotations

from collections.abc import Sequence

from ...errors import ModelError
from ...events import CondensationAction
from .base import Condenser, Need, NotShorter, Prompt

_PASSED_ON = ("model_context", "model_bad_request", "model_empty")
"""Failures of a condenser's own model call that the next condenser may do without."""


class Pipeline(Condenser):
    """The first condenser that makes the history shorter is the one that does it.

    Parameters
    ----------
    condensers
        In the order in which they are tried.
    """

    name = "pipeline"

    def __init__(self, condensers: Sequence[Condenser]) -> None:
        self._condensers = condensers

    async def propose(self, prompt: Prompt, need: Need) -> CondensationAction | None:
        return await self.condense(prompt, need)

    async def condense(self, prompt: Prompt, need: Need) -> CondensationAction:
        failed: ModelError | None = None
        for condenser in self._condensers:
            try:
                return await condenser.condense(prompt, need)
            except NotShorter as error:
                failed = error
            except ModelError as error:
                if error.code not in _PASSED_ON:
                    raise
                failed = error
        assert failed is not None
        raise failed
