"""What a session's actions are executed by, as the settings want it."""

from __future__ import annotations

from pathlib import Path

from ..config import Config
from ..events import State
from ..runtime import Limits, SandboxRuntime
from ..runtime.docker.settings import DockerSettings
from ..runtime.egress import Network
from ..runtime.environment import EnvironmentSettings
from ..runtime.kernel_host import KernelHost
from .gateway import gateway_settings
from .info import SessionInfo
from .requirements import read_requirements
from .sandbox_names import names_asked


def make_runtime(
    config: Config,
    info: SessionInfo,
    state: State,
    network: Network | None,
    kernel_host: KernelHost | None,
) -> SandboxRuntime:
    """Make the runtime of a session; nothing is started.

    Parameters
    ----------
    config
        Settings and secrets.
    info
        The session; its way of isolation was settled when it was begun.
    state
        Which secrets the person allowed into the sandbox.
    network
        The way out of the sandbox; None for none.
    kernel_host
        Where the kernel is shown to the person; None for nowhere.
    """
    settings = config.settings
    return SandboxRuntime(
        Path(info.workspace),
        isolation=info.sandbox,
        timeout=settings.timeout,
        network=network,
        limits=Limits.configured(settings),
        docker=DockerSettings.configured(settings, config.root),
        gateway=gateway_settings(config),
        environment=EnvironmentSettings(
            python=settings.python or "",
            home=config.home,
            requirements=lambda: read_requirements(config),
            secrets=lambda: config.secrets.given(state.secrets),
        ),
        kernel_host=kernel_host,
        asking=names_asked(),
    )
