"""Containers that share the workspace, but nothing else of this machine.

agentd comes in through the stream, in front of its requests; sockets stay inside and are reached
through the channel; see `runtime.tunnel`.
"""

from __future__ import annotations

import functools
import io
import zipfile
from pathlib import Path, PurePosixPath

from ..launch import AGENTD, BackendUnavailable
from .endpoint import UNIX
from .settings import DockerSettings

LOAD = """
import io, os, sys, zipfile
def take(size):
    data = b""
    while len(data) < size:
        piece = os.read(0, size - len(data))
        if not piece:
            sys.exit("the stream ended")
        data += piece
    return data
archive = take(int.from_bytes(take(4), "big"))
zipfile.ZipFile(io.BytesIO(archive)).extractall(sys.argv[1])
"""
"""Puts what comes first on the standard input into the folder that agentd is started from."""


@functools.cache
def agentd_archive() -> bytes:
    """What `LOAD` expects."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        for source in sorted(AGENTD.glob("*.py")):
            file.write(source, f"{AGENTD.name}/{source.name}")
    content = archive.getvalue()
    return len(content).to_bytes(4, "big") + content


def path_there(settings: DockerSettings, path: Path, host: str) -> PurePosixPath:
    """Where the daemon's machine has a file of the workspace.

    Raises
    ------
    BackendUnavailable
        When it is not said that it has it.
    """
    if not settings.root_there and host.startswith(UNIX):
        return PurePosixPath(path)
    if not settings.root_there:
        raise BackendUnavailable(
            f"The Docker daemon is elsewhere ({host}), where the workspace is not.",
            "If that machine has the same files, as by NFS, name the folder there that has what "
            "Jupyter's root folder has in the setting docker_remote_root. Else use a daemon on "
            "this machine.",
        )
    root = Path(settings.root_here)
    if not path.is_relative_to(root):
        raise BackendUnavailable(
            f"The workspace {path} is not in {root}, which the Docker daemon's machine has.",
            "Choose a folder in it, or another isolation.",
        )
    return PurePosixPath(settings.root_there) / path.relative_to(root)
