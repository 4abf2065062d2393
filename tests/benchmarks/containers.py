"""What a container adds to a plain kernel, and what waking a paused one costs."""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from measure import Row, medians
from sandbox import CELL, act, start_plain_kernel

from openhands_jupyter.runtime import SandboxRuntime
from openhands_jupyter.runtime.docker.settings import DockerSettings

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from docker_image import DaemonUnavailable, docker_daemon, load_image


def rows(rounds: int = 5) -> list[Row]:
    """Start and wake; nothing where there is no Docker."""
    try:
        with docker_daemon() as host:
            os.environ["DOCKER_HOST"] = host
            return _rows(DockerSettings(image=load_image(host)), rounds)
    except DaemonUnavailable as reason:
        print(f"left out: {reason}")
        return []


def _rows(docker: DockerSettings, rounds: int) -> list[Row]:
    starts = medians(
        {"ours": lambda: _start(docker), "floor": start_plain_kernel},
        rounds,
    )
    wakes = medians(
        {
            "paused": lambda: _wake(docker, paused=True),
            "awake": lambda: _wake(docker, paused=False),
        },
        rounds,
    )
    return [
        Row(
            "new container until its first cell is done",
            starts["ours"],
            starts["floor"],
            "s",
            "ratio ≤ 1.6",
        ),
        Row("cell in a container that was paused", wakes["paused"], wakes["awake"], "ms"),
    ]


@contextmanager
def _workspace() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        # A container is never run as root.
        folder.chmod(0o777)
        yield folder


def _start(docker: DockerSettings) -> float:
    async def measure(workspace: Path) -> float:
        runtime = SandboxRuntime(workspace, "docker", docker=docker)
        started = time.perf_counter()
        await act(runtime, CELL)
        seconds = time.perf_counter() - started
        await runtime.close()
        return seconds

    with _workspace() as workspace:
        return asyncio.run(measure(workspace))


def _wake(docker: DockerSettings, paused: bool) -> float:
    """Milliseconds for a cell in a container that has run some."""

    async def measure(workspace: Path) -> float:
        runtime = SandboxRuntime(workspace, "docker", docker=docker)
        for _ in range(3):
            await act(runtime, CELL)
        assert runtime._sandbox is not None
        if paused:
            await runtime._sandbox.pause()
        started = time.perf_counter()
        await runtime.wake()
        await act(runtime, CELL)
        milliseconds = (time.perf_counter() - started) * 1000
        await runtime.close()
        return milliseconds

    with _workspace() as workspace:
        return asyncio.run(measure(workspace))
