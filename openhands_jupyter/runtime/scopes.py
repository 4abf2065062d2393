"""Control groups through a person's systemd, where they may not make one themselves.

See "org.freedesktop.systemd1", StartTransientUnit, in the documentation of systemd.
"""

from __future__ import annotations

import contextlib
import functools
import shutil
import subprocess
import time
from collections.abc import Iterable
from pathlib import Path

from .cgroups import NAME, Cgroup

_CALL = (
    "call",
    "--user",
    "org.freedesktop.systemd1",
    "/org/freedesktop/systemd1",
    "org.freedesktop.systemd1.Manager",
    "StartTransientUnit",
    "ssa(sv)a(sa(sv))",
)
CALL_TIMEOUT = 5.0
SETTLE_ATTEMPTS = 50
_MICROSECONDS = 1_000_000


class Scope(Cgroup):
    """A transient scope; it comes to be with its only process, which has to live.

    Parameters
    ----------
    name, memory, processes, cpus
        As for `cgroups.create`.
    """

    grows = False

    def __init__(self, name: str, memory: int, processes: int, cpus: float | None) -> None:
        super().__init__([], frozenset({"memory", "processes"} | ({"cpus"} if cpus else set())))
        self._name = f"{NAME}{name}.scope"
        self._properties = {"MemoryMax": memory, "MemorySwapMax": 0, "TasksMax": processes}
        if cpus is not None:
            self._properties["CPUQuotaPerSecUSec"] = int(cpus * _MICROSECONDS)

    def add(self, pids: Iterable[int]) -> None:
        """Make the scope, with this one process in it; see `Cgroup.add`."""
        (pid,) = pids
        properties = ["PIDs", "au", "1", str(pid)]
        for name, value in self._properties.items():
            properties += [name, "t", str(value)]
        count = str(1 + len(self._properties))
        command = ["busctl", *_CALL, self._name, "fail", count, *properties, "0"]
        try:
            subprocess.run(command, check=True, capture_output=True, timeout=CALL_TIMEOUT)
        except subprocess.SubprocessError as error:
            raise OSError(f"systemd did not make a scope: {error}") from error
        self._find(pid)

    def _find(self, pid: int) -> None:
        for _ in range(SETTLE_ATTEMPTS):
            lines = Path(f"/proc/{pid}/cgroup").read_text().splitlines()
            for line in lines:
                _, controllers, path = line.split(":", 2)
                folder = Path("/sys/fs/cgroup" + path)
                if controllers == "" and folder.name == self._name:
                    self.folders = [folder]
                    self.enforced = frozenset(_enforced(folder)) & self.enforced
                    return
            time.sleep(0.01)
        raise OSError("systemd made a scope, but the process is not in it")


@functools.cache
def available() -> bool:
    """Whether there is a systemd of the person's own to ask."""
    if shutil.which("busctl") is None:
        return False
    command = ["busctl", "--user", "--timeout=1", "status", "org.freedesktop.systemd1"]
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        return subprocess.run(command, capture_output=True, timeout=CALL_TIMEOUT).returncode == 0
    return False


def _enforced(folder: Path) -> set[str]:
    files = {"memory.max": "memory", "pids.max": "processes", "cpu.max": "cpus"}
    return {limit for name, limit in files.items() if (folder / name).exists()}
