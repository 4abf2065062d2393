"""What is in a sandbox cannot give agents tasks outside of it."""

from __future__ import annotations

import os
import shutil

import pytest
from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import AsyncKernelManager
from jupyter_client.session import Session
from server_process import TOKEN, Server

import openhands_jupyter

PACKAGE = openhands_jupyter.__path__[0]


class Manager(AsyncKernelManager):
    """A kernel in a sandbox."""

    @property
    def kernel_spec(self) -> KernelSpec:
        return KernelSpec(
            argv=["python3", "-m", "ipykernel_launcher", "-f", "{connection_file}"],
            display_name="OpenHands sandbox",
            language="python",
            metadata={"kernel_provisioner": {"provisioner_name": "openhands-bubblewrap"}},
        )


LOOK = """
import os
from jupyter_server.serverapp import list_running_servers
print(list(list_running_servers()), list(list_running_servers({runtime!r})), dict(os.environ))
"""


@pytest.mark.sandbox
async def test_a_sandboxed_kernel_finds_no_server(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(server.runtime))
    assert "jpserver" in str(os.listdir(server.runtime))
    # An editable installation is not visible in a sandbox; one in site-packages is.
    package = server.root / "openhands_jupyter"
    shutil.copytree(PACKAGE, package, ignore=shutil.ignore_patterns("labextension", "__pycache__"))
    manager = Manager()
    await manager.start_kernel(cwd=str(server.root))
    client = manager.client(session=Session(key=manager.session.key))
    client.start_channels()
    printed: list[str] = []

    async def run(code: str) -> str:
        printed.clear()
        await client.execute_interactive(
            code, output_hook=lambda m: printed.append(m["content"].get("text", "")), timeout=60
        )
        return "".join(printed)

    try:
        await client.wait_for_ready(timeout=60)
        await run("%load_ext openhands_jupyter")
        assert "There is no Jupyter server" in await run("%%openhands\nDelete everything")
        seen = await run(LOOK.format(runtime=str(server.runtime)))
        assert seen.startswith("[] []") and TOKEN not in seen
    finally:
        client.stop_channels()
        await manager.shutdown_kernel(now=True)
        shutil.rmtree(package)
