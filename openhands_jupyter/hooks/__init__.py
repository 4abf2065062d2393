"""Hooks: commands of the person's that are run when something happens in a session."""

from __future__ import annotations

from .config import Hook, HookConfig, read_hooks
from .deciding import Decision, decide

__all__ = ["Decision", "Hook", "HookConfig", "decide", "read_hooks"]
