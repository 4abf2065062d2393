"""A Jupyter kernel in a container of its own; and the way out through the proxy."""

from __future__ import annotations

import asyncio

import pytest
from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import AsyncKernelManager
from jupyter_client.session import Session
from waiting import PATIENCE

from openhands_jupyter.runtime.docker.sweep import SANDBOX
from openhands_jupyter.runtime.egress import (
    EgressProxy,
    Network,
    NetworkPolicy,
    NetworkSettings,
    Rule,
    Upstream,
)
from openhands_jupyter.runtime.provisioner import DockerProvisioner

pytestmark = [pytest.mark.docker, pytest.mark.sandbox]

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello"


class Manager(AsyncKernelManager):
    """What a kernelspec on disk would give."""

    @property
    def kernel_spec(self):
        return KernelSpec(
            argv=["python3", "-m", "ipykernel_launcher", "-f", "{connection_file}"],
            display_name="OpenHands sandbox",
            language="python",
        )


async def executed(client, code):
    outputs = []
    await client.execute_interactive(code, output_hook=outputs.append, timeout=PATIENCE)
    return "".join(m["content"]["text"] for m in outputs if m["msg_type"] == "stream")


async def test_a_kernel_gets_a_container_of_its_own(workspace, isolation, client, docker_settings):
    manager = Manager()
    manager.provisioner = DockerProvisioner(
        kernel_id="openhands",
        kernel_spec=manager.kernel_spec,
        parent=manager,
        image=docker_settings.image,
    )
    await manager.start_kernel(cwd=str(workspace))
    kernel = manager.client(session=Session(key=manager.session.key))
    kernel.start_channels()
    try:
        await kernel.wait_for_ready(timeout=PATIENCE)
        assert await executed(kernel, "import os; print(os.getcwd())") == f"{workspace}\n"
        assert "/opt/python" in await executed(kernel, "import sys; print(sys.prefix)")
        interrupted = asyncio.create_task(executed(kernel, "x = 1; import time; time.sleep(60)"))
        await asyncio.sleep(0.5)
        await manager.interrupt_kernel()
        await interrupted
        assert await executed(kernel, "print(x)") == "1\n"
        await manager.restart_kernel(now=True)
        await kernel.wait_for_ready(timeout=PATIENCE)
        assert await executed(kernel, "print('x' in globals())") == "False\n"
        assert len(client.containers.list(filters={"label": SANDBOX})) == 1
    finally:
        kernel.stop_channels()
        await manager.shutdown_kernel(now=True)
    assert client.containers.list(all=True, filters={"label": SANDBOX}) == []


async def test_only_allowed_hosts_are_reached_through_the_proxy(bench):
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(ANSWER)
        writer.close()
        await writer.wait_closed()

    async def to_loopback(host: str) -> list[str]:
        return ["127.0.0.1"]

    verdicts: list[object] = []
    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    proxy = EgressProxy(
        NetworkPolicy(mode="allow-list", rules=[Rule("allowed.test", port)]),
        verdicts.append,
        trusted_networks=["127.0.0.0/8"],
        resolve=to_loopback,
        upstream=Upstream({}),
    )
    network = Network(proxy, NetworkSettings(), lambda: None)
    get = "import urllib.request as u; print(u.urlopen('http://{}:{}/').read().decode())"
    async with server, bench(network=network) as b:
        found = await b.runtime.start()
        allowed = await b.cell(get.format("allowed.test", port))
        refused = await b.cell(get.format("other.test", port))
        past = await b.sh(f"exec 3<>/dev/tcp/127.0.0.1/{port}")
    assert found.level == "green"
    assert "reach a host that is not allowed" in [check.name for check in found.checks]
    assert allowed.outputs[0].text == "hello\n"
    assert "403" in refused.outputs[-1].evalue
    assert past.exit_code != 0
    assert len(verdicts) >= 2
