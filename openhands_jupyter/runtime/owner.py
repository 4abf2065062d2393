"""Whose rights a sandbox has, where the server runs as root."""

from __future__ import annotations

import functools
import os
import pwd
import subprocess
import sys
import sysconfig
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from . import agentd

PROBE_TIMEOUT = 10.0

_CAN_ENTER = (
    "import os, sys; sys.exit(not all(os.access(path, os.R_OK | os.X_OK) for path in sys.argv[1:]))"
)


class Owner(NamedTuple):
    """An ordinary user: the ids that a sandbox is run with."""

    uid: int
    gid: int

    def take(self, path: str | os.PathLike[str]) -> None:
        """Give a file to this user.

        Raises
        ------
        OSError
            When that is not possible.
        """
        os.chown(path, self.uid, self.gid, follow_symlinks=False)

    def can_enter(self, folders: Iterable[str | os.PathLike[str]]) -> bool:
        """Whether this user can execute the server's Python and list all these folders."""
        try:
            found = subprocess.run(
                [sys.executable, "-I", "-S", "-c", _CAN_ENTER, *map(str, folders)],
                user=self.uid,
                group=self.gid,
                extra_groups=[],
                cwd="/",
                env={},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=PROBE_TIMEOUT,
                check=False,
            )
        except (OSError, subprocess.SubprocessError):
            return False
        return found.returncode == 0


def owner_of(workspace: Path) -> tuple[Owner | None, str]:
    """Say who the sandbox on this workspace is to be run as.

    Returns
    -------
    tuple
        The workspace's owner, or None for the server's own user; and a sentence on why root has to
        do, empty if it does not.
    """
    if os.geteuid() != 0:
        return None, ""
    uid = workspace.stat().st_uid
    if uid == 0:
        return None, (
            "Jupyter runs as root and the workspace belongs to root, so the agent's files belong "
            "to root too, and a fault in the sandbox would give away the whole machine. "
            "Run Jupyter as an ordinary user, or give the workspace to one."
        )
    try:
        gid = pwd.getpwuid(uid).pw_gid
    except KeyError:
        gid = workspace.stat().st_gid
    if not _can_work(uid, gid, workspace):
        return None, (
            f"Jupyter runs as root, and the workspace's owner (user {uid}) cannot be used instead, "
            "because that user may not read Jupyter's Python or the way to the workspace. So the "
            "agent can change only what belongs to root, and a fault in the sandbox would give "
            "away the whole machine. Run Jupyter as an ordinary user."
        )
    return Owner(uid, gid), ""


@functools.lru_cache(maxsize=100)
def _can_work(uid: int, gid: int, workspace: Path) -> bool:
    """Whether this user can execute the server's Python and reach what a sandbox needs."""
    folders: list[str | Path] = [
        sys.prefix,
        sys.base_prefix,
        sysconfig.get_path("purelib"),
        workspace,
    ]
    folders += agentd.__path__
    return Owner(uid, gid).can_enter(folders)
