"""What a sandbox enforces: canaries laid out here, tried from inside, and the verdict on them."""

from __future__ import annotations

import os
import secrets
import shutil
import socket
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any

import msgspec

from ..events import Check, IsolationLevel, IsolationObservation
from .agentd.relay import PORT
from .agentd.selftest import start_of
from .launch import Command
from .rundir import RunDirectory
from .workspace import private_folders

NAMESPACES = ("ipc", "mnt", "net", "pid", "user", "uts")

ESSENTIAL = {
    "read a secret file",
    "read private folders",
    "write outside the workspace",
    "write to the system",
    "connect to a port of the server",
    "connect to a socket of the server",
    "reach the network directly",
    "reach a host that is not allowed",
    "read the server's memory",
    "signal the server",
    "change kernel settings",
}
"""Without these there is no sandbox to speak of."""

_READ_ONLY = ("/", "/dev", "/proc/sys", "/usr")
_CHOSEN_NONE = "There is no sandbox because the isolation 'none' was chosen."
_AS_ROOT = "run as root outside the sandbox"


class Canaries:
    """Things outside a sandbox that nothing inside it should reach; a context manager.

    Parameters
    ----------
    run_directory
        The sandbox's; the canaries stand in its part that is not visible inside.
    command
        What the sandbox was started with.
    unlisted_host
        A host that the proxy does not allow; None without a proxy.
    read_only
        Folders of the server's user that are to be read at most.
    """

    def __init__(
        self,
        run_directory: RunDirectory,
        command: Command,
        unlisted_host: str | None = None,
        read_only: Sequence[str] = (),
    ) -> None:
        self._run_directory = run_directory
        self._secret = run_directory.path / "secret"
        self._outside = run_directory.path / "outside"
        self._socket = run_directory.path / "canary"
        self._abstract = f"ohj-{secrets.token_hex(8)}"
        shared_memory = Path("/dev/shm")
        self._shared_memory = (
            shared_memory if shared_memory.is_dir() else run_directory.path
        ) / self._abstract
        self._command = command
        self._unlisted_host = unlisted_host
        self._read_only = [*_READ_ONLY, sys.prefix, sys.base_prefix, *read_only]
        self._port = 0
        self._terminal = -1
        self._open = ExitStack()

    def __enter__(self) -> Canaries:
        for file in (self._secret, self._shared_memory):
            file.touch(mode=0o600)
            file.write_text(secrets.token_hex(16))
            self._open.callback(file.unlink, missing_ok=True)
        self._outside.mkdir(mode=0o700)
        self._open.callback(shutil.rmtree, self._outside, ignore_errors=True)
        for file in (self._secret, self._shared_memory, self._outside):
            self._run_directory.give_to_owner(file)
        self._listen(socket.AF_UNIX, str(self._socket))
        self._listen(socket.AF_UNIX, "\0" + self._abstract)
        self._open.callback(self._socket.unlink, missing_ok=True)
        self._run_directory.give_to_owner(self._socket)
        self._port = self._listen(socket.AF_INET, ("127.0.0.1", 0)).getsockname()[1]
        master, self._terminal = os.openpty()
        for fd in (master, self._terminal):
            self._open.callback(os.close, fd)
        self._run_directory.give_to_owner(Path(os.ttyname(self._terminal)))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._open.close()

    def parameters(self) -> dict[str, Any]:
        """What the self-test inside is told."""
        return {
            "secret_file": str(self._secret),
            "outside_folder": str(self._outside),
            "private_folders": [str(folder) for folder in private_folders()],
            "read_only_folders": self._read_only,
            "unix_socket": str(self._socket),
            "abstract_socket": self._abstract,
            "tcp_port": self._port,
            "namespaces": {
                name: os.readlink(f"/proc/self/ns/{name}")
                for name in NAMESPACES
                if name not in self._command.shared_namespaces
            },
            "environment": list(self._command.env),
            "unlisted_host": self._unlisted_host,
            "proxy_port": PORT,
            "unlisted_folder": self._command.unlisted_folder,
            "process": {"pid": os.getpid(), "started": start_of(os.getpid())},
            "terminal": {
                "path": os.ttyname(self._terminal),
                "device": os.fstat(self._terminal).st_dev,
            },
            "shared_memory": str(self._shared_memory),
        }

    def _listen(self, family: socket.AddressFamily, address: Any) -> socket.socket:
        listener = self._open.enter_context(socket.socket(family))
        listener.bind(address)
        listener.listen()
        return listener


def verdict(
    backend: str,
    results: Any,
    network: str = "no network",
    missing: Sequence[str] = (),
    *,
    packages: bool = False,
) -> IsolationObservation:
    """Turn the self-test's results into what the person is told.

    Parameters
    ----------
    backend
        ``bubblewrap``, ``landlock`` or ``none``.
    results
        As the self-test gave them.
    network
        What the proxy allows, as part of a sentence.
    missing
        What else is not enforced, a phrase each.
    packages
        Whether there is a writable folder for packages.
    """
    checks = msgspec.convert(results, list[Check])
    failed = [check.name for check in checks if not check.held]
    level, summary = _judge(backend, failed, network, packages)
    return IsolationObservation(
        level=level,
        backend=backend,
        summary=summary,
        notice=_CHOSEN_NONE if backend == "none" else "",
        checks=checks,
        missing=[] if backend == "none" else [*map(_missing, failed), *missing],
    )


def _judge(
    backend: str, failed: list[str], network: str, packages: bool
) -> tuple[IsolationLevel, str]:
    if backend == "none":
        return "red", "Not isolated: the agent can read and change everything that you can."
    if ESSENTIAL & set(failed):
        return "red", f"The {backend} sandbox does not hold: the agent can {failed[0]}."
    if failed == [_AS_ROOT]:
        return "amber", f"Sandboxed with {backend}, {network}, but as root."
    if failed:
        more = f" and {len(failed) - 1} more" if failed[1:] else ""
        return "amber", f"Sandboxed with {backend}, {network}, but the agent can {failed[0]}{more}."
    places = "the workspace and the packages for it are" if packages else "the workspace is"
    return "green", f"Sandboxed with {backend}: only {places} writable, {network}."


def _missing(failed: str) -> str:
    return "an ordinary user's rights" if failed == _AS_ROOT else f"nothing stops it to {failed}"
