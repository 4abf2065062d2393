"""A JupyterLab of the tests' own: real process, real token, own folders."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import Request, urlopen

TOKEN = "token-of-the-browser-tests"
PREFIX = "/user/ada"
"""Where everything is, as behind JupyterHub."""
PATIENCE = 90.0
"""Seconds for JupyterLab to start on a slow machine."""


class LabServer:
    """JupyterLab with the extension, in a folder of its own.

    Parameters
    ----------
    folder
        Where everything is kept.
    environ
        Environment variables on top of a minimal environment.
    options
        More of the command line.

    Attributes
    ----------
    root
        What the file browser shows, and the workspace of new sessions.
    home
        OpenHands' own folder.
    """

    def __init__(self, folder: Path, environ: dict[str, str], options: Iterable[str] = ()) -> None:
        self.folder = folder
        self.root = folder / "root"
        self.home = folder / "openhands"
        self._environ = environ
        self._options = options
        self._port = _free_port()
        self.url = f"http://127.0.0.1:{self._port}{PREFIX}"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it and wait until it answers."""
        self.root.mkdir(parents=True, exist_ok=True)
        self._switch_off_news()
        command = [
            *(sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root"),
            f"--ServerApp.port={self._port}",
            "--ServerApp.port_retries=0",
            f"--ServerApp.root_dir={self.root}",
            f"--ServerApp.base_url={PREFIX}/",
            f"--IdentityProvider.token={TOKEN}",
            "--LabApp.expose_app_in_browser=True",
            *self._options,
        ]
        with open(self.folder / "lab.log", "ab") as log:
            self._process = subprocess.Popen(
                command,
                cwd=self.root,
                env=self._environment(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        try:
            self._wait()
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """End it."""
        if self._process:
            self._process.terminate()
            self._process.wait(timeout=30)

    def call(self, method: str, route: str, body: object = None) -> Any:
        """What the API answers, decoded; it raises ``HTTPError`` for a refusal."""
        request = Request(
            f"{self.url}/openhands/api/{route}",
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"token {TOKEN}"},
        )
        with urlopen(request, timeout=60) as response:
            content = response.read()
        return json.loads(content) if content else None

    def sessions(self) -> list[dict[str, Any]]:
        """All sessions, newest first."""
        sessions: list[dict[str, Any]] = self.call("GET", "sessions")["sessions"]
        return sessions

    def events(self, session: str) -> list[dict[str, Any]]:
        """The log of a session, as it stands in its file."""
        lines = (self.home / "sessions" / session / "events.jsonl").read_text().splitlines()
        return [json.loads(line) for line in lines]

    def log_text(self) -> str:
        """What the server printed."""
        return (self.folder / "lab.log").read_text()

    def _wait(self) -> None:
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            assert self._process and self._process.poll() is None, self.log_text()
            try:
                self.call("GET", "health")
            except (URLError, ConnectionError):
                time.sleep(0.2)
            else:
                return
        raise TimeoutError(self.log_text())

    def _environment(self) -> dict[str, str]:
        # The last two are where sandboxes keep things during this test run, see `leftovers`.
        kept = ("PATH", "LANG", "LC_ALL", "TZ", "TMPDIR", "PYTHONPATH", "JUPYTER_PATH")
        kept += ("XDG_RUNTIME_DIR", "STATE_DIRECTORY")
        return {
            **{name: os.environ[name] for name in kept if name in os.environ},
            "HOME": str(self._made("home")),
            "IPYTHONDIR": str(self._made("ipython")),
            "JUPYTER_CONFIG_DIR": str(self._made("config")),
            "JUPYTER_DATA_DIR": str(self._made("data")),
            "JUPYTER_RUNTIME_DIR": str(self._made("runtime")),
            "JUPYTERLAB_SETTINGS_DIR": str(self._made("settings")),
            "JUPYTERLAB_WORKSPACES_DIR": str(self._made("workspaces")),
            "OPENHANDS_HOME": str(self.home),
            **self._environ,
        }

    def _made(self, name: str) -> Path:
        folder = self.folder / name
        folder.mkdir(exist_ok=True)
        return folder

    def _switch_off_news(self) -> None:
        """A question about news would cover a corner of the page."""
        folder = self._made("settings") / "@jupyterlab" / "apputils-extension"
        folder.mkdir(parents=True)
        settings = {"fetchNews": "false", "checkForUpdates": False}
        (folder / "notification.jupyterlab-settings").write_text(json.dumps(settings))


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
