"""``jupyter openhands run``: one task without a browser."""

from __future__ import annotations

import argparse
import asyncio
import signal
import sys
from pathlib import Path
from typing import get_args

import msgspec

from ..config import Config
from ..errors import Conflict, Invalid
from ..events import AgentMessageAction, AgentStateChangedObservation, Event, Mode
from ..events.reading import LOG_FILE
from ..llm.base import LanguageModel
from ..session import Session, SessionManager
from ..session.following import until_rest
from ..session.mcp import McpRoom
from .terminal import Terminal, inert
from .timeline import Timeline

EXIT_DONE = 0
EXIT_ERROR = 1
EXIT_LIMIT = 2
EXIT_NEEDS_ANSWER = 3
EXIT_INTERRUPTED = 130

NO_TERMINAL = "there is no terminal to ask at."


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "run",
        help="do one task and print each step",
        description="Do one task in a new session and print each step.",
        epilog="Exit codes: 0 done, 1 an error, or the agent got nowhere, 2 a limit was reached, "
        "or wrong usage, 3 something has to be approved or answered and there is no terminal, 130 "
        "stopped with Ctrl-C (a second Ctrl-C does not wait).",
    )
    parser.add_argument("task", nargs="?", help="what to do, in plain words")
    parser.add_argument(
        "-f", "--file", metavar="FILE", help="read the task from a file; '-' for standard input"
    )
    add_settings(parser)
    parser.add_argument(
        "--json", action="store_true", help="print each event as a line of JSON, and ask nothing"
    )


def add_settings(parser: argparse.ArgumentParser) -> None:
    """Add the options that set something for one run; see `config.keys.OPTIONS`."""
    parser.add_argument("--model", help="a model in LiteLLM's terms, or 'tour' for the guided tour")
    parser.add_argument(
        "--agent",
        help="codeact (default), readonly, planner, swe, one that is installed, or module:Class",
    )
    parser.add_argument(
        "--mode",
        choices=get_args(Mode),
        help="ask: read only; agent: asks before risky steps (default); auto: does not ask",
    )
    parser.add_argument("--max-steps", type=int, metavar="N", help="pause after that many steps")
    parser.add_argument(
        "--budget", type=float, metavar="DOLLARS", help="pause when the models have cost that"
    )
    parser.add_argument(
        "--workspace", default=".", metavar="DIR", help="folder to work in (default: this one)"
    )


async def run(options: argparse.Namespace, config: Config, terminal: Terminal) -> int:
    """Do the task; the exit code.

    Raises
    ------
    OpenHandsError
        When it cannot begin.
    """
    try:
        task = await asyncio.to_thread(_task, options)
    except (Invalid, OSError, UnicodeDecodeError) as error:
        print(f"jupyter openhands: {error}", file=sys.stderr)
        return EXIT_LIMIT
    return await TaskRun(config, terminal, as_json=options.json).run(task)


def _task(options: argparse.Namespace) -> str:
    if (options.task is None) == (options.file is None):
        raise Invalid("no_task", "Say what to do: either in words, or with -f FILE.")
    if options.file is None:
        return str(options.task)
    if options.file == "-":
        return sys.stdin.read()
    return Path(options.file).read_text(encoding="utf-8")


class TaskRun:
    """Runs one task in a new session, prints its events, asks on the terminal.

    Parameters
    ----------
    config
        The settings in force; its root is the workspace.
    terminal
        Where to print and to ask.
    as_json
        Whether to print events as they are on the log, a line each, and to ask nothing.
    """

    def __init__(self, config: Config, terminal: Terminal, *, as_json: bool = False) -> None:
        self._config = config
        self._terminal = terminal
        self._as_json = as_json
        self._can_ask = terminal.can_ask and not as_json
        self._timeline = Timeline(terminal)
        self._last_message: AgentMessageAction | None = None
        self._interrupted = False

    async def run(self, task: str, model: LanguageModel | None = None) -> int:
        """Do the task.

        Parameters
        ----------
        task
            What to do.
        model
            Who answers; None for the configured model.

        Returns
        -------
        int
            The exit code.

        Raises
        ------
        OpenHandsError
            When it cannot begin.
        """
        models = [model] if model else []
        manager = SessionManager(self._config, models=models)
        try:
            session = await manager.create(workspace=".", model=model.name if model else None)
            following = asyncio.ensure_future(self._do(session, task, manager.mcp))
            asyncio.get_running_loop().add_signal_handler(
                signal.SIGINT, self._interrupt, session, following
            )
            return await following
        except asyncio.CancelledError:
            return EXIT_INTERRUPTED
        finally:
            asyncio.get_running_loop().remove_signal_handler(signal.SIGINT)
            await manager.close()

    def _interrupt(self, session: Session, following: asyncio.Future[int]) -> None:
        """The first Ctrl-C stops the agent; a second, or one when nothing runs, ends at once."""
        again, self._interrupted = self._interrupted, True
        self._terminal.give_up_asking()
        try:
            if again:
                following.cancel()
            else:
                session.command("stop")
        except Conflict:
            following.cancel()

    async def _do(self, session: Session, task: str, mcp: McpRoom) -> int:
        for server in await mcp.known(session.id):
            why = server.message or server.notice or "It is not ready; the agent begins without it."
            told = inert(f"MCP server {server.name}: {why}")
            print(f"jupyter openhands: {told}", file=sys.stderr)
        after, code = session.send_message(task) - 1, None
        while code is None:
            rest = await until_rest(
                session, after, lambda action: self._decide(session, action), self._show
            )
            after, code = rest.id, await self._after(session, rest)
        self._say(f"      Log: {self._config.sessions_folder / session.id / LOG_FILE}", "dim")
        return code

    def _show(self, event: Event) -> None:
        if isinstance(event, AgentMessageAction):
            self._last_message = event
        if self._as_json:
            self._terminal.print(msgspec.json.encode(event).decode())
        else:
            self._timeline.show(event)

    def _say(self, text: str, colour: str) -> None:
        if not self._as_json:
            self._terminal.print(text, colour)

    async def _after(self, session: Session, rest: AgentStateChangedObservation) -> int | None:
        """Do what comes after the agent's rest; the exit code where that is nothing."""
        match rest.state:
            case "finished":
                return self._at_rest(session)
            case "error" | "rejected":
                return EXIT_ERROR
            case "paused":
                return await self._help(session) if rest.code == "stuck" else EXIT_LIMIT
            case "stopped":
                return EXIT_INTERRUPTED
            case "awaiting_user_confirmation":
                return EXIT_NEEDS_ANSWER
            case _:
                return await self._answer(session)

    def _at_rest(self, session: Session) -> int | None:
        """What comes after the agent has finished."""
        return EXIT_DONE

    async def _decide(self, session: Session, action_id: int) -> bool:
        """Have the person decide on an action; false where there is nobody to ask."""
        for reason in self._reasons(session, action_id):
            self._say(f"      ! {inert(reason)}", "yellow")
        if not self._can_ask:
            self._say(f"      Action {action_id} needs your approval, and {NO_TERMINAL}", "red")
            self._say("      Run it at a terminal, in the panel, or with --mode auto.", "red")
            return False
        answer = await self._terminal.ask("      Approve? [y/N, or why not]")
        if self._interrupted:
            return True
        if answer.lower() in ("y", "yes"):
            session.confirm(action_id, "approve")
        else:
            reason = "" if answer.lower() in ("", "n", "no") else answer
            session.confirm(action_id, "reject", reason)
        return True

    async def _help(self, session: Session) -> int | None:
        """Let the person give a hint to an agent that does the same again and again."""
        hint = await self._terminal.ask("      Your hint (empty to end):") if self._can_ask else ""
        if not hint:
            return EXIT_INTERRUPTED if self._interrupted else EXIT_ERROR
        session.send_message(hint)
        return None

    def _reasons(self, session: Session, action_id: int) -> list[str]:
        action = session.controller.state.open_calls.get(action_id)
        return action.risk.reasons if action and action.risk else []

    async def _answer(self, session: Session) -> int | None:
        """Let the person answer the agent's question, or go on where it only said something."""
        message = self._last_message
        is_question = message is not None and message.llm and message.llm.tool_name is not None
        # A model that cannot call tools has said something and done nothing.
        in_vain = message is not None and message.notice
        if not self._can_ask and is_question:
            return EXIT_NEEDS_ANSWER
        answer = ""
        if self._can_ask:
            answer = await self._terminal.ask("      Your answer (empty to end):")
        if not answer:
            if self._interrupted:
                return EXIT_INTERRUPTED
            return EXIT_ERROR if in_vain else EXIT_DONE
        session.send_message(answer)
        return None
