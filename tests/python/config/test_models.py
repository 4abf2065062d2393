"""Addresses, keys and abilities go with the model that they were configured for, and no other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from configuring import Make, write

from openhands_jupyter.config import Config
from openhands_jupyter.config.keys import OF_A_MODEL

CANARY = "sk-canary-0123456789"
ADDRESS = "http://localhost:1/v1"


def reached(config: Config, name: str) -> tuple[str | None, str | None]:
    reach = config.model_config(name)
    return reach.api_key, reach.base_url


FILE = f'[llm]\nmodel = "openai/mine"\nbase_url = "{ADDRESS}"\napi_key = "{CANARY}"\nvision = "on"'
VARIABLES = {
    "LLM_MODEL": "openai/mine",
    "LLM_BASE_URL": ADDRESS,
    "LLM_API_KEY": CANARY,
    "LLM_VISION": "on",
}


@pytest.mark.parametrize(
    "chosen",
    [
        {"overrides": {"model": "anthropic/x"}},
        {"panel": {"model": "anthropic/x"}},
        {"traits": {"model": "anthropic/x"}},
    ],
    ids=str,
)
@pytest.mark.parametrize("place", ["file", "environment"])
def test_another_model_gets_neither_address_nor_key(
    make: Make, home: Path, place: str, chosen: dict[str, Any]
) -> None:
    environ = {"ANTHROPIC_API_KEY": "sk-ant-0123"}
    if place == "file":
        write(home / "config.toml", FILE)
    else:
        environ |= VARIABLES
    config = make(environ, **{key: value for key, value in chosen.items() if key != "panel"})
    config.update_panel(chosen.get("panel", {}))
    assert config.settings.model == "anthropic/x"
    assert reached(config, "anthropic/x") == ("sk-ant-0123", None)
    assert config.model_config("anthropic/x").vision == "auto"
    assert reached(config, "openai/other") == (CANARY, ADDRESS)
    assert config.model_config("openai/other").vision == "on"
    said = [str(problem) for problem in config.problems]
    assert len(said) == 3 and all("not used with anthropic/x" in line for line in said)
    assert CANARY not in "".join(said)
    if place == "file":
        assert f"{home / 'config.toml'}, line 3: llm.base_url is not used" in said[0]


def test_what_names_no_model_goes_with_the_one_that_is_chosen(make: Make) -> None:
    environ = {"LLM_API_KEY": CANARY, "LLM_BASE_URL": ADDRESS}
    config = make(environ, overrides={"model": "anthropic/x"})
    assert reached(config, "anthropic/x") == (CANARY, ADDRESS)
    assert config.problems == []
    # The panel's choice is nearer to the environment than that of one run.
    make().update_panel({"model": "openai/y"})
    config = make(environ, overrides={"model": "anthropic/x"})
    assert reached(config, "anthropic/x") == (None, None)
    assert reached(config, "openai/y") == (CANARY, ADDRESS)
    assert len(config.problems) == 2


def test_a_workspace_cannot_send_the_key_elsewhere(make: Make, home: Path, root: Path) -> None:
    write(root / ".openhands" / "config.toml", '[llm]\nmodel = "groq/x"')
    config = make({"LLM_API_KEY": CANARY, "LLM_BASE_URL": ADDRESS})
    assert config.settings.model == "groq/x"
    assert reached(config, "groq/x") == (None, None)
    assert reached(config, "openai/mine") == (CANARY, ADDRESS)
    write(home / "config.toml", '[llm]\nmodel = "openai/mine"')
    assert make({"LLM_API_KEY": CANARY}).model_config("groq/x").api_key is None


def test_a_model_of_this_machine_needs_no_address_and_openhands_words_count(make: Make) -> None:
    config = make({"LLM_MODEL": "openai/x", "LLM_NATIVE_TOOL_CALLING": "false"})
    assert config.settings.tool_calls == "off"
    assert reached(config, "ollama_chat/qwen3:8b")[1] == "http://127.0.0.1:11434"
    assert reached(config, "openai/y")[1] is None


GROUPS = f"""
[llm]
model = "openai/mine"
api_key = "{CANARY}"
base_url = "{ADDRESS}"
max_input_tokens = 9000
[llm.cheap]
model = "openai/small"
[llm.local]
model = "openai/local"
base_url = "http://localhost:2/v1"
[llm.claude]
model = "anthropic/claude"
api_key = "sk-group-0123456789"
vision = "off"
timeout = 7
max_input_tokens = 5000
"""


def test_a_group_is_chosen_by_its_name(make: Make, home: Path, root: Path) -> None:
    write(home / "config.toml", GROUPS)
    config = make(overrides={"model": "claude"})
    assert config.model_groups == {
        "cheap": "openai/small",
        "local": "openai/local",
        "claude": "anthropic/claude",
    }
    reach = config.model_config("claude")
    assert (reach.model, reach.api_key, reach.base_url) == (
        "anthropic/claude",
        "sk-group-0123456789",
        None,
    )
    assert (reach.vision, reach.timeout, reach.context_window) == ("off", 7.0, 5000)
    assert "sk-group-0123456789" in config.secrets_values()
    # What a group does not say is as in [llm], where that is of the same provider.
    assert reached(config, "cheap") == (CANARY, ADDRESS)
    assert config.model_config("cheap").context_window == 9000
    assert config.model_config("cheap").timeout == 120.0
    # A key goes to no other address than the one that it was configured with.
    assert reached(config, "local") == (None, "http://localhost:2/v1")


def test_openhands_way_to_name_a_group(make: Make, home: Path, root: Path) -> None:
    write(home / "config.toml", f'{GROUPS}\n[agent]\nllm_config = "cheap"')
    config = make()
    assert (config.settings.model, config.problems) == ("cheap", [])
    assert config.entry("model").key == "agent.llm_config"
    assert config.model_config("cheap").model == "openai/small"
    assert make({"LLM_MODEL": "openai/x"}).settings.model == "openai/x"
    # The person's own groups are known, so that a workspace may choose between them.
    write(root / ".openhands" / "config.toml", '[agent]\nllm_config = "claude"')
    config = make()
    assert (config.settings.model, config.origin("model")) == ("claude", "project config.toml")
    assert reached(config, "claude")[0] == "sk-group-0123456789"


def test_a_locked_address_is_that_of_every_model(make: Make, home: Path) -> None:
    write(home / "config.toml", GROUPS)
    traits = {"locked": ["base_url"], "base_url": "https://gateway.test", "model": "openai/mine"}
    config = make({"LLM_BASE_URL": "https://elsewhere.test"}, traits=traits)
    names = ("openai/mine", "anthropic/x", "ollama_chat/x", "local", "claude")
    assert {config.model_config(name).base_url for name in names} == {"https://gateway.test"}
    [problem] = config.problems
    assert "llm.local.base_url is left out: the administrator has locked" in problem.message
    none = make(traits={"locked": ["base_url"]})
    assert none.model_config("local").base_url is None


def test_a_locked_model_cannot_be_given_another_meaning(make: Make, home: Path) -> None:
    group = '[llm.gpt]\nmodel = "openai/gpt"\nbase_url = "https://evil.test"'
    write(home / "config.toml", group)
    config = make(traits={"locked": ["model"], "model": "gpt"}, overrides={"model": "openai/x"})
    assert config.settings.model == "gpt" and config.model_groups == {}
    assert config.model_config("gpt").model == "gpt"
    assert config.model_config("gpt").base_url is None
    assert "the administrator has locked model" in config.problems[0].message


@pytest.mark.parametrize("name", OF_A_MODEL)
def test_each_ability_belongs_to_its_model(make: Make, home: Path, name: str) -> None:
    value: Any = {"base_url": ADDRESS, "context_window": 5000, "max_output_tokens": 50}.get(name)
    value = value or ("high" if name == "reasoning_effort" else "off")
    traits = {"model": "openai/mine", name: value}
    config = make(traits=traits, overrides={"model": "anthropic/x"})
    assert getattr(config.model_config("openai/x"), name) == value
    assert getattr(config.model_config("anthropic/x"), name) in (None, "auto")
    locked = make(traits=traits | {"locked": [name]}, overrides={"model": "anthropic/x"})
    assert getattr(locked.model_config("anthropic/x"), name) == value
    assert locked.problems == []
