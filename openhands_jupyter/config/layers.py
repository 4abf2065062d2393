"""The places that settings come from, each read into a layer of values and warnings."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import msgspec
import tomlkit
from tomlkit.exceptions import ParseError

from ..beneath import read_beneath
from . import hooks, mcp
from .settings import (
    ADMINISTRATOR_SETTINGS,
    API_KEY,
    CONFIRMATION_KEY,
    FILE_KEYS,
    NAMES,
    PROJECT_SETTINGS,
    FileKey,
    convert,
)

Origin = Literal[
    "default",
    "config.toml",
    "project config.toml",
    "environment",
    "traitlets",
    "panel",
    "command line",
]
LIVE_ORIGINS: tuple[Origin, ...] = ("panel", "command line")
"""Choices of the person who is there; all others stand through restarts."""

LONGEST_PROJECT_FILE = 1_000_000
"""Bytes; what an agent wrote into its workspace may be anything."""


class Layer:
    """What one place says: values that fit, and a warning for each that does not.

    Attributes
    ----------
    origin
        The place, as it is shown.
    values
        Settings by name.
    warnings
        Sentences for the person.
    api_key
        The model's key, where the place may hold one.
    """

    def __init__(self, origin: Origin) -> None:
        self.origin = origin
        self.values: dict[str, Any] = {}
        self.warnings: list[str] = []
        self.api_key = ""

    def put(self, name: str, value: Any, where: str, *, from_text: bool = False) -> None:
        """Take a value in if it fits; `where` names it in the warning otherwise."""
        if name in ADMINISTRATOR_SETTINGS and self.origin != "traitlets":
            self.warnings.append(f"{where} is left out: only the server's configuration sets it.")
            return
        try:
            converted = convert(name, value, from_text=from_text)
        except msgspec.ValidationError as error:
            self.warnings.append(f"{where} is left out: {error}.")
            return
        if name == "mode" and converted == "auto" and self.origin not in LIVE_ORIGINS:
            self.warnings.append(
                f"{where} is left out: Auto mode holds for one run only. "
                "Choose it in the panel or on the command line."
            )
            return
        if name == "agent" and ":" in converted and self.origin == "project config.toml":
            # It would be imported into the server, with all the person's rights.
            self.warnings.append(f"{where} is left out: a workspace may not name an import path.")
            return
        self.values[name] = converted

    def put_confirmation(self, value: Any, where: str) -> None:
        """Take in OpenHands' own switch for the mode."""
        if not isinstance(value, bool):
            self.warnings.append(f"{where} is left out: Expected `bool`.")
        else:
            self.put("mode", "agent" if value else "auto", where)


def from_mapping(origin: Origin, values: Mapping[str, Any]) -> Layer:
    """A layer from settings by their own names, as from traitlets or the panel."""
    layer = Layer(origin)
    for name, value in values.items():
        if name not in NAMES:
            layer.warnings.append(f"{name} ({origin}) is left out: there is no such setting.")
        elif value is not None:
            layer.put(name, value, f"{name} ({origin})")
    return layer


def from_environment(environ: Mapping[str, str]) -> Layer:
    """The layer of the environment variables that OpenHands knows."""
    layer = Layer("environment")
    switch = environ.get(CONFIRMATION_KEY.variable, "").lower()
    if switch:
        known = {"true": True, "1": True, "false": False, "0": False}
        layer.put_confirmation(known.get(switch), CONFIRMATION_KEY.variable)
    for key, name in FILE_KEYS.items():
        if text := environ.get(key.variable):
            layer.put(name, text, key.variable, from_text=True)
    return layer


def from_file(path: Path, *, workspace: Path | None = None) -> Layer:
    """The layer of a ``config.toml``; empty when there is no such file.

    Parameters
    ----------
    path
        The file.
    workspace
        The workspace that it belongs to, if it does. Then it may set only what cannot weaken
        safety, and nothing outside of the workspace is read, wherever links lead.
    """
    project = workspace is not None
    layer = Layer("project config.toml" if project else "config.toml")
    try:
        if workspace is None:
            content = path.read_bytes()
        else:
            content = read_beneath(workspace, path.relative_to(workspace), LONGEST_PROJECT_FILE)
        document = tomlkit.parse(content.decode()).unwrap()
    except (FileNotFoundError, NotADirectoryError):
        return layer
    except ParseError as error:
        layer.warnings.append(f"{path} is left out: it is not TOML ({error}).")
        return layer
    except (OSError, UnicodeDecodeError) as error:
        layer.warnings.append(f"{path} is left out: it cannot be read ({error}).")
        return layer
    for section, content in document.items():
        if section in (mcp.SECTION, hooks.SECTION):
            # They hold servers and hooks and no settings, and are read when these are needed.
            continue
        if not isinstance(content, dict):
            layer.warnings.append(f"{path}: {section} is left out: it must stand in a section.")
            continue
        for key, value in content.items():
            _take(layer, path, FileKey(section, key), value, project)
    return layer


def _take(layer: Layer, path: Path, key: FileKey, value: Any, project: bool) -> None:
    where = f"{path}: {key}"
    name = FILE_KEYS.get(key)
    if name is None and key not in (CONFIRMATION_KEY, API_KEY):
        layer.warnings.append(f"{where} is left out: there is no such setting here.")
    elif project and name not in PROJECT_SETTINGS:
        layer.warnings.append(f"{where} is left out: a workspace may not set it.")
    elif key == API_KEY:
        if isinstance(value, str):
            layer.api_key = value
        else:
            layer.warnings.append(f"{where} is left out: Expected `str`.")
    elif key == CONFIRMATION_KEY:
        layer.put_confirmation(value, where)
    elif name is not None:
        layer.put(name, value, where)
