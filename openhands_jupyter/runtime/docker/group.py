"""The limits of a container, as they are seen from here."""

from __future__ import annotations

from ..cgroups import Cgroup


class ContainerGroup(Cgroup):
    """The control group of a container, which Docker makes and removes.

    Attributes
    ----------
    kills
        How many times the memory was used up so far, as Docker told.
    """

    counted = frozenset({"memory"})
    late = True

    def __init__(self) -> None:
        super().__init__([], frozenset())
        self.kills = 0

    def memory_kills(self) -> int:
        """How many times the memory was used up so far."""
        return self.kills
