"""Docker sandboxes for the tests, and what is left of them."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import docker
import msgspec
import pytest

from openhands_jupyter.runtime import rundir
from openhands_jupyter.runtime.docker.settings import DockerSettings
from openhands_jupyter.runtime.docker.sweep import SANDBOX

SERVER = """
import asyncio, sys
from pathlib import Path
from openhands_jupyter.events import CmdRunAction
from openhands_jupyter.runtime import SandboxRuntime
from openhands_jupyter.runtime.docker.settings import DockerSettings
async def main():
    docker = DockerSettings(image=sys.argv[2], shared=sys.argv[3] == "True")
    runtime = SandboxRuntime(Path(sys.argv[1]), "docker", docker=docker)
    await runtime.start()
    print("ready", flush=True)
    await runtime.run_action(CmdRunAction(command="sleep 1000"), print)
asyncio.run(main())
"""


@pytest.fixture
def server_on() -> Callable[..., subprocess.Popen[bytes]]:
    """Starts a process that has a sandbox, given the workspace and the image."""

    def start(workspace: Path, image: str, shared: bool = False) -> subprocess.Popen[bytes]:
        server = subprocess.Popen(
            [sys.executable, "-c", SERVER, str(workspace), image, str(shared)],
            stdout=subprocess.PIPE,
        )
        assert server.stdout is not None
        with server.stdout:
            assert server.stdout.readline() == b"ready\n"
        return server

    return start


@pytest.fixture
def isolation(docker_host: str, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("DOCKER_HOST", docker_host)
    return "docker"


@pytest.fixture(autouse=True)
def owners_directories(run_directories: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Where root keeps the sockets of others' sandboxes; nothing may be left there."""
    fallback = str(run_directories.parent / "f")
    monkeypatch.setattr(rundir, "_fallback", lambda: fallback)
    yield
    base = Path(f"{fallback}-owners")
    assert not base.exists() or list(base.iterdir()) == []


@pytest.fixture
def client(docker_host: str) -> Iterator[docker.DockerClient]:
    """The daemon, seen from beside our own code; no container of ours may be left in it."""
    client = docker.DockerClient(base_url=docker_host, timeout=60)
    yield client
    left = containers(client)
    for container in left:
        container.remove(force=True, v=True)
    client.close()
    assert left == []


def containers(client: docker.DockerClient) -> list[docker.models.containers.Container]:
    return client.containers.list(all=True, filters={"label": SANDBOX})


@pytest.fixture
def running(client: docker.DockerClient) -> Callable[[], docker.models.containers.Container]:
    """The one container of ours there is."""

    def find() -> docker.models.containers.Container:
        (container,) = containers(client)
        return container

    return find


@pytest.fixture
def derived(
    client: docker.DockerClient, docker_settings: DockerSettings
) -> Iterator[Callable[[str], DockerSettings]]:
    """Builds images upon the one for tests, without a network, by the lines of a Dockerfile."""
    made = []

    def build(*lines: str) -> DockerSettings:
        dockerfile = "\n".join([f"FROM {docker_settings.image}", *lines, ""])
        name = f"openhands-jupyter-test-derived:{len(made)}"
        client.images.build(
            fileobj=io.BytesIO(dockerfile.encode()),
            tag=name,
            pull=False,
            network_mode="none",
            rm=True,
            forcerm=True,
        )
        made.append(name)
        return msgspec.structs.replace(docker_settings, image=name)

    yield build
    for name in made:
        client.images.remove(name, force=True)


@pytest.fixture
def workspace_for_docker(tmp_path: Path) -> Path:
    """A folder that a container can be run for, where there need not be a daemon."""
    folder = tmp_path / "workspace"
    folder.mkdir()
    if os.geteuid() == 0:
        os.chown(folder, 1000, 1000)
    return folder


@pytest.fixture
def workspace(workspace_for_docker: Path) -> Path:
    return workspace_for_docker
