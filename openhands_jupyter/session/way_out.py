"""The way out of sandboxes that settings describe, and what its verdicts are as events."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.request import getproxies_environment

from ..config import Settings
from ..events import NetworkRefusedObservation
from ..hosts import Rule
from ..runtime.egress import (
    EgressProxy,
    Network,
    NetworkPolicy,
    NetworkSettings,
    Upstream,
    Verdict,
)


def refusal_of(verdict: Verdict, cause: int | None) -> NetworkRefusedObservation | None:
    """The event that tells of a verdict; None if the place was reached."""
    if verdict.reason == "listed" or verdict.reason == "malformed":
        return None
    return NetworkRefusedObservation(
        cause=cause, host=verdict.host, port=verdict.port, reason=verdict.reason
    )


def network_for(settings: Settings, on_verdict: Callable[[Verdict], None], **hooks: Any) -> Network:
    """A way out for sandboxes, to what these settings list; see `Network` for the hooks."""
    proxy = EgressProxy(
        listed_by(settings),
        on_verdict,
        trusted_networks=settings.trusted_networks,
        upstream=_upstream(settings.network_proxy),
    )
    return Network(proxy, programs_of(settings), **hooks)


def programs_of(settings: Settings) -> NetworkSettings:
    """What programs in a sandbox are told: mirrors and certificates."""
    return NetworkSettings(
        pip_index=settings.pip_index or "",
        npm_registry=settings.npm_registry or "",
        conda_channels=settings.conda_channels or "",
        ca_bundle=settings.ca_bundle or "",
    )


def listed_by(settings: Settings) -> NetworkPolicy:
    """What settings list: hosts, presets, and the mirrors."""
    mirrors = (settings.pip_index, settings.npm_registry, settings.conda_channels)
    return NetworkPolicy(
        mode=settings.network,
        rules=[
            *map(Rule.parse, settings.network_rules),
            *(Rule.of_url(mirror) for mirror in mirrors if mirror),
        ],
        presets=settings.network_presets,
    )


def _upstream(url: str | None) -> Upstream:
    environment = getproxies_environment()
    if url is None:
        return Upstream(environment)
    return Upstream({**environment, "http": url, "https": url})
