"""Checkpoints: the states that a workspace was in, to be compared and brought back.

Nothing here knows sessions, events or an event loop; everything blocks.
"""

from __future__ import annotations

from .authorship import Effects
from .model import (
    Change,
    Checkpoint,
    CheckpointDamaged,
    CheckpointError,
    Entry,
    Note,
    RestorePlan,
    RestoreReport,
    StoreFull,
    Worker,
)
from .scan import DEFAULT_EXCLUDE
from .shelf import Shelf
from .store import CheckpointStore

__all__ = [
    "DEFAULT_EXCLUDE",
    "Change",
    "Checkpoint",
    "CheckpointDamaged",
    "CheckpointError",
    "CheckpointStore",
    "Effects",
    "Entry",
    "Note",
    "RestorePlan",
    "RestoreReport",
    "Shelf",
    "StoreFull",
    "Worker",
]
