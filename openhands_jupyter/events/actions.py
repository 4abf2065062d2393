"""What the person and the agent can do."""

from __future__ import annotations

from typing import ClassVar, Literal

import msgspec

from .context import MessageContext
from .event import Action, Blob, Source

Mode = Literal["ask", "agent", "auto"]
Decision = Literal["approve", "reject"]
Command = Literal["run", "pause", "stop"]
EditCommand = Literal["str_replace", "insert", "undo"]
NetworkAccess = Literal["once", "session", "revoked"]
TaskStatus = Literal["todo", "in_progress", "done"]


class UserMessageAction(Action, frozen=True, kw_only=True, tag=True):
    """The person says something to the agent.

    Attributes
    ----------
    context
        What their notebooks were like, as far as they let it go with the message.
    """

    usual_source: ClassVar[Source] = "user"

    content: str
    context: list[MessageContext] = []


class AgentMessageAction(Action, frozen=True, kw_only=True, tag=True):
    """The agent says something to the person.

    Attributes
    ----------
    content
        Markdown, from a model: untrusted.
    wait_for_response
        True for a question: the session then waits for the person.
    options
        Answers to choose from, if the agent offered some.
    notice
        What the person should know of the model that said it.
    """

    content: str
    wait_for_response: bool = False
    options: list[str] = []
    notice: str = ""


class AgentThinkAction(Action, frozen=True, kw_only=True, tag=True):
    """The agent notes a thought (in ``thought``); nothing is executed."""


class SystemMessageAction(Action, frozen=True, kw_only=True, tag=True):
    """The system prompt and the tools that the agent works with, for replay and for the curious."""

    content: str
    tools: list[str] = []
    agent: str = ""


class IPythonRunCellAction(Action, frozen=True, kw_only=True, tag=True):
    """Run code in the sandbox's IPython kernel.

    Attributes
    ----------
    timeout
        Seconds after which the cell is interrupted; None for the configured default.
    """

    runnable: ClassVar[bool] = True

    code: str
    timeout: float | None = None


class CmdRunAction(Action, frozen=True, kw_only=True, tag=True):
    """Run a command in the sandbox's persistent shell, or go on with the one that runs there.

    Attributes
    ----------
    command
        The command; empty to wait on for the one that still runs.
    timeout
        Seconds after which the command is stopped. None for the configured default; then a command
        that prints nothing for a while is left running, and can be gone on with.
    is_input
        Whether ``command`` is text for the command that still runs: a line, to which the newline
        is added, or a key such as ``C-c``.
    """

    runnable: ClassVar[bool] = True

    command: str
    timeout: float | None = None
    is_input: bool = False


class FileReadAction(Action, frozen=True, kw_only=True, tag=True):
    """Read a text file, or list a folder, of the workspace.

    Attributes
    ----------
    path
        Relative to the workspace, or absolute.
    start, end
        First and last line, counted from 1, both included; None for the whole file.
    """

    runnable: ClassVar[bool] = True
    changes_files: ClassVar[bool] = False

    path: str
    start: int | None = None
    end: int | None = None


class FileWriteAction(Action, frozen=True, kw_only=True, tag=True):
    """Write a whole text file, creating it and its folders as needed."""

    runnable: ClassVar[bool] = True

    path: str
    content: str | Blob


class FileEditAction(Action, frozen=True, kw_only=True, tag=True):
    """Change part of a text file.

    Attributes
    ----------
    command
        ``str_replace`` (``old_str`` must occur exactly once), ``insert`` (``new_str`` after line
        ``insert_line``, 0 for the top) or ``undo`` (the last write or edit of this file).
    """

    runnable: ClassVar[bool] = True

    path: str
    command: EditCommand
    old_str: str = ""
    new_str: str = ""
    insert_line: int = 0


class FileGlobAction(Action, frozen=True, kw_only=True, tag=True):
    """Find files by name.

    Attributes
    ----------
    pattern
        Such as ``*.py`` (in every folder below) or ``src/**/test_*.py`` (from ``path``).
    path
        The folder to search in.
    """

    runnable: ClassVar[bool] = True
    changes_files: ClassVar[bool] = False

    pattern: str
    path: str = "."


class FileGrepAction(Action, frozen=True, kw_only=True, tag=True):
    """Find lines in text files.

    Attributes
    ----------
    pattern
        A regular expression of Python's, looked for in each line.
    path
        The folder to search in, or a file.
    include
        A pattern, as of `FileGlobAction`, that a file must fit; empty for all files.
    ignore_case
        Whether letters fit in either case.
    """

    runnable: ClassVar[bool] = True
    changes_files: ClassVar[bool] = False

    pattern: str
    path: str = "."
    include: str = ""
    ignore_case: bool = False


class Task(msgspec.Struct, frozen=True, kw_only=True):
    """One entry of the agent's plan."""

    title: str
    status: TaskStatus = "todo"


class TaskTrackingAction(Action, frozen=True, kw_only=True, tag=True):
    """The agent states its whole plan anew."""

    tasks: list[Task]


class FinishAction(Action, frozen=True, kw_only=True, tag=True):
    """The agent says that the task is done; a new message opens it again.

    Attributes
    ----------
    message
        What was done, in Markdown, for the person.
    """

    message: str = ""


class RejectAction(Action, frozen=True, kw_only=True, tag=True):
    """The agent declines the task; a new message opens it again.

    Attributes
    ----------
    message
        Why, in Markdown, for the person.
    """

    message: str


class InvalidToolCallAction(Action, frozen=True, kw_only=True, tag=True):
    """The model called a tool that does not exist, or with arguments that do not fit.

    Attributes
    ----------
    message
        What is wrong with the call, for the model to mend.
    """

    message: str


class CellDecision(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The person's decision on one cell of an edit that was approved.

    Attributes
    ----------
    id
        Of the cell, as the edit has it.
    source
        The person's own text in place of the agent's; None where that stays.
    """

    id: str
    decision: Decision
    source: str | None = None


class ConfirmationAction(Action, frozen=True, kw_only=True, tag=True):
    """The person's decision on the action in ``cause``.

    Attributes
    ----------
    reason
        What the agent is told; mostly with a rejection.
    cells
        Of an edit of a notebook that is approved: what is decided otherwise for single cells. A
        group of which one cell is rejected is not done at all.
    """

    usual_source: ClassVar[Source] = "user"

    decision: Decision
    reason: str = ""
    cells: list[CellDecision] | None = None


class UndoAction(Action, frozen=True, kw_only=True, tag=True):
    """The person takes back what a turn did to files, and to the cells of notebooks.

    Exactly one observation answers it.

    Attributes
    ----------
    turn
        Id of the turn's first action that may have changed files, or of an earlier undo.
    force
        Paths to be restored although somebody else changed them since, with all below them.
    """

    usual_source: ClassVar[Source] = "user"

    turn: int
    force: list[str] = []


class RewindAction(Action, frozen=True, kw_only=True, tag=True):
    """The person goes back to before an event: its files, a new kernel and a new shell.

    The log stays whole. Exactly one observation answers it.

    Attributes
    ----------
    event
        Id of the event.
    replay
        Whether the cells that succeeded before that event are to be run again.
    force
        As with an undo.
    """

    usual_source: ClassVar[Source] = "user"

    event: int
    replay: bool = False
    force: list[str] = []


class ChangeAgentStateAction(Action, frozen=True, kw_only=True, tag=True):
    """The person runs, pauses or stops the agent."""

    usual_source: ClassVar[Source] = "user"

    command: Command


class ChangeSettingsAction(Action, frozen=True, kw_only=True, tag=True):
    """A setting of this session changes; None leaves a value as it is.

    Attributes
    ----------
    mode
        How much may happen without asking.
    model
        Name of the language model, or ``tour``.
    agent
        Name of the agent that works from its next step on, or an import path. It keeps the history.
    step_limit
        Agent steps allowed in all.
    cost_limit, token_limit, time_limit
        US dollars, tokens and minutes of work allowed in all; 0 for no limit.
    stuck_detection
        Whether an agent that does the same again and again is stopped.
    secrets
        Names of all the secrets that the sandbox may have, never their values.
    """

    usual_source: ClassVar[Source] = "user"

    mode: Mode | None = None
    model: str | None = None
    agent: str | None = None
    step_limit: int | None = None
    cost_limit: float | None = None
    token_limit: int | None = None
    time_limit: float | None = None
    stuck_detection: bool | None = None
    secrets: list[str] | None = None


class NetworkAccessAction(Action, frozen=True, kw_only=True, tag=True):
    """The person says whether the session's sandbox may reach a host that is not listed.

    Attributes
    ----------
    host, port
        The place; see `hosts.Rule`.
    access
        ``once`` until the end of the next command or cell, ``session`` as long as there is the
        session, or ``revoked``.
    """

    usual_source: ClassVar[Source] = "user"

    host: str
    port: int
    access: NetworkAccess
