"""Condensers: ways to show a model less of a long session, so that it fits the model's window."""

from __future__ import annotations

from .base import Condenser, Need, NotShorter, Prompt
from .making import make_condenser
from .masking import ObservationMasking
from .pipeline import Pipeline
from .settings import CondenserSettings
from .summary import Summary
from .window import Window

__all__ = [
    "Condenser",
    "CondenserSettings",
    "Need",
    "NotShorter",
    "ObservationMasking",
    "Pipeline",
    "Prompt",
    "Summary",
    "Window",
    "make_condenser",
]
