"""Limits that a program of ours sets itself, before it reads what may be made to take anything."""

from __future__ import annotations

import resource


def limit(memory: int, seconds: int) -> None:
    """Take no more than this, and write no files.

    Parameters
    ----------
    memory
        Bytes of address space.
    seconds
        Of the processor.
    """
    for kind, value in {
        resource.RLIMIT_AS: memory,
        resource.RLIMIT_CPU: seconds,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_FSIZE: 0,
    }.items():
        # Where it is lower already, it stays.
        _, most = resource.getrlimit(kind)
        value = value if most == resource.RLIM_INFINITY else min(value, most)
        resource.setrlimit(kind, (value, value))
