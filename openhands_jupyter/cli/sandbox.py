"""``jupyter openhands sandbox``: what isolates here, one command in it, and what is left over."""

from __future__ import annotations

import argparse
import asyncio
import shlex
import signal
import sys
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import get_args

from ..agents.results import refusal
from ..config import Config
from ..errors import OpenHandsError, SandboxUnavailable
from ..events import CmdOutputObservation, CmdRunAction, IsolationObservation
from ..runtime import SandboxRuntime, check_workspace
from ..runtime.agentd.server import MORE_LATER
from ..runtime.backends import BACKENDS, Isolation
from ..runtime.docker.images import check_image
from ..runtime.docker.settings import DockerSettings
from ..runtime.docker.sweep import prune
from ..runtime.egress import Network, Verdict
from ..runtime.environment import EnvironmentSettings, layers, packages
from ..runtime.rundir import sweep_all
from ..session.gateway import gateway_settings
from ..session.network import REFUSALS_TOLD
from ..session.way_out import network_for, refusal_of
from .terminal import Terminal, inert

CHECKED: tuple[Isolation, ...] = ("bubblewrap", "landlock", "docker", "gateway")
LONGEST = 10 * 365 * 86_400.0
"""Seconds: a command given by hand has no limit but the person's patience."""

EXIT_STOPPED = 130
_COLOURS = {"green": "green", "amber": "yellow", "red": "red"}


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command and its verbs."""
    parser = commands.add_parser("sandbox", help="look at the isolation, or use it by hand")
    verbs = parser.add_subparsers(dest="verb", required=True)
    checking = verbs.add_parser(
        "check",
        help="say what isolates here, and what not",
        description="Start each kind of sandbox and say what it enforces, as found by trying. "
        "Exit code 1 when none holds.",
    )
    executing = verbs.add_parser(
        "exec",
        help="run one command in a sandbox",
        description="Run one command in a new sandbox and end with its exit code. Its input is "
        "empty.",
    )
    checking.add_argument(
        "--backend", choices=CHECKED, help="check this one (default: all on this machine)"
    )
    executing.add_argument("--backend", choices=get_args(Isolation), help="default: as configured")
    executing.add_argument("program", nargs="+", metavar="CMD", help="after a '--'")
    pruning = verbs.add_parser(
        "prune",
        help="remove what killed servers left",
        description="Remove containers, processes, sockets, folders and remote kernels of "
        "sandboxes whose server was killed. Those of running servers stay.",
    )
    pruning.add_argument(
        "--packages",
        action="store_true",
        help="remove what was installed in sandboxes too, for every workspace",
    )
    for verb in (checking, executing, pruning):
        verb.add_argument(
            "--workspace", metavar="DIR", help="folder to work in (default: an empty one)"
        )


async def run(options: argparse.Namespace, config: Config, terminal: Terminal) -> int:
    """Do what was asked; the exit code.

    Raises
    ------
    OpenHandsError
        When the sandbox does not start, or the folder may not be a workspace.
    """
    if options.verb == "check":
        # A kernel elsewhere is others' to pay for: only where it is asked for.
        here = [kind for kind in CHECKED if kind != "gateway" or config.settings.isolation == kind]
        checked = [options.backend] if options.backend else here
        return await check(options.workspace, checked, config, terminal)
    if options.verb == "exec":
        isolation = options.backend or config.settings.isolation
        return await execute(options.workspace, isolation, config, options.program, terminal)
    return await clean_up(config, options.packages, terminal)


async def check(
    workspace: str | None, checked: Sequence[Isolation], config: Config, terminal: Terminal
) -> int:
    """Print what each of these backends enforces."""
    works = set()
    for isolation in checked:
        try:
            async with _runtime(workspace, isolation, config) as runtime:
                found = await runtime.start()
        except SandboxUnavailable as error:
            _print_refusal(terminal, isolation, error)
        else:
            _print_found(terminal, isolation, found)
            if found.level != "red":
                works.add(isolation)
        if isolation == "docker":
            await _print_image(terminal, _docker(config).image)
    automatic = [backend.name for backend in BACKENDS["auto"]]
    if set(automatic) <= set(checked):
        chosen = next((name for name in automatic if name in works), "")
        terminal.print()
        terminal.print(f"Used by itself: {chosen}" if chosen else "None works by itself.")
    return 0 if works else 1


async def execute(
    workspace: str | None,
    isolation: Isolation,
    config: Config,
    program: list[str],
    terminal: Terminal,
) -> int:
    """Run a command, printing what it prints; its exit code."""
    printed: list[str] = []

    def on_output(text: str) -> None:
        if text != MORE_LATER:
            printed.append(text)
            _write(text)

    async with _runtime(workspace, isolation, config) as runtime:
        found = await runtime.start()
        if found.level != "green":
            print(f"jupyter openhands: {found.summary}", file=sys.stderr)
        stopping = _stop_on_interrupt(runtime)
        # Nobody can type into it here, so it must not wait for that.
        command = f"{shlex.join(program)} </dev/null"
        action = CmdRunAction(command=command, timeout=LONGEST)
        observation = await runtime.run_action(action, on_output)
        await asyncio.gather(*stopping)
    if not isinstance(observation, CmdOutputObservation):
        raise SandboxUnavailable(getattr(observation, "message", "The command did not run."))
    whole = observation.full_output or observation.content
    already = "".join(printed)
    if isinstance(whole, str) and whole.startswith(already):
        _write(whole[len(already) :])
    if observation.exit_code is None:
        return EXIT_STOPPED if observation.interrupted == "stopped" else 1
    return observation.exit_code


async def clean_up(config: Config, with_packages: bool, terminal: Terminal) -> int:
    """Remove what is left of killed servers."""
    folders = await asyncio.to_thread(sweep_all)
    terminal.print(f"Removed {folders} left over sandboxes of processes.")
    try:
        containers = await prune()
    except SandboxUnavailable as error:
        terminal.print(f"Docker was left out: {error.message}")
    else:
        terminal.print(f"Removed {containers} left over containers.")
    if config.settings.isolation == "gateway":
        # It imports jupyter_server.
        from ..runtime.gateway.remote import prune as prune_gateway

        try:
            kernels = await prune_gateway(gateway_settings(config))
        except SandboxUnavailable as error:
            terminal.print(f"The gateway was left out: {error.message}")
        else:
            terminal.print(f"Ended {kernels} left over kernels at the gateway.")
    if with_packages:
        freed = await asyncio.to_thread(packages.remove_all, config.home)
        removed = await asyncio.to_thread(layers.remove_all, config.home)
        terminal.print(f"Removed {freed / 1e6:.1f} MB of installed packages.")
        terminal.print(f"Removed {removed} installations of requirements files.")
    return 0


@asynccontextmanager
async def _runtime(
    workspace: str | None, isolation: Isolation, config: Config
) -> AsyncIterator[SandboxRuntime]:
    with tempfile.TemporaryDirectory(prefix="openhands-") as empty:
        folder = _open_to_all(empty) if workspace is None else check_workspace(workspace)
        runtime = SandboxRuntime(
            folder,
            isolation,
            network=_network(config),
            docker=_docker(config),
            gateway=gateway_settings(config),
            environment=EnvironmentSettings(
                python=config.settings.python or "",
                home=None if workspace is None else config.home,
            ),
        )
        try:
            yield runtime
        finally:
            await runtime.close()


def _network(config: Config) -> Network | None:
    """The network of the settings; what it refuses is printed, each place once."""
    told: set[Verdict] = set()

    def on_verdict(verdict: Verdict) -> None:
        refused = refusal_of(verdict, None)
        if refused and verdict not in told and len(told) < REFUSALS_TOLD:
            told.add(verdict)
            print(f"jupyter openhands: {inert(refusal(refused))}", file=sys.stderr)

    return None if config.settings.network == "off" else network_for(config.settings, on_verdict)


def _docker(config: Config) -> DockerSettings:
    return DockerSettings.configured(config.settings, config.root)


def _open_to_all(folder: str) -> Path:
    # Whoever a container is run as has to be able to write here.
    path = Path(folder).resolve()
    path.chmod(0o777)
    return path


def _stop_on_interrupt(runtime: SandboxRuntime) -> list[asyncio.Task[None]]:
    """Have Ctrl-C stop the command; the tasks that do."""
    stopping: list[asyncio.Task[None]] = []
    asyncio.get_running_loop().add_signal_handler(
        signal.SIGINT, lambda: stopping.append(asyncio.ensure_future(runtime.interrupt()))
    )
    return stopping


def _write(text: str) -> None:
    # A terminal does what it is told, by whomever; a file or another program does not.
    sys.stdout.write(inert(text) if sys.stdout.isatty() else text)
    sys.stdout.flush()


def _print_refusal(terminal: Terminal, isolation: str, error: OpenHandsError) -> None:
    terminal.print(f"{isolation:<12} does not work", "red")
    for sentence in filter(None, (error.message, error.hint)):
        terminal.print(f"    {inert(sentence)}")


def _print_found(terminal: Terminal, isolation: str, found: IsolationObservation) -> None:
    terminal.print(f"{isolation:<12} {found.level}", _COLOURS[found.level])
    terminal.print(f"    {found.summary}")
    if found.notice:
        terminal.print(f"    {found.notice}")
    if found.network is not None:
        terminal.print(f"    Network: {', '.join(found.network) or 'nothing is listed'}")
    held = sum(check.held for check in found.checks)
    terminal.print(f"    {held} of {len(found.checks)} attempts to get out were stopped.")
    for breach in found.checks:
        if not breach.held:
            terminal.print(f"    open: {breach.name} ({inert(breach.detail)})", "yellow")
    for phrase in found.missing:
        terminal.print(f"    not enforced: {phrase}", "dim")


async def _print_image(terminal: Terminal, image: str) -> None:
    try:
        report = await check_image(image)
    except SandboxUnavailable:
        # Said already: it is why the sandbox does not work.
        return
    found = [f"Python {report.python}"] if report.python else []
    found += [f"ipykernel {report.ipykernel}"] if report.ipykernel else []
    terminal.print(f"    The image {image} has {' and '.join(found) or 'nothing that is needed'}.")
    for phrase in report.missing:
        terminal.print(f"    It lacks {inert(phrase)}.", "yellow")
    if report.hint:
        terminal.print(f"    {report.hint}")
