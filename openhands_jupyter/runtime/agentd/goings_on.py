"""What goes on in a sandbox with a process namespace of its own, while nobody asks for anything."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Collection

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def goings_on(left_running: Collection[str]) -> dict[str, Any]:
    """What goes on.

    Parameters
    ----------
    left_running
        The commands that the shell was left with, which may have no process besides its own.

    Returns
    -------
    dict
        ``processes``, how many there are besides this one and those that it started itself, the
        shell and the kernels, and how many commands; and ``cpu``, the seconds that all others have
        computed.
    """
    me = os.getpid()
    ticks, processes = 0, len(left_running)
    for name in os.listdir("/proc"):
        if not name.isdigit() or int(name) in (1, me):
            continue
        with contextlib.suppress(OSError), open(f"/proc/{name}/stat", "rb") as file:
            # The name before it may hold spaces and brackets.
            fields = file.read().rpartition(b")")[2].split()
            processes += int(fields[1]) != me
            ticks += int(fields[11]) + int(fields[12])
    return {"processes": processes, "cpu": ticks / os.sysconf("SC_CLK_TCK")}
