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
from ..config.keys import OPTIONS
from ..errors import OpenHandsError
from . import check, configuration, doctor, evaluate, history, mcp, models, run, sandbox, sessions
from .terminal import Terminal, inert


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command and end the process with its exit code."""
    options = _parser().parse_args(arguments)
    terminal = Terminal(sys.stdin, sys.stdout)
    try:
        sys.exit(asyncio.run(_run(options, terminal)))
    except KeyboardInterrupt:
        # One that does not wait for the end of what the first one has stopped.
        sys.exit(run.EXIT_INTERRUPTED)
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
    if not _say_problems(config, told_elsewhere=options.command in ("config", "doctor")):
        return run.EXIT_LIMIT
    return await _COMMANDS[options.command].run(options, config, terminal)


def _say_problems(config: Config, *, told_elsewhere: bool) -> bool:
    """Print what is not in force as it was written; whether the command line itself makes sense."""
    wrong = False
    for problem in config.problems:
        of_command = problem.where == "command line"
        wrong |= of_command and problem.severity == "error"
        if of_command or not told_elsewhere:
            print(f"jupyter openhands: {problem.severity}: {inert(str(problem))}", file=sys.stderr)
    return not wrong


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
    "config": configuration,
    "doctor": doctor,
    "mcp": mcp,
    "models": models,
    **dict.fromkeys(history.COMMANDS, history),
}


def _config(options: argparse.Namespace) -> Config:
    given = {
        name: getattr(options, option.strip("-").replace("-", "_"), None)
        for name, option in OPTIONS.items()
    }
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
    configuration.add_parser(commands)
    doctor.add_parser(commands)
    evaluate.add_parser(commands)
    mcp.add_parser(commands)
    models.add_parser(commands)
    return parser
