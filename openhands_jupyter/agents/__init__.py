"""Agents: what decides on the next action."""

from __future__ import annotations

from .base import Agent
from .cast import Cast
from .codeact import CodeActAgent

__all__ = ["Agent", "Cast", "CodeActAgent"]
