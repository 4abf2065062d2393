"""``config.toml``: its sections and keys, read into a layer."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from ..beneath import read_beneath
from . import hooks, mcp
from .keys import (
    ADMINISTRATOR_SETTINGS,
    AGENT_MODEL,
    API_KEY,
    CONFIRMATION_KEY,
    FILE_KEYS,
    GROUP_KEYS,
    FileKey,
    nearest,
    similar_key,
)
from .layers import Entry, Layer
from .openhands_keys import SECTIONS, instead_of
from .problems import Severity
from .settings import TOUR_MODEL
from .toml_file import NotToml, TomlFile

LONGEST_PROJECT_FILE = 100_000
"""Bytes; an agent may write anything into its workspace, and the server waits while it is read."""

_SECTIONS = tuple(dict.fromkeys(key.section for key in FILE_KEYS))


def read_user_file(path: Path) -> Layer:
    """The layer of the person's own ``config.toml``; empty when there is no such file."""
    layer = Layer("config.toml")
    return _read(layer, path, path.read_bytes)


def read_workspace_file(path: Path, workspace: Path, person: Layer) -> Layer:
    """The layer of a workspace's own ``config.toml``; empty when there is no such file.

    Parameters
    ----------
    path
        The file.
    workspace
        The workspace that it belongs to; nothing outside of it is read, wherever links lead.
    person
        What the person's own file says; it bounds what this one may.
    """
    layer = Layer("project config.toml", person)
    inside = path.relative_to(workspace)
    return _read(layer, path, partial(read_beneath, workspace, inside, LONGEST_PROJECT_FILE))


def _read(layer: Layer, path: Path, content: Any) -> Layer:
    try:
        file = TomlFile(content())
    except (FileNotFoundError, NotADirectoryError):
        return layer
    except NotToml as error:
        entry = Entry("the whole file", str(path), error.line)
        layer.leave_out(entry, f"it is not TOML ({error}).")
        return layer
    except OSError as error:
        layer.leave_out(Entry("the whole file", str(path)), f"it cannot be read ({error}).")
        return layer
    _Reading(layer, path, file).all()
    return layer


class _Reading:
    """Takes what a file says into a layer."""

    def __init__(self, layer: Layer, path: Path, file: TomlFile) -> None:
        self._layer = layer
        self._path = str(path)
        self._file = file

    def all(self) -> None:
        for section, content in self._file.values.items():
            if section in (mcp.SECTION, hooks.SECTION):
                # They hold servers and hooks and no settings, and are read when these are needed.
                continue
            if section not in _SECTIONS:
                self._leave_out_section(section, content)
            elif not isinstance(content, dict):
                entry = self._entry(section)
                self._layer.leave_out(entry, f"it must be a section, [{section}].")
            else:
                self._section(section, content)
        self._name_model()

    def _section(self, section: str, content: Mapping[str, Any]) -> None:
        for name, value in content.items():
            key = FileKey(section, name)
            if section == "llm" and isinstance(value, dict):
                self._group(name, value)
            elif section == "agent" and isinstance(value, dict):
                entry = Entry(f"[{key}]", self._path, self._file.line(*key))
                self._layer.leave_out(entry, "all agents have the same settings here.", "warning")
            elif key != AGENT_MODEL:
                self._take(key, value)

    def _take(self, key: FileKey, value: Any) -> None:
        entry = self._entry(*key)
        if key == API_KEY:
            self._take_key(self._layer, value, entry)
        elif key == CONFIRMATION_KEY:
            self._layer.put_confirmation(value, entry)
        elif name := FILE_KEYS.get(key):
            self._layer.put(name, value, entry)
        elif key.key in ADMINISTRATOR_SETTINGS:
            self._layer.put(key.key, value, entry)
        else:
            self._leave_out_unknown(key, entry)

    def _take_key(self, layer: Layer, value: Any, entry: Entry) -> None:
        if self._layer.of_workspace:
            self._layer.leave_out(entry, "a workspace may not set it.", "warning")
        elif isinstance(value, str):
            layer.api_key = value
        else:
            self._layer.leave_out(entry, "Expected `str`.")

    def _group(self, name: str, content: Mapping[str, Any]) -> None:
        """A group ``[llm.NAME]``, which is chosen by that name where a model is."""
        head = Entry(f"[llm.{name}]", self._path, self._file.line("llm", name))
        if self._layer.of_workspace:
            self._layer.leave_out(head, "a workspace may not set it.", "warning")
            return
        if name == TOUR_MODEL or "/" in name or not name.strip():
            self._layer.leave_out(head, f"“{name}” cannot be the name of a group of settings.")
            return
        group = Layer(self._layer.origin)
        for key, value in content.items():
            entry = self._entry("llm", name, key)
            if key == API_KEY.key:
                self._take_key(group, value, entry)
            elif setting := GROUP_KEYS.get(key):
                group.put(setting, value, entry)
            elif FileKey("llm", key) in FILE_KEYS:
                self._layer.leave_out(entry, "it is the same for all models; set it in [llm].")
            else:
                self._leave_out_unknown(FileKey("llm", key), entry)
        group.entries.setdefault("model", head)
        self._layer.groups[name] = group
        self._layer.problems += group.problems

    def _name_model(self) -> None:
        """Settle which model each group is of, and which group `AGENT_MODEL` names."""
        layer, values = self._layer, self._file.values
        for name, group in list(layer.groups.items()):
            own = group.values.setdefault("model", layer.values.get("model", TOUR_MODEL))
            if own == TOUR_MODEL or (own in layer.groups and own != name):
                layer.leave_out(group.entries["model"], "it names no model of a provider.")
                del layer.groups[name]
        section = values.get(AGENT_MODEL.section)
        if isinstance(section, dict) and AGENT_MODEL.key in section:
            name, entry = section[AGENT_MODEL.key], self._entry(*AGENT_MODEL)
            if name == "llm":
                return
            if name in self._known_groups():
                layer.put("model", name, entry)
            else:
                layer.leave_out(entry, f"there is no group [llm.{name}].")

    def _known_groups(self) -> Mapping[str, Layer]:
        return self._layer.person.groups if self._layer.person else self._layer.groups

    def _leave_out_unknown(self, key: FileKey, entry: Entry) -> None:
        if self._layer.full:
            # To look for what was meant takes its time.
            return
        if elsewhere := instead_of(key):
            self._layer.leave_out(entry, elsewhere, "warning")
        elif meant := similar_key(key):
            why = f"there is no such setting here; did you mean {_as_written(meant, key)}?"
            self._layer.leave_out(entry, why)
        else:
            self._layer.leave_out(entry, "there is no such setting here.", "warning")

    def _leave_out_section(self, section: str, content: Any) -> None:
        if self._layer.full:
            return
        entry = self._entry(section)
        if section in SECTIONS:
            why = "OpenHands has this section, and it means nothing here."
            self._layer.leave_out(entry, why, "warning")
        elif isinstance(content, dict):
            meant = nearest(section, [*_SECTIONS, mcp.SECTION, hooks.SECTION])
            hint = f"; did you mean [{meant}]?" if meant else "."
            severity: Severity = "error" if meant else "warning"
            self._layer.leave_out(entry, f"there is no such section here{hint}", severity)
        else:
            key = similar_key(FileKey("", section))
            hint = f", such as {key.key} in [{key.section}]" if key else ""
            self._layer.leave_out(entry, f"it must stand in a section{hint}.")

    def _entry(self, *path: str) -> Entry:
        return Entry(".".join(path), self._path, self._file.line(*path))


def _as_written(meant: FileKey, written: FileKey) -> str:
    return meant.key if meant.section == written.section else f"{meant.key} in [{meant.section}]"
