"""Fixtures: a Docker daemon, and sandboxes' image in it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from docker_image import DaemonUnavailable, docker_daemon, load_image
from openhands_jupyter.runtime.docker.settings import DockerSettings


@pytest.fixture(scope="session")
def docker_host() -> Iterator[str]:
    """The address of a Docker daemon."""
    try:
        with docker_daemon() as host:
            yield host
    except DaemonUnavailable as error:
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def docker_settings(docker_host: str) -> DockerSettings:
    """An image for sandboxes, which the daemon has."""
    return DockerSettings(image=load_image(docker_host))
