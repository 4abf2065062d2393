"""``jupyter openhands sessions``: list, show, export, replay and delete them, without a server."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec

from ..config import Config
from ..errors import Invalid, NotFound
from ..events.reading import read_log
from ..session import Session, SessionManager
from ..session.info import INFO_FILE, SessionInfo, read_info
from .export import FORMATS, export
from .replay import replay
from .terminal import Terminal, inert
from .timeline import Timeline

EXIT_DONE = 0
EXIT_NEEDS_ANSWER = 3

SHORT_ID = 8
"""Characters of an id in lists; whatever is unique will do where one is asked for."""


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command and its verbs."""
    parser = commands.add_parser("sessions", help="list, show, export, replay or delete sessions")
    verbs = parser.add_subparsers(dest="verb", required=True)
    listing = verbs.add_parser("list", help="list all sessions, the last used first")
    listing.add_argument("--json", action="store_true", help="a line of JSON for each")
    showing = verbs.add_parser("show", help="print the timeline of a session")
    exporting = verbs.add_parser(
        "export",
        help="write a session as one file",
        description="Write a session as one file. Secrets were masked when the log was written.",
    )
    exporting.add_argument(
        "--format", choices=FORMATS, default="markdown", help="default: %(default)s"
    )
    exporting.add_argument(
        "-o", "--output", type=Path, metavar="FILE", help="default: standard output"
    )
    replaying = verbs.add_parser(
        "replay",
        help="show a session step by step, or do it once more",
        description="Show a session as it went, with its pauses. With --execute the recorded "
        "actions are done once more: in a new session, which asks as always, in the current "
        "folder or the one of --workspace.",
        epilog="Exit codes with --execute: 0 done, 1 error, or an action ended otherwise than it "
        "did then, 2 a limit was reached, 3 something has to be approved and there is no "
        "terminal, 130 stopped with Ctrl-C.",
    )
    replaying.add_argument(
        "--speed", type=_speed, default=1.0, metavar="N", help="times as fast (default: 1)"
    )
    replaying.add_argument("--execute", action="store_true", help="do the recorded actions again")
    replaying.add_argument("--mode", choices=("agent", "auto"), help="as of run, with --execute")
    replaying.add_argument("--workspace", metavar="DIR", help="folder to work in, with --execute")
    deleting = verbs.add_parser(
        "delete",
        help="delete sessions, but not what they worked on",
        epilog="Exit codes: 0 done, 1 error, 3 nobody to ask.",
    )
    deleting.add_argument("--yes", action="store_true", help="do not ask")
    for verb in (showing, exporting, replaying):
        verb.add_argument("session", metavar="SESSION", help="its id, or how that begins")
    deleting.add_argument("session", nargs="+", metavar="SESSION", help="ids, or how they begin")


async def run(options: argparse.Namespace, config: Config, terminal: Terminal) -> int:
    """Do what was asked; the exit code.

    Raises
    ------
    OpenHandsError
        When there is no such session, or another process has it open where it must not.
    """
    match options.verb:
        case "list":
            _list(config, options.json, terminal)
        case "show":
            timeline = Timeline(terminal)
            for event in read_log(find(config, options.session)):
                timeline.show(event)
        case "export":
            _write(export(find(config, options.session), options.format), options.output)
        case "replay":
            folder = find(config, options.session)
            return await replay(folder, options, config, terminal)
        case "delete":
            return await _delete(config, options, terminal)
    return EXIT_DONE


def find(config: Config, given: str) -> Path:
    """The folder of the session whose id begins like this.

    Raises
    ------
    NotFound
        When there is none.
    Invalid
        When there are several.
    """
    folders = [path.parent for path in config.sessions_folder.glob(f"*/{INFO_FILE}")]
    found = [folder for folder in folders if given and folder.name.startswith(given)]
    if not found:
        raise NotFound(
            "session_not_found",
            f"There is no session {given}.",
            "jupyter openhands sessions list says which there are.",
        )
    if len(found) > 1:
        raise Invalid("session_ambiguous", f"{len(found)} sessions begin with {given}.")
    return found[0]


@asynccontextmanager
async def opened(config: Config, given: str) -> AsyncIterator[Session]:
    """A session, held by this process, without a model; see `find`.

    Raises
    ------
    Conflict
        When another process has it open.
    """
    folder = await asyncio.to_thread(find, config, given)
    async with _manager_of(folder) as manager:
        yield await manager.open(folder.name, with_model=False)


@asynccontextmanager
async def _manager_of(folder: Path) -> AsyncIterator[SessionManager]:
    workspace = Path((await asyncio.to_thread(read_info, folder)).workspace)
    manager = SessionManager(await asyncio.to_thread(Config, workspace))
    try:
        yield manager
    finally:
        await manager.close()


def _list(config: Config, as_json: bool, terminal: Terminal) -> None:
    infos = []
    for path in config.sessions_folder.glob(f"*/{INFO_FILE}"):
        try:
            infos.append(read_info(path.parent))
        except (OSError, msgspec.DecodeError) as error:
            print(f"jupyter openhands: {path} is left out: {error}", file=sys.stderr)
    for info in sorted(infos, key=lambda info: info.updated, reverse=True):
        if as_json:
            terminal.print(msgspec.json.encode(info).decode())
        else:
            terminal.print(_row(info))


def _row(info: SessionInfo) -> str:
    state = info.state.replace("_", " ")
    when = f"{info.updated.astimezone():%Y-%m-%d %H:%M}"
    title = inert(info.title).replace("\n", " ") or "(no title)"
    return f"{info.id[:SHORT_ID]}  {when}  {state:<26} {title}  {inert(info.workspace)}"


def _write(content: bytes, output: Path | None) -> None:
    if output is None:
        sys.stdout.buffer.write(content)
        sys.stdout.flush()
    else:
        output.write_bytes(content)


async def _delete(config: Config, options: argparse.Namespace, terminal: Terminal) -> int:
    folders = {find(config, given) for given in options.session}
    for folder in folders:
        terminal.print(_row(read_info(folder)))
    if not options.yes:
        if not terminal.can_ask:
            terminal.print("Nobody can be asked: there is no terminal. Say --yes to do it.")
            return EXIT_NEEDS_ANSWER
        answer = await terminal.ask(f"Delete {len(folders)} of the sessions? [y/N]")
        if answer.lower() not in ("y", "yes"):
            return EXIT_DONE
    for folder in folders:
        async with _manager_of(folder) as manager:
            await manager.delete(folder.name)
    return EXIT_DONE


def _speed(text: str) -> float:
    try:
        speed = float(text)
    except ValueError:
        speed = 0.0
    if not 0 < speed < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is no speed")
    return speed
