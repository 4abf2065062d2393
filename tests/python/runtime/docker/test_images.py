"""Looking into images, and pulling them: only when asked, with progress, and to be stopped."""

from __future__ import annotations

import asyncio
from importlib.metadata import version

import docker
import pytest
from docker_image.registry import NAME, registry
from waiting import PATIENCE

from openhands_jupyter.errors import SandboxUnavailable
from openhands_jupyter.runtime.docker.daemon import ImageMissing
from openhands_jupyter.runtime.docker.images import PullProgress, check_image, pull_image

pytestmark = [pytest.mark.docker, pytest.mark.sandbox]


async def test_a_good_image_lacks_nothing(isolation, client, docker_settings):
    report = await check_image(docker_settings.image)
    assert report.missing == []
    assert report.hint == ""
    assert report.python.startswith("3.")
    assert report.ipykernel == version("ipykernel")
    assert client.containers.list(all=True) == []


@pytest.mark.parametrize(
    ("line", "lacks"),
    [
        ("RUN rm /opt/python/bin/python3", "a python3 that works"),
        ("RUN rm -r /opt/python/lib/python3*/encodings", "a python3 that works"),
        (
            "RUN rm -r /opt/python/lib/python3*/site-packages/ipykernel*",
            "ipykernel (ModuleNotFoundError: No module named 'ipykernel')",
        ),
        (
            "RUN rm -r /opt/python/lib/python3*/site-packages/zmq",
            "ipykernel (ModuleNotFoundError: No module named 'zmq')",
        ),
        ("RUN mv /usr/bin/bash /usr/bin/dash && ln -sf dash /usr/bin/sh", "bash"),
    ],
)
async def test_what_an_image_lacks_is_said(isolation, derived, line, lacks):
    report = await check_image(derived(line).image)
    assert report.missing == [lacks]
    assert "pip install ipykernel" in report.hint


async def test_an_image_without_a_shell(isolation, derived):
    report = await check_image(derived("RUN rm /usr/bin/bash").image)
    assert report.missing == ["a shell (bash)"]


async def test_an_old_python_is_too_old(isolation, derived):
    fake = "import sys; sys.version_info = (3, 6, 9, 'final', 0)"
    settings = derived(
        f'RUN echo "{fake}" >$(echo /opt/python/lib/python3*)/site-packages/sitecustomize.py'
    )
    report = await check_image(settings.image)
    assert report.missing == ["Python 3.8 or newer (it has 3.6.9)"]


async def test_a_missing_image(isolation):
    with pytest.raises(ImageMissing, match="openhands-jupyter-test-none is not on this machine"):
        await check_image("openhands-jupyter-test-none")


async def test_a_pull_tells_how_far_it_is(isolation, client):
    told: list[PullProgress] = []
    with registry() as served:
        image = f"{served.host}/{NAME}"
        await pull_image(image, told.append)
        try:
            assert client.images.get(image).tags == [f"{image}:latest"]
        finally:
            client.images.remove(image, force=True)
    sizes = [progress.done for progress in told]
    assert sizes == sorted(sizes)
    assert told[-1].done == told[-1].total > 2_900_000
    assert "Downloaded newer image" in told[-1].status


async def test_a_pull_that_is_cancelled_stops(isolation, client):
    told: list[PullProgress] = []
    with registry(30_000_000) as served:
        served.hold.clear()
        pulling = asyncio.create_task(pull_image(f"{served.host}/{NAME}", told.append))
        async with asyncio.timeout(PATIENCE):
            while not any(progress.done for progress in told):
                await asyncio.sleep(0.02)
        pulling.cancel()
        with pytest.raises(asyncio.CancelledError):
            await pulling
        # The daemon hangs up too, with the next bytes that come.
        served.hold.set()
        assert await asyncio.to_thread(served.gone.wait, 20)
        with pytest.raises(docker.errors.ImageNotFound):
            client.images.get(f"{served.host}/{NAME}")


async def test_a_pull_that_fails_says_why(isolation):
    with registry() as served:
        with pytest.raises(SandboxUnavailable) as unknown:
            await pull_image(f"{served.host}/{NAME}:other", lambda _: None)
        host = served.host
    assert "cannot be pulled" in unknown.value.message
    assert "manifest unknown" in unknown.value.message
    with pytest.raises(SandboxUnavailable) as refused:
        await pull_image(f"{host}/{NAME}", lambda _: None)
    assert "connection refused" in refused.value.message
