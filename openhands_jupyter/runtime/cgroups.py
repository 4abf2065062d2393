"""Control groups: limits that hold for all processes of a sandbox together.

See "Control Group v2" and "Control Groups version 1" in the kernel's documentation. They can be
used by root, and by an ordinary user in a part of the tree that systemd handed over to them.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

NAME = "openhands-"
END_TIMEOUT = 2.0
CPU_PERIOD = 100_000
"""Microseconds, the usual one."""

_V1_CONTROLLERS = {"memory": "memory", "pids": "processes", "cpu": "cpus"}


class _Tree(NamedTuple):
    """A mounted hierarchy of control groups: this process's place in it, and its controllers."""

    own: Path
    controllers: frozenset[str]
    version: int


class Cgroup:
    """The control group of one sandbox: one folder, or with version 1 one for each controller.

    Attributes
    ----------
    folders
        Where it is.
    enforced
        Which limits it enforces: ``memory``, ``processes``, ``cpus``.
    counted
        Of which it counts how often they were reached.
    late
        Whether it is told of what it counts, perhaps after the action, and more than once.
    grows
        Whether processes can be put into it that may have ended by then.
    """

    counted = frozenset({"memory", "processes"})
    late = False
    grows = True

    def __init__(self, folders: list[Path], enforced: frozenset[str]) -> None:
        self.folders = folders
        self.enforced = enforced

    def add(self, pids: Iterable[int]) -> None:
        """Put processes into it, and with them all that they start; not those that have ended.

        Raises
        ------
        OSError
            When that is refused.
        """
        for pid in pids:
            for folder in self.folders:
                with contextlib.suppress(ProcessLookupError):
                    (folder / "cgroup.procs").write_text(str(pid))

    def memory_kills(self) -> int:
        """How many processes were killed so far because the memory was used up."""
        return self._count("memory.events", "memory.oom_control", b"oom_kill")

    def refused_processes(self) -> int:
        """How many processes could not be started so far because there were too many."""
        return self._count("pids.events", "pids.events", b"max")

    def remove(self) -> bool:
        """End what is in it, and remove it; whether it is gone."""
        return all([remove(folder) for folder in self.folders])

    def _count(self, v2_file: str, v1_file: str, word: bytes) -> int:
        for name in (v2_file, v1_file):
            for folder in self.folders:
                # After every action: without what the comforts of reading a text cost.
                with contextlib.suppress(OSError), open(f"{folder}/{name}", "rb", 0) as file:
                    words = file.read().split()
                    counts = dict(zip(words[::2], words[1::2], strict=False))
                    return int(counts.get(word, 0))
        return 0


def create(name: str, memory: int, processes: int, cpus: float | None) -> Cgroup | None:
    """Make a control group with these limits.

    Parameters
    ----------
    name
        What to call it, after `NAME`.
    memory
        Bytes.
    processes
        Processes and threads.
    cpus
        Processors; None for all.

    Returns
    -------
    Cgroup or None
        None where this process may not make one.
    """
    trees = list(_trees())
    for tree in trees:
        if tree.version == 2 and (parent := _parent_in_v2(tree)):
            with contextlib.suppress(OSError):
                return _create_v2(parent / f"{NAME}{name}", memory, processes, cpus)
    return _create_v1(trees, name, memory, processes, cpus)


def memory_limits() -> Iterator[int]:
    """The memory limits that this process is under itself, in bytes."""
    for tree in _trees():
        for folder in (tree.own, *tree.own.parents):
            for name in ("memory.max", "memory.limit_in_bytes"):
                with contextlib.suppress(OSError, ValueError):
                    yield int((folder / name).read_text())


def remove(folder: Path) -> bool:
    """Kill every process of a control group, and remove it; whether it is gone."""
    give_up = time.monotonic() + END_TIMEOUT
    while folder.is_dir() and time.monotonic() < give_up:
        with contextlib.suppress(OSError):
            for pid in map(int, (folder / "cgroup.procs").read_text().split()):
                # Of a process in another namespace only a zero is told, and that would be us.
                if pid > 0:
                    os.kill(pid, signal.SIGKILL)
        try:
            folder.rmdir()
        except OSError:
            time.sleep(0.005)
    return not folder.is_dir()


def is_ours(folder: Path) -> bool:
    """Whether this is a control group that was made here."""
    mounted = folder.is_relative_to("/sys/fs/cgroup") and ".." not in folder.parts
    return mounted and folder.name.startswith(NAME)


def _trees() -> Iterator[_Tree]:
    """The hierarchies that are mounted, from what the kernel tells of this process."""
    groups = dict(_own_groups())
    try:
        mounts = Path("/proc/self/mountinfo").read_text().splitlines()
    except OSError:
        return
    for line in mounts:
        before, _, after = line.partition(" - ")
        root, mount_point = before.split()[3:5]
        kind, _, options = after.split(maxsplit=2)
        if kind not in ("cgroup", "cgroup2"):
            continue
        controllers = frozenset(options.split(",")) if kind == "cgroup" else frozenset({""})
        path = next((path for known, path in groups.items() if known & controllers), None)
        if path is None:
            continue
        # In a container the root of the mount is not that of the tree.
        inside = os.path.relpath(path, root) if Path(path).is_relative_to(root) else "."
        own = Path(os.path.normpath(os.path.join(mount_point, inside)))
        yield _Tree(own, controllers, 1 if kind == "cgroup" else 2)


def _own_groups() -> Iterator[tuple[frozenset[str], str]]:
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/cgroup").read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            yield frozenset(controllers.split(",")), path


def _parent_in_v2(tree: _Tree) -> Path | None:
    """Where a group can be made: only in one that hands its controllers on."""
    for folder in (tree.own, tree.own.parent):
        with contextlib.suppress(OSError):
            handed_on = (folder / "cgroup.subtree_control").read_text().split()
            procs = folder / "cgroup.procs"
            if {"memory", "pids"} <= set(handed_on) and os.access(procs, os.W_OK):
                return folder
    return None


def _create_v2(folder: Path, memory: int, processes: int, cpus: float | None) -> Cgroup:
    folder.mkdir()
    try:
        (folder / "memory.max").write_text(str(memory))
        (folder / "pids.max").write_text(str(processes))
        # Otherwise the machine would crawl instead.
        with contextlib.suppress(FileNotFoundError):
            (folder / "memory.swap.max").write_text("0")
        enforced = {"memory", "processes"}
        if cpus is not None and (folder / "cpu.max").exists():
            (folder / "cpu.max").write_text(f"{int(cpus * CPU_PERIOD)} {CPU_PERIOD}")
            enforced.add("cpus")
    except OSError:
        folder.rmdir()
        raise
    return Cgroup([folder], frozenset(enforced))


def _create_v1(
    trees: list[_Tree], name: str, memory: int, processes: int, cpus: float | None
) -> Cgroup | None:
    values = {
        "memory": {"memory.limit_in_bytes": memory, "memory.memsw.limit_in_bytes": memory},
        "pids": {"pids.max": processes},
        "cpu": {},
    }
    if cpus is not None:
        quota = int(cpus * CPU_PERIOD)
        values["cpu"] = {"cpu.cfs_period_us": CPU_PERIOD, "cpu.cfs_quota_us": quota}
    folders, enforced = [], set()
    for controller, limit in _V1_CONTROLLERS.items():
        for tree in trees:
            if controller in tree.controllers and tree.version == 1 and values[controller]:
                folder = tree.own / f"{NAME}{name}"
                try:
                    folder.mkdir(exist_ok=True)
                    for file, value in values[controller].items():
                        # Swap need not be counted here.
                        if (folder / file).exists():
                            (folder / file).write_text(str(value))
                except OSError:
                    with contextlib.suppress(OSError):
                        folder.rmdir()
                    continue
                folders.append(folder)
                enforced.add(limit)
    return Cgroup(list(dict.fromkeys(folders)), frozenset(enforced)) if folders else None
