"""Docker that is not there, not allowed, hangs, restarts, or has the wrong image."""

from __future__ import annotations

import asyncio
import ctypes
import os
import secrets
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from docker_image.daemon import own_at

from openhands_jupyter.errors import SandboxUnavailable
from openhands_jupyter.events import CmdRunAction, ErrorObservation, IPythonRunCellAction
from openhands_jupyter.runtime.docker import daemon as daemon_module
from openhands_jupyter.runtime.docker.daemon import Daemon, ImageMissing
from openhands_jupyter.runtime.docker.endpoint import find_endpoint
from openhands_jupyter.runtime.docker.settings import DockerSettings
from openhands_jupyter.runtime.docker.stream import open_stream
from openhands_jupyter.runtime.launch import BackendUnavailable
from openhands_jupyter.runtime.limits import Limits
from openhands_jupyter.runtime.sandbox import Sandbox

pytestmark = [pytest.mark.docker, pytest.mark.sandbox]

NOBODY = 65534


async def refusal(workspace: Path, settings: DockerSettings | None = None) -> SandboxUnavailable:
    sandbox = Sandbox(workspace, "docker", docker=settings)
    with pytest.raises(SandboxUnavailable) as refused:
        await sandbox.start()
    assert sandbox.run_directory is None
    return refused.value


@pytest.fixture
def socket_path(run_directories: Path) -> Path:
    return run_directories.parent / "docker.sock"


@pytest.fixture
def silent(socket_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A daemon that accepts connections and says nothing."""
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(socket_path))
        listener.listen()
        monkeypatch.setenv("DOCKER_HOST", f"unix://{socket_path}")
        yield


async def test_no_daemon(workspace_for_docker, socket_path, monkeypatch):
    monkeypatch.setenv("DOCKER_HOST", f"unix://{socket_path}")
    refused = await refusal(workspace_for_docker)
    assert refused.message == f"No Docker daemon answers at unix://{socket_path}."
    assert "start Docker" in refused.hint


async def test_a_daemon_that_has_gone(workspace_for_docker, socket_path, monkeypatch):
    with socket.socket(socket.AF_UNIX) as gone:
        gone.bind(str(socket_path))
    monkeypatch.setenv("DOCKER_HOST", f"unix://{socket_path}")
    assert "No Docker daemon answers at" in (await refusal(workspace_for_docker)).message


async def test_a_daemon_that_hangs(workspace_for_docker, silent, monkeypatch):
    monkeypatch.setattr(daemon_module, "PING_TIMEOUT", 1)
    turns = 0

    async def count() -> None:
        nonlocal turns
        while True:
            await asyncio.sleep(0.01)
            turns += 1

    counting = asyncio.create_task(count())
    refused = await refusal(workspace_for_docker)
    counting.cancel()
    assert "does not answer" in refused.message
    # The event loop has gone on meanwhile.
    assert turns > 20


def test_a_daemon_that_one_may_not_use(silent, socket_path):
    socket_path.chmod(0)
    failed: list[BackendUnavailable] = []

    def try_it() -> None:
        if os.geteuid() == 0:
            # Of this thread alone: to files, it is then nobody.
            ctypes.CDLL(None).setfsuid(NOBODY)
        try:
            Daemon().call_here(lambda client: client.ping())
        except BackendUnavailable as error:
            failed.append(error)

    thread = threading.Thread(target=try_it)
    thread.start()
    thread.join()
    (error,) = failed
    assert "You are not allowed to use Docker" in error.message
    assert "group 'docker'" in error.hint


async def test_an_image_that_is_missing_is_not_pulled(
    workspace_for_docker, isolation, client, docker_settings
):
    settings = msgspec.structs.replace(docker_settings, image="openhands-jupyter-test-none")
    refused = await refusal(workspace_for_docker, settings)
    assert refused.message == (
        "The Docker image openhands-jupyter-test-none is not on this machine."
    )
    assert "docker pull openhands-jupyter-test-none" in refused.hint
    with pytest.raises(ImageMissing):
        Daemon().call_here(lambda _: (_ for _ in ()).throw(ImageMissing("x")))


async def test_what_the_daemon_refuses_is_told_in_its_words(
    workspace_for_docker, isolation, client, docker_settings
):
    sandbox = Sandbox(
        workspace_for_docker, "docker", docker=docker_settings, limits=Limits(memory=0.001)
    )
    with pytest.raises(SandboxUnavailable, match=r"^Docker refuses: Minimum memory limit"):
        await sandbox.start()


async def test_a_stream_that_the_daemon_refuses_is_told_in_its_words(isolation, client):
    path = "/v1.41/containers/none-such/attach?stdin=1&stream=1"
    with pytest.raises(SandboxUnavailable, match=r"^Docker refuses: No such container: none-such"):
        await open_stream(find_endpoint(), path, lambda _: None, lambda: None)


async def test_a_name_that_is_taken(bench, client, docker_settings, monkeypatch):
    real = secrets.token_hex
    monkeypatch.setattr(secrets, "token_hex", lambda n: "0badcafe" if n == 4 else real(n))
    taken = client.containers.create(docker_settings.image, "true", name="openhands-0badcafe")
    try:
        async with bench() as b:
            assert (await b.sh("echo ok")).content == "ok\n"
    finally:
        taken.remove()


async def test_a_container_that_is_killed_from_outside(bench, running):
    async with bench() as b:
        ending = asyncio.create_task(b.sh("echo before; sleep 100"))
        while "before" not in b.printed:
            await asyncio.sleep(0.01)
        await asyncio.to_thread(running().kill)
        observation = await ending
        assert observation.interrupted == "sandbox_died"
        assert observation.content == "before\n[The container was killed from outside.]\n"
        assert (await b.sh("echo after")).content == "after\n"


async def test_a_container_that_is_removed_while_nothing_runs(bench, running):
    async with bench() as b:
        await b.cell("x = 1")
        await asyncio.to_thread(running().remove, force=True)
        cell = await b.cell("x")
        assert cell.outputs[-1].ename == "NameError"
        assert (await b.sh("echo ok")).content.endswith("ok\n")


async def test_a_container_that_ends_by_itself(bench):
    async with bench() as b:
        observation = await b.sh("kill -9 $PPID; kill -9 1; sleep 30", 20)
        assert observation.interrupted == "sandbox_died"
        assert (await b.sh("echo ok")).content.endswith("ok\n")


async def test_a_daemon_that_is_restarted(bench, docker_host, client):
    daemon = own_at(docker_host)
    if daemon is None:
        pytest.skip("needs a daemon that nobody else uses")
    async with bench() as b:
        running = asyncio.create_task(b.sh("echo before; sleep 100"))
        while "before" not in b.printed:
            await asyncio.sleep(0.01)
        await asyncio.to_thread(daemon.stop)
        try:
            observation = await running
            assert observation.interrupted == "sandbox_died"
            assert "[The " in observation.content
            with pytest.raises(SandboxUnavailable, match="No Docker daemon answers at"):
                await b.sh("echo")
        finally:
            await asyncio.to_thread(daemon.start)
        assert (await b.sh("echo ok")).content.endswith("ok\n")


async def test_an_image_without_python(workspace_for_docker, isolation, derived):
    settings = derived("RUN rm /opt/python/bin/python3")
    refused = await refusal(workspace_for_docker, settings)
    assert refused.message == "The Docker image has no python3."
    assert "ipykernel" in refused.hint


async def test_an_image_whose_python_is_broken(workspace_for_docker, isolation, derived):
    settings = derived("RUN rm -r /opt/python/lib/python3*/encodings")
    refused = await refusal(workspace_for_docker, settings)
    assert "Python does not run our part of the sandbox" in refused.message
    assert "encodings" in refused.message
    assert "Python 3.8 or newer" in refused.hint


async def test_an_image_without_ipykernel(bench, derived):
    settings = derived("RUN rm -r /opt/python/lib/python3*/site-packages/ipykernel*")
    async with bench(docker=settings) as b:
        assert (await b.sh("echo ok")).content == "ok\n"
        cell = await b.act(IPythonRunCellAction(code="1"))
        assert isinstance(cell, ErrorObservation)
        assert f"The Python in the Docker image {settings.image} has no ipykernel" in cell.message


async def test_an_image_without_bash(bench, derived):
    settings = derived("RUN mv /usr/bin/bash /usr/bin/hsab")
    async with bench(docker=settings) as b:
        command = await b.act(CmdRunAction(command="echo"))
        assert isinstance(command, ErrorObservation)
        assert "bash does not start" in command.message
        assert (await b.cell("1")).ok
