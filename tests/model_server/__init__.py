"""A scripted, OpenAI-compatible model server: real HTTP, answers and faults as tests want them."""

from __future__ import annotations

from .script import (
    Call,
    Script,
    Turn,
    Usage,
    call,
    empty,
    hang,
    malformed,
    page,
    reset,
    status,
    text,
    together,
)
from .server import ModelServer, Request

__all__ = [
    "Call",
    "ModelServer",
    "Request",
    "Script",
    "Turn",
    "Usage",
    "call",
    "empty",
    "hang",
    "malformed",
    "page",
    "reset",
    "status",
    "text",
    "together",
]
