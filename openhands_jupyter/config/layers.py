"""The places that settings come from, each read into a layer of values and problems."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

import msgspec

from .keys import (
    ADMINISTRATOR_SETTINGS,
    CONFIRMATION_KEY,
    FILE_KEYS,
    OPTIONS,
    WORKSPACE_SETTINGS,
    nearest,
)
from .problems import Problem, Severity
from .providers import PROVIDERS, provider_of
from .settings import NAMES, TOUR_MODEL, Settings, choices, convert

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

MOST_PROBLEMS = 50
"""Of one place; what an agent wrote into its workspace may be anything."""


class Entry(NamedTuple):
    """One entry of a place: its key as it is written there, its file and line if it is a file."""

    key: str
    file: str = ""
    line: int | None = None


class Layer:
    """What one place says: values that fit, and a problem for each that does not.

    Parameters
    ----------
    origin
        The place, as it is shown.
    person
        Of a workspace's file: what the person's own file says.

    Attributes
    ----------
    values
        Settings by name.
    entries
        Where each of them is written.
    problems
        What was left out.
    api_key
        The model's key, where the place may hold one.
    groups
        The groups ``[llm.NAME]``, each as a layer of its own.
    person
        As given.
    """

    def __init__(self, origin: Origin, person: Layer | None = None) -> None:
        self.origin = origin
        self.values: dict[str, Any] = {}
        self.entries: dict[str, Entry] = {}
        self.problems: list[Problem] = []
        self.api_key = ""
        self.groups: dict[str, Layer] = {}
        self.person = person

    @property
    def of_workspace(self) -> bool:
        """Whether it comes from others, and may not weaken safety."""
        return self.person is not None

    def put(self, name: str, value: Any, entry: Entry, *, from_text: bool = False) -> None:
        """Take a value in if it fits, else a problem."""
        if name in ADMINISTRATOR_SETTINGS and self.origin != "traitlets":
            self.leave_out(entry, "only the server's configuration sets it.", "warning")
            return
        if self.of_workspace and name not in WORKSPACE_SETTINGS:
            self.leave_out(entry, "a workspace may not set it.", "warning")
            return
        try:
            converted = convert(name, value, from_text=from_text)
        except msgspec.ValidationError as error:
            self._leave_out_wrong(name, value, entry, str(error))
            return
        if name == "mode" and converted == "auto" and self.origin not in LIVE_ORIGINS:
            why = "Auto mode holds for one run only. Choose it in the panel or on the command line."
            self.leave_out(entry, why, "warning")
            return
        if self.person and (why := _too_much(name, converted, self.person)):
            self.leave_out(entry, why, "warning")
            return
        self.values[name] = converted
        self.entries[name] = entry

    def put_confirmation(self, value: Any, entry: Entry) -> None:
        """Take in OpenHands' own switch for the mode."""
        if isinstance(value, bool):
            self.put("mode", "agent" if value else "auto", entry)
        elif self.of_workspace:
            self.put("mode", "ask", entry)
        else:
            self.leave_out(entry, "it must be true or false.")
            self._hold_back(entry)

    @property
    def full(self) -> bool:
        """Whether no more problems are noted."""
        return len(self.problems) >= MOST_PROBLEMS

    def leave_out(self, entry: Entry, why: str, severity: Severity = "error") -> None:
        """Note that an entry is not taken in, and why not."""
        self.note(entry, f"{entry.key} is left out: {why}", severity)

    def note(self, entry: Entry, message: str, severity: Severity = "error") -> None:
        """Note a problem."""
        if not self.full:
            self.problems.append(
                Problem(
                    severity=severity,
                    where=entry.file or self.origin,
                    line=entry.line,
                    message=printable(message),
                )
            )

    def _leave_out_wrong(self, name: str, value: Any, entry: Entry, why: str) -> None:
        known = choices(name)
        if known and isinstance(value, str) and value:
            meant = nearest(value, known)
            why = f"it must be {_listed(known)}" + (f"; did you mean {meant}?" if meant else ".")
        else:
            why = f"{why}."
        self.leave_out(entry, why)
        if name == "mode":
            self._hold_back(entry)

    def _hold_back(self, entry: Entry) -> None:
        """Let the least happen unasked, until it is said right what may."""
        self.put("mode", "ask", entry)
        self.note(entry, "Until that is right, the mode is Ask.")


def from_mapping(origin: Origin, values: Mapping[str, Any], file: str = "") -> Layer:
    """A layer from settings by their own names, as from traitlets or the panel."""
    layer = Layer(origin)
    for name, value in values.items():
        entry = Entry(_called(origin, name), file)
        if name not in NAMES:
            meant = nearest(name, NAMES)
            hint = f"; did you mean {meant}?" if meant else "."
            layer.leave_out(entry, f"there is no such setting{hint}", "warning")
        elif value is not None:
            layer.put(name, value, entry)
    return layer


def from_environment(environ: Mapping[str, str]) -> Layer:
    """The layer of the environment variables that OpenHands knows."""
    layer = Layer("environment")
    switch = environ.get(CONFIRMATION_KEY.variable, "").lower()
    if switch:
        known = {"true": True, "1": True, "false": False, "0": False}
        layer.put_confirmation(known.get(switch), Entry(CONFIRMATION_KEY.variable))
    for key, name in FILE_KEYS.items():
        if text := environ.get(key.variable):
            layer.put(name, text, Entry(key.variable), from_text=True)
    return layer


def printable(text: str) -> str:
    """The text as one line that does nothing to a terminal or a log, and is not endless."""
    short = text if len(text) <= 500 else f"{text[:500]}…"
    return "".join(char if char.isprintable() else "�" for char in short)


def _called(origin: Origin, name: str) -> str:
    if origin == "traitlets":
        return f"c.OpenHandsExtension.{name}"
    return OPTIONS.get(name, name) if origin == "command line" else name


def _too_much(name: str, value: Any, person: Layer) -> str:
    """Why a workspace may not set this very value, as a sentence; empty if it may."""
    if WORKSPACE_SETTINGS[name] == "lower":
        most = person.values.get(name, getattr(Settings(), name))
        if value > most:
            return f"a workspace may only lower it, and {value:g} is more than {most:g}."
    if name == "agent" and ":" in value:
        # It would be imported into the server, with all the person's rights.
        return "a workspace may not name an import path."
    if name == "model" and not _is_known(value, person):
        # LiteLLM takes addresses out of some names, and the person's credentials for some clouds.
        return "a workspace may only name models of providers that are well known."
    return ""


def _is_known(model: str, person: Layer) -> bool:
    if model == TOUR_MODEL or model in person.groups:
        return True
    return provider_of(model) in PROVIDERS and "://" not in model


def _listed(words: tuple[str, ...]) -> str:
    return f"{', '.join(words[:-1])} or {words[-1]}"
