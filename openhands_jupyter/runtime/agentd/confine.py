"""Confining agentd itself, and with it all that it starts, before it starts anything.

Under bubblewrap this is a second layer; without namespaces it is the only one. A description is a
JSON object:

- ``required``: whether to give up where a layer is missing; else it is only told
- ``drop_capabilities``: whether to give up root's special rights
- ``read``, ``write``, ``tcp``: see `landlock.restrict`
- ``inet``, ``connect``: see `seccomp.apply`
- ``mark``: a number to mark this process and all that it starts with, see `processes`; 0 for none
- ``limits``: ``file_size``, ``memory`` (of each process) in bytes and ``processes``, each optional
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import struct
from collections.abc import Callable, Iterator

from . import landlock, seccomp

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_CAPBSET_DROP = 24
_CAP_AMBIENT, _CAP_AMBIENT_CLEAR_ALL = 47, 4
_CAPABILITY_VERSION = 0x20080522


def confine(description: dict[str, Any]) -> list[str]:
    """Confine this process, which must not have started a thread yet.

    Returns
    -------
    list of str
        What could not be done and why, a phrase each.

    Raises
    ------
    OSError
        When something could not be done that is required.
    """
    problems: list[str] = []

    def layer(apply: Callable[[], None]) -> None:
        try:
            apply()
        except OSError as error:
            if description["required"]:
                raise
            problems.append(error.strerror or str(error))

    if description["drop_capabilities"]:
        drop_capabilities()
    set_limits(description["limits"])
    if description["mark"]:
        set_mark(description["mark"])
    read, write = description["read"], description["write"]
    layer(lambda: landlock.restrict(read, write, description["tcp"]))
    layer(lambda: seccomp.apply(description["inet"], description["connect"]))
    return problems


def drop_capabilities() -> None:
    """Give up every capability, also those that a program could get back.

    Raises
    ------
    OSError
        When they cannot be given up.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_CAP_AMBIENT, _CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
    for capability in range(64):
        libc.prctl(_CAPBSET_DROP, capability, 0, 0, 0)
    header = struct.pack("Ii", _CAPABILITY_VERSION, 0)
    if libc.capset(header, bytes(24)):
        code = ctypes.get_errno()
        raise OSError(code, f"capabilities: {os.strerror(code)}")


def set_mark(number: int) -> None:
    """Mark this process and all that it starts, unless a sandbox around it did already.

    That one's filter refuses another mark, and what is in it ends with it.
    """
    if resource.getrlimit(seccomp.RLIMIT_LOCKS)[1] == resource.RLIM_INFINITY:
        # Python's word for "not permitted".
        with contextlib.suppress(ValueError):
            resource.setrlimit(seccomp.RLIMIT_LOCKS, (number, number))


def set_limits(limits: dict[str, int]) -> None:
    """Set resource limits; a limit that is lower already stays."""
    _set(resource.RLIMIT_CORE, 0)
    if "file_size" in limits:
        _set(resource.RLIMIT_FSIZE, limits["file_size"])
    if "memory" in limits:
        # Not the address space, of which many programs reserve much more than they use.
        _set(resource.RLIMIT_DATA, limits["memory"])
    if "processes" in limits:
        # What counts are all processes of this user, also those outside.
        _set(resource.RLIMIT_NPROC, limits["processes"] + sum(_tasks_of(os.getuid())))


def _set(kind: int, value: int) -> None:
    _, hard = resource.getrlimit(kind)
    if hard != resource.RLIM_INFINITY:
        value = min(value, hard)
    resource.setrlimit(kind, (value, value))


def _tasks_of(uid: int) -> Iterator[int]:
    for name in os.listdir("/proc"):
        with contextlib.suppress(OSError):
            if name.isdigit() and os.stat(f"/proc/{name}").st_uid == uid:
                yield len(os.listdir(f"/proc/{name}/task"))
