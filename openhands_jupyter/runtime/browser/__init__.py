"""A browser in the sandbox: Chromium, and a program beside it that drives it by Playwright."""

from __future__ import annotations

from .driving import Driving
from .starting import find_chromium

__all__ = ["Driving", "find_chromium"]
