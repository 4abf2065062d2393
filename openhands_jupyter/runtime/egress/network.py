"""The network of one session, as its sandboxes are given it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ...events import Action
from .proxy import EgressProxy
from .settings import NetworkSettings


@dataclass(frozen=True)
class Network:
    """A way out for a sandbox; without one, it has none and can never be allowed any.

    Attributes
    ----------
    proxy
        What decides, also while its policy allows nothing.
    settings
        What programs in the sandbox are told.
    on_lost
        Called when the way to the proxy was ended from inside, which only a new sandbox mends.
    on_action
        Called with each action before it runs.
    """

    proxy: EgressProxy
    settings: NetworkSettings
    on_lost: Callable[[], None] = lambda: None
    on_action: Callable[[Action], None] = lambda _: None
