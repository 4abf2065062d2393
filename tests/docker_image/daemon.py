"""The daemon for the tests: the one that runs, or one of our own that leaves nothing behind."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

START_TIMEOUT = 30.0


_own: dict[str, OwnDaemon] = {}
"""Those that run, by their address."""


class DaemonUnavailable(Exception):
    """There is no Docker daemon and none can be started; says why."""


class OwnDaemon:
    """A daemon with everything it keeps below one folder.

    Parameters
    ----------
    folder
        An empty folder.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None
        self.host = f"unix://{folder / 'sock'}"

    def start(self) -> None:
        """Start it and wait until it answers.

        Raises
        ------
        DaemonUnavailable
            When it ends or does not answer.
        """
        with open(self._folder / "log", "ab") as log:
            self._process = subprocess.Popen(
                [
                    "dockerd",
                    *("--data-root", self._folder / "data"),
                    *("--exec-root", self._folder / "exec"),
                    *("--pidfile", self._folder / "pid"),
                    *("--host", self.host),
                    *("--group", "root"),
                    # The tests need no network, and a bridge would be seen by the whole machine.
                    *("--bridge", "none", "--iptables=false", "--ip6tables=false"),
                ],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd="/",
                # Not the test's that starts it: runc would keep files in what that one removes.
                env={"PATH": os.environ["PATH"], "TMPDIR": str(self._folder)},
                start_new_session=True,
            )
        give_up = time.monotonic() + START_TIMEOUT
        while not answers(self.host):
            if self._process.poll() is not None or time.monotonic() > give_up:
                self.stop()
                last = (self._folder / "log").read_text("utf-8", "replace")[-2000:]
                raise DaemonUnavailable(f"dockerd does not start here: {last}")
            time.sleep(0.1)

    def stop(self) -> None:
        """End it; containers that run end with it."""
        if self._process is not None:
            self._process.terminate()
            try:
                self._process.wait(20)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
            self._process = None


@contextmanager
def docker_daemon() -> Iterator[str]:
    """The address of a daemon: the one that this machine has, else one that ends afterwards.

    Raises
    ------
    DaemonUnavailable
        When there is none.
    """
    for host in filter(None, (os.environ.get("DOCKER_HOST"), "unix:///var/run/docker.sock")):
        if answers(host):
            yield host
            return
    with own_daemon() as daemon:
        yield daemon.host


@contextmanager
def own_daemon() -> Iterator[OwnDaemon]:
    """A started daemon that nobody else uses.

    Raises
    ------
    DaemonUnavailable
        When it cannot be started.
    """
    if shutil.which("dockerd") is None:
        raise DaemonUnavailable("needs a Docker daemon; none runs and dockerd is not installed")
    if os.geteuid() != 0:
        raise DaemonUnavailable("needs a Docker daemon; none runs and only root can start one")
    if Path("/sys/class/net/docker0").exists():
        # Without a bridge of its own, a new daemon would remove this one.
        raise DaemonUnavailable(
            "needs a Docker daemon; there is the bridge of one that does not answer"
        )
    with folder_in_memory("ohj-dockerd-") as folder:
        # For users that are in the group.
        folder.chmod(0o711)
        daemon = OwnDaemon(folder)
        left: list[str] = []
        _own[daemon.host] = daemon
        try:
            daemon.start()
            yield daemon
            left = _containers(daemon.host)
        finally:
            del _own[daemon.host]
            daemon.stop()
    if left:
        raise AssertionError(f"containers were left over: {left}")


def own_at(host: str) -> OwnDaemon | None:
    """The daemon at this address, if it is one that runs for these tests."""
    return _own.get(host)


@contextmanager
def folder_in_memory(prefix: str) -> Iterator[Path]:
    """A folder for a daemon, which is gone afterwards with what it mounted there.

    For root it is in memory: an image is many small files, which a disk takes seconds to write and
    to remove.

    Raises
    ------
    DaemonUnavailable
        When root may not mount, and so can have no daemon.
    """
    folder = Path(tempfile.mkdtemp(prefix=prefix, dir="/tmp"))
    try:
        if os.geteuid() == 0:
            mount = ["mount", "-t", "tmpfs", "-o", "size=4g", "tmpfs", str(folder)]
            if subprocess.run(mount, check=False).returncode:
                raise DaemonUnavailable("needs the right to mount")
        yield folder
    finally:
        _unmount(folder)
        shutil.rmtree(folder, ignore_errors=True)
    if folder.exists():
        raise AssertionError(f"{folder} is still in use")


def answers(host: str) -> bool:
    """Whether a daemon at this address can be used."""
    import docker

    try:
        # The SDK would leave the socket open that it could not connect.
        with socket.socket(socket.AF_UNIX) as probe:
            probe.connect(host.removeprefix("unix://"))
        client = docker.DockerClient(base_url=host, timeout=5)
    except (OSError, docker.errors.DockerException):
        return False
    client.close()
    return True


def _containers(host: str) -> list[str]:
    import docker

    if not answers(host):
        return []
    client = docker.DockerClient(base_url=host, timeout=20)
    try:
        return [container.name for container in client.containers.list(all=True)]
    finally:
        client.close()


def _unmount(folder: Path) -> None:
    """What a daemon that was killed has left mounted."""
    mounts = Path("/proc/self/mounts").read_text("utf-8").split("\n")
    for line in reversed(mounts):
        fields = line.split(" ")
        if len(fields) > 1 and Path(fields[1]).is_relative_to(folder):
            subprocess.run(["umount", "--lazy", fields[1]], check=False)
