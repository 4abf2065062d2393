"""The network of a sandbox: a proxy that lets its programs reach what a policy allows."""

from __future__ import annotations

from ...hosts import PRESETS, Preset, Rule
from .network import Network
from .policy import NetworkPolicy
from .proxy import EgressProxy, Limits, Verdict
from .settings import NetworkSettings
from .upstream import Upstream

__all__ = [
    "PRESETS",
    "EgressProxy",
    "Limits",
    "Network",
    "NetworkPolicy",
    "NetworkSettings",
    "Preset",
    "Rule",
    "Upstream",
    "Verdict",
]
