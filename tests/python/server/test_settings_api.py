from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from model_server import ModelServer, text
from read_only import read_only
from remote_jupyter import jupyter_server

from openhands_jupyter import __version__
from openhands_jupyter.runtime.agentd import landlock
from openhands_jupyter.session import Session

CANARY = "sk-canary-MZ7Qk2-x9"


def with_origin(settings: dict[str, Any]) -> dict[str, tuple[Any, str]]:
    return {name: (entry["value"], entry["origin"]) for name, entry in settings.items()}


def files_with(text: str, folder: Path) -> list[Path]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert len(files) > 2
    return [path for path in files if text.encode() in path.read_bytes()]


async def test_settings_tell_their_origin(api: Any) -> None:
    body = (await api("GET", "settings")).body
    assert with_origin(body["settings"]) == {
        "model": ("tour", "default"),
        "base_url": (None, "default"),
        "fallback_models": ([], "default"),
        "model_timeout": (120.0, "default"),
        "model_retries": (5, "default"),
        "vision": ("auto", "default"),
        "tool_calls": ("auto", "default"),
        "prompt_caching": ("auto", "default"),
        "context_window": (None, "default"),
        "max_output_tokens": (None, "default"),
        "reasoning_effort": ("auto", "default"),
        "mode": ("agent", "default"),
        "agent": ("codeact", "default"),
        "isolation": ("auto", "default"),
        "step_limit": (100, "default"),
        "cost_limit": (0.0, "default"),
        "token_limit": (0, "default"),
        "time_limit": (0.0, "default"),
        "stuck_detection": (True, "default"),
        "timeout": (120.0, "default"),
        "docker_image": (None, "default"),
        "gateway_url": (None, "default"),
        "gateway_kernel": (None, "default"),
        "gateway_folder": (None, "default"),
        "python": (None, "default"),
        "requirements": (None, "default"),
        "docker_remote_root": (None, "default"),
        "docker_pause_after": (10.0, "default"),
        "docker_max_containers": (20, "default"),
        "docker_containers": ("session", "default"),
        "memory_limit": (None, "default"),
        "process_limit": (4096, "default"),
        "cpu_limit": (None, "default"),
        "disk_limit": (10.0, "default"),
        "prewarm": (0, "traitlets"),
        "idle_timeout": (240.0, "default"),
        "network": ("off", "default"),
        "network_presets": ([], "default"),
        "network_rules": ([], "default"),
        "pip_index": (None, "default"),
        "npm_registry": (None, "default"),
        "conda_channels": (None, "default"),
        "ca_bundle": (None, "default"),
        "network_proxy": (None, "default"),
        "trusted_networks": ([], "default"),
        "checkpoints": (True, "default"),
        "checkpoint_limit": (2.0, "default"),
        "checkpoint_exclude": ([], "default"),
        "condenser": ("pipeline", "default"),
        "condenser_model": (None, "default"),
        "condenser_attention_window": (10, "default"),
        "condenser_keep_first": (1, "default"),
        "condenser_max_tokens": (None, "default"),
        "condenser_max_event_length": (10_000, "default"),
    }
    assert (body["secrets"], body["problems"], body["model_groups"]) == ([], [], {})


async def test_the_panel_sets_and_takes_back(api: Any) -> None:
    answer = await api("PUT", "settings", {"model": "openai/x", "step_limit": 5, "mode": "auto"})
    assert answer.status == 200
    settings = with_origin(answer.body["settings"])
    assert settings["model"] == ("openai/x", "panel")
    assert settings["step_limit"] == (5, "panel")
    assert settings["mode"] == ("auto", "panel")
    assert settings["timeout"] == (120.0, "default")
    assert (await api("GET", "settings")).body == answer.body
    session = (await api("POST", "sessions", {})).body
    assert (session["model"], session["step_limit"]) == ("openai/x", 5)
    answer = await api("PUT", "settings", {"model": None})
    settings = with_origin(answer.body["settings"])
    assert settings["model"] == ("tour", "default")
    assert settings["step_limit"] == (5, "panel")


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"colour": "red"}, "colour"),
        ({"model": 3}, "model"),
        ({"agent": "nobody"}, "agent"),
        ({"agent": "os.path:join"}, "agent"),
        ({"agent": "../agents.py"}, "agent"),
        ({"base_url": "javascript:alert(1)"}, "base_url"),
        ({"base_url": "file:///etc/passwd"}, "base_url"),
        ({"mode": "plan"}, "mode"),
        ({"isolation": "podman"}, "isolation"),
        ({"step_limit": 0}, "step_limit"),
        ({"step_limit": 1.5}, "step_limit"),
        ({"cost_limit": -1}, "cost_limit"),
        ({"stuck_detection": "yes"}, "stuck_detection"),
        ({"timeout": -1}, "timeout"),
        ({"model": "openai/x", "timeout": "long"}, "timeout"),
        ({"network": "on"}, "network"),
        ({"network_presets": ["all"]}, "network_presets"),
        ({"network_rules": ["example.org", "10.0.0.1"]}, "network_rules"),
        ({"network_rules": ["https://example.org"]}, "network_rules"),
        ({"network_rules": [7]}, "network_rules"),
        ({"pip_index": "mirror.test"}, "pip_index"),
        ({"npm_registry": "https://10.0.0.1/"}, "npm_registry"),
        ({"conda_channels": "ftp://mirror.test"}, "conda_channels"),
        ({"ca_bundle": "bundle.pem"}, "ca_bundle"),
        ({"ca_bundle": "/nonexistent/bundle.pem"}, "ca_bundle"),
        ({"ca_bundle": "/etc/hostname"}, "ca_bundle"),
        ({"trusted_networks": ["10.0.0.0/8"]}, "trusted_networks"),
        ({"network_proxy": "http://proxy.test"}, "network_proxy"),
    ],
)
async def test_a_bad_setting_is_refused_and_named(api: Any, body: Any, field: str) -> None:
    before = (await api("GET", "settings")).body
    answer = await api("PUT", "settings", body)
    assert (answer.status, answer.body["field"]) == (422, field)
    assert (await api("GET", "settings")).body == before


async def test_a_secret_is_never_told(
    api: Any, connect: Any, home: Path, session: Session, caplog: pytest.LogCaptureFixture
) -> None:
    """Nor what it is, nor in an error, nor in a log, nor when somebody types it."""
    answers = [
        await api("PUT", "secrets/OPENAI_API_KEY", {"value": CANARY}),
        await api("PUT", "secrets/lower", {"value": CANARY}),
        await api("PUT", "secrets/OPENAI_API_KEY", {"value": CANARY, "extra": CANARY}),
        await api("PUT", "secrets/OPENAI_API_KEY", {"value": [CANARY]}),
        await api("PUT", "secrets/OPENAI_API_KEY", f'{{"value": "{CANARY}'.encode()),
        await api("GET", "secrets/OPENAI_API_KEY"),
        await api("POST", f"sessions/{session.id}/messages", {"content": f"my key is {CANARY}"}),
        await api("GET", f"sessions/{session.id}/events"),
        await api("GET", f"sessions/{session.id}"),
        await api("GET", "sessions"),
        await api("GET", "settings"),
        await api("GET", "models"),
        await api("GET", "health"),
        await api("GET", "openapi.json"),
    ]
    assert [answer.status for answer in answers[:7]] == [204, 422, 422, 422, 422, 405, 201]
    assert all(CANARY.encode() not in answer.raw for answer in answers)
    settings = answers[10].body
    why_not = "it opens a model or a server, which the agent's code must not reach by itself"
    assert settings["secrets"] == [
        {"name": "OPENAI_API_KEY", "origin": "panel", "for_sandbox": False, "why_not": why_not}
    ]
    stream = await connect(session.id)
    events = await stream.events(session.stream.last_id)
    assert any("my key is" in str(event) for event in events)
    assert CANARY not in str(events)
    assert CANARY not in str(session.info())
    assert CANARY not in caplog.text
    assert [path.name for path in files_with(CANARY, home)] == ["secrets.json"]


@pytest.mark.parametrize(
    ("name", "value", "field", "words"),
    [
        ("lower", CANARY, "name", "capital letters"),
        ("A" * 65, CANARY, "name", "at most 64"),
        ("TOKEN", "", "value", "TOKEN has no value"),
        ("TOKEN", CANARY * 1000, "value", "at most 10,000 characters"),
        ("TOKEN", f"{CANARY}\0", "value", "null character"),
        ("TOKEN", 7, "value", "Expected `str`"),
    ],
)
async def test_a_bad_secret_is_refused_and_its_field_named(
    api: Any, name: str, value: Any, field: str, words: str
) -> None:
    answer = await api("PUT", f"secrets/{name}", {"value": value})
    assert (answer.status, answer.body["field"]) == (422, field)
    assert words in answer.body["message"]
    assert CANARY not in answer.body["message"]
    assert (await api("GET", "settings")).body["secrets"] == []


async def test_a_secret_that_is_removed_is_no_longer_among_a_sessions(
    api: Any, connect: Any, session: Session
) -> None:
    await api("PUT", "secrets/DATABASE_PASSWORD", {"value": CANARY})
    await api("PATCH", f"sessions/{session.id}", {"secrets": ["DATABASE_PASSWORD"]})
    stream = await connect(session.id)
    assert (await stream.frame())["session"]["secrets"] == ["DATABASE_PASSWORD"]
    await api("DELETE", "secrets/DATABASE_PASSWORD")
    await stream.until(lambda frame: frame.get("session", {}).get("secrets") == [])


async def test_a_secret_can_be_removed(api: Any) -> None:
    assert (await api("DELETE", "secrets/OPENAI_API_KEY")).status == 404
    await api("PUT", "secrets/OPENAI_API_KEY", {"value": CANARY})
    assert (await api("DELETE", "secrets/OPENAI_API_KEY")).status == 204
    assert (await api("GET", "settings")).body["secrets"] == []


async def test_a_secret_of_the_environment_cannot_be_changed_here(
    api: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", CANARY)
    answer = await api("PUT", "secrets/ANTHROPIC_API_KEY", {"value": "sk-other"})
    assert (answer.status, answer.body["code"]) == (409, "secret_from_environment")


@pytest.mark.usefixtures("shared_models")
async def test_models_of_this_machine_are_listed_when_asked_for_and_can_be_tested(
    api: Any, model_server: ModelServer
) -> None:
    refused = await api("POST", "models/test", body={})
    assert (refused.status, refused.body["code"]) == (422, "model_is_tour")
    given = {"model": "hosted_vllm/mine", "base_url": model_server.url}
    assert (await api("PUT", "settings", body=given)).status == 200
    names = [model["name"] for model in (await api("GET", "models")).body["models"]]
    assert "hosted_vllm/scripted" not in names
    models = (await api("GET", "models", local="true")).body["models"]
    [found] = [model for model in models if model["name"] == "hosted_vllm/scripted"]
    assert (found["local"], found["ready"], found["provider"]) == (True, True, "vLLM")
    model_server.play(text("one, two, three, four, five, six"))
    report = (await api("POST", "models/test", body={"model": "hosted_vllm/scripted"})).body
    assert report["model"] == "hosted_vllm/scripted"
    statuses = {check["subject"]: check["status"] for check in report["checks"]}
    assert statuses["key"] == statuses["streaming"] == "ok"
    assert statuses["tool_calls"] == "failed"


async def test_models_say_what_is_missing(api: Any) -> None:
    models = (await api("GET", "models")).body["models"]
    assert models[0]["name"] == "tour" and models[0]["ready"]
    assert "no AI" in models[0]["label"]
    claude = next(model for model in models if model["name"].startswith("anthropic/"))
    assert not claude["ready"] and "ANTHROPIC_API_KEY" in claude["hint"]
    await api("PUT", "secrets/ANTHROPIC_API_KEY", {"value": CANARY})
    await api("PUT", "settings", {"model": "hosted_vllm/mine", "base_url": "http://localhost:1"})
    models = (await api("GET", "models")).body["models"]
    assert [model["name"] for model in models[:2]] == ["tour", "hosted_vllm/mine"]
    assert models[1]["ready"]
    claude = next(model for model in models if model["name"].startswith("anthropic/"))
    assert claude["ready"] and claude["hint"] == ""


@pytest.mark.sandbox
async def test_health_of_a_gateway(api: Any, tmp_path: Path) -> None:
    root = tmp_path / "remote"
    root.mkdir()
    with jupyter_server(root) as remote:
        chosen = {"isolation": "gateway", "gateway_url": remote.url}
        await api("PUT", "settings", chosen)
        refused = (await api("GET", "health")).body
        assert (refused["status"], refused["sandbox"]["available"]) == ("degraded", False)
        assert "does not let us in" in refused["sandbox"]["notice"]
        await api("PUT", "secrets/JUPYTER_GATEWAY_AUTH_TOKEN", {"value": remote.token})
        health = (await api("GET", "health")).body
        assert (health["status"], health["sandbox"]["backend"]) == ("ok", "gateway")
        assert "No kernel was started" in health["sandbox"]["notice"]
        assert remote.kernels() == []


async def test_health(api: Any) -> None:
    health = (await api("GET", "health")).body
    assert health["status"] == "ok"
    assert health["version"] == __version__
    assert health["home"] == {"writable": True, "notice": ""}
    assert (health["sandbox"]["backend"], health["sandbox"]["available"]) == ("bubblewrap", True)


async def test_health_without_bubblewrap_says_what_to_do(
    api: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    await api("PUT", "settings", {"isolation": "bubblewrap"})
    health = (await api("GET", "health")).body
    assert health["status"] == "degraded"
    assert (health["sandbox"]["backend"], health["sandbox"]["available"]) == ("bubblewrap", False)
    assert "install" in health["sandbox"]["notice"].lower()


async def test_health_of_a_weaker_sandbox_says_why(
    api: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    if not landlock.abi():
        pytest.skip("needs a kernel with Landlock")
    monkeypatch.setenv("PATH", str(tmp_path))
    health = (await api("GET", "health")).body
    assert health["status"] == "ok"
    assert (health["sandbox"]["backend"], health["sandbox"]["available"]) == ("landlock", True)
    assert "bubblewrap, which isolates the agent, is not installed" in health["sandbox"]["notice"]


async def test_health_without_isolation_says_so(api: Any) -> None:
    await api("PUT", "settings", {"isolation": "none"})
    health = (await api("GET", "health")).body
    assert (health["sandbox"]["backend"], health["sandbox"]["available"]) == ("none", True)
    assert "no sandbox" in health["sandbox"]["notice"]


class TestConfigured:
    """A server that an administrator configured, with mistakes there and in the person's file."""

    @pytest.fixture
    def jp_server_config(self, jp_server_config: dict[str, Any], home: Path) -> dict[str, Any]:
        home.mkdir()
        (home / "config.toml").write_text('[llm]\nmodel = "openai/mine"\n[core]\nmax_iteration = 3')
        # Jupyter takes nothing after a value that a trait does not accept.
        wrong = {"network": "on", "step_limit": "many", "network_rules": 3}
        right = {"locked": ["isolation"], "timeout": 30.0}
        jp_server_config["OpenHandsExtension"] = wrong | right
        return jp_server_config

    async def test_locks_and_warnings_are_shown(self, api: Any, home: Path) -> None:
        body = (await api("GET", "settings")).body
        settings = body["settings"]
        assert settings["isolation"] == {
            "value": "auto",
            "origin": "default",
            "where": "",
            "line": None,
            "locked": True,
        }
        assert settings["timeout"] == {
            "value": 30.0,
            "origin": "traitlets",
            "where": "c.OpenHandsExtension.timeout",
            "line": None,
            "locked": False,
        }
        assert settings["model"] == {
            "value": "openai/mine",
            "origin": "config.toml",
            "where": str(home / "config.toml"),
            "line": 2,
            "locked": False,
        }
        problem, *of_traits = body["problems"]
        assert problem == {
            "severity": "error",
            "where": str(home / "config.toml"),
            "line": 4,
            "message": "core.max_iteration is left out: there is no such setting here; "
            "did you mean max_iterations?",
        }
        assert [(one["severity"], one["where"]) for one in of_traits] == [
            ("error", "traitlets")
        ] * 3
        assert "c.OpenHandsExtension.step_limit is left out" in of_traits[0]["message"]

    async def test_a_locked_setting_stays(self, api: Any) -> None:
        answer = await api("PUT", "settings", {"isolation": "none", "timeout": 5})
        assert (answer.status, answer.body["code"]) == (409, "setting_locked")
        assert "isolation" in answer.body["message"]
        settings = (await api("GET", "settings")).body["settings"]
        assert settings["timeout"]["value"] == 30.0


class TestReadOnlyHome:
    """The server runs on, and says why nothing can be kept."""

    @pytest.fixture
    def home(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
        with read_only(tmp_path / "fixed") as folder:
            monkeypatch.setenv("OPENHANDS_HOME", str(folder))
            yield folder

    async def test_it_is_said_and_the_rest_works(self, api: Any, home: Path) -> None:
        health = (await api("GET", "health")).body
        assert health["status"] == "degraded"
        assert not health["home"]["writable"] and str(home) in health["home"]["notice"]
        for method, path, body in (
            ("POST", "sessions", {}),
            ("PUT", "settings", {"model": "openai/x"}),
            ("PUT", "secrets/OPENAI_API_KEY", {"value": CANARY}),
        ):
            answer = await api(method, path, body)
            assert (answer.status, answer.body["code"]) == (503, "home_not_writable")
            assert "OPENHANDS_HOME" in answer.body["hint"]
        assert (await api("GET", "sessions")).body == {"sessions": []}
        assert (await api("GET", "settings")).body["settings"]["model"]["value"] == "tour"
        assert (await api("GET", "models")).status == 200


async def test_a_full_disk_is_said(api: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*args: Any) -> None:
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(os, "replace", full)
    answer = await api("PUT", "settings", {"model": "openai/x"})
    assert (answer.status, answer.body["code"]) == (503, "home_not_writable")
    assert "No space left" in answer.body["message"]


async def test_a_python_is_tried_when_it_is_chosen(api: Any, tmp_path: Path) -> None:
    answer = await api("PUT", "settings", {"python": str(tmp_path / "nothing")})
    assert (answer.status, answer.body["field"]) == (422, "python")
    assert "There is no Python at" in answer.body["message"]
    answer = await api("PUT", "settings", {"python": "python3"})
    assert answer.status == 200
    assert answer.body["settings"]["python"]["value"] == "python3"


async def test_the_pythons_to_choose_from_are_listed(api: Any) -> None:
    found = (await api("GET", "sandbox/pythons")).body["pythons"]
    assert found[0] == {**found[0], "value": "", "kind": "server", "problem": ""}
    assert "python3" in [python["value"] for python in found]


async def test_requirements_are_installed_only_when_asked_for(api: Any, jp_root_dir: Path) -> None:
    assert (await api("GET", "sandbox/requirements")).body["state"] == "none"
    answer = await api("POST", "sandbox/requirements")
    assert (answer.status, answer.body["code"]) == (409, "no_requirements")
    assert (await api("DELETE", "sandbox/requirements")).status == 204
    (jp_root_dir / "requirements.txt").write_text("something\n")
    assert (await api("PUT", "settings", {"requirements": "requirements.txt"})).status == 200
    found = (await api("GET", "sandbox/requirements")).body
    assert (found["file"], found["state"]) == ("requirements.txt", "missing")


async def test_limits_are_set_in_the_panel(api: Any) -> None:
    limits = {"memory_limit": 2.5, "process_limit": 100, "cpu_limit": 0.5, "disk_limit": 3}
    limits |= {"prewarm": 0, "idle_timeout": 30, "vision": "on"}
    settings = (await api("PUT", "settings", limits)).body["settings"]
    assert {name: settings[name]["value"] for name in limits} == limits
    wrong_ones = {"memory_limit": 0, "prewarm": 0.5, "idle_timeout": -1, "vision": "blurred"}
    for name, wrong in wrong_ones.items():
        answer = await api("PUT", "settings", {name: wrong})
        assert (answer.status, answer.body["field"]) == (422, name)
