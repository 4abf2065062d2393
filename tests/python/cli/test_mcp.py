"""``jupyter openhands mcp``, run as a person would."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from mcp_servers import bad_server


def ran(home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "openhands_jupyter.cli", "mcp", *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "OPENHANDS_HOME": str(home)},
        check=False,
        cwd=home,
    )


def test_servers_are_tried_and_what_they_list_is_kept(tmp_path: Path) -> None:
    servers = {
        "odd": bad_server("calls") | {"trust": ["fine"]},
        "exits": bad_server("exit"),
        "off": bad_server("calls") | {"enabled": False},
        "wrong": {"url": "gopher://x"},
    }
    (tmp_path / "mcp.json").write_text(json.dumps({"mcpServers": servers}))
    listed = ran(tmp_path, "list")
    assert listed.returncode == 0
    assert "odd: idle, no tools known" in listed.stdout and "off: off" in listed.stdout
    assert "mcpServers.wrong is left out: it has no url" in listed.stderr

    tried = ran(tmp_path, "test")
    assert tried.returncode == 1, tried.stderr
    assert "odd: ready, 9 tools" in tried.stdout and "off" not in tried.stdout
    assert "  odd__fine (runs unasked)" in tried.stdout
    assert "  odd__die (asks first)" in tried.stdout
    assert "exits: failed" in tried.stdout and "  | the license has expired" in tried.stdout
    assert "odd: idle, 9 tools" in ran(tmp_path, "list").stdout
    assert "There is no MCP server none." in ran(tmp_path, "test", "none").stderr

    # What the folder names is shown, and used once it is allowed.
    (tmp_path / ".mcp.json").write_text(json.dumps({"mcpServers": {"near": bad_server("calls")}}))
    assert "you have not allowed it" in ran(tmp_path, "test", "near").stderr
    allowed = ran(tmp_path, "allow", "near", "--trust", "fine,hang")
    assert allowed.returncode == 0, allowed
    assert "near: idle" in allowed.stdout and "bad.py" in allowed.stdout
    assert "  near__fine (runs unasked)" in ran(tmp_path, "test", "near").stdout
    assert "near: off" in ran(tmp_path, "forbid", "near").stdout
    assert "odd__die (runs unasked)" in ran(tmp_path, "allow", "odd", "--trust", "all").stdout
