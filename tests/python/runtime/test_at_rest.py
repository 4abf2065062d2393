"""Whether anything runs in a sandbox that would be cut off with it."""

from __future__ import annotations

import pytest
from sandbox_facts import SANDBOXES

from openhands_jupyter.events import CmdRunAction

pytestmark = pytest.mark.sandbox


@pytest.mark.parametrize("isolation", [*SANDBOXES, "none"], indirect=True)
async def test_a_shell_and_a_kernel_that_wait_are_at_rest_and_work_is_not(bench):
    async with bench() as b:
        assert await b.runtime.at_rest()
        await b.sh("true")
        await b.cell("1")
        assert await b.runtime.at_rest()
        await b.sh("sleep 600 &")
        assert not await b.runtime.at_rest()
        await b.sh("kill %1; wait")
        assert await b.runtime.at_rest()


@pytest.mark.parametrize("isolation", [*SANDBOXES, "none"], indirect=True)
async def test_a_command_that_bash_itself_was_left_at_is_work(bench):
    async with bench() as b:
        await b.leave("read answer")
        assert not await b.runtime.at_rest()
        answered = CmdRunAction(command="yes", is_input=True)
        assert not (await b.act(answered)).running
        assert await b.runtime.at_rest()
