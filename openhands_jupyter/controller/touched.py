"""Which files of the workspace changed while code ran: what differs from the checkpoint before."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from ..events import (
    IPythonOutputObservation,
    KernelCodeObservation,
    NotebookRunObservation,
    Observation,
    TouchedFiles,
)
from ..events.notebook_runs import GOING_ON
from ..runtime.checkpoints import Change, Checkpoint
from .checkpointing import Checkpointing, path_in
from .restoring import shown

MOST = 20
"""Files that are told of each kind."""

MOST_LOOKED_AT = 50_000
"""Files of a workspace that are looked at once more after each run, in some tenths of a second."""

WITHIN = 2.0
"""Seconds that this may take where the disk is slow or somebody else holds the checkpoints."""

REMEMBERED = 50
"""Runs that were left running, of which the beginning is known."""


class Touched:
    """Adds to the observations of one session which files changed while their code ran.

    Parameters
    ----------
    checkpoints
        Knows what the files were like before.
    """

    def __init__(self, checkpoints: Checkpointing) -> None:
        self._checkpoints = checkpoints
        self._begun: dict[str, Checkpoint | None] = {}

    async def told(self, observation: Observation, before: Checkpoint | None) -> Observation:
        """The observation with the files, where it is of code that has ended and they are known.

        Parameters
        ----------
        observation
            What answers the action.
        before
            The checkpoint that was taken before it, if there is one.
        """
        match observation:
            case NotebookRunObservation():
                return await self._run_told(observation, before)
            case IPythonOutputObservation() | KernelCodeObservation():
                files = await self._since(before)
                return msgspec.structs.replace(observation, files=files)
        return observation

    async def _run_told(
        self, observation: NotebookRunObservation, before: Checkpoint | None
    ) -> NotebookRunObservation:
        """The same for a run, which may have begun with an earlier action."""
        before = self._begun.pop(observation.run, before)
        if observation.state in GOING_ON:
            self._begun[observation.run] = before
            for run in list(self._begun)[:-REMEMBERED]:
                del self._begun[run]
            return observation
        # Into the notebook itself its outputs are written.
        own = path_in(self._checkpoints.store.workspace, observation.path)
        files = await self._since(before, own if observation.kernel == "user" else None)
        return msgspec.structs.replace(observation, files=files)

    async def _since(
        self, before: Checkpoint | None, own: str | None = None
    ) -> TouchedFiles | None:
        if before is None or before.files > MOST_LOOKED_AT:
            return None
        changes = await self._checkpoints.changes_since(before.id, WITHIN)
        if changes is None:
            return None
        return touched(change for change in changes if change.path != own)


def touched(changes: Iterable[Change]) -> TouchedFiles:
    """The files among what changed."""
    kinds: dict[str, list[str]] = {"added": [], "deleted": [], "": []}
    for change in changes:
        if any(entry and entry.kind != "folder" for entry in (change.before, change.after)):
            kinds[change.kind if change.kind in kinds else ""].append(shown(change.path))
    return TouchedFiles(
        created=kinds["added"][:MOST],
        changed=kinds[""][:MOST],
        deleted=kinds["deleted"][:MOST],
        left_out=sum(max(len(paths) - MOST, 0) for paths in kinds.values()),
    )
