"""The backend without isolation, for those who choose it: agentd as a plain child process."""

from __future__ import annotations

import os

from .agentd.processes import MARK
from .launch import AGENTD, Command, Launch, agentd_command

_PASSED_ON = {
    "HOME",
    "LANG",
    "LANGUAGE",
    "LD_LIBRARY_PATH",
    "LOGNAME",
    "PATH",
    "SHELL",
    "TMPDIR",
    "TZ",
    "USER",
    "XDG_CACHE_HOME",
}
_PASSED_ON_IN_ANY_CASE = {"all_proxy", "http_proxy", "https_proxy", "no_proxy"}
_PASSED_ON_PREFIXES = ("CONDA_", "LC_")


def command(launch: Launch) -> Command:
    """Build the command line; the environment is an allow-list here too, for the keys in it."""
    env = {
        name: value
        for name, value in os.environ.items()
        if name in _PASSED_ON
        or name.startswith(_PASSED_ON_PREFIXES)
        or name.lower() in _PASSED_ON_IN_ANY_CASE
    }
    env.setdefault("PATH", "/usr/local/bin:/usr/bin:/bin")
    env["IPYTHONDIR"] = str(launch.run_directory.scratch / "ipython")
    env["JUPYTER_RUNTIME_DIR"] = str(launch.run_directory.scratch / "jupyter")
    if launch.network is not None:
        env |= launch.network.environment(launch.network.ca_bundle)
    env[MARK] = launch.run_directory.path.name
    return Command(
        argv=agentd_command(AGENTD.parent, launch.channel),
        env=env,
        scratch=str(launch.run_directory.scratch),
    )
