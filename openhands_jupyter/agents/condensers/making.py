"""The condenser that a person has configured."""

from __future__ import annotations

from .base import Condenser
from .masking import ObservationMasking
from .pipeline import Pipeline
from .settings import CondenserSettings
from .summary import Summary
from .window import Window


def make_condenser(settings: CondenserSettings) -> Condenser | None:
    """The condenser that the settings name; None for none.

    Whatever they name, where it cannot make the history shorter, the window has the last word.
    """
    masking = ObservationMasking(settings.attention_window)
    summary = Summary(settings.keep_first, settings.max_event_length)
    window = Window(settings.keep_first)
    match settings.type:
        case "pipeline":
            return Pipeline([masking, summary, window])
        case "llm":
            return Pipeline([summary, window])
        case "observation_masking":
            return Pipeline([masking, window])
        case "conversation_window":
            return window
        case "noop":
            return None
