"""The magics themselves."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from IPython.core.error import UsageError
from IPython.core.magic import Magics, line_cell_magic, magics_class
from IPython.display import display

from ..errors import Invalid, OpenHandsError
from .conversation import Conversation
from .options import HELP, SEE_HELP, Options, parse_options
from .prompt import expand
from .tab import Tab
from .task import MIME, NOT_SHOWN, VERSION, Task

METADATA = "openhands"
"""In a cell's metadata: what became of its task, as the extension keeps it there."""

NO_SESSION = ("There is no session yet.", "Give a task with %%openhands.")
LOGGED = 20
MOST_LOGGED = 1000


@magics_class
class OpenHandsMagics(Magics):
    """`%openhands` and `%%openhands`."""

    def __init__(self, shell: Any) -> None:
        super().__init__(shell)
        self._shell = shell
        self._conversation = Conversation()
        kernel = getattr(shell, "kernel", None)
        comms = getattr(kernel, "comm_manager", None)
        self._tab = Tab(comms, self._conversation) if comms else None

    @line_cell_magic
    def openhands(self, line: str, cell: str | None = None) -> Task | None:
        """Give the agent a task, or see to its session; `%openhands help` says how."""
        try:
            if cell is None:
                self._do(line)
                return None
            return self._run(parse_options(line), cell)
        except OpenHandsError as error:
            raise UsageError(f"{error.message} {error.hint}".rstrip()) from None

    def _run(self, options: Options, cell: str) -> Task:
        names = self._shell.user_ns
        page = None if options.direct else self._page()
        task = Task(
            expand(cell, names),
            can_block=page is None,
            can_await=page is None or _hears_while_it_awaits(),
        )
        if options.new:
            self._conversation.reset()
        if options.model:
            self._conversation.model = options.model
        if options.into:
            names[options.into] = task
        if page is not None and self._tab is not None:
            self._recall(task, page)
            self._tab.offer(task, options)
            _show(task.bundle())
        else:
            self._direct().run(task, options, self._conversation)
            if task.answer and hasattr(self._shell, "kernel"):
                # For those who read the notebook by its outputs; a terminal has it already.
                _show({"text/plain": _inert(task.answer)})
        return task

    def _recall(self, task: Task, metadata: dict[str, Any]) -> None:
        """Take over the answer that the cell has from before, if it asked the same."""
        kept = metadata.get(METADATA)
        before = kept.get("task") if isinstance(kept, dict) else None
        if isinstance(before, dict) and before.get("asked") == task.fingerprint:
            session, message = before.get("session"), before.get("message")
            task.update(
                state="answered",
                answer=str(before.get("answer") or ""),
                session=session if isinstance(session, str) else None,
                message=message if isinstance(message, int) else None,
            )

    def _do(self, line: str) -> None:
        verb, _, rest = line.strip().partition(" ")
        rest = rest.strip()
        match verb:
            case "" | "help":
                print(HELP)
            case "reset":
                self._conversation.reset()
                print("The next cell begins a new session.")
            case "status":
                self._answer("status", self._words("status"), session=self._session())
            case "list":
                current = self._conversation.session
                self._answer("list", lambda infos: self._words("sessions")(infos, current))
            case "stop":
                self._answer("stop", _stopped, session=self._session())
            case "undo":
                self._answer("undo", self._words("undone"), session=self._session())
            case "model" if rest:
                self._conversation.model = rest
                print(f"The next cells are done by {rest}.")
            case "model":
                model = self._conversation.model
                self._answer("models", lambda known: self._words("models")(known, model))
            case "config":
                self._answer("config", self._words("config"))
            case "log":
                number = _number(rest)
                self._answer("log", self._words("log"), session=self._session(), limit=number)
            case "inject":
                if not rest:
                    raise Invalid("empty_message", "There is nothing to say.", SEE_HELP)
                said = "The agent reads it after its present step."
                self._answer("inject", lambda _: said, session=self._session(), content=rest)
            case _:
                raise Invalid("unknown_verb", f"%openhands cannot {verb}.", SEE_HELP)

    def _answer(self, verb: str, words: Callable[[Any], str], **arguments: Any) -> None:
        """Print what a verb gives: now, or in the cell's output once the page has answered."""
        if self._page() is None or self._tab is None:
            print(words(getattr(self._direct(), verb)(**arguments)))
            return
        shown: list[Any] = []

        def on_reply(data: Any, error: OpenHandsError | None) -> None:
            text = f"{error.message} {error.hint}".rstrip() if error else words(data)
            shown[0].update({"text/plain": text}, raw=True)

        id = self._tab.ask(verb, arguments, on_reply)
        payload = {"version": VERSION, "kind": "request", "id": id}
        bundle = {MIME: payload, "text/plain": NOT_SHOWN}
        shown.append(_show(bundle, updatable=True))

    def _session(self) -> str:
        if self._conversation.session is None:
            message, hint = NO_SESSION
            raise Invalid("no_session", message, hint)
        return self._conversation.session

    def _page(self) -> dict[str, Any] | None:
        """The metadata of the cell that a page has sent; None where there is no page.

        JupyterLab and Notebook send a cell's metadata and id along with its code; nbconvert, other
        clients and a plain IPython do not.
        """
        kernel = getattr(self._shell, "kernel", None)
        if kernel is None:
            return None
        metadata = kernel.get_parent("shell").get("metadata", {})
        return metadata if "cellId" in metadata else None

    def _direct(self) -> Any:
        from ..local_server import find_server
        from .direct import Direct

        return Direct(find_server(Path.cwd()))

    def _words(self, name: str) -> Any:
        """One of the functions of `words`, which is loaded when it is needed."""

        def say(*arguments: Any) -> str:
            from . import words

            text: str = getattr(words, name)(*arguments)
            return text

        return say


def _hears_while_it_awaits() -> bool:
    """Whether the kernel takes messages of comms while a cell awaits something."""
    from ipykernel._version import version_info

    return version_info >= (7,)


def _stopped(there_was: bool) -> str:
    return "The agent is told to stop." if there_was else "The agent is not at work."


def _number(text: str) -> int:
    if not text:
        return LOGGED
    if not text.isdecimal() or not 0 < int(text) <= MOST_LOGGED:
        raise Invalid("wrong_number", f"“{text}” is no number from 1 to {MOST_LOGGED}.", SEE_HELP)
    return int(text)


def _show(bundle: dict[str, Any], updatable: bool = False) -> Any:
    """Put a bundle into the cell's output; what it can be replaced by, if it is to be."""
    # IPython's function has no types.
    put: Any = display
    return put(bundle, raw=True, display_id=True) if updatable else put(bundle, raw=True)


def _inert(text: str) -> str:
    from ..cli.terminal import inert

    return inert(text)
