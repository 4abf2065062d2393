"""Podman in Docker's place: of root, and of an ordinary user, who is root in the containers."""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import pytest
from docker_image import DaemonUnavailable
from docker_image.podman import IMAGE, podman

from openhands_jupyter.errors import SandboxUnavailable
from openhands_jupyter.runtime import rundir
from openhands_jupyter.runtime.docker.images import check_image
from openhands_jupyter.runtime.docker.settings import DockerSettings
from openhands_jupyter.runtime.docker.sweep import prune
from openhands_jupyter.runtime.sandbox import Sandbox

pytestmark = [pytest.mark.docker, pytest.mark.sandbox]

ORDINARY = 1000
NOBODY = 65534


@pytest.fixture(scope="module", params=["root", "ordinary user"])
def user(request: pytest.FixtureRequest) -> int:
    """Who runs it."""
    if request.param == "root":
        return 0
    return NOBODY if os.geteuid() == 0 else os.geteuid()


@pytest.fixture(scope="module")
def docker_host(user: int) -> Iterator[str]:
    try:
        with podman(user) as host:
            yield host
    except DaemonUnavailable as reason:
        pytest.skip(str(reason))


@pytest.fixture(scope="module")
def docker_settings(docker_host: str) -> DockerSettings:
    return DockerSettings(image=IMAGE)


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """One that an ordinary user finds the way to."""
    with tempfile.TemporaryDirectory(prefix="ohj-open-", dir="/tmp") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@pytest.fixture(autouse=True)
def owners_directories(open_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(rundir, "_fallback", lambda: str(open_folder / "f"))
    yield
    left = [path for base in open_folder.glob("f-*") for path in base.iterdir()]
    assert left == []


@pytest.fixture
def workspace(open_folder: Path, user: int) -> Path:
    folder = open_folder / "workspace"
    folder.mkdir()
    if os.geteuid() == 0:
        owner = user or ORDINARY
        os.chown(folder, owner, owner)
    return folder


async def test_what_a_session_does(bench, workspace, user, running, client):
    async with bench() as b:
        found = await b.runtime.start()
        assert (found.level, [check for check in found.checks if not check.held]) == ("green", [])
        command = await b.sh("x=kept; id -u; id -un; touch shell")
        assert command.content.split() == [str(0 if user else ORDINARY), "agent"]
        assert (await b.cell("open('cell', 'w').write('6'); 6 * 7")).outputs[0].data == {
            "text/plain": "42"
        }
        stopped = await b.cell("import time; time.sleep(60)", 1)
        assert stopped.interrupted == "timeout"
        owners = {(workspace / name).stat().st_uid for name in ("shell", "cell")}
        assert owners == {workspace.stat().st_uid}
        if b.runtime._sandbox.can_pause:
            await b.runtime._sandbox.pause()
            assert running().status == "paused"
        assert (await b.sh("echo $x")).content == "kept\n"
        ending = asyncio.create_task(b.sh("echo before; sleep 100"))
        while "before" not in b.printed:
            await asyncio.sleep(0.01)
        await asyncio.to_thread(running().kill)
        assert "[The container was killed from outside.]" in (await ending).content
        assert (await b.sh("echo after")).content == "after\n"
    assert await prune() == 0


async def test_an_image_is_looked_into(isolation, client):
    report = await check_image(IMAGE)
    assert (report.missing, report.ipykernel) == ([], version("ipykernel"))


async def test_a_folder_of_somebody_else_is_refused_with_what_to_do(
    workspace, isolation, docker_settings, user
):
    if user == 0 or os.geteuid() != 0:
        pytest.skip("root's Podman can work for everybody, and only root can give files away")
    os.chown(workspace, ORDINARY, ORDINARY)
    with pytest.raises(SandboxUnavailable, match="by the ordinary user 65534") as refused:
        await Sandbox(workspace, "docker", docker=docker_settings).start()
    assert "a folder of that user" in refused.value.hint
