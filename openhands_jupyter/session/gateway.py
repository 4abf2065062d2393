"""The remote Jupyter server of the settings, as the runtime takes it."""

from __future__ import annotations

from ..config import Config
from ..runtime.gateway.settings import TOKEN, GatewaySettings


def gateway_settings(config: Config) -> GatewaySettings:
    """Which remote server is configured, with what opens it."""
    settings = config.settings
    return GatewaySettings(
        url=settings.gateway_url,
        kernel=settings.gateway_kernel,
        folder=settings.gateway_folder,
        token=config.secrets.get(TOKEN),
        notes=config.home / "gateway",
    )
