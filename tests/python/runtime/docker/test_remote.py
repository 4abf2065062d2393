"""A daemon on another machine: what is shared with it is the workspace, under another name."""

from __future__ import annotations

import asyncio
import hashlib
import json
import shutil
import ssl
import subprocess
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from docker_image.elsewhere import Elsewhere, elsewhere
from waiting import wait_until

from openhands_jupyter.errors import SandboxUnavailable
from openhands_jupyter.events import FileWriteAction, FileWriteObservation
from openhands_jupyter.runtime.docker.endpoint import Endpoint, find_endpoint
from openhands_jupyter.runtime.docker.settings import DockerSettings
from openhands_jupyter.runtime.egress import (
    EgressProxy,
    Network,
    NetworkPolicy,
    NetworkSettings,
    Rule,
    Upstream,
)
from openhands_jupyter.runtime.sandbox import Sandbox

pytestmark = [pytest.mark.docker, pytest.mark.sandbox]


@pytest.fixture
def there(docker_host: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Elsewhere]:
    with elsewhere(docker_host) as found:
        monkeypatch.setenv("DOCKER_HOST", found.host)
        yield found


@pytest.fixture
def isolation(there: Elsewhere) -> str:
    return "docker"


@pytest.fixture
def docker_settings(
    docker_settings: DockerSettings, workspace: Path, tmp_path: Path
) -> DockerSettings:
    """The folder of the workspace has another name where the daemon is."""
    (tmp_path / "there").symlink_to(workspace.parent)
    return msgspec.structs.replace(
        docker_settings, root_here=str(workspace.parent), root_there=str(tmp_path / "there")
    )


async def test_nothing_but_the_workspace_is_shared(bench, running, tmp_path):
    async with bench() as b:
        found = await b.runtime.start()
        mounts = running().attrs["Mounts"]
        network = running().attrs["HostConfig"]["NetworkMode"]
        ports = running().attrs["NetworkSettings"]["Ports"]
    assert found.level == "green"
    assert [mount["Source"] for mount in mounts if mount["Type"] == "bind"] == [
        str(tmp_path / "there" / b.workspace.name)
    ]
    assert (network, ports) == ("none", {})


async def test_commands_files_and_cells(bench):
    async with bench() as b:
        command = await b.sh("pwd; echo shell >made; ls")
        written = await b.act(FileWriteAction(path="file", content="file"))
        cell = await b.cell("x = 41; print(open('file').read()); x + 1")
        again = await b.cell("x")
    assert command.content == f"{b.workspace}\nmade\n"
    assert isinstance(written, FileWriteObservation)
    assert (b.workspace / "made").read_text() == "shell\n"
    assert [output.kind for output in cell.outputs] == ["stream", "execute_result"]
    assert cell.outputs[1].data["text/plain"] == "42"
    assert again.outputs[0].data["text/plain"] == "41"


async def test_what_is_protected_is_so_there_too(bench, workspace):
    (workspace / ".envrc").write_text("")
    async with bench() as b:
        refused = await b.sh("echo trap >.envrc")
        allowed = await b.sh("echo fine >other")
    assert refused.exit_code != 0
    assert allowed.exit_code == 0


async def test_large_outputs_come_whole_and_let_others_through(bench):
    async with bench() as b:
        cell = await b.cell(
            "from IPython.display import display\n"
            "display({'text/plain': 'x' * 5_000_000 + 'end'}, raw=True)"
        )
        assert cell.outputs[0].data["text/plain"] == "x" * 5_000_000 + "end"
        command = await b.sh("head -c 3000000 /dev/zero | tr '\\0' y; echo end")
        assert command.full_output == "y" * 3_000_000 + "end\n"


async def test_a_cell_is_stopped_and_a_kernel_dies_and_comes_back(bench):
    async with bench() as b:
        stopped = await b.cell("import time\nx = 1\ntime.sleep(60)", 1)
        assert stopped.interrupted == "timeout"
        assert (await b.cell("x")).outputs[0].data["text/plain"] == "1"
        died = await b.cell("import os; os._exit(3)")
        assert died.interrupted == "kernel_died"
        assert (await b.cell("'x' in globals()")).outputs[-1].data["text/plain"] == "False"


async def test_a_network_that_breaks_ends_the_sandbox_and_the_next_action_gets_a_new_one(
    bench, there, client
):
    async with bench() as b:
        running = asyncio.create_task(b.sh("echo before; sleep 100"))
        await wait_until(lambda: "before" in b.printed)
        there.cut()
        observation = await running
        assert observation.interrupted == "sandbox_died"
        assert (await b.sh("echo after")).content == "after\n"


async def test_without_the_folder_there_it_says_what_to_set(workspace, docker_settings, there):
    alone = msgspec.structs.replace(docker_settings, root_there="")
    with pytest.raises(SandboxUnavailable) as refused:
        await Sandbox(workspace, "docker", docker=alone).start()
    assert f"daemon is elsewhere ({there.host})" in refused.value.message
    assert "docker_remote_root" in refused.value.hint


async def test_a_workspace_that_is_not_shared(workspace, docker_settings, there):
    other = msgspec.structs.replace(docker_settings, root_here=str(workspace / "other"))
    with pytest.raises(SandboxUnavailable, match="is not in"):
        await Sandbox(workspace, "docker", docker=other).start()


async def test_a_folder_that_is_not_there(workspace, docker_settings, there, tmp_path):
    wrong = msgspec.structs.replace(docker_settings, root_there=str(tmp_path / "nowhere"))
    with pytest.raises(SandboxUnavailable, match="does not see the files of this server"):
        await Sandbox(workspace, "docker", docker=wrong).start()


async def test_hosts_are_reached_through_the_proxy_alone(bench):
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2000000\r\nConnection: close\r\n\r\n")
        writer.write(b"h" * 2_000_000)
        writer.close()
        await writer.wait_closed()

    async def to_loopback(host: str) -> list[str]:
        return ["127.0.0.1"]

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    proxy = EgressProxy(
        NetworkPolicy(mode="allow-list", rules=[Rule("allowed.test", port)]),
        lambda verdict: None,
        trusted_networks=["127.0.0.0/8"],
        resolve=to_loopback,
        upstream=Upstream({}),
    )
    get = "import urllib.request as u; print(len(u.urlopen('http://{}:{}/').read()))"
    async with server, bench(network=Network(proxy, NetworkSettings(), lambda: None)) as b:
        found = await b.runtime.start()
        allowed = await b.cell(get.format("allowed.test", port))
        refused = await b.cell(get.format("other.test", port))
    assert found.level == "green"
    assert allowed.outputs[0].text == "2000000\n"
    assert "403" in refused.outputs[-1].evalue


@pytest.fixture
def certificates(tmp_path: Path) -> Path:
    """A folder as in ``DOCKER_CERT_PATH``, with the daemon's own in it too."""
    folder = tmp_path / "certificates"
    folder.mkdir()

    def openssl(*arguments: str) -> None:
        subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True)

    (folder / "ext").write_text(
        "subjectAltName=IP:127.0.0.1\n"
        "basicConstraints=CA:FALSE\n"
        "subjectKeyIdentifier=hash\n"
        "authorityKeyIdentifier=keyid\n"
    )
    new = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")
    usage = ("-addext", "keyUsage=critical,keyCertSign")
    signing = ("-CA", "ca.pem", "-CAkey", "ca-key.pem", "-CAcreateserial", "-extfile", "ext")
    authority = ("-keyout", "ca-key.pem", "-out", "ca.pem", "-subj", "/CN=Test CA")
    openssl("req", "-x509", *new, *authority, *usage)
    for name, subject in (("server-", "/CN=docker"), ("", "/CN=client")):
        openssl("req", *new, "-keyout", f"{name}key.pem", "-out", "csr", "-subj", subject)
        openssl("x509", "-req", "-in", "csr", "-out", f"{name}cert.pem", *signing)
    return folder


@pytest.fixture
def with_tls(certificates: Path, docker_host: str) -> Iterator[Elsewhere]:
    """A daemon that asks for the client's certificate, as with ``--tlsverify``."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=certificates / "ca.pem")
    context.load_cert_chain(certificates / "server-cert.pem", certificates / "server-key.pem")
    context.verify_mode = ssl.CERT_REQUIRED
    with elsewhere(docker_host, context) as found:
        yield found


async def test_an_encrypted_connection(bench, with_tls, certificates, monkeypatch):
    monkeypatch.setenv("DOCKER_HOST", with_tls.host)
    monkeypatch.setenv("DOCKER_TLS_VERIFY", "1")
    monkeypatch.setenv("DOCKER_CERT_PATH", str(certificates))
    async with bench() as b:
        assert (await b.sh("echo ok")).content == "ok\n"
        assert (await b.cell("6 * 7")).outputs[0].data["text/plain"] == "42"
    assert with_tls.passed > 2


async def test_a_context_as_docker_keeps_it(bench, with_tls, certificates, tmp_path, monkeypatch):
    monkeypatch.delenv("DOCKER_HOST")
    # The SDK finds the folder by this alone.
    monkeypatch.setenv("HOME", str(tmp_path))
    identity = hashlib.sha256(b"there").hexdigest()
    kept = tmp_path / ".docker" / "contexts"
    meta = kept / "meta" / identity
    meta.mkdir(parents=True)
    endpoints = {"docker": {"Host": with_tls.host, "SkipTLSVerify": False}}
    described = {"Name": "there", "Metadata": {}, "Endpoints": endpoints}
    (meta / "meta.json").write_text(json.dumps(described))
    tls = kept / "tls" / identity / "docker"
    tls.mkdir(parents=True)
    for name in ("ca.pem", "cert.pem", "key.pem"):
        shutil.copy(certificates / name, tls)
    (tmp_path / ".docker" / "config.json").write_text('{"currentContext": "there"}')
    async with bench() as b:
        assert (await b.sh("echo ok")).content == "ok\n"
    assert with_tls.passed > 2


async def test_a_certificate_of_somebody_else(
    workspace, docker_settings, with_tls, certificates, monkeypatch
):
    monkeypatch.setenv("DOCKER_HOST", with_tls.host)
    monkeypatch.setenv("DOCKER_CERT_PATH", str(certificates))
    (certificates / "ca.pem").write_text((certificates / "server-cert.pem").read_text())
    with pytest.raises(SandboxUnavailable, match="certificate or ours is refused"):
        await Sandbox(workspace, "docker", docker=docker_settings).start()


def test_where_the_daemon_is(tmp_path):
    def found(**environ: str) -> Endpoint:
        return find_endpoint({"DOCKER_CONFIG": str(tmp_path), **environ})

    usual = "unix:///var/run/docker.sock"
    assert found() == Endpoint(usual)
    assert found(DOCKER_HOST="unix:///x") == Endpoint("unix:///x")
    assert found(DOCKER_CONTEXT="default").host == usual
    plain = found(DOCKER_HOST="tcp://there")
    assert (plain.address, plain.certificates) == (("there", 2375), None)
    encrypted = found(DOCKER_HOST="tcp://there", DOCKER_TLS_VERIFY="1", DOCKER_CERT_PATH="/c")
    assert encrypted.address == ("there", 2376)
    assert encrypted.certificates == ("/c/ca.pem", "/c/cert.pem", "/c/key.pem")
    (tmp_path / "config.json").write_text('{"currentContext": "none-such"}')
    with pytest.raises(SandboxUnavailable, match="no Docker context none-such"):
        found()
    with pytest.raises(SandboxUnavailable, match="over SSH") as ssh:
        found(DOCKER_HOST="ssh://me@there:2222/a/path").check()
    assert '.sock:/var/run/docker.sock" ssh://me@there:2222, and' in ssh.value.hint
