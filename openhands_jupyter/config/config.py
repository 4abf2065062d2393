"""One place that settles every setting, and knows why it has the value it has."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from ..errors import Conflict
from ..hooks import HookConfig
from ..llm.base import ModelConfig
from ..mcp.config import McpConfig
from . import hooks, mcp
from .files import read_user_file, read_workspace_file
from .home import Home
from .layers import Entry, Layer, Origin, from_environment, from_mapping
from .locks import read_locks, read_servers_of_administrator
from .mcp_consents import Consents
from .problems import Problem
from .reach import Reach
from .secrets import Secrets
from .settings import NAMES, Settings, convert

PANEL_FILE = "settings.json"
TOML_FILE = "config.toml"


class Config:
    """The settings in force, from all the places that may set them.

    The order, weakest first: defaults, ``<home>/config.toml``, ``<root>/.openhands/config.toml``
    (only what cannot weaken safety), the environment, traitlets, the panel, the command line. A
    setting that the administrator locked takes its value from traitlets, else the default.

    Parameters
    ----------
    root
        The folder that the person works in: the server's root, or the current folder.
    traits
        What the server's configuration sets, by setting; ``locked`` lists locked settings.
    overrides
        What the command line sets, by setting.
    environ
        The environment.

    Attributes
    ----------
    root
        As given, links resolved.
    secrets
        API keys and the like.
    mcp_consents
        What the person allows MCP servers.
    """

    def __init__(
        self,
        root: Path,
        traits: Mapping[str, Any] | None = None,
        overrides: Mapping[str, Any] | None = None,
        environ: Mapping[str, str] = os.environ,
    ) -> None:
        self.root = root.resolve()
        self._home = Home(environ)
        given = dict(traits or {})
        self.locked, of_locks = read_locks(given.pop("locked", ()))
        self._mcp, of_servers = read_servers_of_administrator(given.pop(mcp.SETTING, None))
        self._of_administrator = of_locks + of_servers
        user_file = read_user_file(self._home.path / TOML_FILE)
        project = self.root / ".openhands" / TOML_FILE
        self._panel = self._read_panel()
        self._layers = [
            user_file,
            read_workspace_file(project, self.root, user_file),
            from_environment(environ),
            from_mapping("traitlets", given),
            self._panel,
            from_mapping("command line", overrides or {}),
        ]
        self.mcp_consents = Consents(self._home)
        self.secrets = Secrets(self._home, environ, user_file.api_key)
        self.secrets.hide(*(group.api_key for group in user_file.groups.values()))
        self._reach = Reach(self._layers, self.locked, self.secrets)
        self._settle()

    @property
    def home(self) -> Path:
        """The folder that sessions, settings and secrets are kept in; it may not exist yet."""
        return self._home.path

    @property
    def sessions_folder(self) -> Path:
        """The folder that holds a folder for each session; it may not exist yet."""
        return self.home / "sessions"

    @property
    def settings(self) -> Settings:
        """The settings in force."""
        return self._settings

    @property
    def problems(self) -> list[Problem]:
        """What is not in force as it was written, and why."""
        layers = [problem for layer in self._layers for problem in layer.problems]
        of_models = self._reach.problems(self._settings, self._origins)
        return layers + self._of_administrator + self.secrets.problems + of_models

    @property
    def model_groups(self) -> dict[str, str]:
        """The groups ``[llm.NAME]`` that can be chosen as a model, and the model of each."""
        return {name: self._reach.real(name) for name in self._reach.groups}

    def ensure_home(self) -> Path:
        """The home folder, made if need be.

        Raises
        ------
        HomeNotWritable
            When it cannot be made or written to.
        """
        return self._home.ensure()

    def home_problem(self) -> str:
        """A sentence on why nothing can be kept in the home folder; empty if it can."""
        problem = self._home.problem()
        return problem.message if problem else ""

    def origin(self, name: str) -> Origin:
        """The place that the setting's value comes from."""
        layer = self._origins[name]
        return layer.origin if layer else "default"

    def entry(self, name: str) -> Entry:
        """Where in that place it is written; of a default, nowhere."""
        layer = self._origins[name]
        return layer.entries[name] if layer else Entry("")

    def require_unlocked(self, names: Iterable[str]) -> None:
        """Refuse to go on if one of these settings is locked.

        Raises
        ------
        Conflict
            Naming the setting.
        """
        for name in names:
            if name in self.locked:
                raise Conflict(
                    "setting_locked",
                    f"The administrator has locked the setting “{name}”.",
                    "Ask the administrator of this Jupyter server.",
                )

    def update_panel(self, changes: Mapping[str, Any]) -> None:
        """Keep what the person set in the panel.

        Parameters
        ----------
        changes
            Settings by name; None removes the panel's value.

        Raises
        ------
        Conflict
            When a setting is locked.
        HomeNotWritable
            When it cannot be kept; nothing has changed then.
        """
        self.require_unlocked(changes)
        values = {**self._panel.values, **changes}
        values = {name: convert(name, v) for name, v in values.items() if v is not None}
        self._home.write_json(PANEL_FILE, _lasting(values))
        self._panel.values = values
        self._panel.entries = {name: Entry(name, self._panel_file) for name in values}
        self._settle()

    def all_problems(self) -> list[Problem]:
        """What is wrong with the settings, the MCP servers and the hooks of `root`; takes time."""
        servers, hooks = self.mcp(self.root).warnings, self.hooks(self.root).problems
        return [
            *self.problems,
            *(Problem(severity="warning", where="", message=text) for text in servers),
            *(Problem(severity="error", where="", message=text) for text in hooks),
        ]

    def secrets_values(self) -> frozenset[str]:
        """Every secret value known, for the masker."""
        return self.secrets.values()

    @property
    def mcp_locked(self) -> bool:
        """Whether only the administrator's MCP servers may be used, and only as they say."""
        return mcp.SETTING in self.locked

    def mcp(self, workspace: Path) -> McpConfig:
        """The MCP servers as they are written down now; takes time.

        Parameters
        ----------
        workspace
            The folder that is worked in, whose own servers are marked as such.
        """
        return mcp.read_mcp(self.home, workspace, self._mcp, self.mcp_locked)

    def hooks(self, workspace: Path) -> HookConfig:
        """The person's hooks as they are written down now; takes time.

        Parameters
        ----------
        workspace
            The folder that a session works in, whose own hooks are told of and not run.
        """
        return hooks.read_hook_config(self.home, workspace)

    def model_config(self, name: str) -> ModelConfig:
        """How to reach a model.

        What is configured of one model is not sent to, and does not hold for, one of another
        provider; see `Reach`.

        Parameters
        ----------
        name
            The model, in LiteLLM's terms, or the name of a group ``[llm.NAME]``.

        Returns
        -------
        ModelConfig
            Without a key where none is known.
        """
        return self._reach.model(name, self._settings, self._origins)

    @property
    def _panel_file(self) -> str:
        return str(self.home / PANEL_FILE)

    def _read_panel(self) -> Layer:
        try:
            values = self._home.read_json(PANEL_FILE)
        except (OSError, msgspec.DecodeError) as error:
            layer = Layer("panel")
            layer.leave_out(Entry("the whole file", self._panel_file), f"{error}.")
            return layer
        # Auto is never written; a file that says so was not written here.
        return from_mapping("panel", _lasting(values), self._panel_file)

    def _resolve(self, name: str) -> tuple[Any, Layer | None]:
        for layer in reversed(self._layers):
            if name in self.locked and layer.origin != "traitlets":
                continue
            if name in layer.values:
                return layer.values[name], layer
        return getattr(Settings(), name), None

    def _settle(self) -> None:
        found = {name: self._resolve(name) for name in NAMES}
        self._settings = Settings(**{name: value for name, (value, _) in found.items()})
        self._origins = {name: layer for name, (_, layer) in found.items()}


def _lasting(values: Mapping[str, Any]) -> dict[str, Any]:
    """What may be kept of the panel's values: Auto mode holds for one run only."""
    return {name: value for name, value in values.items() if (name, value) != ("mode", "auto")}
