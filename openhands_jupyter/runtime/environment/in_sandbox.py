"""The Python environment of one sandbox, from what was asked for to what is there."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import msgspec

from ...events import IsolationObservation
from ..owner import Owner
from .choice import KernelPython, choose
from .layers import Layer, Requirements
from .packages import PackagesFolder
from .settings import EnvironmentSettings, Places


class SandboxEnvironment:
    """The Python of a sandbox's kernels and shell, and the folder that packages go to.

    Parameters
    ----------
    settings
        What was asked for.
    workspace
        The sandbox's.

    Attributes
    ----------
    python
        The Python.
    program
        Its program, as seen inside; empty before the start.
    packages
        The folder for packages; None where there is none.
    without_packages
        Why nothing can be installed; empty if it can, or if nobody asked for that.
    layer
        What was installed beforehand; None where there is nothing.
    installing
        What this sandbox installs, if it is there for that.
    """

    def __init__(self, settings: EnvironmentSettings, workspace: Path) -> None:
        self._settings = settings
        self._workspace = workspace
        self.without_packages = self._without_layer = ""
        self._requirements: Requirements | None = None
        self._places = Places()
        self._secrets: dict[str, str] = {}
        self.python = KernelPython()
        self.program = ""
        self.packages: PackagesFolder | None = None
        self.layer: PackagesFolder | None = None
        self.installing: Layer | None = None

    async def choose(self, owner: Owner | None) -> None:
        """Find the Python; a problem with it is kept for whoever needs it."""
        self.python = await asyncio.to_thread(choose, self._settings.python, self._workspace, owner)
        try:
            self._requirements = await asyncio.to_thread(self._settings.requirements)
        except OSError as error:
            self._without_layer = (
                f"The requirements file cannot be read ({error.strerror or error})."
            )

    @property
    def outdated(self) -> bool:
        """Whether the sandbox has other secrets than it should have by now."""
        return self._secrets != (self._settings.secrets() if self._places.secrets else {})

    def prepare(self, places: Places, image: str, owner: Owner | None) -> None:
        """Take what a backend needs to start with.

        Parameters
        ----------
        places
            Where the backend has it.
        image
            The image of a container.
        owner
            Who the sandbox is run as, if not the server's own user.

        Raises
        ------
        Conflict
            When the packages of the requirements are to be installed, and somebody is at it.
        """
        self.close()
        if self.installing is not None:
            self.installing.give_up()
            self.installing.release()
            self.installing = None
        self._places = places
        self._secrets = self._settings.secrets() if places.secrets else {}
        if places.own_python:
            self.python = KernelPython(places.own_python.format(image=image))
        if self._settings.home is None or self.python.problem:
            return
        try:
            self._take_layer(self._settings.home, owner)
            self._take_packages(self._settings.home, owner)
        except OSError as error:
            self.without_packages = error.strerror or str(error)

    def _take_layer(self, home: Path, owner: Owner | None) -> None:
        requirements = self._requirements
        if requirements is None or self._places.layer is None:
            return
        layer = Layer(home, requirements, self.python, self._places.layer, owner)
        if self._settings.installs:
            self.packages = layer.begin()
            self.installing = layer
        else:
            self.layer = layer.open()

    def _take_packages(self, home: Path, owner: Owner | None) -> None:
        if self.packages is None and self._places.packages is not None:
            key = self.python.python.executable if self.python.python else self.python.where
            self.packages = PackagesFolder.open(
                home, self._workspace, key, self._places.packages, owner
            )

    def parameters(self) -> dict[str, Any]:
        """What agentd is told. It goes through the channel, as no command line or file may."""
        environment = {
            "python": self.python.fields(),
            "packages": self.packages.inside if self.packages else None,
            "layers": [self.layer.inside] if self.layer else [],
        }
        return {"environment": environment, "secrets": self._secrets}

    def started(self, program: str, without_packages: str) -> None:
        """Take what agentd answered: the program, and why it cannot have packages installed."""
        self.program = program
        self.without_packages = self.without_packages or without_packages

    def describe(self, found: IsolationObservation) -> IsolationObservation:
        """The observation of the sandbox's start, with what is to be said of the environment."""
        python = self.python.python
        name = f"Python {python.version} in {python.prefix}" if python else ""
        if python is None and self.python.problem is None:
            name = f"the Python of {self.python.where}"
        return msgspec.structs.replace(
            found,
            python=name,
            packages=self.packages is not None and not self.without_packages,
            secrets=sorted(self._secrets),
        )

    def notice(self) -> str:
        """What the person should know of it; empty if there is nothing."""
        if self.python.problem:
            return f"There is no Python for the agent: {self.python.problem.message}"
        sentences = []
        if self._settings.python and not self.python.chosen:
            sentences.append(
                f"The Python chosen in the settings is not used: {self.python.where} has its own."
            )
        if self.without_packages:
            sentences.append(f"No packages can be installed ({self.without_packages}).")
        requirements = self._requirements
        sentences.append(self._without_layer)
        if requirements and self._places.layer is None:
            sentences.append(
                f"What {requirements.name} lists is not installed: {self.python.where} has its own."
            )
        elif requirements and self.layer is None and not self._settings.installs:
            sentences.append(
                f"What {requirements.name} lists is not installed yet; have it installed in the "
                "settings."
            )
        if not self._places.secrets and self._settings.secrets():
            sentences.append(f"The secrets are not sent to {self.python.where}.")
        return " ".join(filter(None, sentences))

    def close(self) -> None:
        """Let go of what it holds. May be called twice."""
        for folder in (self.packages, self.layer):
            # What is being installed is for whoever asked for it to let go of.
            if folder is not None and self.installing is None:
                folder.close()
        self.packages = self.layer = None
