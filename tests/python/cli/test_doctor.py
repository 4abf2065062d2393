"""What ``jupyter openhands doctor`` finds."""

from __future__ import annotations

import argparse
import io
from pathlib import Path

import pytest

from openhands_jupyter.cli import doctor
from openhands_jupyter.cli.terminal import Terminal
from openhands_jupyter.config import Config
from openhands_jupyter.errors import NotFound
from openhands_jupyter.runtime import browser
from openhands_jupyter.session import SessionManager


async def told(config: Config, session: str | None = None) -> tuple[int, str]:
    sink = io.StringIO()
    options = argparse.Namespace(session=session)
    code = await doctor.run(options, config, Terminal(io.StringIO(), sink))
    return code, sink.getvalue()


async def test_what_is_there_and_how_a_session_is_without_a_server(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENHANDS_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path / "runtime"))
    (tmp_path / "work").mkdir()
    config = Config(tmp_path / "work")
    manager = SessionManager(config)
    session = await manager.create(workspace=".")
    await manager.close()
    code, text = await told(config, session.id[:8])
    assert code == doctor.EXIT_WELL
    lines = text.splitlines()
    assert [line.split()[0] for line in lines[:6]] == ["ok"] * 6, text
    assert "awaiting user input" in lines[7]
    with pytest.raises(NotFound):
        await told(config, "0" * 32)


async def test_what_is_written_down_and_does_not_hold(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENHANDS_HOME", str(tmp_path))
    (tmp_path / "config.toml").write_text("[core]\nmax_iteration = 3\n[kubernetes]\n")
    wrong, foreign = doctor._of_configuration(Config(tmp_path))
    assert not wrong.well and "config.toml, line 2" in wrong.told
    assert "did you mean max_iterations" in wrong.told
    assert foreign.well and "line 3" in foreign.told


async def test_a_home_that_cannot_be_written(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("OPENHANDS_HOME", str(tmp_path / "file" / "home"))
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path / "runtime"))
    (tmp_path / "work").mkdir()
    findings = [finding async for finding in doctor._findings(Config(Path(tmp_path / "work")))]
    assert findings[0].well is False
    assert str(tmp_path / "file") in findings[0].told


def test_a_browser_that_nothing_drives_and_one_that_is_not_there(monkeypatch):
    monkeypatch.setattr(browser, "find_chromium", lambda: None)
    found = doctor._of_browser()
    assert not found.well and "apt install chromium" in found.told
    monkeypatch.setattr(doctor, "find_spec", lambda name: None)
    # Not everybody needs one.
    found = doctor._of_browser()
    assert found.well and "openhands-jupyter[browser]" in found.told
