"""Tells which Python a kernel has, and which packages; after `kinds`, in the same namespace."""

from __future__ import annotations

import base64
import json
import sys
from importlib import metadata
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .kinds import own_names

MOST_PACKAGES = 2_000
MOST_NAMES = 500

names: dict[str, Any] = globals()["names"]
asked: dict[str, Any] = globals()["asked"]


def packages() -> list[str]:
    """The packages that can be imported, with their versions."""
    found: dict[str, str] = {}
    for one in metadata.distributions():
        # The first one on the path is the one that is imported; broken ones have no name.
        name = one.metadata["Name"]
        if name:
            found.setdefault(name, f"{name}=={one.version}")
    return sorted(found.values(), key=str.lower)[:MOST_PACKAGES]


answer = {
    "python": sys.version.split()[0],
    "names": [name for name, _ in own_names(names)][-MOST_NAMES:],
    "packages": packages() if asked["packages"] else [],
}
told = base64.b64encode(json.dumps(answer).encode()).decode()
