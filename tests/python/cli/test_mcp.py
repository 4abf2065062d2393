"""``jupyter openhands mcp``: in this process, but for the first look, which is a person's."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest
from mcp_servers import bad_server

from openhands_jupyter.cli import main


class Ran(NamedTuple):
    """What came of the command."""

    returncode: object
    stdout: str
    stderr: str


def test_servers_are_tried_and_what_they_list_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OPENHANDS_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)

    def ran(*arguments: str) -> Ran:
        with pytest.raises(SystemExit) as ended:
            main(["mcp", *arguments])
        return Ran(ended.value.code, *capsys.readouterr())

    servers = {
        "odd": bad_server("calls") | {"trust": ["fine"]},
        "exits": bad_server("exit"),
        "off": bad_server("calls") | {"enabled": False},
        "wrong": {"url": "gopher://x"},
    }
    (tmp_path / "mcp.json").write_text(json.dumps({"mcpServers": servers}))
    listed = subprocess.run(
        [sys.executable, "-m", "openhands_jupyter.cli", "mcp", "list"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert listed.returncode == 0
    assert "odd: idle, no tools known" in listed.stdout and "off: off" in listed.stdout
    assert "mcpServers.wrong is left out: it has no url" in listed.stderr

    tried = ran("test")
    assert tried.returncode == 1, tried.stderr
    assert "odd: ready, 9 tools" in tried.stdout and "off" not in tried.stdout
    assert "  odd__fine (runs unasked)" in tried.stdout
    assert "  odd__die (asks first)" in tried.stdout
    assert "exits: failed" in tried.stdout and "  | the license has expired" in tried.stdout
    assert "odd: idle, 9 tools" in ran("list").stdout
    assert "There is no MCP server none." in ran("test", "none").stderr

    # What the folder names is shown, and used once it is allowed.
    (tmp_path / ".mcp.json").write_text(json.dumps({"mcpServers": {"near": bad_server("calls")}}))
    assert "you have not allowed it" in ran("test", "near").stderr
    unasked = ran("allow", "near")
    assert unasked.returncode == 3 and "it is not used before you allow it" in unasked.stdout
    allowed = ran("allow", "near", "--yes", "--trust", "fine,hang")
    assert allowed.returncode == 0, allowed
    assert "near: idle" in allowed.stdout and "bad.py" in allowed.stdout
    assert "  near__fine (runs unasked)" in ran("test", "near").stdout
    assert "near: off" in ran("forbid", "near").stdout
    assert "odd__die (runs unasked)" in ran("allow", "odd", "--trust", "all").stdout
