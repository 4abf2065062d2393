"""``jupyter openhands models``: the models to choose from, and whether one works."""

from __future__ import annotations

import argparse

import msgspec

from ..config import Config
from ..llm.local_servers import detect
from ..llm.probe import ModelReport, probe
from ..session import SessionManager
from .terminal import Terminal, inert

_COLOURS = {"ok": "green", "failed": "red", "unknown": "yellow"}


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command and its verbs."""
    parser = commands.add_parser(
        "models",
        help="list the models to choose from, or test one",
        description="List the models to choose from, with those that servers on this machine have "
        "(Ollama, LM Studio, vLLM, llama.cpp).",
    )
    verbs = parser.add_subparsers(dest="verb")
    test = verbs.add_parser(
        "test",
        help="try out a model with three short calls",
        description="Say whether the key holds, the answer streams, tools are called, images are "
        "seen, and how large the window is. Exit code 1 when something of it fails, or the model "
        "does not answer.",
    )
    test.add_argument("model", nargs="?", metavar="MODEL", help="default: the configured one")
    for command in (parser, test):
        command.add_argument("--json", action="store_true", help="for a program")


async def run(options: argparse.Namespace, config: Config, terminal: Terminal) -> int:
    """Run the verb; gives the exit code."""
    if options.verb == "test":
        return await _test(options, config, terminal)
    # Loads what a server needs, which the other commands can do without.
    from ..server.models import catalogue, servers

    models = catalogue(config, await detect(servers(config)))
    if options.json:
        terminal.print(msgspec.json.encode(models).decode())
        return 0
    for model in models:
        place = f"{model.provider}, on this machine" if model.local else model.provider
        terminal.print(f"{inert(model.name):45} {place}", "green" if model.ready else "dim")
        if model.hint:
            terminal.print(f"      {inert(model.hint)}", "yellow")
    return 0


async def _test(options: argparse.Namespace, config: Config, terminal: Terminal) -> int:
    from ..server.models import tried

    manager = SessionManager(config)
    try:
        report = await probe(tried(manager, config.settings.model))
    finally:
        await manager.close()
    if options.json:
        terminal.print(msgspec.json.encode(report).decode())
    else:
        _show(terminal, report)
    # The first one is whether it answers at all.
    answers = report.checks[0].status == "ok"
    return int(not answers or any(check.status == "failed" for check in report.checks))


def _show(terminal: Terminal, report: ModelReport) -> None:
    terminal.print(inert(report.model))
    for check in report.checks:
        subject = check.subject.replace("_", " ")
        terminal.print(
            f"  {subject:10} {check.status:8} {inert(check.message)}", _COLOURS[check.status]
        )
        if check.hint:
            terminal.print(f"      {inert(check.hint)}", "dim")
