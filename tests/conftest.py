"""Plugins for all tests."""

from __future__ import annotations

pytest_plugins = [
    "pytest_jupyter.jupyter_server",
    "docker_image.plugin",
    "leftovers",
    "model_server.plugin",
    "shared_gateway",
]
