"""The provisioner used like any other, through jupyter_client."""

from __future__ import annotations

import os

import pytest
from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import AsyncKernelManager
from jupyter_client.session import Session
from waiting import PATIENCE

from openhands_jupyter.runtime.provisioner import KernelRefused

pytestmark = pytest.mark.sandbox


class Manager(AsyncKernelManager):
    """What a kernelspec on disk with this metadata would give."""

    @property
    def kernel_spec(self):
        return KernelSpec(
            argv=["python3", "-m", "ipykernel_launcher", "-f", "{connection_file}"],
            display_name="OpenHands sandbox",
            language="python",
            metadata={"kernel_provisioner": {"provisioner_name": "openhands-bubblewrap"}},
        )


async def executed(client, code):
    outputs = []
    await client.execute_interactive(code, output_hook=outputs.append, timeout=PATIENCE)
    return "".join(m["content"]["text"] for m in outputs if m["msg_type"] == "stream")


async def test_a_kernel_gets_a_sandbox_of_its_own(workspace, run_directories):
    manager = Manager()
    await manager.start_kernel(cwd=str(workspace))
    client = manager.client(session=Session(key=manager.session.key))
    client.start_channels()
    try:
        await client.wait_for_ready(timeout=PATIENCE)
        assert manager.transport == "ipc"
        assert await executed(client, "import os; print(os.getcwd())") == f"{workspace}\n"
        assert await executed(client, "print(os.path.exists('/etc/shadow'))") == "False\n"
        await executed(client, "x = 1")
        await manager.interrupt_kernel()
        assert await executed(client, "print(x)") == "1\n"

        second = manager.client(session=Session(key=manager.session.key))
        second.start_channels()
        await second.wait_for_ready(timeout=PATIENCE)
        assert await executed(second, "print('second')") == "second\n"
        second.stop_channels()
        assert await executed(client, "print('first')") == "first\n"

        await manager.restart_kernel(now=True)
        await client.wait_for_ready(timeout=PATIENCE)
        assert await executed(client, "print('x' in globals())") == "False\n"
        assert await manager.is_alive()
    finally:
        client.stop_channels()
        await manager.shutdown_kernel(now=True)
    assert not await manager.is_alive()
    assert list(run_directories.iterdir()) == []


async def test_home_is_no_place_for_it():
    manager = Manager()
    with pytest.raises(KernelRefused, match="your home folder"):
        await manager.start_kernel(cwd=os.environ["HOME"])
    await manager.shutdown_kernel(now=True)
