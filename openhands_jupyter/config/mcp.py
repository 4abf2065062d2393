"""Where MCP servers are written down: files of the person's, and the server's configuration."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import tomlkit
from tomlkit.exceptions import ParseError

from ..beneath import read_beneath
from ..mcp.config import McpConfig, merged, read_servers

SETTING = "mcp_servers"
"""The trait, and what an administrator locks."""

SECTION = "mcp"
JSON_FILE = "mcp.json"
LONGEST = 1_000_000
"""Bytes of a file of a workspace."""

WORKSPACE_FILES = (Path(".openhands/config.toml"), Path(".openhands/mcp.json"), Path(".mcp.json"))


def read_mcp(home: Path, root: Path, traits: Mapping[str, Any] | None, locked: bool) -> McpConfig:
    """The MCP servers as they are written down now; takes time.

    A workspace's own files are looked at only to tell that what they name is not used: such a
    server is a program with all the person's rights, outside the sandbox.

    Parameters
    ----------
    home
        Has ``config.toml`` with a section ``mcp``, and ``mcp.json``, as far as there are any.
    root
        The folder that the person works in.
    traits
        Servers by name out of the server's configuration, which come last.
    locked
        Whether these are all that there may be.
    """
    given = read_servers({"servers": dict(traits or {})}, f"traitlets: {SETTING}")
    if locked:
        return given
    places = [_toml(home / "config.toml"), _json(home / JSON_FILE), given]
    return merged(*places, McpConfig([], _of_workspace(root)))


def _toml(path: Path) -> McpConfig:
    try:
        content = tomlkit.parse(path.read_text(encoding="utf-8")).unwrap().get(SECTION, {})
    except (OSError, UnicodeDecodeError, ParseError):
        # What is wrong with the file as a whole is told with the other settings.
        return McpConfig()
    where = f"{path}: {SECTION}"
    if not isinstance(content, dict):
        return McpConfig([], [f"{where} is left out: it must be a section."])
    return read_servers(content, where)


def _json(path: Path) -> McpConfig:
    try:
        content = msgspec.json.decode(path.read_bytes(), type=dict[str, Any])
    except FileNotFoundError:
        return McpConfig()
    except (OSError, msgspec.DecodeError) as error:
        return McpConfig([], [f"{path} is left out: {error}."])
    return read_servers(content, str(path))


def _of_workspace(root: Path) -> list[str]:
    """A sentence for each file of the workspace that names servers."""
    return [warning for file in WORKSPACE_FILES if (warning := _warning(root, file))]


def _warning(root: Path, file: Path) -> str:
    try:
        text = read_beneath(root, file, LONGEST).decode()
        if file.suffix == ".toml":
            content = tomlkit.parse(text).unwrap().get(SECTION)
        else:
            content = msgspec.json.decode(text)
    except (OSError, UnicodeDecodeError, ParseError, msgspec.DecodeError):
        return ""
    if not isinstance(content, dict) or not content:
        return ""
    names = ", ".join(server.name[:80] for server in read_servers(content, "").servers[:10])
    return (
        f"{root / file} names MCP servers{f' ({names})' if names else ''}, which are not used: "
        "they would be programs with all your rights. Where you trust them, copy them to your own "
        f"{JSON_FILE} or config.toml."
    )
