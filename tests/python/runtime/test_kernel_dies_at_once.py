"""A kernel that has ended before jupyter_client looks whether it runs."""

from __future__ import annotations

import asyncio

import pytest

from openhands_jupyter.errors import OpenHandsError
from openhands_jupyter.runtime.kernel import Kernel
from openhands_jupyter.runtime.sandbox import KernelExit, Sandbox

pytestmark = pytest.mark.sandbox


async def test_it_is_said_that_it_did_not_start(workspace, monkeypatch):
    async def ended_at_once(self, kernel, command):
        ended = asyncio.get_running_loop().create_future()
        ended.set_result(KernelExit(1, "the last line"))
        return ended

    monkeypatch.setattr(Sandbox, "start_kernel", ended_at_once)
    sandbox = Sandbox(workspace, "none")
    await sandbox.start()
    try:
        with pytest.raises(OpenHandsError) as refused:
            await Kernel(sandbox).start()
    finally:
        await sandbox.close()
    assert refused.value.code == "kernel_failed"
    assert "the last line" in refused.value.message
