"""``jupyter openhands checkpoints | diff | undo | rewind``: a session's files, without a server."""

from __future__ import annotations

import argparse
import asyncio
import difflib
import signal
from collections.abc import Iterable, Sequence

from ..config import Config
from ..errors import Conflict, Invalid
from ..events import (
    AgentStateChangedObservation,
    ErrorObservation,
    Event,
    FilesRestoredObservation,
    NotebookRestored,
    ReplayObservation,
)
from ..session import Session
from ..session.files import FileChange, FileTexts, RestorePreview
from .sessions import opened
from .terminal import Terminal, inert
from .timeline import Timeline

COMMANDS = ("checkpoints", "diff", "undo", "rewind")

EXIT_DONE = 0
EXIT_ERROR = 1
EXIT_NEEDS_ANSWER = 3
EXIT_STOPPED = 130

_CHANGED = {
    "added": "added",
    "deleted": "deleted",
    "modified": "changed",
    "mode": "permissions",
    "link": "link",
    "type": "other kind",
}
_GOES_BACK = _CHANGED | {"added": "comes back", "deleted": "is removed"}
_CELL_GOES_BACK = {
    "inserted": "comes back",
    "deleted": "is removed",
    "changed": "changed",
    "moved": "moved",
}


def add_parsers(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the four commands."""
    checkpoints = commands.add_parser(
        "checkpoints",
        help="list the checkpoints of a session",
        description="List the checkpoints of a session, the newest first.",
    )
    diff = commands.add_parser(
        "diff",
        help="show what a session changed",
        description="Show which files differ between two checkpoints, or how one of them does. "
        "Without --from: what the last turn changed.",
    )
    undo = commands.add_parser(
        "undo",
        help="take back what a turn of a session did to files and notebooks",
        description="Say what would go back, ask, and do it. "
        "Exit codes: 0 done, 1 error or some file or notebook could not be restored, 3 nobody to "
        "ask.",
    )
    rewind = commands.add_parser(
        "rewind",
        help="bring all files of a session back to what they were before an event",
        description="Say what would go back, ask, and do it. Exit codes as of undo.",
    )
    for command in (checkpoints, diff, undo, rewind):
        command.add_argument("session", metavar="SESSION", help="its id, or how that begins")
    checkpoints.add_argument("--limit", type=int, default=50, metavar="N", help="default: 50")
    diff.add_argument("path", nargs="?", metavar="PATH", help="show the lines of this file")
    diff.add_argument("--from", dest="before", metavar="ID", help="a checkpoint")
    diff.add_argument("--to", dest="after", metavar="ID", help="a checkpoint (default: now)")
    undo.add_argument(
        "--turn", type=int, metavar="N", help="event that it begins with (default: the last turn)"
    )
    rewind.add_argument("event", type=int, metavar="EVENT", help="number of the event")
    rewind.add_argument(
        "--replay", action="store_true", help="run the agent's earlier cells again afterwards"
    )
    for command in (undo, rewind):
        command.add_argument(
            "--force",
            nargs="+",
            default=[],
            metavar="PATH",
            help="restore these although somebody else changed them",
        )
        command.add_argument("--yes", action="store_true", help="do not ask")


async def run(options: argparse.Namespace, config: Config, terminal: Terminal) -> int:
    """Do what was asked; the exit code.

    Raises
    ------
    OpenHandsError
        When there is no such session, another process has it open, or it cannot be done.
    """
    async with opened(config, options.session) as session:
        if options.command == "checkpoints":
            return await _checkpoints(session, options.limit, terminal)
        if options.command == "diff":
            return await _diff(session, options, terminal)
        return await _Restore(session, options, terminal).run()


async def _checkpoints(session: Session, limit: int, terminal: Terminal) -> int:
    for taken in await session.files.checkpoints(limit):
        when = f"{taken.time:%Y-%m-%d %H:%M:%S}" if taken.time else ""
        what = f"before event {taken.action}"
        if taken.since:
            paths = f"{taken.changed} path{'' if taken.changed == 1 else 's'}"
            what = f"end of the turn of event {taken.action}, which changed {paths}"
            if taken.cells:
                what += f", {taken.cells} cell{'' if taken.cells == 1 else 's'} of notebooks"
        terminal.print(f"{taken.checkpoint}  {when}  {what}")
    return EXIT_DONE


async def _diff(session: Session, options: argparse.Namespace, terminal: Terminal) -> int:
    before, after = options.before, options.after
    if before is None:
        if after is not None:
            raise Invalid("diff_without_from", "Say with --from what it is to be compared with.")
        before, after = await _last_turn(session)
    if options.path is not None:
        found = await session.files.texts(before, after, options.path)
        _print_texts(options.path, found.texts or FileTexts(), terminal)
        return EXIT_DONE
    found = await session.files.diff(before, after)
    for change in found.changes:
        _print_change(terminal, change, _CHANGED)
    _print_more(terminal, found.total - len(found.changes))
    return EXIT_DONE


async def _last_turn(session: Session) -> tuple[str, str]:
    for taken in await session.files.checkpoints(1000):
        if taken.since and taken.changed:
            return taken.since, taken.checkpoint
    raise Conflict("no_turn", "No turn of this session has changed files.")


class _Restore:
    """An undo or a rewind, from the question to the result."""

    def __init__(self, session: Session, options: argparse.Namespace, terminal: Terminal) -> None:
        self._session = session
        self._options = options
        self._terminal = terminal
        self._timeline = Timeline(terminal)

    async def run(self) -> int:
        """The exit code."""
        options = self._options
        preview = await self._preview()
        self._print(preview)
        going = [change for change in preview.changes if not self._is_left(change)]
        cells = [cell for notebook in preview.notebooks for cell in notebook.cells]
        if not going and not cells and options.command == "undo":
            self._terminal.print("Nothing is to be done.")
            return EXIT_DONE
        if not options.yes and not await self._agreed():
            return EXIT_DONE if self._terminal.can_ask else EXIT_NEEDS_ANSWER
        loop = asyncio.get_running_loop()
        doing = asyncio.ensure_future(self._do(preview.event))
        loop.add_signal_handler(signal.SIGINT, doing.cancel)
        try:
            return await doing
        except asyncio.CancelledError:
            return EXIT_STOPPED
        finally:
            loop.remove_signal_handler(signal.SIGINT)

    async def _preview(self) -> RestorePreview:
        files, options = self._session.files, self._options
        if options.command == "undo":
            return await files.undo_preview(options.turn)
        return await files.rewind_preview(options.event)

    def _is_left(self, change: FileChange) -> bool:
        return bool(change.conflict) and change.path not in self._options.force

    def _print(self, preview: RestorePreview) -> None:
        terminal, options = self._terminal, self._options
        to = f"event {preview.event}"
        terminal.print(f"Back to before {to}:" if options.command == "rewind" else f"Undo of {to}:")
        for change in preview.changes:
            if self._is_left(change):
                terminal.print(f"  left alone  {inert(change.path)}: {change.conflict}", "yellow")
            else:
                _print_change(terminal, change, _GOES_BACK)
        _print_more(terminal, preview.total - len(preview.changes))
        for change in preview.failed:
            terminal.print(f"  impossible  {inert(change.path)}: {change.conflict}", "red")
        for notebook in preview.notebooks:
            _print_notebook(terminal, notebook)
        for path in preview.others:
            terminal.print(f"  stays       {inert(path)}: Another session changed it.", "dim")
        if preview.uncertain:
            terminal.print("The server ended during this turn: its last changes are left alone.")
        if getattr(options, "replay", False):
            terminal.print(f"Cells that are run again: {preview.cells}")
        shown = {change.path for change in preview.changes}
        for path in options.force:
            if path not in shown:
                terminal.print(f"--force {inert(path)}: that would not be restored.", "yellow")

    async def _agreed(self) -> bool:
        if not self._terminal.can_ask:
            self._terminal.print("Nobody can be asked: there is no terminal. Nothing was done.")
            self._terminal.print("Say --yes to do it.")
            return False
        answer = await self._terminal.ask("Do it? [y/N]")
        return answer.lower() in ("y", "yes")

    async def _do(self, event: int) -> int:
        session, options = self._session, self._options
        if options.command == "undo":
            asked = session.undo(event, options.force)
        else:
            asked = session.rewind(event, options.replay, options.force)
        code = EXIT_ERROR
        async for event_ in session.stream.events(after=asked):
            self._timeline.show(event_)
            code = _code_of(event_, asked, code)
            if isinstance(event_, AgentStateChangedObservation) and event_.state != "running":
                return code
        return code


def _code_of(event: Event, asked: int, before: int) -> int:
    if event.cause != asked:
        return before
    match event:
        case ErrorObservation():
            return EXIT_ERROR
        case FilesRestoredObservation():
            problem = any(notebook.problem for notebook in event.notebooks)
            return EXIT_ERROR if event.failed or problem else EXIT_DONE
        case ReplayObservation():
            return before if event.done == event.cells else EXIT_ERROR
        case _:
            return before


def _print_change(terminal: Terminal, change: FileChange, words: dict[str, str]) -> None:
    note = f"  {change.conflict}" if change.conflict else ""
    terminal.print(f"  {words[change.kind]:<11} {inert(change.path)}{note}")


def _print_notebook(terminal: Terminal, notebook: NotebookRestored) -> None:
    path = inert(notebook.path)
    if notebook.problem:
        terminal.print(f"  left alone  {path}: {inert(notebook.problem)}", "yellow")
    for cell in notebook.cells:
        terminal.print(f"  {_CELL_GOES_BACK[cell.what]:<11} {path}, cell {inert(cell.id)}")
        before, after = cell.before or "", cell.after or ""
        _print_lines(terminal, _unified(f"{path}:{cell.id}", before, after)[2:])
    for left in notebook.left:
        text = f"  left alone  {path}, cell {inert(left.id)}: {inert(left.why)}"
        terminal.print(text, "yellow")
        _print_lines(terminal, left.both.splitlines())


def _print_more(terminal: Terminal, more: int) -> None:
    if more > 0:
        terminal.print(f"  and {more:,} more")


def _print_texts(path: str, texts: FileTexts, terminal: Terminal) -> None:
    if texts.notice:
        terminal.print(texts.notice)
        return
    _print_lines(terminal, _unified(path, texts.before, texts.after))


def _print_lines(terminal: Terminal, lines: Iterable[str]) -> None:
    for line in lines:
        colour = {"+": "green", "-": "red", "@": "cyan"}.get(line[:1], "")
        terminal.print(inert(line), colour)


def _unified(path: str, before: str, after: str) -> Sequence[str]:
    names = (f"a/{path}", f"b/{path}")
    return list(difflib.unified_diff(before.splitlines(), after.splitlines(), *names, lineterm=""))
