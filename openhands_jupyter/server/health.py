"""Whether everything that the server needs is there."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from .._version import __version__
from ..config import Config
from ..errors import SandboxUnavailable
from ..session.gateway import gateway_settings
from .answers import Health, HomeHealth, SandboxHealth
from .base import ApiHandler, allowed


class HealthHandler(ApiHandler):
    """The server's health."""

    @allowed("read")
    async def get(self) -> None:
        """Say what is there and what is missing."""
        config = self.services.config
        isolation = config.settings.isolation
        sandbox = self.services.working_sandboxes.get(isolation) or (
            await try_gateway(config) if isolation == "gateway" else await try_sandbox(config)
        )
        if sandbox.available:
            self.services.working_sandboxes[isolation] = sandbox
        home = home_health(config)
        self.answer(
            Health(
                status="ok" if home.writable and sandbox.available else "degraded",
                version=__version__,
                sandbox=sandbox,
                home=home,
            )
        )


async def try_sandbox(config: Config) -> SandboxHealth:
    """Start a sandbox in an empty folder and end it: no other way tells whether it works."""
    from ..runtime import SandboxRuntime
    from ..runtime.docker.settings import DockerSettings

    isolation = config.settings.isolation
    docker = DockerSettings.configured(config.settings, config.root)
    # Where a daemon is elsewhere, that is all that it has of this machine.
    where = config.root if isolation == "docker" and docker.root_there else None
    with tempfile.TemporaryDirectory(prefix=".openhands-", dir=where) as folder:
        # Where the server is root, a container is run as somebody else.
        os.chmod(folder, 0o777)
        runtime = SandboxRuntime(Path(folder), isolation, docker=docker)
        try:
            found = await runtime.start()
        except SandboxUnavailable as error:
            notice = f"{error.message} {error.hint}".strip()
            return SandboxHealth(backend=isolation, available=False, notice=notice)
        finally:
            await runtime.close()
    return SandboxHealth(backend=found.backend, available=True, notice=found.notice)


async def try_gateway(config: Config) -> SandboxHealth:
    """Ask the remote server; a kernel there would be others' to pay for."""
    from ..runtime.gateway.remote import check

    try:
        host = await check(gateway_settings(config))
    except SandboxUnavailable as error:
        notice = f"{error.message} {error.hint}".strip()
        return SandboxHealth(backend="gateway", available=False, notice=notice)
    notice = f"{host} can be used. No kernel was started there to try."
    return SandboxHealth(backend="gateway", available=True, notice=notice)


def home_health(config: Config) -> HomeHealth:
    """Whether sessions and settings can be kept."""
    problem = config.home_problem()
    return HomeHealth(writable=not problem, notice=problem)
