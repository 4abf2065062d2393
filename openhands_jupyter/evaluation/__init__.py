"""Tasks with deterministic checkers, and what an agent makes of them."""

from __future__ import annotations

from .running import Evaluation, Result
from .tasks import Task, load_tasks

__all__ = ["Evaluation", "Result", "Task", "load_tasks"]
