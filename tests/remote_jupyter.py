"""Remote servers for the tests: real ones on this machine, each with a token."""

from __future__ import annotations

import json
import os
import secrets
import socket
import ssl
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from server_extensions import only
from waiting import PATIENCE


@dataclass
class Remote:
    """A running server.

    Attributes
    ----------
    url, token
        Where it is, and what opens it.
    root
        Where its kernels start.
    process
        Itself.
    verify
        The certificate that it shows, where it is reached over TLS.
    """

    url: str
    token: str
    root: Path
    process: subprocess.Popen[bytes]
    verify: Path | None = None

    def ask(self, path: str, method: str = "GET", body: Any = None) -> Any:
        """Ask its API for something."""
        request = urllib.request.Request(
            self.url + path,
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"token {self.token}"},
        )
        trusted = ssl.create_default_context(cafile=self.verify) if self.verify else None
        with urllib.request.urlopen(request, timeout=PATIENCE, context=trusted) as answer:
            content = answer.read()
        return json.loads(content) if content else None

    def kernels(self) -> list[str]:
        """The ids of its kernels."""
        return [kernel["id"] for kernel in self.ask("/api/kernels")]

    def kernels_left(self) -> list[str]:
        """The same, once none is being ended any more."""
        give_up = time.monotonic() + PATIENCE
        while (left := self.kernels()) and time.monotonic() < give_up:
            time.sleep(0.1)
        return left


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


@contextmanager
def jupyter_server(
    root: Path,
    *options: str,
    port: int | None = None,
    token: str | None = None,
    verify: Path | None = None,
) -> Iterator[Remote]:
    """A plain Jupyter server, without extensions."""
    port = port or free_port()
    token = token or secrets.token_hex(16)
    scheme = "https" if verify else "http"
    command = [
        *("-m", "jupyter_server", "--allow-root", "--no-browser"),
        *(f"--port={port}", "--ServerApp.port_retries=0", f"--IdentityProvider.token={token}"),
        *(f"--ServerApp.jpserver_extensions={only()}", f"--ServerApp.root_dir={root}", *options),
    ]
    with _running(command, f"{scheme}://127.0.0.1:{port}", token, root, verify) as remote:
        yield remote


@contextmanager
def kernel_gateway(root: Path) -> Iterator[Remote]:
    """A Jupyter Kernel Gateway."""
    port, token = free_port(), secrets.token_hex(16)
    command = [
        *("-m", "kernel_gateway", f"--KernelGatewayApp.port={port}"),
        *("--KernelGatewayApp.port_retries=0", f"--KernelGatewayApp.auth_token={token}"),
        "--JupyterWebsocketPersonality.list_kernels=True",
    ]
    with _running(command, f"http://127.0.0.1:{port}", token, root) as remote:
        yield remote


@contextmanager
def _running(
    command: list[str], url: str, token: str, root: Path, verify: Path | None = None
) -> Iterator[Remote]:
    # Nothing of the person's own configuration, nor of the test's environment.
    private = {"HOME": str(root), "JUPYTER_CONFIG_DIR": str(root / "config")}
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("JUPYTER", "JPY", "KERNEL"))}
    with (root / "log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, *command],
            cwd=root,
            env={**kept, **private},
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    remote = Remote(url, token, root, process, verify)
    try:
        _wait_until_up(remote)
        yield remote
    finally:
        process.terminate()
        try:
            process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait_until_up(remote: Remote) -> None:
    give_up = time.monotonic() + PATIENCE
    while True:
        try:
            remote.ask("/api/kernelspecs")
            return
        except (urllib.error.URLError, ConnectionError):
            if remote.process.poll() is not None or time.monotonic() > give_up:
                raise RuntimeError((remote.root / "log").read_text()) from None
            time.sleep(0.1)
