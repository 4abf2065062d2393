"""What tools of servers are called to a model: ``server__tool``."""

from __future__ import annotations

import hashlib
import re

LONGEST = 64
"""Characters that providers take in the name of a tool, made of letters, digits, _ and -."""

_HASH = 6
_FORBIDDEN = re.compile(r"[^a-zA-Z0-9_-]+")


def tool_name(server: str, tool: str) -> str:
    """The name of a server's tool: always the same, and of no two tools the same.

    Where the names cannot stand as they are, a hash of both tells them from others.
    """
    name = f"{_plain(server)}__{_FORBIDDEN.sub('_', tool) or 'tool'}"
    if name == f"{server}__{tool}" and len(name) <= LONGEST:
        return name
    digest = hashlib.sha256(f"{server}\0{tool}".encode()).hexdigest()[:_HASH]
    return f"{name[: LONGEST - _HASH - 1]}_{digest}"


def _plain(server: str) -> str:
    # One underline at a time, so that the two after it are its end.
    return re.sub("__+", "_", _FORBIDDEN.sub("_", server)).strip("_") or "server"
