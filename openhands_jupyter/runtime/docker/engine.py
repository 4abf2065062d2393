"""What stands behind a daemon's address: Docker or Podman, of root or of an ordinary user."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .endpoint import Endpoint

if TYPE_CHECKING:
    from docker import DockerClient

_LIMITS = {"memory": "MemoryLimit", "processes": "PidsLimit", "cpus": "CpuCfsQuota"}
_ROOTLESS = "name=rootless"

_known: dict[tuple[str, int, int], Engine] = {}
"""By the daemon's socket, which is a new one where the daemon is. They take long to say it."""


@dataclass(frozen=True)
class Engine:
    """What a daemon can do; see "Get system information" in Docker's and in Podman's reference.

    Attributes
    ----------
    podman
        Whether it is Podman.
    rootless
        Whether an ordinary user runs it, who is root in its containers, without root's rights.
    socket_of
        Whose socket it is; None where it is not on this machine.
    enforces
        The limits that it enforces for a whole container: ``memory``, ``processes``, ``cpus``.
    can_pause
        Whether it can pause containers.
    """

    podman: bool
    rootless: bool
    socket_of: int | None
    enforces: frozenset[str]
    can_pause: bool

    @classmethod
    def at(cls, endpoint: Endpoint, client: DockerClient) -> Engine:
        """The one at this address. It asks, so it is not for the event loop."""
        if not endpoint.is_here:
            return cls.described(client.info(), None)
        socket = os.stat(endpoint.socket)
        key = (endpoint.host, socket.st_ino, socket.st_ctime_ns)
        if key not in _known:
            _known[key] = cls.described(client.info(), socket.st_uid)
        return _known[key]

    @classmethod
    def described(cls, info: dict[str, Any], socket_of: int | None) -> Engine:
        """From what a daemon says of itself, and whose its socket is."""
        # Podman says it in its own way.
        rootless = bool(info.get("Rootless")) or _ROOTLESS in (info.get("SecurityOptions") or ())
        # Control groups of version 1 are root's alone, whatever Podman says of them.
        grouped = not rootless or str(info.get("CgroupVersion")) != "1"
        return cls(
            podman="BuildahVersion" in info,
            rootless=rootless,
            socket_of=socket_of,
            enforces=frozenset(
                kind for kind, told in _LIMITS.items() if grouped and info.get(told)
            ),
            can_pause=grouped,
        )
