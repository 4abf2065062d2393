"""The loop: state, agent, gate, runtime, observation, and again."""

from __future__ import annotations

from .agent_controller import AgentController

__all__ = ["AgentController"]
