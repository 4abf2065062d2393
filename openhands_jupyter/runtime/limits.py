"""How much of the machine a sandbox may use, and how that is said."""

from __future__ import annotations

import functools
import os
from typing import Protocol

import msgspec

from . import cgroups, scopes

GIGABYTE = 2**30
SHARE_OF_MEMORY = 0.75


class Configured(Protocol):
    """What the configuration says of limits; see `config.Settings`."""

    @property
    def memory_limit(self) -> float | None: ...
    @property
    def process_limit(self) -> int: ...
    @property
    def cpu_limit(self) -> float | None: ...
    @property
    def disk_limit(self) -> float: ...


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """What the programs in a sandbox may use together.

    Attributes
    ----------
    memory
        Gigabytes, files in memory included; None for three quarters of what the server itself may
        use, so that a runaway program is ended before the server and everybody else suffer.
    processes
        Processes and threads.
    cpus
        Processors, or parts of one; None for all.
    disk
        Gigabytes that one action may add to the disk.
    """

    memory: float | None = None
    processes: int = 4096
    cpus: float | None = None
    disk: float = 10.0

    @classmethod
    def configured(cls, settings: Configured) -> Limits:
        """Those of the configuration."""
        return cls(
            memory=settings.memory_limit,
            processes=settings.process_limit,
            cpus=settings.cpu_limit,
            disk=settings.disk_limit,
        )

    @property
    def memory_bytes(self) -> int:
        """The limit on memory, in bytes."""
        if self.memory is not None:
            return int(self.memory * GIGABYTE)
        return int(SHARE_OF_MEMORY * usable_memory())

    @property
    def disk_bytes(self) -> int:
        """The limit on disk use, in bytes."""
        return int(self.disk * GIGABYTE)

    def of_each_process(self, enforced: frozenset[str]) -> dict[str, int]:
        """What each process is held to by itself, where nothing holds all of them together."""
        limits = {"file_size": self.disk_bytes}
        if "memory" not in enforced:
            limits["memory"] = self.memory_bytes
        if "processes" not in enforced:
            limits["processes"] = self.processes
        return limits

    def missing(self, enforced: frozenset[str], as_root: bool) -> list[str]:
        """What is not enforced, a phrase each.

        Parameters
        ----------
        enforced
            What a control group enforces: ``memory``, ``processes``, ``cpus``.
        as_root
            Whether the sandbox is run by root, for whom the system counts no processes.
        """
        missing = []
        if "memory" not in enforced:
            size = gigabytes(self.memory_bytes)
            missing.append(f"a limit on memory for all processes together (each may use {size})")
        if "processes" not in enforced and as_root:
            missing.append("a limit on processes")
        if self.cpus is not None and "cpus" not in enforced:
            missing.append("a limit on processors")
        return missing


def group_for(name: str, limits: Limits) -> cgroups.Cgroup | None:
    """A control group with these limits; None where there can be none. It may take a moment."""
    wanted = (name, limits.memory_bytes, limits.processes, limits.cpus)
    group = cgroups.create(*wanted)
    if group is None and scopes.available():
        group = scopes.Scope(*wanted)
    return group


@functools.cache
def usable_memory() -> int:
    """Bytes that this process may use: the machine's memory, or a container's limit."""
    machine = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return min([machine, *cgroups.memory_limits()])


def gigabytes(size: int) -> str:
    """A size in words, such as ``1.5 GB`` or ``300 MB``."""
    if size < GIGABYTE:
        return f"{size / 2**20:.3g} MB"
    return f"{size / GIGABYTE:.3g} GB"
