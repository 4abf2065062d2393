"""Builds the labextension whenever the package is built or installed from source."""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import Any

from hatch_jupyter_builder.utils import npm_builder

OLDEST_NODE = 20


def build_labextension(target_name: str, version: str, **kwargs: Any) -> None:
    """Install the labextension's packages and build it.

    Parameters
    ----------
    target_name, version, kwargs
        As in ``hatch_jupyter_builder.npm_builder``.

    Raises
    ------
    RuntimeError
        When Node.js is missing or too old.
    """
    require_node()
    use_npm_registry()
    npm_builder(target_name, version, **kwargs)


def require_node() -> None:
    """Check that a usable Node.js is there, which is the one thing that pip cannot bring."""
    node = shutil.which("node") or shutil.which("nodejs")
    remedy = f"Install Node.js {OLDEST_NODE} or newer and try again."
    if node is None:
        message = f"Building openhands-jupyter from source needs Node.js. {remedy}"
        raise RuntimeError(message)
    found = subprocess.run([node, "--version"], capture_output=True, text=True, check=True).stdout
    if int(found.strip().lstrip("v").split(".")[0]) < OLDEST_NODE:
        message = f"Node.js {found.strip()} is too old to build openhands-jupyter. {remedy}"
        raise RuntimeError(message)


def use_npm_registry() -> None:
    """Let jlpm use the registry that npm is configured for; jlpm does not read npm's settings."""
    npm = shutil.which("npm")
    if npm is None or "YARN_NPM_REGISTRY_SERVER" in os.environ:
        return
    answer = subprocess.run([npm, "config", "get", "registry"], capture_output=True, text=True)
    registry = answer.stdout.strip()
    if answer.returncode == 0 and registry.startswith("http"):
        os.environ["YARN_NPM_REGISTRY_SERVER"] = registry
