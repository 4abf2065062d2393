"""Installing what a requirements file lists, once, when a person asks for it."""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections import deque
from pathlib import Path
from typing import Literal

import msgspec

from ..beneath import read_beneath
from ..config import Config
from ..errors import Conflict, Invalid, OpenHandsError
from ..events import Masker
from ..runtime.backends import BACKENDS
from ..runtime.channel import SandboxDied
from ..runtime.environment import EnvironmentSettings, Requirements, choose
from ..runtime.environment.layers import Layer
from ..runtime.limits import Limits
from ..runtime.owner import owner_of
from ..runtime.sandbox import Sandbox
from .way_out import network_for

LONGEST_FILE = 1_000_000
LONGEST_INSTALLATION = 3600.0
KEPT_LINES = 20

InstallState = Literal["none", "missing", "installing", "ready", "failed"]


class InstallStatus(msgspec.Struct, frozen=True, kw_only=True):
    """Whether what the requirements file lists is installed.

    Attributes
    ----------
    file
        The file, as in the settings; empty if there is none.
    state
        ``none`` without a file; ``missing`` until somebody has it installed; ``failed`` when that
        was tried in vain.
    message, hint
        What is wrong, and what to do about it.
    lines
        The last lines that the installation printed.
    """

    file: str = ""
    state: InstallState = "none"
    message: str = ""
    hint: str = ""
    lines: list[str] = []


def read_requirements(config: Config) -> Requirements | None:
    """The requirements file of the settings; None if there is none. Reads from the disk.

    Raises
    ------
    OSError
        When it cannot be read, or does not lie in the root folder.
    """
    name = config.settings.requirements
    if not name:
        return None
    return Requirements(name, read_beneath(config.root, name, LONGEST_FILE))


class Installation:
    """At most one installation at a time, and what became of the last one.

    Parameters
    ----------
    config
        The settings.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        self._masker = Masker(config.secrets_values)
        self._running: asyncio.Task[None] | None = None
        self._lines: deque[str] = deque(maxlen=KEPT_LINES)
        self._problem: OpenHandsError | None = None
        self._tried: Requirements | None = None

    async def status(self) -> InstallStatus:
        """How it stands with the file as it is now."""
        name = self._config.settings.requirements or ""
        lines = list(self._lines)
        if self._running is not None:
            return InstallStatus(file=name, state="installing", lines=lines)
        try:
            requirements = await asyncio.to_thread(read_requirements, self._config)
            if requirements is None:
                return InstallStatus()
            if await asyncio.to_thread(self._is_ready, requirements):
                return InstallStatus(file=name, state="ready")
        except OSError as error:
            problem = _unreadable(name, error)
            return InstallStatus(
                file=name, state="failed", message=problem.message, hint=problem.hint
            )
        if self._problem is not None and self._tried == requirements:
            message, hint = self._problem.message, self._problem.hint
            return InstallStatus(file=name, state="failed", message=message, hint=hint, lines=lines)
        return InstallStatus(file=name, state="missing")

    def start(self) -> None:
        """Begin to install, unless that is going on.

        Raises
        ------
        Conflict
            When there is no file, or the administrator switched the network off.
        """
        settings, locked = self._config.settings, self._config.locked
        if not settings.requirements:
            raise Conflict(
                "no_requirements",
                "No requirements file is named in the settings.",
                "Name one, relative to the folder that Jupyter shows.",
            )
        if settings.network == "off" and "network" in locked:
            raise Conflict(
                "setting_locked",
                "The administrator has switched the network of sandboxes off.",
                "Ask the administrator of this Jupyter server.",
            )
        if self._running is None:
            self._lines.clear()
            self._problem = self._tried = None
            self._running = asyncio.create_task(self._run())

    async def cancel(self) -> None:
        """Stop the installation; nothing is left of it."""
        if running := self._running:
            running.cancel()
            await asyncio.wait({running})

    async def _run(self) -> None:
        try:
            try:
                self._tried = await asyncio.to_thread(read_requirements, self._config)
            except OSError as error:
                raise _unreadable(self._config.settings.requirements or "", error) from error
            assert self._tried is not None
            with tempfile.TemporaryDirectory(prefix="openhands-") as folder:
                await asyncio.to_thread(self._prepare, Path(folder), self._tried)
                await self._install(Path(folder), self._tried)
        except OpenHandsError as error:
            self._problem = error
        finally:
            self._running = None

    def _prepare(self, folder: Path, requirements: Requirements) -> None:
        (folder / "requirements.txt").write_bytes(requirements.content)
        if os.geteuid() == 0:
            # Whoever works in the root folder is who will use it.
            info = self._config.root.stat()
            os.chown(folder, info.st_uid, info.st_gid)

    async def _install(self, folder: Path, requirements: Requirements) -> None:
        settings = self._config.settings
        reached = msgspec.structs.replace(
            settings, network="allow-list", network_presets=["python"], network_rules=[]
        )
        sandbox = Sandbox(
            await asyncio.to_thread(folder.resolve),
            "auto" if settings.isolation in ("docker", "gateway") else settings.isolation,
            network_for(reached, lambda verdict: None, on_lost=lambda: None),
            Limits.configured(settings),
            environment=EnvironmentSettings(
                python=settings.python or "",
                home=await asyncio.to_thread(self._config.ensure_home),
                requirements=lambda: requirements,
                installs=True,
            ),
        )
        installed = False
        try:
            found = await sandbox.start()
            if sandbox.environment.python.problem:
                raise sandbox.environment.python.problem
            if found.network is None and found.backend != "none":
                raise Conflict(
                    "no_network",
                    f"The sandbox that works here ({found.backend}) has no network, so nothing "
                    "can be downloaded.",
                    "Install bubblewrap, or put the packages into the Python that you choose.",
                )
            if why := sandbox.environment.without_packages:
                raise Invalid("install_failed", f"There is no place to install to ({why}).")
            await self._run_pip(sandbox)
            installed = True
        finally:
            await sandbox.close()
            if layer := sandbox.environment.installing:
                await asyncio.to_thread(layer.finish if installed else layer.give_up)
                layer.release()

    async def _run_pip(self, sandbox: Sandbox) -> None:
        rest = ""

        def on_text(text: str) -> None:
            nonlocal rest
            *lines, rest = self._masker.text(rest + text).split("\n")
            self._lines.extend(line for line in lines if line.strip())

        # Not a cell nor the agent's: no timeout but this one, which ends a mirror that hangs.
        params = {
            "command": "pip install --progress-bar off -r requirements.txt",
            "timeout": LONGEST_INSTALLATION,
        }
        try:
            answer = await sandbox.request("shell.run", params, on_text)
        except SandboxDied as error:
            raise Invalid("install_failed", "The sandbox ended during the installation.") from error
        if answer.get("exit_code") != 0:
            raise Invalid(
                "install_failed",
                f"{self._config.settings.requirements} could not be installed.",
                "The last lines say why.",
            )

    def _is_ready(self, requirements: Requirements) -> bool:
        """Whether it is installed, under whichever name it has in the sandbox."""
        config = self._config
        owner, _ = owner_of(config.root)
        python = choose(config.settings.python or "", config.root, owner)
        places = {backend.places.layer for backend in BACKENDS[config.settings.isolation]}
        return any(
            Layer(config.home, requirements, python, inside, owner).ready
            for inside in places
            if inside is not None
        )


def _unreadable(name: str, error: OSError) -> Invalid:
    return Invalid(
        "requirements_unreadable",
        f"{name} cannot be read ({error.strerror or error}).",
        "It has to be a file in the folder that Jupyter shows, named relative to that.",
    )
