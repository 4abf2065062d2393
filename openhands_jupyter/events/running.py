"""Code and commands that run in the sandbox, and what they print."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import msgspec

from .effects import NameChanges, TouchedFiles
from .event import Action, Blob, Observation

Interruption = Literal[
    "", "timeout", "stopped", "kernel_died", "sandbox_died", "output_limit", "disk_limit"
]


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
