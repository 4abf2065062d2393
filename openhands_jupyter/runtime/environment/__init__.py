"""The Python environment of the agent: which one, and the packages on top of it."""

from __future__ import annotations

from .choice import KernelPython, choose, explain_failure
from .in_sandbox import SandboxEnvironment
from .layers import Requirements
from .packages import PackagesFolder
from .settings import EnvironmentSettings, Places

__all__ = [
    "EnvironmentSettings",
    "KernelPython",
    "PackagesFolder",
    "Places",
    "Requirements",
    "SandboxEnvironment",
    "choose",
    "explain_failure",
]
