"""Which models there are on this machine, and what a model turns out to be able to."""

from __future__ import annotations

import asyncio
import io
import time
from argparse import Namespace
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from model_server import ModelServer, Turn, call, hang, page, reset, status, text
from shared_gateway import SharedGateway
from tornado.httpserver import HTTPServer
from tornado.testing import bind_unused_port
from tornado.web import Application, RequestHandler

from openhands_jupyter.cli import models
from openhands_jupyter.cli.main import _parser, _run
from openhands_jupyter.cli.terminal import Terminal
from openhands_jupyter.config import Config
from openhands_jupyter.llm import windows
from openhands_jupyter.llm.base import ModelConfig
from openhands_jupyter.llm.gateway import GatewayModel
from openhands_jupyter.llm.local_servers import LOCAL_SERVERS, LocalServer, detect, is_loopback
from openhands_jupyter.llm.probe import probe

OLLAMA = {
    "/api/tags": {"models": [{"name": "qwen3:8b"}, {"name": "small:latest"}, {"name": "bad name"}]},
    "/api/ps": {"models": [{"name": "qwen3:8b", "context_length": 32768}]},
    "/api/show": {"parameters": "stop  x\nnum_ctx   4096"},
}
LM_STUDIO = {
    "/api/v0/models": {
        "data": [
            {"id": "gpt-oss-20b", "type": "llm", "loaded_context_length": 8192},
            {"id": "bge", "type": "embeddings"},
        ]
    }
}
VLLM = {"/v1/models": {"data": [{"id": "org/model", "max_model_len": 40960}]}}
LLAMA_CPP = {
    "/v1/models": {"data": [{"id": "model.gguf"}]},
    "/props": {"default_generation_settings": {"n_ctx": 2048}},
}


@asynccontextmanager
async def serving(answers: dict[str, Any], after: float = 0.0) -> AsyncIterator[str]:
    """A server on this machine with these answers; gives its address."""

    class Handler(RequestHandler):
        async def get(self) -> None:
            await asyncio.sleep(after)
            answer = answers.get(self.request.path)
            self.write(answer if answer is not None else "<html>Something else</html>")

        post = get

    sock, port = bind_unused_port()
    server = HTTPServer(Application([(".*", Handler)], log_function=lambda handler: None))
    server.add_socket(sock)
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.stop()
        await server.close_all_connections()


async def test_servers_on_this_machine_are_found_with_their_windows() -> None:
    async with (
        serving(OLLAMA) as ollama,
        serving(LM_STUDIO) as studio,
        serving(VLLM) as vllm,
        serving(LLAMA_CPP) as llama,
        serving({}) as something_else,
        serving({"/v1/models": "[" * 100_000, "/props": {}}) as hostile,
    ):
        found = await detect(
            [
                LocalServer("ollama_chat", "Ollama", ollama),
                LocalServer("lm_studio", "LM Studio", f"{studio}/v1"),
                LocalServer("hosted_vllm", "vLLM", f"{vllm}/v1"),
                LocalServer("llamafile", "llama.cpp", f"{llama}/v1"),
                LocalServer("openai", "else", something_else),
                LocalServer("openai", "hostile", hostile),
                LocalServer("openai", "nobody", "http://127.0.0.1:9/v1"),
            ]
        )
    assert [(model.name, model.window) for model in found] == [
        ("ollama_chat/qwen3:8b", 32768),
        ("ollama_chat/small:latest", None),
        ("lm_studio/gpt-oss-20b", 8192),
        ("hosted_vllm/org/model", 40960),
        ("llamafile/model.gguf", 2048),
    ]


async def test_only_this_machine_is_asked_and_nobody_is_waited_for_long() -> None:
    assert all(is_loopback(server.address) for server in LOCAL_SERVERS)
    elsewhere = ["http://10.0.0.1:11434", "http://127.0.0.1.example.org", "https://example.org", ""]
    assert not any(map(is_loopback, elsewhere))
    async with serving(OLLAMA, after=30) as slow:
        began = time.monotonic()
        servers = [LocalServer("ollama_chat", "Ollama", slow)] * 5
        assert await detect([*servers, LocalServer("openai", "x", elsewhere[0])]) == []
        assert time.monotonic() - began < 15, "one after the other"


@pytest.fixture
def tried(shared_gateway: SharedGateway, model_server: ModelServer) -> Callable[..., Any]:
    async def try_out(**changes: Any) -> dict[str, Any]:
        config = ModelConfig(
            **(
                {"model": "openai/scripted", "api_key": "sk-canary", "base_url": model_server.url}
                | changes
            )
        )
        report = await probe(GatewayModel(shared_gateway.lend(), config))
        return {check.subject: check for check in report.checks}

    return try_out


def scripted(server: ModelServer, numbers: Turn, calls: Turn, vision: Turn) -> None:
    server.play(numbers, when="numbers from 1 to 30")
    server.play(calls, when="Call the tool")
    server.play(vision, when="Which colour")


NUMBERS = text("one, two, three, four, five, six, seven, eight, nine, ten")


async def test_a_good_model_is_found_good(tried: Any, model_server: ModelServer) -> None:
    scripted(model_server, NUMBERS, call("note", word="blue"), text("Red."))
    checks = await tried(context_window=64_000, vision="on")
    assert {subject: check.status for subject, check in checks.items()} == dict.fromkeys(
        ("key", "streaming", "tool_calls", "vision", "window"), "ok"
    )
    assert not any(check.hint for check in checks.values())


async def test_a_poor_model_is_told_with_what_to_do(tried: Any, model_server: ModelServer) -> None:
    scripted(
        model_server,
        NUMBERS.but(streams=False),
        text("I call the tool."),
        status(400, "This model does not support images."),
    )
    checks = await tried(model="openai/small", context_window=4096)
    assert {subject: check.status for subject, check in checks.items()} == {
        "key": "ok",
        "streaming": "failed",
        "tool_calls": "failed",
        "vision": "failed",
        "window": "failed",
    }
    assert "tool_calls" in checks["tool_calls"].hint
    assert "context_window" in checks["window"].hint


async def test_what_a_model_sees_counts_and_not_what_it_says_of_it(
    tried: Any, model_server: ModelServer
) -> None:
    scripted(model_server, NUMBERS, status(500), text("Green."))
    checks = await tried()
    assert (checks["vision"].status, checks["tool_calls"].status) == ("failed", "unknown")
    assert checks["window"].status == "unknown"
    scripted(model_server, NUMBERS, status(400, "tools are not supported"), text("red"))
    checks = await tried()
    assert (checks["vision"].status, checks["tool_calls"].status) == ("ok", "failed")
    assert "vision" in checks["vision"].hint, "it is not known to see"


@pytest.mark.parametrize(
    ("turn", "key"), [(status(401, "Incorrect key sk-canary"), "failed"), (hang(), "unknown")]
)
async def test_a_model_that_does_not_answer_is_asked_once(
    tried: Any, model_server: ModelServer, turn: Turn, key: str
) -> None:
    model_server.play(turn)
    checks = await tried(timeout=1)
    assert checks["key"].status == key
    assert checks["key"].hint
    assert "sk-canary" not in checks["key"].message
    assert checks["tool_calls"].status == "unknown"
    assert len(model_server.requests) == 1


@pytest.mark.parametrize("model", ["ollama_chat/x", "lm_studio/x", "hosted_vllm/x", "openai/x"])
def test_each_kind_of_server_has_its_own_setting_for_the_window(model: str) -> None:
    named = {
        "ollama_chat": "num_ctx",
        "lm_studio": "context length",
        "hosted_vllm": "--max-model-len",
        "openai": "context_window",
    }
    assert named[model.partition("/")[0]] in windows.advice(model)


async def test_a_local_server_tells_the_window_in_force(shared_gateway: SharedGateway) -> None:
    async with serving(OLLAMA) as ollama:
        gateway = shared_gateway.lend()
        found = [
            (await gateway.capabilities(ModelConfig(model=model, base_url=ollama))).window
            for model in ("ollama_chat/qwen3:8b", "ollama_chat/small")
        ]
    assert found == [32768, 4096]


@pytest.mark.parametrize(
    ("turn", "told"),
    [
        (status(401, "Incorrect key sk-canary-0123456789"), "key        failed"),
        (status(404), "does not know the model"),
        (status(429, "Slow down.", retry_after="30"), "Try again in 30 seconds"),
        (status(500, "Oops."), "Oops."),
        (reset(), "closed the connection"),
        (page("<html>Welcome</html>"), "/v1"),
        (NUMBERS.cut(2), "broke off"),
        (hang(), "nothing came for 1 seconds"),
    ],
)
async def test_the_command_fails_where_the_model_does_not_answer(
    shared_gateway: SharedGateway,
    model_server: ModelServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    turn: Turn,
    told: str,
) -> None:
    monkeypatch.setattr("openhands_jupyter.session.manager.ModelGateway", shared_gateway.lend)
    environ = {
        "OPENHANDS_HOME": str(tmp_path / "home"),
        "LLM_MODEL": "openai/scripted",
        "LLM_BASE_URL": model_server.url,
        "LLM_API_KEY": "sk-canary-0123456789",
        "LLM_TIMEOUT": "1",
    }
    model_server.play(turn)
    printed = io.StringIO()
    code = await models.run(
        Namespace(verb="test", model=None, json=False),
        Config(tmp_path, None, {}, environ),
        Terminal(io.StringIO(), printed),
    )
    assert code == 1
    assert told in printed.getvalue()
    assert "sk-canary" not in printed.getvalue()
    assert len(model_server.requests) == 1


async def test_the_command_says_what_works_and_fails_where_something_does_not(
    shared_gateway: SharedGateway,
    model_server: ModelServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    scripted(model_server, NUMBERS, call("note", word="blue"), text("Green."))
    monkeypatch.setattr("openhands_jupyter.session.manager.ModelGateway", shared_gateway.lend)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENHANDS_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("LLM_BASE_URL", model_server.url)
    monkeypatch.setenv("LLM_API_KEY", "sk-canary-0123456789")
    printed = io.StringIO()
    options = _parser().parse_args(["models", "test", "openai/scripted"])
    assert await _run(options, Terminal(io.StringIO(), printed)) == 1
    lines = [line.split() for line in printed.getvalue().splitlines() if line.startswith("  ")]
    told = {" ".join(words[:2]) for words in lines}
    assert {"key ok", "streaming ok", "vision failed", "window unknown"} <= told
    assert "sk-canary" not in printed.getvalue()
