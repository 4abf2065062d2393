"""``jupyter openhands config``: every setting, where its value comes from, and what is wrong."""

from __future__ import annotations

import argparse
import asyncio
import re
from collections.abc import Mapping
from typing import Any

import msgspec

from ..config import Config
from ..config.problems import Problem, place
from ..config.providers import GENERIC_KEY
from ..local_server import find_server
from .run import add_settings
from .terminal import Terminal, inert

EXIT_WELL = 0
EXIT_ERRORS = 1
_COLOURS = {"error": "red", "warning": "yellow"}
_LOGIN = re.compile(r"(?<=://)[^/@\s]*@")
"""User and password in a URL."""


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command and its verb."""
    parser = commands.add_parser("config", help="show the settings, and where they come from")
    verbs = parser.add_subparsers(dest="verb", required=True)
    show = verbs.add_parser(
        "show",
        help="every setting with its value and where that comes from",
        description="Show the settings that `jupyter openhands run` would have, with the same "
        "options, or those of the Jupyter server that serves this folder. What is not in force as "
        "it was written comes first. Secrets are never shown.",
        epilog="Exit codes: 0 all is well, 1 something that was written is wrong.",
    )
    add_settings(show)
    show.add_argument(
        "--server", action="store_true", help="the settings of the Jupyter server that runs"
    )
    show.add_argument("--json", action="store_true", help="for a program")


async def run(options: argparse.Namespace, config: Config, terminal: Terminal) -> int:
    """Show the settings; the exit code.

    Raises
    ------
    OpenHandsError
        When a server is asked for and there is none.
    """
    told = await asyncio.to_thread(_of_server if options.server else _here, config)
    if options.json:
        terminal.print(msgspec.json.encode(told).decode())
    else:
        _print(told, terminal)
    return EXIT_ERRORS if any(p["severity"] == "error" for p in told["problems"]) else EXIT_WELL


def _here(config: Config) -> dict[str, Any]:
    # Magics load the command line into a person's kernel.
    from ..server.settings import describe

    told: dict[str, Any] = msgspec.to_builtins(describe(config))
    told["problems"] = msgspec.to_builtins(config.all_problems())
    places = {"workspace": str(config.root), "home": str(config.home)}
    return places | {name: _without_logins(value) for name, value in told.items()}


def _of_server(config: Config) -> dict[str, Any]:
    server = find_server(config.root)
    told: dict[str, Any] = server.request("GET", "settings")
    return {"server": server.url} | {k: _without_logins(v) for k, v in told.items()}


def _without_logins(value: Any) -> Any:
    """The same with nothing in its URLs that may be a password."""
    if isinstance(value, str):
        return _LOGIN.sub("…@", value)
    if isinstance(value, list):
        return [_without_logins(item) for item in value]
    if isinstance(value, dict):
        return {key: _without_logins(item) for key, item in value.items()}
    return value


def _print(told: Mapping[str, Any], terminal: Terminal) -> None:
    for name in ("server", "workspace", "home"):
        if name in told:
            terminal.print(f"{name}: {inert(told[name])}", "dim")
    for problem in told["problems"]:
        severity = problem["severity"]
        text = f"{severity}: {msgspec.convert(problem, Problem)}"
        terminal.print(inert(text), _COLOURS[severity])
    for name, setting in told["settings"].items():
        value = "" if setting["value"] is None else msgspec.json.encode(setting["value"]).decode()
        origin = setting["origin"]
        if setting["where"]:
            origin += f": {place(setting['where'], setting['line'])}"
        locked = ", locked by the administrator" if setting["locked"] else ""
        colour = "dim" if setting["origin"] == "default" else ""
        terminal.print(inert(f"{name:28} {value:24} {origin}{locked}"), colour)
    for name, model in told["model_groups"].items():
        terminal.print(inert(f"[llm.{name}]".ljust(29) + model))
    secrets = {secret["name"]: secret["origin"] for secret in told["secrets"]}
    for name, origin in ({GENERIC_KEY: ""} | secrets).items():
        terminal.print(inert(f"{name:28} {'set' if origin else 'not set':24} {origin}".rstrip()))
