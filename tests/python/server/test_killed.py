"""Nothing runs on when a server is killed, and the next one removes what it left."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from leftovers import processes_below
from model_server import ModelServer
from server_process import Server
from waiting import PATIENCE, wait_until

from openhands_jupyter.runtime.rundir import GROUPS

pytestmark = pytest.mark.sandbox


@pytest.fixture
def server(tmp_path: Path, model_server: ModelServer) -> Iterator[Server]:
    server = Server(tmp_path, model_server)
    yield server
    server.end()


def below(server: Server) -> list[psutil.Process]:
    return psutil.Process(server.process.pid).children(recursive=True)


def kernels(server: Server) -> int:
    count = 0
    for process in below(server):
        try:
            count += "ipykernel_launcher" in process.cmdline()
        except psutil.Error:
            continue
    return count


@pytest.mark.slow
async def test_sandboxes_that_stand_ready_and_those_of_notebooks(server: Server) -> None:
    base = Path(os.environ["XDG_RUNTIME_DIR"], "ohj")
    others = set(processes_below())
    await server.start()
    for _ in range(2):
        assert (await server.send("POST", "sessions", {})).status == 201
    asked = {"name": "openhands-sandbox"}
    assert (await server.send("POST", "kernels", asked, api="api/")).status == 201
    # Two that stand ready, and the notebook's.
    await wait_until(lambda: kernels(server) == 3)
    before = set(os.listdir(base))
    groups = [Path(line) for name in before for line in read(base / name / GROUPS).splitlines()]

    server.process.send_signal(signal.SIGKILL)
    server.process.wait(PATIENCE)
    await wait_until(lambda: set(processes_below()) <= others)
    await server.start()
    await server.send("POST", "sessions", {})
    await wait_until(lambda: kernels(server) == 1)
    assert before & set(os.listdir(base)) == set()
    assert not any(group.exists() for group in groups)


def read(path: Path) -> str:
    return path.read_text() if path.exists() else ""
