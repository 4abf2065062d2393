"""What tests of the configuration write down, and how they read it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from openhands_jupyter.config import Config

Make = Callable[..., Config]


def write(path: Path, text: str) -> None:
    """Write a file, and the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
