"""What a sandbox may reach: rules, and how they are said."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import msgspec

from ...hosts import PRESETS, Preset, Rule

NAMED_HOSTS = 3
"""In a summary; the others are counted."""


class NetworkPolicy(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a sandbox may reach.

    Attributes
    ----------
    mode
        ``off``, or ``allow-list`` for what the rules and presets cover.
    rules
        Places that may be reached.
    presets
        Names of sets of places; see `hosts.PRESETS`.
    """

    mode: Literal["off", "allow-list"] = "off"
    rules: list[Rule] = []
    presets: list[Preset] = []

    def in_force(self) -> Iterator[Rule]:
        """The rules that apply; none when it is off."""
        if self.mode == "allow-list":
            yield from self.rules
            for preset in self.presets:
                yield from map(Rule, PRESETS[preset])

    def allows(self, host: str, port: int) -> bool:
        """Whether this place may be reached; ``host`` is to be normal."""
        return any(rule.allows(host, port) for rule in self.in_force())

    def places(self) -> list[str]:
        """What may be reached, as people write it."""
        return list(dict.fromkeys(map(str, self.in_force())))

    def summary(self) -> str:
        """What it means, as part of a sentence."""
        places = self.places()
        if not places:
            return "no network"
        more = len(places) - NAMED_HOSTS
        named = ", ".join(places[:NAMED_HOSTS])
        return (
            f"network only to: {named} and {more} more"
            if more > 0
            else (f"network only to: {named}")
        )
