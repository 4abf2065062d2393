"""Security: how risky an action is, and whether it runs, waits or is refused."""

from __future__ import annotations

from .gate import Gate, Verdict

__all__ = ["Gate", "Verdict"]
