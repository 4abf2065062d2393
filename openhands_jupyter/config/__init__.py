"""Settings, where each value comes from, secrets, and the folder that everything is kept in."""

from __future__ import annotations

from .config import Config
from .home import HomeNotWritable
from .layers import Origin
from .problems import Problem
from .settings import Isolation, Settings

__all__ = ["Config", "HomeNotWritable", "Isolation", "Origin", "Problem", "Settings"]
