"""The server extension: configuration, wiring, start and stop."""

from __future__ import annotations

import logging
from functools import partial
from pathlib import Path
from typing import Any

from jupyter_server.extension.application import ExtensionApp
from jupyter_server.gateway.gateway_client import GatewayClient
from traitlets import Unicode

from .config import Config
from .config.settings import NAMES
from .config.traits import DICT, LIST, traits
from .errors import OpenHandsError
from .events import Event
from .notebooks.delivery.notebooks import Notebooks
from .notebooks.running.driving import Runs
from .notebooks.running.kernels import Kernels
from .server.base import Services
from .server.kernels import SessionKernel, can_show
from .server.routes import handlers


class OpenHandsExtension(ExtensionApp):
    """OpenHands within a Jupyter server.

    What is set here wins over ``config.toml`` and the environment; the person may choose otherwise
    in the panel, unless the setting is named in ``locked``.
    """

    name = "openhands_jupyter"
    load_other_extensions = True

    # Traits have to be there when their class is made.
    vars().update(traits())
    locked = LIST(
        Unicode(),
        help="""Names of settings that nobody may change in this server, be it in the panel, in a
        file or in the environment, such as ``["isolation", "model"]``: their value is the one set
        here, else the default. What people start themselves, such as ``jupyter openhands``, reads
        no server configuration.""",
    ).tag(config=True)

    mcp_servers = DICT(
        help="""MCP servers that everybody here has, by name, such as ``{"docs": {"url":
        "https://docs.example.org/mcp"}}``; as in ``[mcp.servers]`` of ``config.toml``. People have
        their own besides, unless ``mcp_servers`` is named in ``locked``.""",
    ).tag(config=True)

    services: Services | None = None

    def initialize_settings(self) -> None:
        """Read the configuration (called by the server)."""
        names = (*NAMES, "locked", "mcp_servers")
        given: dict[str, Any] = {name: getattr(self, name) for name in names}
        assert self.serverapp is not None
        if not self.serverapp.extension_manager.linked_extensions.get(self.name):
            # Jupyter goes on without what the configuration says, and so without its locks.
            raise OpenHandsError(
                "not_configured", "The configuration of OpenHands could not be read; see above."
            )
        config = Config(Path(self.serverapp.root_dir), given)
        if GatewayClient.initialized():
            gateway = GatewayClient.instance()
            config.secrets.hide(gateway.auth_token or "", gateway.http_pwd or "")
        for problem in config.problems:
            level = logging.ERROR if problem.severity == "error" else logging.WARNING
            self.log.log(level, "OpenHands: %s", problem)
        manager, sessions = self.serverapp.kernel_manager, self.serverapp.session_manager
        make_host = None
        if can_show(manager):
            make_host = partial(SessionKernel, manager, sessions, self.log)
        shared = self.serverapp.web_app.settings
        notebooks = Notebooks(self.serverapp.contents_manager, shared)
        kernels = Kernels(manager, sessions)
        runs = Runs(notebooks, kernels, self.log)
        self.services = Services(
            config, self.log, self._note_activity, notebooks, runs, make_host, kernels
        )
        self.settings["openhands"] = self.services

    def initialize_handlers(self) -> None:
        """Add the API (called by the server)."""
        self.handlers.extend(handlers())

    def _note_activity(self, event: Event) -> None:
        """Let whatever ends idle servers, such as JupyterHub's culler, see an agent at work."""
        assert self.serverapp is not None
        self.serverapp.web_app.settings["openhands_last_activity"] = event.time

    async def stop_extension(self) -> None:
        """End every session and what it runs (called by the server)."""
        if self.services:
            await self.services.close()
