"""OpenHands as a JupyterLab extension: an agent whose every step is an event on a log."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._version import __version__

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

__all__ = ["__version__"]


def _jupyter_labextension_paths() -> list[dict[str, str]]:
    """Where the built JupyterLab extension lies (read by ``jupyter labextension``)."""
    return [{"src": "labextension", "dest": "openhands-jupyter"}]


def _jupyter_server_extension_points() -> list[dict[str, Any]]:
    """The server extension (read by ``jupyter server extension``).

    The application is imported here and not above, so that a kernel that imports the package
    does not import a web server.
    """
    from .app import OpenHandsExtension

    return [{"module": "openhands_jupyter", "app": OpenHandsExtension}]


def load_ipython_extension(shell: InteractiveShell) -> None:
    """Add the magics (called by ``%load_ext openhands_jupyter``)."""
    from .magics import load

    load(shell)
