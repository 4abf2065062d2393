"""The bodies of answers."""

from __future__ import annotations

from typing import Literal

import msgspec
from msgspec import UNSET, UnsetType

from ..config import Origin, Problem
from ..config.secrets import SecretOrigin


class PythonCandidate(msgspec.Struct, frozen=True, kw_only=True):
    """A Python for the agent; ``value`` is what to set, ``problem`` why it cannot be used."""

    value: str
    label: str
    kind: Literal["server", "kernelspec", "environment", "conda"]
    path: str = ""
    version: str = ""
    problem: str = ""


class Pythons(msgspec.Struct, frozen=True, kw_only=True):
    """The Pythons to choose from, the server's own first."""

    pythons: list[PythonCandidate]


class InstallStatus(msgspec.Struct, frozen=True, kw_only=True):
    """Whether what the requirements file lists is installed; ``lines`` are the last it printed."""

    file: str = ""
    state: Literal["none", "missing", "installing", "ready", "failed"] = "none"
    message: str = ""
    hint: str = ""
    lines: list[str] = []


class Packages(msgspec.Struct, frozen=True, kw_only=True):
    """What was installed in the sandboxes of a workspace; ``size`` is in bytes."""

    size: int


class Created(msgspec.Struct, frozen=True, kw_only=True):
    """The id of the event that holds what was asked for."""

    id: int


class Setting(msgspec.Struct, frozen=True, kw_only=True):
    """A setting in force, and where its value comes from.

    ``where`` is the file, with the ``line``, or the name of the variable, the trait or the option;
    empty for a default.
    """

    value: str | bool | int | float | list[str] | None
    origin: Origin
    where: str
    line: int | None
    locked: bool


class Secret(msgspec.Struct, frozen=True, kw_only=True):
    """A secret that is known; its value is never told.

    ``for_sandbox`` says whether a person may allow it into a session's sandbox, ``why_not`` why
    not.
    """

    name: str
    origin: SecretOrigin
    for_sandbox: bool
    why_not: str = ""


class AllSettings(msgspec.Struct, frozen=True, kw_only=True):
    """All settings, the names of all secrets, and what is not in force as it was written.

    ``model_groups`` are the groups ``[llm.NAME]`` of ``config.toml``, each with its model; their
    names can be chosen as models.
    """

    settings: dict[str, Setting]
    secrets: list[Secret]
    problems: list[Problem]
    model_groups: dict[str, str]


class Model(msgspec.Struct, frozen=True, kw_only=True):
    """A model to choose; ``hint`` says what is missing or in the way.

    ``local`` tells that a server on this machine has it, and ``window`` how many tokens it was
    loaded with there.
    """

    name: str
    label: str
    provider: str
    ready: bool
    hint: str = ""
    local: bool = False
    window: int | None = None


class Models(msgspec.Struct, frozen=True, kw_only=True):
    """The models to choose from."""

    models: list[Model]


class SandboxHealth(msgspec.Struct, frozen=True, kw_only=True):
    """What the agent's code would run in; ``notice`` says why, where it is not what was asked."""

    backend: str
    available: bool
    notice: str = ""


class ImageStatus(msgspec.Struct, frozen=True, kw_only=True):
    """Whether an image will do for sandboxes.

    ``missing``: not on the daemon's machine. ``incomplete``: there, but it ``lacks`` something.
    ``unavailable``: no daemon that could tell. While it is being pulled, ``done`` of ``total``
    bytes are there, as far as they are known, and ``message`` says what the daemon does.
    """

    image: str
    state: Literal["ready", "incomplete", "missing", "pulling", "unavailable"]
    message: str = ""
    hint: str = ""
    python: str = ""
    ipykernel: str = ""
    lacks: list[str] = []
    done: int = 0
    total: int = 0


class HomeHealth(msgspec.Struct, frozen=True, kw_only=True):
    """Whether sessions and settings can be kept."""

    writable: bool
    notice: str = ""


class Health(msgspec.Struct, frozen=True, kw_only=True):
    """How the server is; ``degraded`` when something that it needs is missing."""

    status: Literal["ok", "degraded"]
    version: str
    sandbox: SandboxHealth
    home: HomeHealth


class Error(msgspec.Struct, frozen=True, kw_only=True):
    """Why a request failed, for a program, and in words with what to do about it."""

    code: str
    message: str
    hint: str = ""
    field: str | UnsetType = UNSET
