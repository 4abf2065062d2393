"""The runtime: where actions are executed, and what keeps them from everything else.

Importing this package loads nothing heavy; jupyter_client is imported with the first kernel.
"""

from __future__ import annotations

from .base import OutputCallback, Runtime
from .limits import Limits
from .sandbox_runtime import SandboxRuntime
from .workspace import check_workspace

__all__ = ["Limits", "OutputCallback", "Runtime", "SandboxRuntime", "check_workspace"]
