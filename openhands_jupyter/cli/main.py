"""Arguments and exit codes of ``jupyter openhands``."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn, get_args

from .._version import __version__
from ..config import Config
from ..errors import OpenHandsError
from ..events import Mode
from . import check, doctor, evaluate, history, mcp, sandbox
from .run import EXIT_ERROR, TaskRun
from .terminal import Terminal


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command and end the process with its exit code."""
    options = _parser().parse_args(arguments)
    terminal = Terminal(sys.stdin, sys.stdout)
    try:
        if options.command == "eval":
            sys.exit(asyncio.run(evaluate.run(options, terminal)))
        config = _config(options)
        for warning in config.warnings:
            print(f"jupyter openhands: {warning}", file=sys.stderr)
        if options.command == "sandbox":
            sys.exit(asyncio.run(sandbox.run(options, config, terminal)))
        if options.command == "check":
            sys.exit(asyncio.run(check.run(options, config, terminal)))
        if options.command == "doctor":
            sys.exit(asyncio.run(doctor.run(options, config, terminal)))
        if options.command == "mcp":
            sys.exit(asyncio.run(mcp.run(options, config, terminal)))
        if options.command in history.COMMANDS:
            sys.exit(asyncio.run(history.run(options, config, terminal)))
        sys.exit(asyncio.run(TaskRun(config, terminal).run(options.task)))
    except OpenHandsError as error:
        print(f"jupyter openhands: {error.message} {error.hint}".rstrip(), file=sys.stderr)
        sys.exit(EXIT_ERROR)
    except OSError as error:
        print(f"jupyter openhands: {error}", file=sys.stderr)
        sys.exit(EXIT_ERROR)


def _config(options: argparse.Namespace) -> Config:
    given = {name: getattr(options, name, None) for name in ("model", "mode", "agent")}
    overrides = {name: value for name, value in given.items() if value is not None}
    return Config(Path(getattr(options, "workspace", None) or "."), overrides=overrides)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="jupyter openhands",
        description="An agent that works in a sandbox, asks before it acts, and keeps a log.",
    )
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser(
        "run",
        help="do one task and print each step",
        description="Do one task in a new session and print each step.",
        epilog="Exit codes: 0 done, 1 error, 2 step limit or wrong usage, 3 asked a question and "
        "there is no terminal, 130 stopped with Ctrl-C (a second Ctrl-C does not wait).",
    )
    run.add_argument("task", help="what to do, in plain words")
    run.add_argument("--model", help="a model in LiteLLM's terms, or 'tour' for the guided tour")
    run.add_argument(
        "--mode",
        choices=get_args(Mode),
        help="ask: read only; agent: asks before risky steps (default); auto: does not ask",
    )
    run.add_argument(
        "--agent", help="codeact (default), readonly, one that is installed, or module:Class"
    )
    run.add_argument(
        "--workspace", default=".", metavar="DIR", help="folder to work in (default: this one)"
    )
    history.add_parsers(commands)
    sandbox.add_parser(commands)
    check.add_parser(commands)
    doctor.add_parser(commands)
    evaluate.add_parser(commands)
    mcp.add_parser(commands)
    return parser
