"""The guided tour: a stand-in for a language model that needs no key, no network and no AI."""

from __future__ import annotations

from .model import TOUR_LABEL, TOUR_NAME, TourModel

__all__ = ["TOUR_LABEL", "TOUR_NAME", "TourModel"]
