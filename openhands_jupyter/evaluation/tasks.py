"""A suite of tasks as folders: what an agent is asked for, with what, and how that is checked."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import tomlkit
from tomlkit.exceptions import ParseError

from ..errors import Invalid, NotFound

TASK_FILE = "task.toml"
CHECKER = "check.py"


class _TaskFile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    title: str
    prompt: str
    steps: int = 40
    seconds: float = 900.0


class Task(msgspec.Struct, frozen=True, kw_only=True):
    """One task of a suite.

    Attributes
    ----------
    name
        That of its folder.
    title, prompt
        What it is about, in a few words; what the agent is asked for.
    steps, seconds
        What the agent may take.
    workspace
        The folder that the agent gets a copy of.
    checker
        A program for Python (a zip archive, see `zipapp`) that is run in a copy of the workspace
        when the agent is done. It passes with exit code 0; what else it prints last is the reason.
    """

    name: str
    title: str
    prompt: str
    steps: int
    seconds: float
    workspace: Path
    checker: bytes


def load_tasks(suite: Path, names: Sequence[str] = ()) -> list[Task]:
    """Read the tasks of a suite, by name.

    Parameters
    ----------
    suite
        A folder. Each folder in it with a file ``task.toml`` is a task: that file (``title``,
        ``prompt``, and perhaps ``steps`` and ``seconds``), a folder ``workspace`` and ``check.py``.
        The modules beside these folders can be imported by every checker.
    names
        Which of them; none for all.

    Raises
    ------
    NotFound
        When there is no such suite, or no such task in it.
    Invalid
        When a task is not as it has to be; the message names the file.
    """
    found = {path.parent.name: path for path in sorted(suite.glob(f"*/{TASK_FILE}"))}
    if not found:
        raise NotFound(
            "no_tasks", f"There are no tasks in {suite}.", "Name a folder of tasks with --tasks."
        )
    unknown = [name for name in names if name not in found]
    if unknown:
        raise NotFound(
            "task_not_found",
            f"There is no task {unknown[0]!r} in {suite}.",
            f"The tasks are: {', '.join(found)}.",
        )
    shared = {path.name: path.read_bytes() for path in sorted(suite.glob("*.py"))}
    return [_load(found[name], shared) for name in names or found]


def _load(path: Path, shared: dict[str, bytes]) -> Task:
    folder = path.parent
    given = _read(path)
    for part in ("workspace", CHECKER):
        if not (folder / part).exists():
            raise Invalid("bad_task", f"{folder} lacks {part}.")
    modules = shared | {"__main__.py": (folder / CHECKER).read_bytes()}
    return Task(
        name=folder.name,
        title=given.title,
        prompt=given.prompt.strip(),
        steps=given.steps,
        seconds=given.seconds,
        workspace=folder / "workspace",
        checker=_zipped(modules),
    )


def _read(path: Path) -> _TaskFile:
    try:
        content: dict[str, Any] = tomlkit.parse(path.read_text(encoding="utf-8")).unwrap()
        return msgspec.convert(content, _TaskFile)
    except (ParseError, UnicodeDecodeError, msgspec.ValidationError) as error:
        raise Invalid("bad_task", f"{path}: {error}.") from error


def _zipped(modules: dict[str, bytes]) -> bytes:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        for name, content in modules.items():
            file.writestr(name, content)
    return archive.getvalue()
