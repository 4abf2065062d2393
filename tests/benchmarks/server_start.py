"""What the extension costs a JupyterLab server: time until it answers, and memory."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from measure import Row, medians


def rows(rounds: int = 5) -> list[Row]:
    """Lab with the extension against Lab without it; import of the extension's module."""
    memory: dict[str, list[float]] = {"with": [], "without": []}

    def start(name: str) -> float:
        with lab(extension=name == "with") as (seconds, mebibytes):
            memory[name].append(mebibytes)
        return seconds

    times = medians({name: lambda name=name: start(name) for name in memory}, rounds)
    return [
        Row("Lab server ready (G1)", times["with"], times["without"], "s", "ratio ≤ 1.05"),
        Row(
            "memory of the server before use (G2)",
            min(memory["with"]) - min(memory["without"]),
            None,
            "MiB",
            "≤ 10",
        ),
        Row(
            "import of the extension (G3)",
            medians({"ours": import_time}, rounds)["ours"],
            None,
            "s",
            "≤ 0.15",
        ),
    ]


def import_time() -> float:
    """Seconds that the extension adds to a process that has Jupyter Server loaded."""
    code = (
        "import time, jupyter_server.serverapp, jupyter_server.extension.application\n"
        "start = time.perf_counter()\n"
        "import openhands_jupyter.app\n"
        "print(time.perf_counter() - start)"
    )
    command = [sys.executable, "-c", code]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


@contextmanager
def lab(*, extension: bool) -> Iterator[tuple[float, float]]:
    """Run a Lab server; give the seconds until it answered, and its resident MiB."""
    with tempfile.TemporaryDirectory() as folder, socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
        probe.close()
        enabled = {"ServerApp": {"jpserver_extensions": {"openhands_jupyter": extension}}}
        config = Path(folder) / "config"
        config.mkdir()
        (config / "jupyter_server_config.json").write_text(json.dumps(enabled))
        env = {
            **os.environ,
            "HOME": folder,
            "JUPYTER_CONFIG_DIR": f"{folder}/user",
            "JUPYTER_CONFIG_PATH": str(config),
            "JUPYTER_RUNTIME_DIR": f"{folder}/runtime",
        }
        command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root"]
        command += [f"--ServerApp.port={port}", "--ServerApp.port_retries=0"]
        command += ["--IdentityProvider.token=", f"--ServerApp.root_dir={folder}"]
        log = Path(folder) / "log"
        started = time.perf_counter()
        with log.open("wb") as output:
            server = subprocess.Popen(command, env=env, stdout=output, stderr=output)
        try:
            wait_until_ready(server, port, log)
            seconds = time.perf_counter() - started
            loaded = "openhands_jupyter | extension was successfully loaded" in log.read_text()
            if loaded != extension:
                raise RuntimeError(f"the extension is loaded: {loaded}\n{log.read_text()}")
            yield seconds, resident(server.pid)
        finally:
            server.terminate()
            server.wait(timeout=30)


def wait_until_ready(server: subprocess.Popen[bytes], port: int, log: Path) -> None:
    while server.poll() is None:
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/api/status", timeout=5).close()
            return
        except urllib.error.URLError:
            time.sleep(0.01)
    raise RuntimeError(log.read_text())


def resident(pid: int) -> float:
    """Resident memory of a process in MiB."""
    status = Path(f"/proc/{pid}/status").read_text()
    found = re.search(r"^VmRSS:\s+(\d+) kB", status, re.MULTILINE)
    assert found is not None
    return int(found[1]) / 1024
