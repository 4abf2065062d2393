"""Arguments and exit codes of ``jupyter openhands``."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn, Protocol

from .._version import __version__
from ..config import Config
from ..errors import OpenHandsError
from . import check, doctor, evaluate, history, mcp, models, run, sandbox, sessions
from .terminal import Terminal


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command and end the process with its exit code."""
    options = _parser().parse_args(arguments)
    terminal = Terminal(sys.stdin, sys.stdout)
    try:
        sys.exit(asyncio.run(_run(options, terminal)))
    except OpenHandsError as error:
        print(f"jupyter openhands: {error.message} {error.hint}".rstrip(), file=sys.stderr)
        sys.exit(run.EXIT_ERROR)
    except OSError as error:
        print(f"jupyter openhands: {error}", file=sys.stderr)
        sys.exit(run.EXIT_ERROR)


async def _run(options: argparse.Namespace, terminal: Terminal) -> int:
    if options.command == "eval":
        # Its folder is made first.
        return await evaluate.run(options, terminal)
    config = _config(options)
    for warning in config.warnings:
        print(f"jupyter openhands: {warning}", file=sys.stderr)
    return await _COMMANDS[options.command].run(options, config, terminal)


class _Command(Protocol):
    """A module with commands."""

    async def run(self, options: argparse.Namespace, config: Config, terminal: Terminal) -> int:
        """Do what was asked; the exit code."""
        ...


_COMMANDS: dict[str, _Command] = {
    "run": run,
    "sessions": sessions,
    "sandbox": sandbox,
    "check": check,
    "doctor": doctor,
    "mcp": mcp,
    "models": models,
    **dict.fromkeys(history.COMMANDS, history),
}


def _config(options: argparse.Namespace) -> Config:
    given = {name: getattr(options, option, None) for option, name in run.OVERRIDES.items()}
    overrides = {name: value for name, value in given.items() if value is not None}
    return Config(Path(getattr(options, "workspace", None) or "."), overrides=overrides)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="jupyter openhands",
        description="An agent that works in a sandbox, asks before it acts, and keeps a log.",
    )
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(dest="command", required=True)
    run.add_parser(commands)
    sessions.add_parser(commands)
    history.add_parsers(commands)
    sandbox.add_parser(commands)
    check.add_parser(commands)
    doctor.add_parser(commands)
    evaluate.add_parser(commands)
    mcp.add_parser(commands)
    models.add_parser(commands)
    return parser
