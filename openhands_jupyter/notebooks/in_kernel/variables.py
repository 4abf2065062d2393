"""Tells a person's variables; after `kinds`, in the same namespace.

It leaves ``told``: base64 of JSON, or nothing.
"""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .kinds import describe, is_data, own_names

MOST = 60

names: dict[str, Any] = globals()["names"]


def tell() -> str:
    """All that is told."""
    found = [(name, value) for name, value in own_names(names) if is_data(value)]
    listed = [describe(name, value) for name, value in found[-MOST:]]
    answer = {"variables": listed, "left_out": len(found) - len(listed)}
    return base64.b64encode(json.dumps(answer).encode()).decode()


try:
    told = tell()
except Exception:
    told = ""
