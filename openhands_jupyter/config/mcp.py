"""Where MCP servers are written down: by the person, the administrator, or a workspace."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from ..beneath import read_beneath
from ..mcp.config import ConfigOrigin, McpConfig, merged, read_servers
from .toml_file import NotToml, TomlFile

SETTING = "mcp_servers"
"""The trait, and what an administrator locks."""

SECTION = "mcp"
JSON_FILE = "mcp.json"
LONGEST = 1_000_000
"""Bytes of a file of a workspace."""

MOST = 20
LONGEST_NAME = 100
"""Servers that a workspace may name, and characters of their names."""

WORKSPACE_FILES = (Path(".openhands/config.toml"), Path(".openhands/mcp.json"), Path(".mcp.json"))


def read_mcp(
    home: Path, workspace: Path, traits: Mapping[str, Any] | None, locked: bool
) -> McpConfig:
    """The MCP servers as they are written down now; takes time.

    Those of a workspace are marked so, and must not be used before the person has said yes to
    them: such a server is a program with all the person's rights, outside the sandbox.

    Parameters
    ----------
    home
        Has ``config.toml`` with a section ``mcp``, and ``mcp.json``, as far as there are any.
    workspace
        The folder that is worked in.
    traits
        Servers by name out of the server's configuration, which come last.
    locked
        Whether these are all that there may be.
    """
    given = read_servers({"servers": dict(traits or {})}, f"traitlets: {SETTING}")
    given = _marked(given, "administrator", "")
    if locked:
        return given
    places = [_toml(home / "config.toml"), _json(home / JSON_FILE)]
    return merged(_of_workspace(workspace), *places, given)


def _toml(path: Path) -> McpConfig:
    try:
        file = TomlFile(path.read_bytes())
    except (OSError, NotToml):
        # What is wrong with the file as a whole is told with the other settings.
        return McpConfig()
    content = file.values.get(SECTION, {})
    where = f"{path}: {SECTION}"
    if not isinstance(content, dict):
        return McpConfig([], [f"{where} is left out: it must be a section."])
    read = read_servers(content, where, partial(file.line, SECTION))
    return _marked(read, "person", str(path))


def _json(path: Path) -> McpConfig:
    try:
        content = msgspec.json.decode(path.read_bytes(), type=dict[str, Any])
    except FileNotFoundError:
        return McpConfig()
    except (OSError, msgspec.DecodeError) as error:
        return McpConfig([], [f"{path} is left out: {error}."])
    return _marked(read_servers(content, str(path)), "person", str(path))


def _of_workspace(workspace: Path) -> McpConfig:
    """What its files name, of which only the first few; nothing is said of what is wrong there."""
    found = merged(*(_of_file(workspace, file) for file in WORKSPACE_FILES)).servers
    return McpConfig([server for server in found if len(server.name) <= LONGEST_NAME][:MOST])


def _of_file(workspace: Path, file: Path) -> McpConfig:
    try:
        content: Any = read_beneath(workspace, file, LONGEST)
        if file.suffix == ".toml":
            content = TomlFile(content).values.get(SECTION)
        else:
            content = msgspec.json.decode(content)
    except (OSError, NotToml, msgspec.DecodeError, RecursionError):
        return McpConfig()
    if not isinstance(content, dict):
        return McpConfig()
    return _marked(read_servers(content, ""), "workspace", str(workspace / file))


def _marked(read: McpConfig, origin: ConfigOrigin, file: str) -> McpConfig:
    """Say whose servers they are; which of its tools are trusted is not a workspace's to say."""
    servers = [
        msgspec.structs.replace(
            server, origin=origin, file=file, trust=server.trust if origin != "workspace" else False
        )
        for server in read.servers
    ]
    return McpConfig(servers, read.warnings)
