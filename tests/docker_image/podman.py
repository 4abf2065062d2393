"""Podman behind its socket, which speaks Docker's language; it leaves nothing behind."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from .build import _changes, build_image
from .daemon import DaemonUnavailable, answers, folder_in_memory

IMAGE = "openhands-jupyter-test-podman"
START_TIMEOUT = 30.0


@contextmanager
def podman(user: int) -> Iterator[str]:
    """The address of one that this user runs, with the tests' image under the name `IMAGE`.

    Raises
    ------
    DaemonUnavailable
        When it cannot be started here.
    """
    if shutil.which("podman") is None:
        raise DaemonUnavailable("needs Podman")
    if os.geteuid() not in (0, user):
        raise DaemonUnavailable("only root can start what others run")
    try:
        archive = build_image()
    except PermissionError as error:
        raise DaemonUnavailable("needs the folder of the image, which is another user's") from error
    with folder_in_memory("ohj-podman-") as folder:
        service = _Service(folder, user)
        try:
            service.start()
            service.run("import", "--quiet", *_options(), str(archive), IMAGE)
            yield service.host
        finally:
            service.stop()


class _Service:
    """Podman with all that it keeps below one folder."""

    def __init__(self, folder: Path, user: int) -> None:
        running = folder / "run"
        running.mkdir(mode=0o700)
        (folder / "conf").write_text(_configuration(), "utf-8")
        self._command = ["podman", "--root", folder / "data", "--runroot", running / "r"]
        self._command += ["--tmpdir", running / "t"]
        self._process: subprocess.Popen[bytes] | None = None
        self._log = folder / "log"
        self._as_user: dict[str, Any] = {
            "cwd": folder,
            "env": {
                "PATH": os.environ["PATH"],
                "HOME": str(folder),
                "XDG_RUNTIME_DIR": str(running),
                "CONTAINERS_CONF": str(folder / "conf"),
                "STORAGE_DRIVER": "overlay",
            },
        }
        self.host = f"unix://{folder / 'sock'}"
        if os.geteuid() != user:
            self._as_user |= {"user": user, "group": user, "extra_groups": []}
            for path in (folder, running):
                os.chown(path, user, user)
        folder.chmod(0o755)

    def start(self) -> None:
        """Start it and wait until it answers."""
        with open(self._log, "wb") as log:
            self._process = subprocess.Popen(
                [*self._command, "system", "service", "--time", "0", self.host],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                **self._as_user,
            )
        give_up = time.monotonic() + START_TIMEOUT
        while not answers(self.host):
            if self._process.poll() is not None or time.monotonic() > give_up:
                last = self._log.read_text("utf-8", "replace")[-2000:]
                raise DaemonUnavailable(f"Podman does not start here: {last}")
            time.sleep(0.1)

    def run(self, *arguments: str) -> None:
        """Run Podman itself."""
        done = subprocess.run(
            [*self._command, *arguments], capture_output=True, text=True, **self._as_user
        )
        if done.returncode:
            raise DaemonUnavailable(f"Podman does not work here: {done.stderr[-2000:]}")

    def stop(self) -> None:
        """End it."""
        if self._process is not None:
            with contextlib.suppress(DaemonUnavailable):
                # What keeps an ordinary user's namespaces ends by this alone.
                self.run("system", "migrate")
            os.killpg(self._process.pid, signal.SIGTERM)
            self._process.wait()


def _configuration() -> str:
    return "\n".join(
        [
            "[containers]",
            # It would raise them above its own, which not even root may in every virtual machine.
            'default_ulimits = ["nofile=1024:1024", "nproc=4096:4096"]',
            "[engine]",
            'cgroup_manager = "cgroupfs"',
            'events_logger = "file"',
            'lock_type = "file"',
            # crun, if it is the usual one, gives up where there are both kinds of control groups.
            *(['runtime = "runc"'] if shutil.which("runc") else []),
            "",
        ]
    )


def _options() -> Iterator[str]:
    for change in _changes():
        yield from ("--change", change)
