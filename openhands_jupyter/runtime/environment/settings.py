"""What is asked for of a sandbox's Python environment."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from .layers import Requirements


@dataclass(frozen=True)
class EnvironmentSettings:
    """The Python of a sandbox.

    Attributes
    ----------
    python
        The name of an installed kernelspec, or the path of an environment's folder or its Python;
        empty for the Python that the server runs in.
    home
        OpenHands' own folder, where what is installed in sandboxes is kept; None to keep nothing,
        so that nothing can be installed.
    requirements
        Reads what sandboxes have, once somebody had it installed; gives None for nothing, and
        raises an OSError where it cannot be read.
    installs
        Whether this sandbox is there to install that.
    secrets
        Gives the environment variables that the person allowed into the sandbox. It is asked each
        time, because they come and go.
    """

    python: str = ""
    home: Path | None = None
    requirements: Callable[[], Requirements | None] = lambda: None
    installs: bool = False
    secrets: Callable[[], dict[str, str]] = dict


class Places(NamedTuple):
    """Where a backend has what the environment is made of.

    Attributes
    ----------
    own_python
        Where the Python is that it brings, for people; empty if it brings none.
    packages
        Where the folder for packages is inside; empty where everything has its own place, None
        where there is none.
    layer
        The same for what was installed beforehand.
    secrets
        Whether the secrets that a person allowed may be sent there.
    """

    own_python: str = ""
    packages: str | None = ""
    layer: str | None = ""
    secrets: bool = True
