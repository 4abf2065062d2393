"""What goes wrong on the way to a remote server: each an answer in plain words, and no waiting."""

from __future__ import annotations

import asyncio
import socket

import msgspec
import pytest
from jupyter_server.gateway.gateway_client import GatewayClient
from remote_jupyter import free_port, jupyter_server
from traitlets.config import Config
from waiting import PATIENCE, unhurried, wait_until

from openhands_jupyter.errors import SandboxUnavailable
from openhands_jupyter.events import CmdRunAction
from openhands_jupyter.runtime import SandboxRuntime
from openhands_jupyter.runtime.gateway.settings import GatewaySettings

pytestmark = [pytest.mark.sandbox, pytest.mark.anybody]


@pytest.fixture(autouse=True)
def no_gateway_of_the_person(monkeypatch):
    for name in ("URL", "AUTH_TOKEN", "CA_CERTS", "WS_URL"):
        monkeypatch.delenv(f"JUPYTER_GATEWAY_{name}", raising=False)


async def refusal(workspace, **settings) -> SandboxUnavailable:
    runtime = SandboxRuntime(workspace, "gateway", gateway=GatewaySettings(**settings))
    try:
        with pytest.raises(SandboxUnavailable) as caught:
            await runtime.start()
    finally:
        await runtime.close()
    assert caught.value.hint
    return caught.value


async def test_without_an_address(workspace):
    error = await refusal(workspace)
    assert error.message == "No gateway is configured."
    assert "gateway_url" in error.hint


async def test_the_address_of_jupyters_own_gateway_is_the_default(workspace, monkeypatch):
    port = free_port()
    monkeypatch.setenv("JUPYTER_GATEWAY_URL", f"http://127.0.0.1:{port}")
    assert f"127.0.0.1:{port} cannot be reached" in (await refusal(workspace)).message
    error = await refusal(workspace, url="http://other.invalid")
    assert error.message.startswith("Two gateways are configured")


@pytest.mark.parametrize("token", ["wrong-c4n4ry", None])
async def test_a_wrong_token(workspace, remote, token):
    error = await refusal(workspace, url=remote.url, token=token)
    assert "does not let us in" in error.message
    assert "JUPYTER_GATEWAY_AUTH_TOKEN" in error.hint
    assert "c4n4ry" not in f"{error.message}{error.hint}"


async def test_a_password_in_the_address_is_never_shown(workspace):
    error = await refusal(workspace, url=f"http://ada:c4n4ry@127.0.0.1:{free_port()}")
    assert "cannot be reached" in error.message
    assert "c4n4ry" not in f"{error.message}{error.hint}"


async def test_an_unknown_kernel(workspace, remote):
    error = await refusal(workspace, url=remote.url, token=remote.token, kernel="nonesuch")
    assert "has no kernel named nonesuch" in error.message
    assert "python3" in error.hint


async def test_a_name_that_does_not_exist(workspace):
    error = await refusal(workspace, url="http://nothing.invalid")
    assert "nothing.invalid" in error.message


async def served(answer: bytes) -> asyncio.Server:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer)
        await writer.drain()
        writer.close()

    return await asyncio.start_server(serve, "127.0.0.1", 0)


def reply(status: str, body: bytes, *headers: str) -> bytes:
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *headers, "", ""]
    return "\r\n".join(lines).encode() + body


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (reply("200 OK", b"<html>"), "something else than JSON"),
        (reply("200 OK", b"[]"), "has no list of kernels"),
        (reply("404 Not Found", b""), "no Jupyter server"),
        (reply("302 Found", b"", "Location: /login"), "asks for a login"),
        (reply("500 Oops", b'{"message": "no room"}'), "an error (500: no room)"),
        (b"", "cannot be reached"),
        (b"nonsense\r\n\r\n", "cannot be"),
    ],
)
async def test_what_is_no_jupyter_server(workspace, answer, message):
    async with await served(answer) as server:
        port = server.sockets[0].getsockname()[1]
        error = await refusal(workspace, url=f"http://127.0.0.1:{port}")
        assert message in error.message


async def test_a_kernel_of_another_language(workspace):
    body = b'{"default": "ir", "kernelspecs": {"ir": {"spec": {"language": "R"}}}}'
    async with await served(reply("200 OK", body)) as server:
        port = server.sockets[0].getsockname()[1]
        error = await refusal(workspace, url=f"http://127.0.0.1:{port}")
        assert "is not Python's" in error.message


async def test_a_server_that_never_answers(workspace, monkeypatch):
    from openhands_jupyter.runtime.gateway import server as implementation

    monkeypatch.setattr(implementation, "LISTING", 0.3)
    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))
        deaf.listen()
        error = await refusal(workspace, url=f"http://127.0.0.1:{deaf.getsockname()[1]}")
    assert "did not answer in time" in error.message


async def test_stop_while_a_server_does_not_answer(workspace):
    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))
        deaf.listen()
        settings = GatewaySettings(url=f"http://127.0.0.1:{deaf.getsockname()[1]}")
        runtime = SandboxRuntime(workspace, "gateway", gateway=settings)
        running = asyncio.ensure_future(runtime.run_action(CmdRunAction(command="true"), print))
        await asyncio.sleep(0.5)
        asked = unhurried()
        await runtime.interrupt()
        assert (await running).code == "stopped"
        assert unhurried() - asked < 1.5
        await runtime.close()


async def test_a_kernel_that_starts_has_the_time_that_it_needs(bench, monkeypatch):
    from openhands_jupyter.runtime.gateway import server as implementation

    # A server opens the channels of a kernel when the kernel answers it, and no sooner.
    monkeypatch.setattr(implementation, "HURRY", 0.001)
    async with bench() as b:
        assert (await b.sh("echo started")).content == "started\n"


async def test_a_certificate_that_nobody_vouches_for(workspace, tmp_path, certificate, monkeypatch):
    root = tmp_path / "secure"
    root.mkdir()
    options = (f"--certfile={certificate.file}", f"--keyfile={certificate.key}")
    with jupyter_server(root, *options, verify=certificate.file) as remote:
        assert remote.url.startswith("https:")
        error = await refusal(workspace, url=remote.url, token=remote.token)
        assert "certificate of 127.0.0.1" in error.message
        monkeypatch.setenv("JUPYTER_GATEWAY_CA_CERTS", str(certificate.file))
        settings = GatewaySettings(url=remote.url, token=remote.token)
        runtime = SandboxRuntime(workspace, "gateway", gateway=settings)
        try:
            observation = await runtime.run_action(CmdRunAction(command="echo over TLS"), print)
            assert observation.content == "over TLS\n"
        finally:
            await runtime.close()


async def test_the_configuration_of_jupyters_own_gateway_client_counts(workspace, remote):
    own = GatewayClient.instance(config=Config({"GatewayClient": {"auth_token": remote.token}}))
    try:
        runtime = SandboxRuntime(workspace, "gateway", gateway=GatewaySettings(url=remote.url))
        try:
            assert (await runtime.start()).backend == "gateway"
        finally:
            await runtime.close()
        assert own.url is None
    finally:
        GatewayClient.clear_instance()


async def test_a_broken_connection_loses_nothing_of_a_command(bench, wire):
    async with wire() as (line, settings), bench(gateway=settings) as b:
        running = asyncio.ensure_future(b.sh("for n in 1 2 3; do echo $n; sleep 0.5; done"))
        await wait_until(lambda: b.printed == "1\n")
        line.cut()
        command = await running
        assert (command.content, command.exit_code) == ("1\n2\n3\n", 0)
        assert (await b.sh("echo again")).content == "again\n"


async def test_a_broken_connection_keeps_the_kernel(bench, wire):
    async with wire() as (line, settings), bench(gateway=settings) as b:
        await b.cell("x = 1")
        running = asyncio.ensure_future(b.cell("print('begun'); import time; time.sleep(1.5); x"))
        await wait_until(lambda: "begun" in b.printed)
        line.cut()
        cell = await running
        lost = "".join(output.text for output in cell.outputs)
        assert cell.ok or "The connection broke" in lost
        assert (await b.cell("x")).outputs[0].data == {"text/plain": "1"}


async def test_a_connection_that_breaks_between_actions_is_opened_again(bench, wire):
    async with wire() as (line, settings), bench(gateway=settings) as b:
        await b.cell("x = 1")
        await b.sh("y=2")
        await line.cut_and_joined()
        assert (await b.cell("x")).outputs[0].data == {"text/plain": "1"}
        line.cut()
        assert (await b.sh("echo $y")).content == "2\n"


async def test_a_server_that_cannot_be_reached_any_more(bench, wire, remote, monkeypatch):
    from openhands_jupyter.runtime.gateway import connection

    monkeypatch.setattr(connection, "AGAIN_AFTER", (0.0, 0.2, 0.2))
    async with wire() as (line, settings), bench(gateway=settings) as b:
        running = asyncio.ensure_future(b.sh("echo begun; sleep 60"))
        await wait_until(lambda: "begun" in b.printed)
        line.block()
        command = await running
        assert command.interrupted == "sandbox_died"
        assert command.content.startswith("begun\n")
        assert "The connection to the remote kernel was lost" in command.content
        with pytest.raises(SandboxUnavailable, match="cannot be reached"):
            await b.sh("true")
        line.block(False)
        assert (await b.sh("echo fresh")).content.endswith("fresh\n")
        async with asyncio.timeout(PATIENCE):
            while len(remote.kernels()) > 1 or len(list(settings.notes.iterdir())) > 1:
                await asyncio.sleep(0.1)


async def test_stop_when_the_server_cannot_be_reached(bench, wire, remote):
    async with wire() as (line, settings), bench(gateway=settings) as b:
        running = asyncio.ensure_future(b.cell("print('begun'); import time; time.sleep(60)"))
        await wait_until(lambda: "begun" in b.printed)
        line.block()
        asked = unhurried()
        await b.runtime.interrupt()
        assert (await running).interrupted == "stopped"
        assert unhurried() - asked < 4
        line.block(False)
        async with asyncio.timeout(PATIENCE):
            while remote.kernels() or list(settings.notes.iterdir()):
                await asyncio.sleep(0.1)


async def test_a_server_that_was_restarted(workspace, tmp_path):
    root = tmp_path / "restarted"
    root.mkdir()
    port = free_port()
    runtime = None
    try:
        with jupyter_server(root, port=port) as remote:
            settings = GatewaySettings(url=remote.url, token=remote.token, folder=str(workspace))
            runtime = SandboxRuntime(workspace, "gateway", gateway=settings)
            await runtime.run_action(CmdRunAction(command="x=1"), print)
            remote.process.terminate()
            await asyncio.to_thread(remote.process.wait, 30)
        with jupyter_server(root, port=port, token=settings.token) as remote:
            observation = await runtime.run_action(CmdRunAction(command="echo $x fresh"), print)
            assert "fresh" in observation.content or observation.interrupted == "sandbox_died"
            after = await runtime.run_action(CmdRunAction(command="echo $x after"), print)
            assert after.content.endswith(" after\n") or after.content == "after\n"
            await runtime.close()
            assert remote.kernels_left() == []
    finally:
        if runtime is not None:
            await runtime.close()


async def test_the_token_is_in_nothing_that_is_shown(bench, gateway):
    async with bench() as b:
        found = await b.runtime.start()
        shown = f"{found}{gateway!r}{msgspec.json.encode(found)!r}"
        assert gateway.token not in shown
        # Neither do we give it to what runs there.
        env = await b.sh("env; cat /proc/$PPID/environ | tr '\\0' '\\n'")
        assert gateway.token not in env.content
