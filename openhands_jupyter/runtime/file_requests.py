"""File actions, put as requests to agentd."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec

from ..errors import OpenHandsError
from ..events import (
    FileEditAction,
    FileEditObservation,
    FileGlobAction,
    FileGlobObservation,
    FileGrepAction,
    FileGrepObservation,
    FileReadAction,
    FileReadObservation,
    FileWriteAction,
    FileWriteObservation,
    Observation,
)
from .channel import SandboxDied
from .sandbox import Sandbox
from .trouble import how_it_died

FileAction = FileReadAction | FileWriteAction | FileEditAction | FileGlobAction | FileGrepAction


async def run_file_action(
    sandbox: Sandbox, action: FileAction, seconds: float, stopping: asyncio.Event
) -> Observation:
    """Do a file action.

    Parameters
    ----------
    sandbox
        Where; it is killed if it does not answer in time.
    action
        What to do.
    seconds
        How long it may take.
    stopping
        Set when somebody wants it to stop.

    Raises
    ------
    OpenHandsError
        When it cannot be done.
    """
    method, params, kind = _request(action)
    try:
        async with asyncio.timeout(seconds):
            answer = msgspec.convert(await sandbox.request(method, params), dict[str, Any])
    except (SandboxDied, TimeoutError) as error:
        sandbox.kill()
        raise OpenHandsError(
            how_it_died(error, stopping.is_set()),
            "The sandbox ended before the file action did; whether it took effect is unknown.",
            "Read the file again.",
        ) from error
    if isinstance(action, FileGlobAction | FileGrepAction):
        answer = {**answer, "pattern": action.pattern}
    return msgspec.convert({**answer, "path": action.path}, kind)


def _request(action: FileAction) -> tuple[str, dict[str, Any], type[Observation]]:
    """The method to ask for, its parameters, and what the answer is."""
    path: dict[str, Any] = {"path": action.path}
    match action:
        case FileReadAction():
            params = {**path, "start": action.start, "end": action.end}
            return "file.read", params, FileReadObservation
        case FileWriteAction():
            return "file.write", {**path, "content": action.content}, FileWriteObservation
        case FileGlobAction():
            return "file.glob", {**path, "pattern": action.pattern}, FileGlobObservation
        case FileGrepAction():
            params = {
                **path,
                "pattern": action.pattern,
                "include": action.include,
                "ignore_case": action.ignore_case,
            }
            return "file.grep", params, FileGrepObservation
        case FileEditAction():
            params = {
                **path,
                "command": action.command,
                "old_str": action.old_str,
                "new_str": action.new_str,
                "insert_line": action.insert_line,
            }
            return "file.edit", params, FileEditObservation
