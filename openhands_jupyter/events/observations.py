"""What came of actions, and what happened in the environment."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from .effects import NameChanges, TouchedFiles
from .event import Blob, Observation
from .notebooks import NotebookRestored

AgentState = Literal[
    "loading",
    "running",
    "awaiting_user_input",
    "awaiting_user_confirmation",
    "rate_limited",
    "paused",
    "stopped",
    "finished",
    "rejected",
    "error",
]
NetworkRefusal = Literal["not_listed", "ip_address", "local_address", "unresolved", "unreachable"]
IsolationLevel = Literal["green", "amber", "red"]
Interruption = Literal[
    "", "timeout", "stopped", "kernel_died", "sandbox_died", "output_limit", "disk_limit"
]


class BackgroundJob(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A job that a command left in the background.

    Attributes
    ----------
    id
        Number of the job, for ``fg %1`` or ``kill %1``.
    pid
        Its process, or the first one of its pipeline.
    status
        ``running``, ``stopped``, or how it ended, such as ``done`` or ``exit 3``. The end of a job
        is told once.
    command
        What it runs.
    """

    id: int
    pid: int
    status: str
    command: str = ""


class CmdOutputObservation(Observation, frozen=True, kw_only=True, tag=True):
    """What a shell command printed and how it ended.

    Attributes
    ----------
    content
        Standard output and error as they came; cut in the middle when long (the cut is said).
    exit_code
        The command's exit code, 128 + n for signal n; None when it did not end by itself.
    cwd
        The shell's folder afterwards.
    interrupted
        Why the command did not end by itself, else empty.
    full_output
        The whole output, when ``content`` was cut.
    running
        Whether the command still runs; a later action can go on with it.
    jobs
        The background jobs of the shell.
    """

    content: str
    exit_code: int | None = None
    cwd: str = ""
    interrupted: Interruption = ""
    full_output: str | Blob | None = None
    running: bool = False
    jobs: list[BackgroundJob] = []


class Output(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One output of a cell, in nbformat's terms.

    Attributes
    ----------
    kind
        ``stream``, ``display_data``, ``execute_result`` or ``error``.
    name
        ``stdout`` or ``stderr``, for a stream.
    text
        The text of a stream, or the traceback of an error.
    data
        The mime bundle: media type to content. A value is text or JSON, or a ``Blob`` where the
        content is an image or large.
    metadata
        The bundle's metadata.
    ename, evalue
        Name and value of an error.
    """

    kind: Literal["stream", "display_data", "execute_result", "error"]
    name: str = ""
    text: str | Blob = ""
    data: dict[str, Any] = {}
    metadata: dict[str, Any] = {}
    ename: str = ""
    evalue: str = ""


class IPythonOutputObservation(Observation, frozen=True, kw_only=True, tag=True):
    """What a cell printed, displayed and raised.

    Attributes
    ----------
    outputs
        In order of appearance, streams merged.
    execution_count
        The kernel's prompt number.
    ok
        False when the cell raised or did not end by itself.
    interrupted
        Why the cell did not end by itself, else empty.
    input_requested
        The prompt of an ``input()`` call, which nobody here can answer; None if there was none.
    names, files
        What became of the kernel's names and of the files of the workspace; None where that is not
        known.
    """

    outputs: list[Output] = []
    execution_count: int | None = None
    ok: bool = True
    interrupted: Interruption = ""
    input_requested: str | None = None
    names: NameChanges | None = None
    files: TouchedFiles | None = None


class FileReadObservation(Observation, frozen=True, kw_only=True, tag=True):
    """The text of a file, without line numbers, or the listing of a folder.

    Attributes
    ----------
    content
        The lines asked for, or one entry a line (folders end in ``/``).
    start
        Number of the first line in ``content``.
    total_lines
        Lines in the whole file; 0 for a folder.
    is_dir
        Whether ``path`` is a folder.
    """

    path: str
    content: str
    start: int = 1
    total_lines: int = 0
    is_dir: bool = False


class FileWriteObservation(Observation, frozen=True, kw_only=True, tag=True):
    """A file was written.

    Attributes
    ----------
    created
        Whether the file is new.
    old_content
        What stood there before; None if the file is new or was not text.
    content
        What stands there now.
    """

    path: str
    created: bool
    content: str | Blob = ""
    old_content: str | Blob | None = None


class FileEditObservation(Observation, frozen=True, kw_only=True, tag=True):
    """A file was changed.

    Attributes
    ----------
    old_content, content
        The whole text before and after.
    """

    path: str
    content: str | Blob = ""
    old_content: str | Blob = ""


class FileGlobObservation(Observation, frozen=True, kw_only=True, tag=True):
    """Files whose names fit.

    Attributes
    ----------
    files
        Their paths, from ``path`` on; the first ones if there are many.
    total
        How many were found.
    notice
        What was not searched, as a sentence; empty if nothing was left out.
    """

    path: str
    pattern: str
    files: list[str] = []
    total: int = 0
    notice: str = ""


class GrepMatch(msgspec.Struct, frozen=True, kw_only=True):
    """A line that fits.

    Attributes
    ----------
    path
        The file, from the folder that was searched; empty where a single file was.
    line
        Number of the line, from 1.
    text
        The line, cut where it is long.
    """

    path: str
    line: int
    text: str


class FileGrepObservation(Observation, frozen=True, kw_only=True, tag=True):
    """Lines that fit.

    Attributes
    ----------
    matches
        The first of them.
    total
        How many lines fit.
    files
        In how many files.
    notice
        What was not searched, as a sentence; empty if nothing was left out.
    """

    path: str
    pattern: str
    matches: list[GrepMatch] = []
    total: int = 0
    files: int = 0
    notice: str = ""


class UserRejectObservation(Observation, frozen=True, kw_only=True, tag=True):
    """The action in ``cause`` was not executed because the person said no.

    Attributes
    ----------
    reason
        What the person said.
    """

    reason: str = ""


class ErrorObservation(Observation, frozen=True, kw_only=True, tag=True):
    """Something went wrong.

    Attributes
    ----------
    code
        Short and stable, such as ``model_auth`` or ``interrupted``.
    message
        A sentence for the person and the model.
    hint
        What to do about it.
    """

    code: str
    message: str
    hint: str = ""


class AgentStateChangedObservation(Observation, frozen=True, kw_only=True, tag=True):
    """The session entered another state.

    Attributes
    ----------
    state
        The state entered.
    reason
        Why, as a sentence.
    code
        Short and stable when something is wrong, such as ``step_limit``.
    hint
        What the person can do about it.
    worked
        Seconds that the agent has worked in the session, told when it stops working.
    retry_in
        Seconds after which it goes on by itself; None where somebody has to act.
    """

    state: AgentState
    reason: str = ""
    code: str = ""
    hint: str = ""
    worked: float | None = None
    retry_in: float | None = None


class ModelUsageObservation(Observation, frozen=True, kw_only=True, tag=True):
    """What one model response took.

    Attributes
    ----------
    caller
        Who asked for it: ``agent`` for a step of the agent, or another part of the program, such
        as ``condenser`` or ``title``.
    prompt_tokens, completion_tokens, cached_tokens
        Tokens as the provider counted them.
    cost
        US dollars, or None where the price is not known (which is not zero).
    seconds
        From request to last byte.
    """

    response_id: str
    model: str
    caller: str = "agent"
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    cost: float | None = None
    seconds: float = 0.0


class ModelNoticeObservation(Observation, frozen=True, kw_only=True, tag=True):
    """Something about a model that the person should know, though the work goes on.

    Attributes
    ----------
    model
        The model that is asked from here on.
    code
        ``small_window``, ``model_no_images``, ``model_back`` (the session's own model answers
        again), or that of the error for which a fallback model is asked.
    message, hint
        As in an error.
    """

    model: str
    code: str
    message: str
    hint: str = ""


class Check(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One canary of the sandbox's self-test.

    Attributes
    ----------
    name
        What was tried, such as ``write outside the workspace``.
    held
        Whether the sandbox stopped it.
    detail
        What was seen.
    """

    name: str
    held: bool
    detail: str = ""


class IsolationObservation(Observation, frozen=True, kw_only=True, tag=True):
    """The sandbox started; what it enforces, as its self-test found.

    Attributes
    ----------
    level
        ``green`` (everything held), ``amber`` (something did not) or ``red`` (no sandbox).
    backend
        ``bubblewrap``, ``landlock``, ``docker``, ``gateway`` or ``none``.
    summary
        One sentence for the status strip.
    notice
        Why this backend, where it is not the one asked for.
    checks
        The self-test's canaries.
    missing
        What is not enforced, a phrase each.
    workspace
        The folder that the work is done in, where that is on another machine; else empty.
    network
        The places that programs in it might reach when it started, such as ``pypi.org`` or
        ``example.org:8080``; None where it has no network that could be guarded.
    python
        The Python of its kernel and shell, such as ``Python 3.11 in /opt/conda``; empty where that
        is not known, or cannot be used.
    packages
        Whether packages can be installed on top of that, into a folder that lasts.
    secrets
        Names of the secrets that it was given.
    """

    level: IsolationLevel
    backend: str
    summary: str
    notice: str = ""
    checks: list[Check] = []
    missing: list[str] = []
    workspace: str = ""
    network: list[str] | None = None
    python: str = ""
    packages: bool = False
    secrets: list[str] = []


class SandboxReleasedObservation(Observation, frozen=True, kw_only=True, tag=True):
    """The sandbox ended while nothing ran in it; its variables and processes are gone.

    Attributes
    ----------
    reason
        Why, as a sentence.
    """

    reason: str


class NetworkRefusedObservation(Observation, frozen=True, kw_only=True, tag=True):
    """A program in the sandbox wanted to reach a place and could not; told once an action.

    ``cause`` is the command or cell that ran, or else the last one, which left the program running.
    It is answered by an observation of its own.

    Attributes
    ----------
    host, port
        The place: a name, or an IP address. It comes from the program: untrusted.
    reason
        ``not_listed``, which the person can change; or another one, which they cannot.
    """

    host: str
    port: int
    reason: NetworkRefusal


class CheckpointObservation(Observation, frozen=True, kw_only=True, tag=True):
    """The files of the workspace were kept, before an action or at the end of a turn.

    Attributes
    ----------
    action
        Id of the action, which had not begun; at a turn's end its first action that may have
        changed files.
    checkpoint
        Id in the store of the workspace.
    files, size
        Files in it, and their bytes together.
    left_out
        Paths that it holds no content of, such as caches.
    since
        At a turn's end the checkpoint before its first action; else empty.
    changed, cells
        Paths that the turn changed, and cells of notebooks that it edited; told at its end.
    """

    action: int
    checkpoint: str
    files: int = 0
    size: int = 0
    left_out: int = 0
    since: str = ""
    changed: int = 0
    cells: int = 0


class NoCheckpointObservation(Observation, frozen=True, kw_only=True, tag=True):
    """The files could not be kept before an action, which therefore cannot be undone.

    Told once, and again when the reason is another one.

    Attributes
    ----------
    action
        Its id.
    code, message, hint
        Why, as in an error.
    """

    action: int
    code: str
    message: str
    hint: str = ""


class NotRestored(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A path that was to be restored and was not, and why."""

    path: str
    reason: str


class FilesRestoredObservation(Observation, frozen=True, kw_only=True, tag=True):
    """Files and cells are as they were before; answers an undo or a rewind.

    Attributes
    ----------
    target
        The checkpoint that files were restored from; empty where none were kept.
    checkpoint
        The files afterwards.
    restored, removed
        Number of paths that are as they were, and of those that were not there then.
    paths
        The first of these paths.
    conflicts
        Left alone, because somebody else changed them since.
    failed
        Could not be restored.
    notebooks
        What was done to notebooks that had been edited cell by cell.
    """

    target: str
    checkpoint: str
    restored: int = 0
    removed: int = 0
    paths: list[str] = []
    conflicts: list[NotRestored] = []
    failed: list[NotRestored] = []
    notebooks: list[NotebookRestored] = []


class ReplayObservation(Observation, frozen=True, kw_only=True, tag=True):
    """Earlier cells were run again in the new kernel, as the rewind in ``cause`` asked for.

    Attributes
    ----------
    cells, done
        How many there were, and how many of them succeeded again.
    reason
        Why it was not all of them, as a sentence; else empty.
    """

    cells: int
    done: int
    reason: str = ""
