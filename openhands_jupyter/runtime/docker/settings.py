"""What a person may choose about the containers."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

import msgspec

DEFAULT_IMAGE = "quay.io/jupyter/minimal-notebook"
"""Of the Jupyter Docker Stacks: it has ipykernel, bash and git."""


class Configured(Protocol):
    """What the configuration says of containers; see `config.Settings`."""

    @property
    def docker_image(self) -> str | None: ...
    @property
    def docker_remote_root(self) -> str | None: ...
    @property
    def docker_pause_after(self) -> float: ...
    @property
    def docker_max_containers(self) -> int: ...
    @property
    def docker_containers(self) -> str: ...


class DockerSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Of what and how many containers are made.

    Attributes
    ----------
    image
        An image with Python 3.8 or newer, ipykernel and bash. It is never pulled silently.
    most_containers
        How many sandboxes may run on this machine's daemon at a time.
    pause_after
        Seconds without anything to do after which a container is paused; 0 for never.
    shared
        Whether the sessions of a workspace are in one container, those with a network excepted.
    root_here, root_there
        A folder that the daemon's machine has too, and where it has it. Where the second is given,
        no other files are held to be shared.
    """

    image: str = DEFAULT_IMAGE
    most_containers: int = 20
    pause_after: float = 0
    shared: bool = False
    root_here: str = ""
    root_there: str = ""

    @classmethod
    def of(cls, image: str | None) -> DockerSettings:
        """The default ones, but with this image if there is one."""
        return cls(image=image) if image else cls()

    @classmethod
    def configured(cls, settings: Configured, root: Path) -> DockerSettings:
        """Those of the configuration.

        Parameters
        ----------
        settings
            All settings.
        root
            The folder that the person works in.
        """
        return cls(
            image=settings.docker_image or DEFAULT_IMAGE,
            most_containers=settings.docker_max_containers,
            shared=settings.docker_containers == "shared",
            pause_after=settings.docker_pause_after * 60,
            root_here=str(root),
            root_there=settings.docker_remote_root or "",
        )
