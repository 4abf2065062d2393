"""A sandbox at a remote Jupyter server and at a Kernel Gateway: what is its own."""

from __future__ import annotations

import ast
import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from remote_jupyter import kernel_gateway
from waiting import unhurried, wait_until

from openhands_jupyter.events import (
    CmdOutputObservation,
    CmdRunAction,
    FileReadAction,
    FileReadObservation,
    FileWriteAction,
    IPythonRunCellAction,
)
from openhands_jupyter.runtime import SandboxRuntime
from openhands_jupyter.runtime.gateway import carrier
from openhands_jupyter.runtime.gateway import remote as implementation
from openhands_jupyter.runtime.gateway.remote import check, prune
from openhands_jupyter.runtime.gateway.settings import GatewaySettings

pytestmark = pytest.mark.sandbox


def text_of(observation) -> str:
    return "".join(output.text for output in observation.outputs if output.kind == "stream")


def test_what_is_sent_there_needs_nothing_but_an_old_python():
    tree = ast.parse(Path(carrier.__file__).read_text(), feature_version=(3, 8))
    imported = {
        alias.name.split(".")[0] if isinstance(node, ast.Import) else node.module.split(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    assert imported <= {*sys.stdlib_module_names, "ipykernel"}


async def test_a_kernel_gateway_does_the_same(workspace, tmp_path):
    root = tmp_path / "gateway"
    root.mkdir()
    with kernel_gateway(root) as remote:
        settings = GatewaySettings(url=remote.url, token=remote.token, folder=str(workspace))
        runtime = SandboxRuntime(workspace, "gateway", gateway=settings)
        try:
            command = await runtime.run_action(CmdRunAction(command="echo a >f; pwd"), print)
            assert command.content == f"{workspace}\n"
            cell = await runtime.run_action(IPythonRunCellAction(code="open('f').read()"), print)
            assert cell.outputs[0].data == {"text/plain": "'a\\n'"}
            read = await runtime.run_action(FileReadAction(path="f"), print)
            assert read == FileReadObservation(path="f", content="a\n", total_lines=1)
            assert len(remote.kernels()) == 1
        finally:
            await runtime.close()
        assert remote.kernels_left() == []


async def test_shell_and_files_answer_while_a_cell_runs(bench):
    async with bench() as b:
        running = asyncio.ensure_future(b.cell("print('begun'); import time; time.sleep(120)"))
        await wait_until(lambda: "begun" in b.printed)
        sandbox = b.runtime._sandbox
        assert (await sandbox.request("file.write", {"path": "f", "content": "x"}))["created"]
        ran = await sandbox.request("shell.run", {"command": "cat f", "timeout": 60})
        assert ran["output"] == "x"
        assert not running.done()
        await b.runtime.interrupt()
        assert (await running).interrupted == "stopped"


@pytest.mark.anybody
async def test_what_a_thread_prints_belongs_to_its_cell(bench):
    code = """
import threading, time
def work():
    for n in range(5):
        print(n, flush=True)
        time.sleep(0.1)
thread = threading.Thread(target=work)
thread.start()
thread.join()
"""
    async with bench() as b:
        assert text_of(await b.cell(code)) == "0\n1\n2\n3\n4\n"


async def test_the_shell_is_no_part_of_the_kernels_process(bench):
    async with bench() as b:
        await b.sh("x=kept")
        await b.cell("import builtins, os; os.chdir('/'); os.environ.clear(); del builtins.open")
        assert (await b.sh("echo $x; pwd")).content == f"kept\n{b.workspace}\n"


@pytest.mark.anybody
async def test_nothing_of_ours_is_among_the_names_of_the_cells(bench):
    async with bench() as b:
        cell = await b.cell("[name for name in dir() if 'openhands' in name.lower()]")
        assert cell.outputs[0].data == {"text/plain": "[]"}
        assert cell.execution_count == 1


async def test_it_is_found_that_the_other_machine_is_this_one(bench):
    async with bench() as b:
        found = await b.runtime.start()
        assert (found.level, found.backend) == ("red", "gateway")
        assert "runs on this machine" in found.summary
        assert found.workspace == str(b.workspace)
        assert str(b.workspace) in found.notice


async def test_the_folder_is_the_kernels_own_unless_it_is_chosen(gateway, remote, workspace):
    for folder, expected in ((None, remote.root), ("~/made for it", remote.root / "made for it")):
        settings = GatewaySettings(url=remote.url, token=remote.token, folder=folder)
        runtime = SandboxRuntime(workspace, "gateway", gateway=settings)
        try:
            assert (await runtime.start()).workspace == str(expected)
            observation = await runtime.run_action(CmdRunAction(command="pwd"), print)
            assert isinstance(observation, CmdOutputObservation)
            assert observation.content == f"{expected}\n"
        finally:
            await runtime.close()
    assert list(workspace.iterdir()) == []


@pytest.mark.anybody
async def test_much_is_carried_in_both_directions(bench):
    content = "".join(f"{n} é\n" for n in range(300_000))
    async with bench() as b:
        await b.act(FileWriteAction(path="much", content=content))
        assert (b.workspace / "much").read_text() == content
        read = await b.sh("cat much")
        assert read.full_output == content


@pytest.mark.anybody
async def test_a_flood_of_output_ends_well(bench):
    async with bench() as b:
        # The remote server limits it by itself, and says so.
        flood = await b.cell("for n in range(300_000): print('x' * 100)", limit=100)
        assert "data rate" in text_of(flood)
        assert text_of(await b.cell("print('after')")) == "after\n"


@pytest.mark.anybody
async def test_a_kernel_that_dies_is_said_and_replaced(bench, remote):
    async with bench() as b:
        before = remote.kernels()
        cell = await b.cell("x = 1; import os; os.kill(os.getpid(), 9)")
        assert cell.interrupted == "sandbox_died"
        assert "The remote kernel ended" in text_of(cell)
        assert (await b.cell("x")).outputs[-1].ename == "NameError"
        assert (await b.sh("echo fresh")).content == "fresh\n"
        await wait_until(lambda: set(remote.kernels()).isdisjoint(before))


@pytest.mark.anybody
async def test_a_kernel_that_was_restarted_from_there_is_noticed(bench, remote):
    async with bench() as b:
        await b.cell("x = 1")
        (kernel,) = remote.kernels()
        await asyncio.to_thread(remote.ask, f"/api/kernels/{kernel}/restart", "POST", {})
        await wait_until(lambda: not b.runtime._sandbox.alive)
        assert (await b.sh("echo fresh")).content.startswith("[The sandbox had ended")


@pytest.mark.anybody
async def test_a_kernel_that_was_ended_from_there_is_noticed(bench, remote):
    async with bench() as b:
        await b.cell("x = 1")
        (kernel,) = remote.kernels()
        await asyncio.to_thread(remote.ask, f"/api/kernels/{kernel}", "DELETE")
        await wait_until(lambda: not b.runtime._sandbox.alive)
        assert text_of(await b.cell("print('fresh')")).endswith("fresh\n")


OWNER = """
import asyncio, json, sys
from pathlib import Path
from openhands_jupyter.events import CmdRunAction
from openhands_jupyter.runtime import SandboxRuntime
from openhands_jupyter.runtime.gateway.settings import GatewaySettings
async def main():
    settings = json.loads(sys.argv[2])
    settings["notes"] = Path(settings["notes"])
    runtime = SandboxRuntime(Path(sys.argv[1]), "gateway", gateway=GatewaySettings(**settings))
    show = lambda text: print(text, flush=True)
    await runtime.run_action(CmdRunAction(command="echo ready; sleep 1000"), show)
asyncio.run(main())
"""


@pytest.fixture
def orphan(gateway, workspace, remote):
    """The kernel of a server that was killed."""
    fields = {name: getattr(gateway, name) for name in ("url", "token", "folder")}
    given = json.dumps({**fields, "notes": str(gateway.notes)})
    owner = subprocess.Popen(
        [sys.executable, "-c", OWNER, str(workspace), given], stdout=subprocess.PIPE, text=True
    )
    with owner.stdout:
        assert "ready" in owner.stdout.readline()
        owner.send_signal(signal.SIGKILL)
        owner.wait()
    (kernel,) = remote.kernels()
    return kernel


async def test_the_next_start_ends_the_kernel_of_a_killed_server(bench, remote, orphan):
    async with bench() as b:
        await b.sh("true")
        assert len(remote.kernels()) == 1
        assert orphan not in remote.kernels()


async def test_kernels_of_killed_servers_are_pruned_and_no_others(bench, gateway, remote, orphan):
    other = GatewaySettings(url=remote.url, token=remote.token, notes=gateway.notes.parent / "no")
    assert await prune(other) == 0
    assert orphan in remote.kernels()
    async with bench() as b:
        before = remote.kernels()
        assert await prune(gateway) == 0
        assert remote.kernels() == before
        assert (await b.sh("echo alive")).content == "alive\n"


@pytest.mark.anybody
async def test_looking_whether_it_works_starts_no_kernel(gateway, remote):
    assert await check(gateway) == remote.url.removeprefix("http://")
    assert remote.kernels() == []


@pytest.mark.anybody
@pytest.mark.parametrize("moment", [0.0, 0.05, 0.4, 0.8, 1.2, 1.6])
async def test_a_start_that_is_given_up_leaves_nothing(gateway, workspace, remote, moment):
    before = set(implementation._abandoned)
    runtime = SandboxRuntime(workspace, "gateway", gateway=gateway)
    starting = asyncio.ensure_future(runtime.start())
    await asyncio.sleep(moment)
    starting.cancel()
    began = unhurried()
    await asyncio.wait([starting])
    await runtime.close()
    assert unhurried() - began < 10
    await wait_until(lambda: implementation._abandoned <= before)
    assert remote.kernels() == []


@pytest.mark.anybody
async def test_nothing_is_open_after_the_end(bench):
    async with bench() as b:
        await b.cell("1")
        await b.sh("true")
        await b.runtime.close()
        before = set(os.listdir("/proc/self/fd"))
        await b.cell("1")
        await b.sh("true")
        await b.runtime.close()
        await wait_until(lambda: len(set(os.listdir("/proc/self/fd")) - before) == 0)
