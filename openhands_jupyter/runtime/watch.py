"""What actions do besides what they print: limits that they run into, and traps that they leave."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from pathlib import Path

import msgspec

from ..events import CmdOutputObservation, IPythonOutputObservation, Observation, Output
from . import executed_later
from .agentd.shell import KEPT_CHARACTERS
from .cgroups import Cgroup
from .disk import DiskGuard
from .limits import Limits, gigabytes

_NO_MEMORY = re.compile(r"MemoryError|Cannot allocate memory|bad_alloc|out of memory", re.I)
_NO_PROCESS = re.compile(r"fork.*Resource temporarily unavailable|can't start new thread")
_NO_FILE_SPACE = re.compile(r"File too large|File size limit exceeded")


class Watch:
    """Looks at what one sandbox does.

    Parameters
    ----------
    workspace
        Its workspace.
    folders
        Where it can write to the disk.
    limits
        What it is held to.
    cgroup
        What holds its processes together; None where each is held by itself.
    on_disk_full
        Told in a sentence when too much was added to the disk.
    """

    def __init__(
        self,
        workspace: Path,
        folders: list[Path],
        limits: Limits,
        cgroup: Cgroup | None,
        on_disk_full: Callable[[str], None],
    ) -> None:
        self._workspace = workspace
        self._limits = limits
        self._cgroup = cgroup
        self._on_disk_full = on_disk_full
        self._guard = DiskGuard(folders, limits.disk_bytes, self._say_disk_full)
        self._guard.start()
        self._counts = self._count()
        self._pictures: dict[str, tuple[int, ...]] = {}

    async def begin(self) -> None:
        """An action is about to start."""
        self._guard.begin()
        if self._cgroup is not None and self._cgroup.late:
            # It was told with the action before.
            self._counts = self._count()
        self._pictures = await asyncio.to_thread(executed_later.pictures, self._workspace)

    async def remarks(self, printed: str) -> list[str]:
        """What there is to say about the action that ended.

        Parameters
        ----------
        printed
            The end of what it printed.
        """
        pictures = await asyncio.to_thread(executed_later.pictures, self._workspace)
        trap = executed_later.difference(self._workspace, self._pictures, pictures)
        return [*self._breaches(printed), *filter(None, [trap])]

    async def close(self) -> None:
        """Watch no more."""
        await self._guard.close()

    def _count(self) -> tuple[int, int]:
        if self._cgroup is None:
            return 0, 0
        return self._cgroup.memory_kills(), self._cgroup.refused_processes()

    def _breaches(self, printed: str) -> list[str]:
        enforced = self._cgroup.enforced if self._cgroup else frozenset[str]()
        counted = enforced & self._cgroup.counted if self._cgroup else enforced
        memory = gigabytes(self._limits.memory_bytes)
        found = []
        # Also what happened since the action before, which was told to nobody yet.
        counts = self._count()
        killed, refused = (now - then for now, then in zip(counts, self._counts, strict=True))
        self._counts = counts
        if killed:
            found.append(
                f"The limit of {memory} of memory for everything in the sandbox was reached, and "
                f"{'a process was' if killed == 1 else f'{killed} processes were'} killed."
            )
        elif "memory" not in enforced and _NO_MEMORY.search(printed):
            found.append(f"Each process in the sandbox may use {memory} of memory.")
        if refused or ("processes" not in counted and _NO_PROCESS.search(printed)):
            found.append(
                f"The limit of {self._limits.processes} processes and threads in the sandbox was "
                "reached, and no more could be started."
            )
        if _NO_FILE_SPACE.search(printed):
            found.append(f"A file may have at most {gigabytes(self._limits.disk_bytes)}.")
        return found

    def _say_disk_full(self, used: int) -> None:
        limit = gigabytes(self._limits.disk_bytes)
        self._on_disk_full(
            f"It added {gigabytes(used)} to the disk; an action may add at most {limit}."
        )


def output_remarks(printed: int) -> list[str]:
    """What there is to say about a command that printed so many characters."""
    if printed <= KEPT_CHARACTERS:
        return []
    half = f"{KEPT_CHARACTERS // 2:,}"
    return [
        f"It printed {printed:,} characters. At most {KEPT_CHARACTERS:,} are kept: the first and "
        f"the last {half}. To have all of it, send the output to a file."
    ]


def with_remarks(observation: Observation, remarks: list[str]) -> Observation:
    """An observation with remarks at its end, where it is of a kind that has room for them."""
    text = "".join(f"[{remark}]\n" for remark in remarks)
    if not text:
        return observation
    if isinstance(observation, CmdOutputObservation):
        content = observation.content
        gap = "" if not content or content.endswith("\n") else "\n"
        return msgspec.structs.replace(observation, content=f"{content}{gap}{text}")
    if isinstance(observation, IPythonOutputObservation):
        remark = Output(kind="stream", name="stderr", text=text)
        return msgspec.structs.replace(observation, outputs=[*observation.outputs, remark])
    return observation


def printed_at_end(observation: Observation, length: int = 4_000) -> str:
    """The end of what an action printed, errors too."""
    if isinstance(observation, CmdOutputObservation):
        return observation.content[-length:]
    if isinstance(observation, IPythonOutputObservation):
        texts = [output.text for output in observation.outputs if isinstance(output.text, str)]
        return "".join(texts)[-length:]
    return ""
