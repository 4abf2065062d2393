"""The labels that say whose a container is, and the removal of those that nobody has any more."""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..agentd.selftest import start_of
from .daemon import Daemon

if TYPE_CHECKING:
    from docker import DockerClient

SANDBOX = "openhands-jupyter.sandbox"
"""The name of the sandbox's run directory; each of our containers has it."""

_PLACE = "openhands-jupyter.place"
_OWNER = "openhands-jupyter.owner"
_FOLDER = "openhands-jupyter.folder"

ABANDONED_AFTER = 3600
"""Seconds after which a container that does not run is removed, whoever made it."""


def labels(folder: Path) -> dict[str, str]:
    """What a new container of this process is marked with.

    Parameters
    ----------
    folder
        Its sandbox's run directory, which goes after the container does.
    """
    return {
        SANDBOX: folder.name,
        _PLACE: _place(),
        _OWNER: f"{os.getpid()}:{start_of(os.getpid())}",
        _FOLDER: str(folder),
    }


def sweep(client: DockerClient) -> tuple[int, int]:
    """Remove the containers whose server was killed.

    Returns
    -------
    tuple of int
        How many were removed, and how many others there are that run or are paused.
    """
    import docker.errors

    removed = running = 0
    for container in client.api.containers(all=True, filters={"label": SANDBOX}):
        if _is_orphan(container):
            with contextlib.suppress(docker.errors.APIError):
                # Another server may be removing it too.
                client.api.remove_container(container["Id"], v=True, force=True)
                removed += 1
        elif container["State"] in ("running", "paused"):
            running += 1
    return removed, running


async def prune() -> int:
    """Remove what killed servers have left; how many containers that was.

    Raises
    ------
    BackendUnavailable
        When the daemon cannot be used.
    """
    daemon = Daemon()
    try:
        return (await daemon.call(sweep))[0]
    finally:
        daemon.close()


def _is_orphan(container: dict[str, Any]) -> bool:
    marks = container["Labels"]
    if marks.get(_PLACE) != _place():
        # A process id means nothing elsewhere. But there is none of ours that does not run.
        old = time.time() - container["Created"] > ABANDONED_AFTER
        return old and container["State"] in ("created", "exited", "dead")
    pid, _, started = marks.get(_OWNER, "").partition(":")
    try:
        alive = start_of(int(pid)) == int(started)
    except (OSError, ValueError):
        alive = False
    return not alive or not Path(marks.get(_FOLDER, "")).is_dir()


def _place() -> str:
    """Where process ids mean the same: this process namespace, of this start of the machine."""
    boot = Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
    return f"{boot} {os.readlink('/proc/self/ns/pid')}"
