"""What an administrator has locked."""

from __future__ import annotations

from typing import Any

from .layers import printable
from .mcp import SETTING
from .problems import Problem
from .settings import NAMES

_LOCKABLE = frozenset({*NAMES, SETTING})


def read_locks(given: Any) -> tuple[frozenset[str], list[Problem]]:
    """The names of the settings that nobody may change, and what is wrong with what is given.

    Where that is no list of names, all of them are locked: somebody wanted some to be. Who locks
    the model locks those that would be asked beside it.
    """
    if not isinstance(given, list | tuple) or not all(isinstance(name, str) for name in given):
        return _LOCKABLE, [_problem("locked must be a list of names; until it is, all are locked.")]
    unknown = sorted(set(given) - _LOCKABLE)
    implied = {"fallback_models", "condenser_model"} if "model" in given else set()
    return frozenset({*given, *implied}), [
        _problem(f"{name} cannot be locked: there is no such setting.") for name in unknown
    ]


def read_servers_of_administrator(given: Any) -> tuple[dict[str, Any], list[Problem]]:
    """The MCP servers of the server's configuration, by name, and what is wrong with them."""
    if given is None or isinstance(given, dict):
        return given or {}, []
    return {}, [_problem(f"{SETTING} is left out: it must be servers by name.")]


def _problem(message: str) -> Problem:
    return Problem(severity="error", where="traitlets", message=printable(message))
