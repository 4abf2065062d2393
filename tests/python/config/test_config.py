from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from configuring import Make, write
from read_only import read_only

from openhands_jupyter.config import HomeNotWritable, Settings
from openhands_jupyter.errors import Conflict, Invalid, NotFound

CANARY = "sk-canary-0123456789"


def test_with_nothing_configured_the_tour_answers(make: Make, home: Path) -> None:
    config = make()
    assert config.settings.model == "tour"
    assert config.settings.mode == "agent"
    assert config.settings.isolation == "auto"
    assert config.origin("model") == "default"
    assert config.problems == []
    assert not home.exists(), "merely looking must leave no trace"


def test_each_place_wins_over_the_one_before(make: Make, home: Path, root: Path) -> None:
    write(home / "settings.json", '{"model": "openai/panel"}')
    layers: list[tuple[str, Callable[[], None] | dict[str, Any]]] = [
        ("config.toml", lambda: write(home / "config.toml", '[llm]\nmodel = "openai/user"')),
        (
            "project config.toml",
            lambda: write(root / ".openhands" / "config.toml", '[llm]\nmodel = "openai/project"'),
        ),
        ("environment", {"environ": {"LLM_MODEL": "openai/environment"}}),
        ("traitlets", {"traits": {"model": "openai/traitlets"}}),
        ("panel", {}),
        ("command line", {"overrides": {"model": "openai/command"}}),
    ]
    (home / "settings.json").rename(home / "kept")
    given: dict[str, Any] = {}
    for origin, layer in layers:
        if callable(layer):
            layer()
        else:
            given |= layer
        if origin == "panel":
            (home / "kept").rename(home / "settings.json")
        config = make(**given)
        assert config.origin("model") == origin
        assert config.settings.model.split("/")[1] in origin.replace("config.toml", "user project")
        assert config.problems == []


def test_openhands_names_are_understood(make: Make, home: Path) -> None:
    write(
        home / "config.toml",
        f"""
        [core]
        max_iterations = 7
        [llm]
        model = "openai/x"
        base_url = "http://localhost:1234/v1"
        api_key = "{CANARY}"
        [sandbox]
        timeout = 30
        isolation = "none"
        [security]
        confirmation_mode = true
        """,
    )
    config = make()
    settings = config.settings
    assert (settings.step_limit, settings.timeout, settings.isolation) == (7, 30.0, "none")
    assert (settings.model, settings.base_url) == ("openai/x", "http://localhost:1234/v1")
    assert (settings.mode, config.origin("mode")) == ("agent", "config.toml")
    assert config.model_config("openai/x").api_key == CANARY
    assert config.secrets.origins() == {"LLM_API_KEY": "config.toml"}
    assert CANARY in config.secrets_values()
    assert config.problems == []


def test_environment_is_text_and_is_converted(make: Make) -> None:
    config = make({"MAX_ITERATIONS": "12", "SANDBOX_TIMEOUT": "1.5", "SECURITY_MODE": "ask"})
    assert config.settings.step_limit == 12
    assert config.settings.timeout == 1.5
    assert config.settings.mode == "ask"


def test_limits_of_the_sandbox(make: Make, home: Path) -> None:
    write(home / "config.toml", "[sandbox]\nmemory_limit = 4\ncpu_limit = 1.5\ndisk_limit = 0")
    config = make({"SANDBOX_PROCESS_LIMIT": "100"})
    settings = config.settings
    assert (settings.memory_limit, settings.cpu_limit, settings.process_limit) == (4.0, 1.5, 100)
    assert settings.disk_limit == 10.0
    assert "disk_limit" in str(config.problems[0])


def test_auto_is_a_choice_for_one_run(make: Make, home: Path) -> None:
    config = make(traits={"mode": "auto"})
    assert config.settings.mode == "agent" and "one run only" in str(config.problems[0])
    config.update_panel({"mode": "auto", "step_limit": 5})
    assert (config.settings.mode, config.origin("mode")) == ("auto", "panel")
    after_restart = make()
    assert after_restart.settings.mode == "agent"
    assert after_restart.settings.step_limit == 5
    write(home / "settings.json", '{"mode": "auto"}')
    assert make().settings.mode == "agent"
    assert make(overrides={"mode": "auto"}).settings.mode == "auto"


def test_automatic_isolation_is_a_choice_that_lasts(make: Make, home: Path) -> None:
    write(home / "config.toml", '[sandbox]\nisolation = "none"')
    config = make({"SANDBOX_ISOLATION": "auto"})
    assert (config.settings.isolation, config.origin("isolation")) == ("auto", "environment")
    make().update_panel({"isolation": "auto"})
    after_restart = make()
    assert (after_restart.settings.isolation, after_restart.origin("isolation")) == (
        "auto",
        "panel",
    )


def test_panel_values_last_and_can_be_removed(make: Make, home: Path) -> None:
    config = make({"LLM_MODEL": "openai/env"})
    config.update_panel({"model": "openai/panel", "timeout": 9.0})
    assert stat.S_IMODE((home / "settings.json").stat().st_mode) == 0o600
    assert stat.S_IMODE(home.stat().st_mode) == 0o700
    again = make({"LLM_MODEL": "openai/env"})
    assert (again.settings.model, again.origin("model")) == ("openai/panel", "panel")
    again.update_panel({"model": None})
    assert (again.settings.model, again.origin("model")) == ("openai/env", "environment")
    assert again.settings.timeout == 9.0


def test_locked_settings_are_the_administrators(make: Make, home: Path) -> None:
    write(home / "config.toml", "[core]\nmax_iterations = 7")
    config = make(
        {"SANDBOX_ISOLATION": "none"},
        traits={"locked": ["isolation", "step_limit"], "step_limit": 20},
        overrides={"isolation": "none"},
    )
    assert (config.settings.isolation, config.origin("isolation")) == ("auto", "default")
    assert (config.settings.step_limit, config.origin("step_limit")) == (20, "traitlets")
    with pytest.raises(Conflict, match="step_limit"):
        config.update_panel({"model": "openai/x", "step_limit": None})
    assert config.settings.model == "tour"


def test_a_locked_model_is_the_only_one_that_is_asked(make: Make) -> None:
    traits = {"locked": ["model"], "model": "openai/ours"}
    environ = {"LLM_FALLBACK_MODELS": "openai/mine", "CONDENSER_LLM_CONFIG": "openai/mine"}
    settings = make(environ, traits=traits).settings
    assert (settings.fallback_models, settings.condenser_model) == ([], None)
    allowed = make(environ, traits=traits | {"fallback_models": ["openai/other"]})
    assert allowed.settings.fallback_models == ["openai/other"]


@pytest.mark.parametrize("locked", ["isolation", 3, [1]])
def test_locks_that_are_not_understood_lock_everything(make: Make, locked: Any) -> None:
    config = make({"SANDBOX_ISOLATION": "none"}, traits={"locked": locked, "mcp_servers": "x"})
    assert config.locked >= set(Settings.__struct_fields__)
    assert config.settings == Settings()
    assert ["all are locked" in str(problem) for problem in config.problems] == [True, False]


def test_a_lock_that_locks_nothing_is_said(make: Make) -> None:
    assert "isolaton" in str(make(traits={"locked": ["isolaton"]}).problems[0])


@pytest.mark.parametrize("content", ["{", "[]", '{"model": 3}', '{"colour": "red"}'])
def test_a_damaged_panel_file_is_a_warning(make: Make, home: Path, content: str) -> None:
    write(home / "settings.json", content)
    config = make()
    assert config.settings.model == "tour"
    assert len(config.problems) == 1


def test_secrets_are_kept_closed_and_survive(make: Make, home: Path) -> None:
    make().secrets.set("OPENAI_API_KEY", CANARY)
    assert stat.S_IMODE((home / "secrets.json").stat().st_mode) == 0o600
    config = make()
    assert config.model_config("openai/x").api_key == CANARY
    assert config.model_config("gpt-5").api_key == CANARY
    assert config.model_config("anthropic/x").api_key is None
    assert config.secrets.origins() == {"OPENAI_API_KEY": "panel"}
    config.secrets.delete("OPENAI_API_KEY")
    assert config.model_config("openai/x").api_key is None
    assert CANARY in config.secrets_values(), "old output may still hold it"
    with pytest.raises(NotFound):
        config.secrets.delete("OPENAI_API_KEY")


def test_a_secret_of_the_environment_wins_and_is_masked(make: Make) -> None:
    config = make({"ANTHROPIC_API_KEY": CANARY, "GITHUB_TOKEN": "ghp_abcdef", "EDITOR": "vi"})
    assert config.model_config("claude-x").api_key == CANARY
    assert config.secrets.origins() == {"ANTHROPIC_API_KEY": "environment"}
    assert config.secrets_values() == {CANARY, "ghp_abcdef"}
    with pytest.raises(Conflict, match="environment"):
        config.secrets.set("ANTHROPIC_API_KEY", "other")


@pytest.mark.parametrize("name", ["", "lower", "../X", "A" * 65, "A B", "A\n"])
def test_a_secret_needs_a_proper_name(make: Make, home: Path, name: str) -> None:
    with pytest.raises(Invalid):
        make().secrets.set(name, CANARY)
    assert not (home / "secrets.json").exists()


def test_home_of_its_own_name_is_closed_to_others(make: Make, home: Path) -> None:
    home.mkdir(mode=0o755)
    make().ensure_home()
    assert stat.S_IMODE(home.stat().st_mode) == 0o700


def test_a_shared_home_keeps_its_mode(make: Make, tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o1777)
    make({"OPENHANDS_HOME": str(shared)}).ensure_home()
    assert stat.S_IMODE(shared.stat().st_mode) == 0o1777


@pytest.fixture(params=["a file in the way", "read-only", "in a read-only folder"])
def impossible_home(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path]:
    """A home that not even root can write to."""
    if request.param == "a file in the way":
        (tmp_path / "file").write_text("")
        yield tmp_path / "file" / "home"
    else:
        with read_only(tmp_path / "fixed") as folder:
            yield folder if request.param == "read-only" else folder / "home"


def test_a_home_that_cannot_be_written_to_is_said(make: Make, impossible_home: Path) -> None:
    config = make({"OPENHANDS_HOME": str(impossible_home)})
    assert config.settings.model == "tour"
    assert str(impossible_home) in config.home_problem()
    for change in (
        config.ensure_home,
        lambda: config.update_panel({"model": "openai/x"}),
        lambda: config.secrets.set("OPENAI_API_KEY", CANARY),
    ):
        with pytest.raises(HomeNotWritable) as caught:
            change()
        assert caught.value.code == "home_not_writable"
        assert "OPENHANDS_HOME" in caught.value.hint
    assert config.settings.model == "tour"
    assert CANARY not in config.secrets_values()


def test_a_failed_write_leaves_the_old_file(
    make: Make, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = make()
    config.update_panel({"model": "openai/first"})

    def full(source: str, target: Path) -> None:
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(HomeNotWritable, match="No space left"):
        config.update_panel({"model": "openai/second"})
    monkeypatch.undo()
    assert config.settings.model == "openai/first"
    assert make().settings.model == "openai/first"
    assert [path.name for path in home.iterdir()] == ["settings.json"]


def test_the_network_in_files_and_in_the_environment(make: Make, home: Path) -> None:
    write(
        home / "config.toml",
        '[sandbox]\nnetwork = "allow-list"\nnetwork_presets = ["python"]\n'
        'network_rules = ["example.org", "*.example.org:8080"]\npip_index = "https://m.test/s"\n',
    )
    variables = {
        "SANDBOX_NETWORK_PRESETS": "npm,conda",
        "SANDBOX_NETWORK_RULES": "a.org, b.org:80",
        "SANDBOX_CA_BUNDLE": "/ca.pem",
    }
    config = make(variables)
    settings = config.settings
    assert config.problems == []
    assert (settings.network, settings.network_presets) == ("allow-list", ["npm", "conda"])
    assert settings.network_rules == ["a.org", "b.org:80"]
    assert (settings.pip_index, settings.ca_bundle) == ("https://m.test/s", "/ca.pem")
    assert make().settings.network_presets == ["python"]
    assert make().settings.network_rules == ["example.org", "*.example.org:8080"]


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ('network = "on"', "sandbox.network"),
        ('network_presets = ["all"]', "all"),
        ('network_rules = ["10.0.0.1"]', "not the name of a host"),
        ('network_rules = ["example.org:0"]', "not a port"),
        ('network_rules = "example.org"', "Expected `array`"),
        ('pip_index = "mirror"', "not a URL"),
        ('npm_registry = "https://[::1]/"', "not the name of a host"),
        ('conda_channels = "https://m.test:99999/"', "ort"),
        ('ca_bundle = "relative.pem"', "sandbox.ca_bundle"),
    ],
)
def test_a_network_that_makes_no_sense_is_a_warning(
    make: Make, home: Path, entry: str, said: str
) -> None:
    write(home / "config.toml", f"[sandbox]\n{entry}\n")
    [problem] = make().problems
    assert said in str(problem)


@pytest.mark.parametrize(
    ("name", "value"),
    [("trusted_networks", ["10.0.0.0/8"]), ("network_proxy", "http://proxy.test:3128")],
)
def test_what_opens_foreign_networks_is_the_administrators(
    make: Make, home: Path, name: str, value: object
) -> None:
    write(home / "settings.json", json.dumps({name: value}))
    write(home / "config.toml", f"[sandbox]\n{name} = {json.dumps(value)}\n")
    config = make({f"SANDBOX_{name.upper()}": str(value)}, overrides={name: value})
    assert getattr(config.settings, name) in ([], None)
    assert len(config.problems) == 3
    assert getattr(make(traits={name: value}).settings, name) == value


def test_a_trusted_network_has_to_be_one(make: Make) -> None:
    [problem] = make(traits={"trusted_networks": ["10.0.0.0/99"]}).problems
    assert "10.0.0.0/99" in str(problem)
