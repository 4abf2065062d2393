"""What a kernel is, as the text that a model reads."""

from __future__ import annotations

from typing import Any

import msgspec

from ...events import Masker
from ...events.blobs import cut
from ...events.shown import as_data
from .reading import LIMIT


class Environment(msgspec.Struct):
    """What `in_kernel.environment` tells, which comes from outside."""

    python: str = "?"
    names: list[str] = []
    packages: list[str] = []


def environment(told: Any) -> Environment:
    """What was told, as far as it can be read."""
    try:
        return msgspec.convert(told, Environment)
    except msgspec.ValidationError:
        return Environment()


def environment_text(told: Any, masker: Masker) -> str:
    """The version of Python, and the names or the packages that there are."""
    found = environment(told)
    lines = [f"Python {found.python}"]
    if found.packages:
        lines += found.packages
    else:
        lines.append(f"Names: {', '.join(found.names) or 'none'}")
    return as_data(cut(masker.text("\n".join(lines)), LIMIT)).rstrip()
