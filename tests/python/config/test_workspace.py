"""What a workspace's own ``config.toml`` may set: every setting there is has to decide."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import tomlkit
from configuring import Make, write

from openhands_jupyter.config.keys import (
    ADMINISTRATOR_SETTINGS,
    FILE_KEYS,
    WORKSPACE_SETTINGS,
    FileKey,
)
from openhands_jupyter.config.settings import NAMES, Settings

KEYS = {name: key for key, name in FILE_KEYS.items()}
NEVER: dict[str, Any] = {
    "base_url": "https://evil.test/v1",
    "fallback_models": ["openai/expensive"],
    "model_timeout": 5.0,
    "model_retries": 100,
    "vision": "on",
    "tool_calls": "off",
    "prompt_caching": "off",
    "context_window": 1000,
    "max_output_tokens": 1000,
    "reasoning_effort": "high",
    "mode": "ask",
    "isolation": "none",
    "cost_limit": 1000.0,
    "token_limit": 1000,
    "time_limit": 1000.0,
    "stuck_detection": False,
    "docker_image": "evil/image",
    "gateway_url": "https://evil.test",
    "gateway_kernel": "evil",
    "gateway_folder": "/etc",
    "python": "/tmp/evil",
    "requirements": "evil.txt",
    "docker_remote_root": "/",
    "docker_pause_after": 0.0,
    "docker_max_containers": 1000,
    "docker_containers": "shared",
    "memory_limit": 1000.0,
    "process_limit": 100_000,
    "cpu_limit": 1000.0,
    "disk_limit": 1000.0,
    "prewarm": 100,
    "idle_timeout": 0.0,
    "network": "allow-list",
    "network_presets": ["github"],
    "network_rules": ["evil.test"],
    "pip_index": "https://evil.test/simple",
    "npm_registry": "https://evil.test",
    "conda_channels": "https://evil.test",
    "ca_bundle": "/tmp/evil.pem",
    "network_proxy": "http://evil.test:3128",
    "trusted_networks": ["10.0.0.0/8"],
    "checkpoints": False,
    "checkpoint_limit": 1000.0,
    "checkpoint_exclude": ["*"],
    "condenser": "noop",
    "condenser_model": "openai/expensive",
    "condenser_attention_window": 0,
    "condenser_keep_first": 100,
    "condenser_max_tokens": 1000,
    "condenser_max_event_length": 100,
}
"""What a workspace may not set, with a value that would make a difference."""

LOWER = {"step_limit": (5, 100_000), "timeout": (5.0, 80_000.0)}
"""What it may only lower: a value that it may set, and one that it may not."""

CHOOSE = {"agent": ("readonly", "os:path"), "model": ("openai/x", "sagemaker/x")}
"""What it may choose, and not choose."""


def at_the_root(root: Path, key: FileKey, value: Any) -> None:
    write(root / ".openhands" / "config.toml", tomlkit.dumps({key.section: {key.key: value}}))


def test_every_setting_has_decided() -> None:
    assert set(NEVER) | set(LOWER) | set(CHOOSE) == set(NAMES)
    assert dict.fromkeys(LOWER, "lower") | dict.fromkeys(CHOOSE, "choose") == WORKSPACE_SETTINGS
    assert set(NAMES) - set(KEYS) == ADMINISTRATOR_SETTINGS


@pytest.mark.parametrize("name", NEVER)
def test_what_a_workspace_may_not_set(make: Make, root: Path, name: str) -> None:
    key = KEYS.get(name, FileKey("sandbox", name))
    assert NEVER[name] != getattr(Settings(), name)
    at_the_root(root, key, NEVER[name])
    config = make()
    assert config.settings == Settings()
    [problem] = config.problems
    assert (problem.severity, problem.line) == ("warning", 2)
    allowed_to = "the server's configuration" if name in ADMINISTRATOR_SETTINGS else "a workspace"
    assert str(key) in problem.message and allowed_to in problem.message


@pytest.mark.parametrize("name", NEVER)
def test_the_same_entry_of_the_person_counts(make: Make, home: Path, name: str) -> None:
    key = KEYS.get(name, FileKey("sandbox", name))
    write(home / "config.toml", tomlkit.dumps({key.section: {key.key: NEVER[name]}}))
    config = make()
    counts = name not in ADMINISTRATOR_SETTINGS
    assert getattr(config.settings, name) == (NEVER[name] if counts else getattr(Settings(), name))
    assert (config.problems == []) == counts


@pytest.mark.parametrize("name", LOWER)
def test_a_limit_can_only_be_lowered(make: Make, home: Path, root: Path, name: str) -> None:
    lower, higher = LOWER[name]
    key = KEYS[name]
    at_the_root(root, key, lower)
    config = make()
    assert (getattr(config.settings, name), config.problems) == (lower, [])
    at_the_root(root, key, higher)
    config = make()
    assert config.settings == Settings()
    assert "a workspace may only lower it" in config.problems[0].message
    # The person's own limit is what it may not exceed.
    write(home / "config.toml", tomlkit.dumps({key.section: {key.key: lower - 1}}))
    at_the_root(root, key, lower)
    config = make()
    assert (getattr(config.settings, name), config.origin(name)) == (lower - 1, "config.toml")


@pytest.mark.parametrize("name", CHOOSE)
def test_a_choice_is_looked_at(make: Make, home: Path, root: Path, name: str) -> None:
    good, bad = CHOOSE[name]
    at_the_root(root, KEYS[name], good)
    config = make()
    assert (getattr(config.settings, name), config.problems) == (good, [])
    at_the_root(root, KEYS[name], bad)
    config = make()
    assert config.settings == Settings()
    assert "a workspace may" in config.problems[0].message
    write(home / "config.toml", tomlkit.dumps({KEYS[name].section: {KEYS[name].key: bad}}))
    assert getattr(make().settings, name) == bad


@pytest.mark.parametrize(
    "text",
    [
        '[llm]\napi_key = "sk-theirs"',
        "[security]\nconfirmation_mode = true",
        '[llm.mine]\nmodel = "openai/x"\nbase_url = "https://evil.test"',
        '[llm]\nmodel = "huggingface/https://evil.test"',
        '[llm]\nmodel = "openai/https://evil.test"',
        '[agent]\nllm_config = "mine"',
    ],
)
def test_what_a_workspace_cannot_do_in_other_ways(make: Make, root: Path, text: str) -> None:
    write(root / ".openhands" / "config.toml", text)
    config = make()
    assert config.settings == Settings() and config.model_groups == {}
    assert config.secrets.get("LLM_API_KEY") is None
    assert len(config.problems) == 1


def test_an_endless_file_is_not_read(make: Make, root: Path) -> None:
    write(root / ".openhands" / "config.toml", "[core]\n" + "# endless\n" * 20_000)
    [problem] = make().problems
    assert "the whole file is left out: it cannot be read" in problem.message


def test_servers_and_hooks_of_a_workspace_need_the_person(make: Make, root: Path) -> None:
    servers = '[mcp.servers.evil]\ncommand = "evil"\n'
    hooks = '[[hooks.PreToolUse]]\ncommand = "evil"\n'
    write(root / ".openhands" / "config.toml", servers + hooks)
    config = make()
    [server] = config.mcp(root).servers
    consent = config.mcp_consents.find(server.name, server.digest, str(root))
    assert (server.origin, consent.use) == ("workspace", False)
    assert config.hooks(root).hooks == []
    assert config.hooks(root).ignored == [".openhands/config.toml"]
