"""The ways of isolation, and the order in which they are tried."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Literal, NamedTuple, Protocol

from ..errors import SandboxUnavailable
from . import bubblewrap, gateway, landlock, none
from .cgroups import Cgroup
from .docker import container, description, shared
from .docker.daemon import ImageMissing
from .docker.refusals import explain as explain_docker
from .environment import Places
from .launch import BackendUnavailable, Command, Elsewhere, Launch
from .owner import Owner, owner_of
from .process import SandboxProcess

Isolation = Literal["auto", "bubblewrap", "landlock", "docker", "gateway", "none"]
"""What may be asked for; ``auto`` is the best that works here without being set up."""


class Started(Protocol):
    """A sandbox that was started, as seen from outside."""

    @property
    def command(self) -> Command:
        """What runs in it."""

    @property
    def cgroup(self) -> Cgroup | None:
        """What holds it to its limits, with all that is in it; None where nothing does."""

    @property
    def elsewhere(self) -> Elsewhere | None:
        """Where it is, if it is not on this machine."""

    async def open(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """The stream to agentd; closing it ends the sandbox."""

    def kill(self) -> None:
        """End it at once; `end` still has to be called."""

    async def end(self) -> str:
        """Wait for its end, and force it; what it wrote on its standard error."""

    @property
    def can_pause(self) -> bool:
        """Whether it can be paused."""

    async def pause(self) -> None:
        """Stop all that is in it until it is woken; nothing happens if it has ended."""

    async def wake(self) -> None:
        """Let it go on, if it was paused."""

    async def troubles(self, patience: float) -> list[str]:
        """What became of it that the agent should know, told once, a sentence each.

        Parameters
        ----------
        patience
            Seconds to wait for such news, where none has come yet.
        """


class Backend(NamedTuple):
    """A way of isolation.

    Attributes
    ----------
    name
        As it is shown.
    start
        Starts it.
    explain
        Says why the sandbox did not start, from what it wrote on its standard error.
    without_network
        What to say where a network was asked for and none can be guarded; empty where one can.
    owner_of
        Says who it is run as, if not the server's own user, and why that is root, if it is.
    missing
        What it does not enforce and the self-test cannot try, a phrase each.
    grouped
        Whether the server puts its processes into a control group.
    places
        Where it has the Python, the packages and the secrets.
    """

    name: str
    start: Callable[[Launch], Awaitable[Started]]
    explain: Callable[[str], SandboxUnavailable]
    without_network: str
    owner_of: Callable[[Path], tuple[Owner | None, str]]
    missing: tuple[str, ...] = ()
    grouped: bool = True
    places: Places = Places()


def _explain_none(stderr: str) -> SandboxUnavailable:
    return SandboxUnavailable(f"The agent's processes did not start: {stderr.strip()}.")


async def _start_docker(launch: Launch) -> Started:
    # The proxy of a session would be there for all who share its network.
    if launch.docker.shared and launch.network is None:
        return await shared.start(launch)
    return await container.start(launch)


def _the_server(_: Path) -> tuple[Owner | None, str]:
    return None, ""


_BUBBLEWRAP = Backend(
    "bubblewrap",
    partial(SandboxProcess.start, bubblewrap.command),
    bubblewrap.explain,
    without_network="",
    owner_of=owner_of,
    places=Places(packages=str(bubblewrap.PACKAGES), layer=str(bubblewrap.LAYER)),
)
_LANDLOCK = Backend(
    "landlock",
    partial(SandboxProcess.start, landlock.command),
    landlock.explain,
    without_network="The network settings have no effect: the Landlock sandbox has no network.",
    owner_of=owner_of,
    missing=(
        "write protection of what you may execute later, such as .git/hooks, .envrc and "
        "environments in the workspace (changes of the first two are reported)",
    ),
)
_DOCKER = Backend(
    "docker",
    _start_docker,
    explain_docker,
    without_network="",
    owner_of=description.user_for,
    grouped=False,
    places=Places("the Docker image {image}", str(bubblewrap.PACKAGES), layer=None),
)
_GATEWAY = Backend(
    "gateway",
    gateway.start,
    gateway.explain,
    without_network="The network settings have no effect: the network at the gateway is that "
    "side's business.",
    owner_of=_the_server,
    grouped=False,
    places=Places("the remote kernel", packages=None, layer=None, secrets=False),
)
_NONE = Backend(
    "none",
    partial(SandboxProcess.start, none.command),
    _explain_none,
    without_network="The network settings do not limit anything: without a sandbox, the agent "
    "reaches whatever you can.",
    owner_of=_the_server,
    grouped=False,
)

BACKENDS: dict[Isolation, tuple[Backend, ...]] = {
    "auto": (_BUBBLEWRAP, _LANDLOCK),
    "bubblewrap": (_BUBBLEWRAP,),
    "landlock": (_LANDLOCK,),
    "docker": (_DOCKER,),
    "gateway": (_GATEWAY,),
    "none": (_NONE,),
}

_CHOOSE_NONE = (
    "Or choose the isolation 'none' in the settings and begin a new session: the agent can then do "
    "all you can."
)


def why_this(backend: Backend, refused: list[BackendUnavailable]) -> str:
    """Why this backend is used and no better one; empty if there is nothing to say."""
    if not refused:
        return ""
    reasons = " ".join(error.message for error in refused)
    hints = " ".join(error.hint for error in refused)
    return f"{reasons} So the weaker isolation by {backend.name} is used. {hints}".strip()


def nothing_works(refused: list[BackendUnavailable]) -> SandboxUnavailable:
    """The error where every backend was refused."""
    if isinstance(refused[0], ImageMissing):
        # It is a pull away: no reason to advise anybody to do without a sandbox.
        return refused[0]
    return SandboxUnavailable(
        " ".join(error.message for error in refused),
        " ".join([refused[0].hint, _CHOOSE_NONE]),
    )
