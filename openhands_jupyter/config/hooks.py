"""Where hooks are written down: files of the person's, and never those of a workspace."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from ..beneath import read_beneath
from ..hooks import HookConfig, read_hooks
from .problems import place
from .toml_file import NotToml, TomlFile

SECTION = "hooks"
JSON_FILE = "hooks.json"
LONGEST = 1_000_000
"""Bytes of a file."""

WORKSPACE_FILES = (".openhands/hooks.json", ".openhands/config.toml")


def read_hook_config(home: Path, workspace: Path) -> HookConfig:
    """The hooks as they are written down now; takes time.

    A workspace's own are looked at only to tell that they are not run: a hook is a command with
    all the person's rights, outside the sandbox.

    Parameters
    ----------
    home
        Has ``config.toml`` with a section ``hooks``, and ``hooks.json``, as far as there are any.
    workspace
        The folder that a session works in.
    """
    read = [_of(home / "config.toml"), _of(home / JSON_FILE)]
    return HookConfig(
        [hook for config in read for hook in config.hooks],
        [problem for config in read for problem in config.problems],
        [file for file in WORKSPACE_FILES if _has_hooks(workspace, file)],
        str(workspace),
    )


def _of(path: Path) -> HookConfig:
    try:
        content, line_of = _content(path.name, path.read_bytes())
    except FileNotFoundError:
        return HookConfig()
    except NotToml as error:
        return HookConfig(problems=[f"{place(str(path), error.line)}: it is not TOML ({error})."])
    except (OSError, msgspec.DecodeError) as error:
        return HookConfig(problems=[f"{path}: {error}."])
    if not isinstance(content, dict):
        return HookConfig(problems=[f"{path}: {SECTION} must be lists of hooks by event."])
    return read_hooks(content, str(path), line_of)


def _has_hooks(workspace: Path, file: str) -> bool:
    try:
        return bool(_content(file, read_beneath(workspace, file, LONGEST))[0])
    except (OSError, NotToml, msgspec.DecodeError, RecursionError):
        return False


def _content(name: str, content: bytes) -> tuple[Any, Callable[[str, int], int | None]]:
    """What a file says of hooks, and which line that of an event stands on."""
    if name.endswith(".toml"):
        file = TomlFile(content)
        return file.values.get(SECTION, {}), partial(file.line, SECTION)
    return msgspec.json.decode(content), lambda event, index: None
