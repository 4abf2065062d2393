"""Instructions and skills: files of the workspace and of the person that tell an agent how to work.

Sources of the formats: AGENTS.md (agents.md), OpenHands' microagents, and the Agent Skills
specification (agentskills.io) for ``SKILL.md`` folders.
"""

from __future__ import annotations

from .activating import Skills
from .library import Library
from .tool import SkillTool

__all__ = ["Library", "SkillTool", "Skills"]
