"""``jupyter openhands doctor``: whether all that is needed is there, and what is waited for."""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import AsyncIterator
from importlib.util import find_spec
from typing import Any, NamedTuple

from ..config import Config
from ..errors import OpenHandsError
from ..llm.gateway import ModelGateway
from ..local_server import LocalServer, Refused, ServerNotFound, find_server
from ..session.info import read_info
from .sessions import find
from .terminal import Terminal, inert

EXIT_WELL = 0
EXIT_SOMETHING_IS_MISSING = 1


class Finding(NamedTuple):
    """What was found of one thing.

    Attributes
    ----------
    what
        Which thing.
    well
        Whether it is as it has to be.
    told
        What was found, and what to do about it.
    """

    what: str
    well: bool
    told: str


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "doctor",
        help="say what is missing, and what a session waits for",
        description="Try the home folder, the configuration, the sandbox, the process that asks "
        "models, and the Jupyter server. With a session: say what it waits for, for how long, and "
        "what to do.",
        epilog="Exit codes: 0 all is well, 1 something is missing.",
    )
    parser.add_argument("session", nargs="?", metavar="SESSION", help="its id, or how that begins")


async def run(options: argparse.Namespace, config: Config, terminal: Terminal) -> int:
    """Look at each thing and print what was found; the exit code.

    Raises
    ------
    OpenHandsError
        When there is no such session.
    """
    well = True
    async for finding in _findings(config):
        well &= finding.well
        mark, colour = ("ok", "green") if finding.well else ("no", "red")
        terminal.print(f"{mark}  {finding.what:<14}  {inert(finding.told)}", colour)
    if options.session is not None:
        await _tell_of_session(config, options.session, terminal)
    return EXIT_WELL if well else EXIT_SOMETHING_IS_MISSING


async def _findings(config: Config) -> AsyncIterator[Finding]:
    # Magics load the command line into a person's kernel.
    from ..server.health import home_health, try_gateway, try_sandbox

    home = await asyncio.to_thread(home_health, config)
    yield Finding("home", home.writable, home.notice or f"{config.home} can be written.")
    for finding in await asyncio.to_thread(_of_configuration, config):
        yield finding
    elsewhere = config.settings.isolation == "gateway"
    sandbox = await (try_gateway(config) if elsewhere else try_sandbox(config))
    told = f"{sandbox.backend} works. {sandbox.notice}" if sandbox.available else sandbox.notice
    yield Finding("sandbox", sandbox.available, told.strip())
    yield _of_browser()
    yield await _of_model_gateway()
    yield await asyncio.to_thread(_of_server, config)


def _of_configuration(config: Config) -> list[Finding]:
    """One for each problem, else that there is none."""
    found = [
        Finding("configuration", problem.severity != "error", f"{problem.severity}: {problem}")
        for problem in config.all_problems()
    ]
    return found or [Finding("configuration", True, "All that is written down is in force.")]


def _of_browser() -> Finding:
    from ..runtime.browser import find_chromium

    if find_spec("playwright") is None:
        told = "None is needed. For the agent to use one: pip install 'openhands-jupyter[browser]'."
        return Finding("browser", True, told)
    chromium = find_chromium()
    if chromium is None:
        told = "No Chromium is installed. Install it, with 'apt install chromium' on Debian."
        return Finding("browser", False, told)
    return Finding("browser", True, f"{chromium} is driven by Playwright, in the sandbox.")


async def _of_model_gateway() -> Finding:
    gateway = ModelGateway()
    try:
        await gateway.start()
    except OpenHandsError as error:
        return Finding("model gateway", False, f"{error.message} {error.hint}".strip())
    finally:
        await gateway.close()
    return Finding("model gateway", True, "The process that asks models starts.")


def _of_server(config: Config) -> Finding:
    try:
        server = find_server(config.root)
        health = server.request("GET", "health")
    except ServerNotFound as error:
        # Not everybody needs one: `jupyter openhands run` does without.
        return Finding("Jupyter server", True, f"None is needed here. {error.message}")
    except Refused as error:
        return Finding("Jupyter server", False, f"{error.message} {error.hint}".strip())
    well = health["status"] == "ok"
    notices = [health[part]["notice"] for part in ("sandbox", "home") if health[part]["notice"]]
    return Finding("Jupyter server", well, " ".join([f"{server.url} answers.", *notices]))


async def _tell_of_session(config: Config, given: str, terminal: Terminal) -> None:
    folder = await asyncio.to_thread(find, config, given)
    terminal.print()
    found = await asyncio.to_thread(_asked_server, config, folder.name)
    if found is None:
        info = await asyncio.to_thread(read_info, folder)
        state = info.state.replace("_", " ")
        terminal.print(f"Session {folder.name} was {state} at {info.updated:%Y-%m-%d %H:%M:%S}.")
        terminal.print("No server that can be reached here has it, so the agent does not work.")
        return
    terminal.print(f"Waits for: {found['waits_for']}, for {found['seconds']:.0f} seconds")
    for text in (found["summary"], found["hint"], *found["processes"]):
        if text:
            terminal.print(f"  {inert(text)}")


def _asked_server(config: Config, session: str) -> dict[str, Any] | None:
    """What a server says of a session; None where none has it."""
    try:
        server: LocalServer = find_server(config.root)
        found: dict[str, Any] = server.request("GET", f"sessions/{session}/diagnosis")
    except (ServerNotFound, Refused):
        return None
    return found
