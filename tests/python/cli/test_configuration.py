"""``jupyter openhands config show``."""

from __future__ import annotations

import argparse
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from openhands_jupyter.cli import configuration, main
from openhands_jupyter.cli.terminal import Terminal
from openhands_jupyter.config import Config

CANARY = "sk-canary-0123456789"
FILE = f"""\
[llm]
model = "openai/mine"
api_key = "{CANARY}"
base_url = "https://{CANARY}@proxy.test/v1"
[llm.other]
model = "anthropic/x"
api_key = "other-{CANARY}"
[core]
max_iteration = 3
[mcp.servers.wrong]
url = "nowhere"
"""


async def shown(config: Config, *, as_json: bool = False) -> tuple[int, str]:
    sink = io.StringIO()
    options = argparse.Namespace(server=False, json=as_json)
    code = await configuration.run(options, config, Terminal(io.StringIO(), sink))
    return code, sink.getvalue()


async def test_every_setting_with_its_origin_and_no_secret(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text(FILE)
    environ = {"OPENHANDS_HOME": str(tmp_path), "SANDBOX_TIMEOUT": "7", "OPENAI_API_KEY": CANARY}
    traits = {"locked": ["isolation"], "isolation": "docker"}
    config = Config(tmp_path, traits, {"cost_limit": 2.5}, environ)
    code, text = await shown(config)
    assert code == configuration.EXIT_ERRORS
    assert CANARY not in text
    lines = [" ".join(line.split()) for line in text.splitlines()]
    file = tmp_path / "config.toml"
    for line in (
        f"error: {file}, line 9: core.max_iteration is left out: there is no such setting here; "
        "did you mean max_iterations?",
        f'model "openai/mine" config.toml: {file}, line 2',
        f'base_url "https://…@proxy.test/v1" config.toml: {file}, line 4',
        "timeout 7.0 environment: SANDBOX_TIMEOUT",
        "cost_limit 2.5 command line: --budget",
        'isolation "docker" traitlets: c.OpenHandsExtension.isolation, locked by the administrator',
        "docker_image default",
        "[llm.other] anthropic/x",
        "LLM_API_KEY set config.toml",
        "OPENAI_API_KEY set environment",
    ):
        assert line in lines, text
    assert any("line 10: servers.wrong is left out" in line for line in lines)

    code, text = await shown(config, as_json=True)
    told = json.loads(text)
    assert CANARY not in text
    assert told["settings"]["model"] == {
        "value": "openai/mine",
        "origin": "config.toml",
        "where": str(file),
        "line": 2,
        "locked": False,
    }
    assert (told["workspace"], told["home"]) == (str(tmp_path), str(tmp_path))
    (tmp_path / "config.toml").unlink()
    assert (await shown(Config(tmp_path, environ=environ)))[0] == configuration.EXIT_WELL


def test_options_are_those_of_a_run(tmp_path: Path) -> None:
    """Once as a person would."""
    home = tmp_path / "home"
    home.mkdir()
    (home / "settings.json").write_text('{"step_limit": 7, "agent": "swe"}')
    (tmp_path / ".openhands").mkdir()
    (tmp_path / ".openhands" / "config.toml").write_text("[sandbox]\nisolation = 'none'\n")
    options = ["--workspace", str(tmp_path), "--model", "openai/x", "--max-steps", "5"]
    options += ["--mode", "auto", "--budget", "1"]
    ran = subprocess.run(
        [sys.executable, "-m", "openhands_jupyter.cli", "config", "show", "--json", *options],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "OPENHANDS_HOME": str(home)},
        check=False,
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    told = json.loads(ran.stdout)
    found = {
        name: (told["settings"][name]["origin"], told["settings"][name]["where"])
        for name in ("model", "mode", "step_limit", "cost_limit", "agent")
    }
    assert found == {
        "model": ("command line", "--model"),
        "mode": ("command line", "--mode"),
        "step_limit": ("command line", "--max-steps"),
        "cost_limit": ("command line", "--budget"),
        "agent": ("panel", str(home / "settings.json")),
    }
    [problem] = told["problems"]
    assert (problem["severity"], problem["line"]) == ("warning", 2)


def test_options_that_make_no_sense_are_wrong_usage(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENHANDS_HOME", str(tmp_path))
    with pytest.raises(SystemExit) as ended:
        main(["run", "task", "--max-steps", "0", "--workspace", str(tmp_path)])
    assert ended.value.code == 2
    assert "error: command line: --max-steps is left out: Expected `int` >= 1" in (
        capsys.readouterr().err
    )
