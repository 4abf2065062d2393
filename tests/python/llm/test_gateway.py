"""The life of the model gateway process: start, cancel, death, idleness, end, and its secrets.

Loading LiteLLM takes seconds each time, so what needs no process of its own shares one, and with it
an event loop. A test that ends the process leaves it to the next one to start it anew.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import psutil
import pytest
from jupyter_core.utils import ensure_event_loop
from model_server import ModelServer, hang, status, text
from waiting import PATIENCE, unhurried, wait_until

from openhands_jupyter.errors import ModelError
from openhands_jupyter.helper_process import HelperProcess
from openhands_jupyter.llm import gateway as gateway_module
from openhands_jupyter.llm import kept_prompts
from openhands_jupyter.llm.base import Delta, Message, ModelConfig, Response, Tool, ToolCall
from openhands_jupyter.llm.gateway import GatewayModel, ModelGateway
from openhands_jupyter.llm.gateway_child import environment

KEY = "sk-canary-9876543210"
HELLO = [Message(role="user", content="hello")]
LONG = "A rather long answer, in many pieces. " * 10


@pytest.fixture(scope="module")
def jp_asyncio_loop() -> Iterator[asyncio.AbstractEventLoop]:
    """One loop for all tests here, in place of pytest-jupyter's."""
    loop = ensure_event_loop(prefer_selector_loop=True)
    yield loop
    loop.close()


@pytest.fixture(scope="module")
def gateway(jp_asyncio_loop: asyncio.AbstractEventLoop) -> Iterator[ModelGateway]:
    """The gateway that tests share."""
    gateway = ModelGateway()
    yield gateway
    jp_asyncio_loop.run_until_complete(gateway.close())


@asynccontextmanager
async def running_gateway() -> AsyncIterator[ModelGateway]:
    """One of the test's own, which has not loaded anything yet."""
    gateway = ModelGateway()
    try:
        yield gateway
    finally:
        await gateway.close()


def model_on(gateway: ModelGateway, server: ModelServer, timeout: float = 30) -> GatewayModel:
    config = ModelConfig(model="openai/scripted", api_key=KEY, base_url=server.url, timeout=timeout)
    return GatewayModel(gateway, config)


async def ask(
    model: GatewayModel, on_delta: Callable[[Delta], None] = lambda delta: None
) -> Response:
    return await model.complete(HELLO, [], on_delta)


def lives(pid: int) -> bool:
    """Whether a process runs; one that nobody has buried yet does not."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


async def test_while_the_process_loads_the_event_loop_goes_on_and_calls_can_be_cancelled(
    model_server: ModelServer,
) -> None:
    model_server.play(text("The second."))
    lags: list[float] = []

    async def tick() -> None:
        while True:
            began = unhurried()
            await asyncio.sleep(0.005)
            lags.append(unhurried() - began)

    async with running_gateway() as gateway:
        model = model_on(gateway, model_server)
        ticker = asyncio.create_task(tick())
        call = asyncio.create_task(ask(model))
        await wait_until(lambda: gateway.pid is not None)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        response = await ask(model)
        ticker.cancel()
    assert response.text == "The second."
    assert len(model_server.requests) == 1
    # Loading took whole seconds of one processor; the loop never waited for it.
    assert len(lags) > 50
    assert max(lags) < 0.5


async def test_starting_does_not_wait_for_the_library_and_starts_one_process() -> None:
    async with running_gateway() as gateway:
        assert gateway.pid is None
        gateway.warm()
        await gateway.start()
        pid = gateway.pid
        assert pid is not None and lives(pid)
        await gateway.start()
        assert gateway.pid == pid


async def test_cancelling_hangs_up_on_the_provider(
    gateway: ModelGateway, model_server: ModelServer
) -> None:
    model_server.play(text(LONG).paced(0.2), hang(), text("Still here."))
    began = asyncio.Event()
    model = model_on(gateway, model_server)
    streaming = asyncio.create_task(ask(model, lambda delta: began.set()))
    await began.wait()
    waiting = asyncio.create_task(ask(model))
    await wait_until(lambda: len(model_server.requests) == 2)
    for number, call in enumerate((streaming, waiting)):
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        await wait_until(lambda n=number: model_server.requests[n].outcome == "disconnected")
    assert model_server.requests[0].pieces < len(LONG) / 16
    assert (await ask(model)).text == "Still here."


async def test_many_calls_at_once_are_kept_apart(
    gateway: ModelGateway, model_server: ModelServer
) -> None:
    model_server.play(*(text(f"Answer {n}. " * 20).paced(0.01) for n in range(8)))
    pieces: dict[int, list[str]] = {n: [] for n in range(8)}
    model = model_on(gateway, model_server)
    responses = await asyncio.gather(
        *(ask(model, lambda delta, n=n: pieces[n].append(delta.text)) for n in range(8))
    )
    assert {response.text for response in responses} == {f"Answer {n}. " * 20 for n in range(8)}
    assert ["".join(pieces[n]) for n in range(8)] == [response.text for response in responses]


async def test_a_listener_that_fails_ends_its_call_only(
    gateway: ModelGateway, model_server: ModelServer
) -> None:
    def fail(delta: Delta) -> None:
        raise LookupError("the panel is gone")

    model_server.play(text(LONG).paced(0.2), text("Still here."))
    model = model_on(gateway, model_server)
    with pytest.raises(LookupError, match="the panel is gone"):
        await ask(model, fail)
    await wait_until(lambda: model_server.requests[0].outcome == "disconnected")
    assert (await ask(model)).text == "Still here."


async def test_a_killed_process_fails_the_call_and_the_next_one_starts_anew(
    gateway: ModelGateway, model_server: ModelServer
) -> None:
    model_server.play(text(LONG).paced(0.2), text("Back again."))
    began = asyncio.Event()
    model = model_on(gateway, model_server)
    call = asyncio.create_task(ask(model, lambda delta: began.set()))
    await began.wait()
    first = gateway.pid
    assert first is not None
    os.kill(first, signal.SIGKILL)
    with pytest.raises(ModelError) as caught:
        await call
    assert caught.value.code == "model_gateway"
    assert "SIGKILL" in caught.value.message
    assert "Try again" in caught.value.hint
    assert (await ask(model)).text == "Back again."
    assert gateway.pid != first


async def test_a_process_that_died_while_idle_is_started_anew(
    gateway: ModelGateway, model_server: ModelServer
) -> None:
    await gateway.start()
    first = gateway.pid
    assert first is not None
    os.kill(first, signal.SIGKILL)
    await wait_until(lambda: gateway.pid is None)
    model_server.play(text("Back again."))
    assert (await ask(model_on(gateway, model_server))).text == "Back again."


async def test_an_idle_process_is_ended_and_started_again(
    gateway: ModelGateway, model_server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gateway, "_idle_seconds", 0.2)
    model_server.play(text(LONG).paced(0.02), text("Back again."))
    model = model_on(gateway, model_server)
    assert (await ask(model)).text == LONG
    await wait_until(lambda: gateway.pid is None)
    monkeypatch.undo()
    assert (await ask(model)).text == "Back again."


async def test_a_process_that_hangs_is_ended(
    gateway: ModelGateway, model_server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gateway_module, "_GRACE", 0.5)
    model_server.play(text("Hello."), hang())
    assert (await ask(model_on(gateway, model_server))).text == "Hello."
    pid = gateway.pid
    assert pid is not None
    os.kill(pid, signal.SIGSTOP)
    with pytest.raises(ModelError) as caught:
        await ask(model_on(gateway, model_server, timeout=1))
    assert caught.value.code == "model_gateway"
    await wait_until(lambda: not lives(pid))


async def test_closing_ends_the_process_and_fails_its_calls(
    gateway: ModelGateway, model_server: ModelServer
) -> None:
    model_server.play(text(LONG).paced(0.2))
    began = asyncio.Event()
    call = asyncio.create_task(ask(model_on(gateway, model_server), lambda delta: began.set()))
    await began.wait()
    pid = gateway.pid
    await gateway.close()
    with pytest.raises(ModelError):
        await call
    assert pid is not None and not lives(pid)
    await gateway.close()


# Prompts


def prompt_of(steps: int, said: str = "hello") -> list[Message]:
    """A prompt as it is after some steps."""
    messages = [Message(role="system", content="Be careful."), Message(role="user", content=said)]
    for step in range(steps):
        run = ToolCall(id=f"call_{step}", name="execute_bash", arguments='{"command": "ls"}')
        messages.append(Message(role="assistant", tool_calls=[run]))
        messages.append(Message(role="tool", tool_call_id=run.id, content=f"{said} {step}"))
    return messages


def contents(body: dict[str, Any]) -> list[str]:
    """What the messages say that arrived at the provider."""
    return [message["content"] for message in body["messages"]]


async def arrives(
    gateway: ModelGateway, server: ModelServer, messages: list[Message], model: str = "scripted"
) -> None:
    """Ask with a prompt and see that all of it comes to the provider, and nothing else."""
    config = ModelConfig(model=f"openai/{model}", base_url=server.url)
    tools = [Tool(name="execute_bash", description="Run", parameters={"type": "object"})]
    await gateway.complete(config, messages, tools, lambda delta: None)
    body = next(
        request.body
        for request in reversed(server.requests)
        if request.body["messages"][1]["content"] == messages[1].content
    )
    assert body["model"] == model
    assert contents(body) == [message.content for message in messages]
    assert [len(m.get("tool_calls", [])) for m in body["messages"]] == [
        len(m.tool_calls) for m in messages
    ]
    assert [tool["function"]["name"] for tool in body["tools"]] == ["execute_bash"]


async def test_what_crosses_with_a_step_is_what_is_new_in_it(
    gateway: ModelGateway, model_server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    model_server.play(final=text("Yes."))
    sent: list[int] = []
    send = HelperProcess.send

    def counting(self: HelperProcess, line: bytes) -> None:
        sent.append(len(line))
        send(self, line)

    monkeypatch.setattr(HelperProcess, "send", counting)
    messages = prompt_of(60)
    for step in range(60):
        await arrives(gateway, model_server, messages[: 2 + 2 * step])
    assert max(sent[-10:]) < 1.1 * min(sent[5:15])


async def test_a_prompt_arrives_whole_whatever_became_of_the_one_before(
    gateway: ModelGateway, model_server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    model_server.play(final=text("Yes."))
    whole = prompt_of(12)
    await arrives(gateway, model_server, whole[:20])
    # Other models: one that LiteLLM is let look at the prompt for, and back.
    await arrives(gateway, model_server, whole[:22], model="gpt-4o")
    await arrives(gateway, model_server, whole)
    # A result left out in the middle; the beginning left out; the end taken back.
    masked = [*whole[:9], msgspec.structs.replace(whole[9], content="[Left out.]"), *whole[10:]]
    await arrives(gateway, model_server, masked)
    condensed = [*whole[:2], Message(role="user", content="Much was done."), *whole[-4:]]
    for prompt in (condensed, whole, whole[:6], whole, condensed, masked):
        await arrives(gateway, model_server, prompt)
    # Others at the same time, with the same beginning.
    others = [prompt_of(6, said=f"task {number}") for number in range(4)]
    for length in range(2, 15, 4):
        await asyncio.gather(
            *(arrives(gateway, model_server, other[:length]) for other in (*others, whole))
        )
    # A process that has nothing.
    assert gateway.pid is not None
    os.kill(gateway.pid, signal.SIGKILL)
    await wait_until(lambda: gateway.pid is None)
    await arrives(gateway, model_server, whole)
    # No room to keep them all, or any.
    for room in ("MOST", "LARGEST"):
        monkeypatch.setattr(kept_prompts, room, 1)
        for prompt in (whole, others[0], whole, others[0][:8]):
            await arrives(gateway, model_server, prompt)


SERVER = """
import asyncio, sys
from openhands_jupyter.errors import ModelError
from openhands_jupyter.llm.base import ModelConfig
from openhands_jupyter.llm.gateway import ModelGateway

async def serve():
    gateway = ModelGateway()
    await gateway.start()
    if sys.argv[1] == "loaded":
        try:
            await gateway.complete(ModelConfig(model="nonsense"), [], [], print)
        except ModelError:
            pass
    print(gateway.pid, flush=True)
    await asyncio.sleep(600)

asyncio.run(serve())
"""


@pytest.mark.parametrize("library", ["loading", "loaded", "hanging"])
def test_the_process_ends_with_a_server_that_is_killed(library: str, tmp_path: Path) -> None:
    path = os.environ.get("PYTHONPATH", "")
    if library == "hanging":
        (tmp_path / "litellm.py").write_text("import time\ntime.sleep(600)\n")
        path = f"{tmp_path}:{path}"
    with subprocess.Popen(
        [sys.executable, "-c", SERVER, library],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": path},
    ) as server:
        assert server.stdout is not None
        pid = int(server.stdout.readline())
        assert lives(pid)
        server.kill()
    deadline = time.monotonic() + PATIENCE
    while lives(pid) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not lives(pid)


# Secrets


async def test_keys_are_in_no_environment_argument_log_or_error(
    model_server: ModelServer, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    names = ("LLM_API_KEY", "OPENAI_API_KEY", "MY_SECRET", "HF_TOKEN", "DB_PASSWORD")
    for name in names:
        monkeypatch.setenv(name, KEY)
    caplog.set_level(0)
    model_server.play(text("Hello."), status(401, f"{KEY} is no key of ours"))
    async with running_gateway() as gateway:
        model = model_on(gateway, model_server)
        await ask(model)
        assert model_server.requests[0].headers["authorization"] == f"Bearer {KEY}"
        process = Path(f"/proc/{gateway.pid}")
        assert KEY.encode() not in (process / "environ").read_bytes()
        assert KEY.encode() not in (process / "cmdline").read_bytes()
        assert b"PATH=" in (process / "environ").read_bytes()
        with pytest.raises(ModelError) as caught:
            await ask(model)
        # Nor is a key of the environment used behind the settings.
        with pytest.raises(ModelError) as without_key:
            await ask(GatewayModel(gateway, ModelConfig(model="openai/gpt-5.5")))
    error = caught.value
    assert KEY not in f"{error!r}{error}{error.message}{error.hint}"
    assert KEY not in caplog.text
    assert without_key.value.message == "No API key is set for openai/gpt-5.5."


def test_a_configuration_does_not_show_its_key() -> None:
    assert KEY not in repr(ModelConfig(model="openai/x", api_key=KEY))


# Imports


@pytest.mark.parametrize("module", ["llm", "llm.base", "llm.gateway", "llm.tour"])
def test_the_server_does_not_load_litellm(module: str) -> None:
    code = f"import sys, openhands_jupyter.{module}; print('litellm' in sys.modules)"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert answer.stdout.strip() == "False", answer.stderr


WATCHED_IMPORT = """
import sys
seen = []
sys.addaudithook(
    lambda name, args: seen.append((name, args[-1])) if name in WATCHED else None
)
import openhands_jupyter.llm.provider
print(seen)
"""


def test_loading_litellm_uses_no_network(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("OPENAI_API_KEY=from-the-workspace\n")
    watched = "WATCHED = {'socket.connect', 'socket.getaddrinfo', 'socket.sendto'}\n"
    check = "import os; print(os.environ.get('OPENAI_API_KEY'))"
    answer = subprocess.run(
        [sys.executable, "-c", watched + WATCHED_IMPORT + check],
        env=environment(),
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert answer.stdout.splitlines() == ["[]", "None"], answer.stderr
