"""Sessions: one log, one controller, one sandbox, one model each; and all that there are."""

from __future__ import annotations

from .info import SessionInfo
from .manager import SessionManager
from .session import Session

__all__ = ["Session", "SessionInfo", "SessionManager"]
