"""``jupyter openhands check``: whether a notebook gives what is saved in it, in a clean sandbox."""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple, get_args

import msgspec

from ..agents.results import refusal
from ..config import Config
from ..errors import Invalid, NotFound, SandboxUnavailable
from ..events import IPythonOutputObservation, IPythonRunCellAction, Output
from ..notebooks.addresses import with_ids
from ..notebooks.cells import Cell
from ..notebooks.cleanroom.checking import CheckedCell, Place, Ran, Report, check
from ..notebooks.cleanroom.clean_folder import CleanFolder
from ..notebooks.names.graph import is_python
from ..runtime import SandboxRuntime, check_workspace
from ..runtime.backends import Isolation
from ..runtime.docker.settings import DockerSettings
from ..runtime.egress import Network, Verdict
from ..runtime.environment import EnvironmentSettings, packages
from ..runtime.limits import Limits
from ..runtime.owner import owner_of
from ..session.network import REFUSALS_TOLD
from ..session.requirements import read_requirements
from ..session.way_out import network_for, refusal_of
from .terminal import Terminal, inert

EXIT_SAME = 0
EXIT_DIFFERENT = 1
EXIT_USAGE = 2
EXIT_STOPPED = 130

SHOWN = 10
"""Of a list, in words; JSON has all of it."""

_COLOURS = {"same": "green", "different": "yellow", "failed": "red"}
_STOPPED = {
    "stopped": "It was stopped.",
    "timeout": "It did not end in time.",
    "kernel_died": "The kernel ended.",
    "sandbox_died": "The sandbox ended.",
    "output_limit": "It printed too much.",
    "disk_limit": "It wrote too much.",
}


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "check",
        help="run a notebook from top to bottom in a clean sandbox, and compare",
        description="Run a notebook from top to bottom in a new sandbox, on a copy of its folder, "
        "and say what differs from what is saved. The notebook and its folder stay as they are.",
        epilog="Exit codes: 0 same, 1 different or failed, 2 wrong usage or no notebook in "
        "Python, 130 stopped with Ctrl-C.",
    )
    parser.add_argument("notebook", metavar="NOTEBOOK.ipynb")
    parser.add_argument(
        "--workspace",
        metavar="DIR",
        help="folder that the notebook needs, with all that is in it (default: its own)",
    )
    parser.add_argument("--backend", choices=get_args(Isolation), help="default: as configured")
    parser.add_argument(
        "--timeout",
        type=_seconds,
        metavar="SECONDS",
        help="that a cell may take (default: as configured)",
    )
    parser.add_argument("--json", action="store_true", help="print the report as JSON")


async def run(options: argparse.Namespace, config: Config, terminal: Terminal) -> int:
    """Check the notebook and print the report; the exit code.

    Raises
    ------
    OpenHandsError
        When the sandbox does not start.
    """
    try:
        asked = await asyncio.to_thread(_asked_for, options.notebook, options.workspace)
    except (Invalid, NotFound) as error:
        print(f"jupyter openhands: {error.message} {error.hint}".rstrip(), file=sys.stderr)
        return EXIT_USAGE
    isolation = options.backend or config.settings.isolation
    if isolation == "gateway":
        raise SandboxUnavailable(
            "A notebook is checked in a sandbox on this machine.", "Choose one with --backend."
        )
    room = CleanRoom(config, isolation, options.timeout or config.settings.timeout)
    report = await room.check(asked)
    if options.json:
        sys.stdout.write(msgspec.json.format(msgspec.json.encode(report)).decode() + "\n")
    else:
        _print(report, options.notebook, room.remarks, terminal)
    if room.stopped:
        return EXIT_STOPPED
    return EXIT_SAME if report.outcome == "same" else EXIT_DIFFERENT


class Asked(NamedTuple):
    """What is to be checked: the cells, the workspace, and the notebook's folder within it."""

    cells: list[Cell]
    workspace: Path
    within: Path


class CleanRoom:
    """A sandbox that has run nothing, on a copy of a workspace, for one notebook.

    Where the settings give sandboxes no network it has none either, but programs are told of a
    proxy that refuses everything, so that one knows what they wanted.

    Parameters
    ----------
    config
        Says which Python, network and requirements sandboxes have.
    isolation
        What isolates.
    timeout
        Seconds that a cell may take.

    Attributes
    ----------
    stopped
        Whether somebody pressed Ctrl-C.
    remarks
        What is to be known of the check itself, a sentence each.
    """

    def __init__(self, config: Config, isolation: Isolation, timeout: float) -> None:
        self._config = config
        self._isolation: Isolation = isolation
        self._timeout = timeout
        self._refused: dict[tuple[str, int], Place] = {}
        self._stopping: asyncio.Future[None] | None = None
        self.stopped = False
        self.remarks: list[str] = []

    async def check(self, asked: Asked) -> Report:
        """Run the cells on a copy of the workspace, and compare what comes of them."""
        with tempfile.TemporaryDirectory(prefix="openhands-check-") as above:
            folder = await asyncio.to_thread(_copy, asked.workspace, Path(above))
            if folder.left_out:
                self.remarks.append(f"Not readable, so left out: {_listed(folder.left_out)}.")
            try:
                report = await self._checked(asked, folder.path)
                used = await asyncio.to_thread(folder.used)
            finally:
                # It may hold what is not removed by itself, and links that are not to be followed.
                await asyncio.to_thread(packages.clear, folder.path)
        network = list(self._refused.values())
        return msgspec.structs.replace(report, files=used, network=network)

    async def _checked(self, asked: Asked, folder: Path) -> Report:
        async with self._runtime(folder) as run_code:
            if asked.within.parts:
                await run_code(_begin_in(folder / asked.within))
            return await check(asked.cells, run_code, {str(folder): str(asked.workspace)})

    @asynccontextmanager
    async def _runtime(self, folder: Path) -> AsyncIterator[Callable[[str], Awaitable[Ran]]]:
        config, settings = self._config, self._config.settings
        runtime = SandboxRuntime(
            folder,
            self._isolation,
            network=self._network(),
            limits=Limits.configured(settings),
            docker=DockerSettings.configured(settings, config.root),
            environment=EnvironmentSettings(
                python=settings.python or "",
                home=config.home,
                requirements=lambda: read_requirements(config),
            ),
        )
        try:
            found = await runtime.start()
            if found.level != "green":
                self.remarks.append(found.summary)
            asyncio.get_running_loop().add_signal_handler(signal.SIGINT, self._stop, runtime)

            async def run_code(code: str) -> Ran:
                return await self._ran(runtime, code)

            yield run_code
        finally:
            await runtime.close()
            await asyncio.to_thread(packages.forget, config.home, folder)

    def _network(self) -> Network:
        def on_verdict(verdict: Verdict) -> None:
            refused = refusal_of(verdict, None)
            if refused and len(self._refused) < REFUSALS_TOLD:
                why = refusal(refused)
                place = Place(host=refused.host, port=refused.port, why=why)
                self._refused.setdefault((refused.host, refused.port), place)

        return network_for(self._config.settings, on_verdict)

    def _stop(self, runtime: SandboxRuntime) -> None:
        self.stopped = True
        self._stopping = asyncio.ensure_future(runtime.interrupt())

    async def _ran(self, runtime: SandboxRuntime, code: str) -> Ran:
        if self.stopped:
            return Ran(stopped=_STOPPED["stopped"])
        action = IPythonRunCellAction(code=code, timeout=self._timeout)
        observation = await runtime.run_action(action, lambda _: None)
        if not isinstance(observation, IPythonOutputObservation):
            return Ran(stopped=getattr(observation, "message", "It did not run."))
        stopped = observation.interrupted
        return Ran(
            outputs=[_of_nbformat(output) for output in observation.outputs],
            stopped=_STOPPED.get(stopped, f"It ended early ({stopped}).") if stopped else "",
        )


def _asked_for(name: str, workspace: str | None) -> Asked:
    notebook = Path(name).resolve()
    cells = _read(notebook)
    folder = check_workspace(workspace or notebook.parent)
    if not notebook.is_relative_to(folder):
        raise Invalid("not_inside", f"{notebook} is not in {folder}.")
    return Asked(cells, folder, notebook.parent.relative_to(folder))


def _copy(workspace: Path, above: Path) -> CleanFolder:
    above = above.resolve()
    target = above / (workspace.name or "workspace")
    if os.geteuid() == 0:
        # The sandbox runs as the owner of the workspace, who has to find the way to the copy.
        found = workspace.stat()
        os.chown(above, found.st_uid, found.st_gid)
        if owner_of(above)[0]:
            return CleanFolder(workspace, target, with_owners=True)
        # Or else as root, whom nothing but the files' permissions lets do anything there.
        os.chown(above, 0, 0)
    return CleanFolder(workspace, target)


def _read(path: Path) -> list[Cell]:
    # Not at the top: it takes longer to load than all of the command line.
    import nbformat

    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise NotFound("notebook_not_found", f"{path} cannot be read: {error}.") from error
    try:
        notebook = nbformat.reads(text, as_version=4)  # type: ignore[no-untyped-call]
        cells = with_ids(notebook["cells"])
    except Exception as error:
        # nbformat raises whatever comes, for what is no notebook.
        raise Invalid("no_notebook", f"{path} is no notebook.") from error
    if not is_python(notebook["metadata"]):
        raise Invalid("not_python", f"{path} is not in Python.", "Others cannot be checked.")
    return cells


def _begin_in(folder: Path) -> str:
    """Code that has the kernel begin in a folder, and count its cells from 1 all the same."""
    # IPython counts on before a cell runs or after, depending on its version.
    return f"""\
def _begin(*_, shell=get_ipython()):
    shell.execution_count = 1
    shell.events.unregister("post_run_cell", shell.user_ns.pop("_begin"))
get_ipython().events.register("post_run_cell", _begin)
__import__("os").chdir({str(folder)!r})
"""


def _of_nbformat(output: Output) -> dict[str, Any]:
    match output.kind:
        case "stream":
            return {"output_type": "stream", "name": output.name, "text": output.text}
        case "error":
            return {"output_type": "error", "ename": output.ename, "evalue": output.evalue}
    return {"output_type": output.kind, "data": output.data, "metadata": output.metadata}


def _seconds(text: str) -> float:
    seconds = float(text)
    if not 0 < seconds < float("inf"):
        raise ValueError(text)
    return seconds


def _print(report: Report, name: str, remarks: Iterable[str], terminal: Terminal) -> None:
    terminal.print(f"{inert(name)}: {report.outcome}", _COLOURS[report.outcome])
    for remark in remarks:
        terminal.print(inert(remark))
    numbers = {cell.id: cell.number for cell in report.cells}
    for cell in report.cells:
        _print_cell(cell, terminal)
    not_compared = sum(cell.outcome == "not_compared" for cell in report.cells)
    if not_compared:
        terminal.print(f"Nothing is saved to compare with: {_cells(not_compared)}")
    if not_run := sum(cell.outcome == "not_run" for cell in report.cells):
        terminal.print(f"Not run after that: {_cells(not_run)}")
    for early in report.used_early:
        where = numbers.get(early.defined_in or "")
        place = f"cell {where} below defines" if where else "no cell defines"
        terminal.print(f"Cell {numbers[early.id]} uses {inert(early.name)}, which {place}.")
    for late in report.out_of_order:
        terminal.print(
            f"Cell {numbers[late.id]} was run as number {late.count}, "
            f"before one above it (number {late.count_above})."
        )
    for trouble in report.troubles:
        terminal.print(f"{inert(trouble.path)}: {inert(trouble.why)}")
    if report.files:
        for what, paths in msgspec.structs.asdict(report.files).items():
            if paths:
                terminal.print(f"Files {what}: {_listed(paths)}")
    for wanted in report.network:
        terminal.print(inert(wanted.why))


def _print_cell(cell: CheckedCell, terminal: Terminal) -> None:
    if cell.outcome in ("different", "failed"):
        terminal.print(f"Cell {cell.number} ({cell.id}), {cell.outcome}: {inert(cell.title)}")
        for line in filter(None, [cell.problem, *cell.diff.split("\n")]):
            terminal.print(f"    {inert(line)}")


def _cells(count: int) -> str:
    return f"{count} {'cell' if count == 1 else 'cells'}."


def _listed(paths: list[str]) -> str:
    more = len(paths) - SHOWN
    return ", ".join(map(inert, paths[:SHOWN])) + (f" and {more:,} more" if more > 0 else "")
