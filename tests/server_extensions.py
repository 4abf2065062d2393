"""Which extensions a server loads that tests start."""

from __future__ import annotations

from jupyter_core.paths import jupyter_config_path
from jupyter_server.extension.config import ExtensionConfigManager


def only(*names: str) -> dict[str, bool]:
    """These, for ``ServerApp.jpserver_extensions``.

    What is installed is loaded unless it is named: JupyterLab and all else that brings one, which
    takes as long as the rest of the start.
    """
    installed = ExtensionConfigManager(read_config_path=jupyter_config_path())
    without = dict.fromkeys(installed.get_jpserver_extensions(), False)
    return {**without, **dict.fromkeys(names, True)}
