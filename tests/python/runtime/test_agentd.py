"""The action server by itself: what it imports, and its channel."""

from __future__ import annotations

import ast
import asyncio
import json
import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from waiting import PATIENCE

import openhands_jupyter.runtime.agentd as agentd
from openhands_jupyter.errors import OpenHandsError
from openhands_jupyter.runtime.channel import Channel, SandboxDied
from openhands_jupyter.runtime.launch import AGENTD, agentd_command, keep_bytecode

MODULES = sorted(Path(agentd.__file__).parent.glob("*.py"))


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_it_needs_nothing_but_an_old_python(path):
    tree = ast.parse(path.read_text(), feature_version=(3, 8))
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            assert {alias.name.split(".")[0] for alias in node.names} <= sys.stdlib_module_names
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            assert (node.module or "").split(".")[0] in sys.stdlib_module_names
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 1


def loaded_by(code: str) -> set[str]:
    """The modules that an agentd has loaded after this."""
    program = f"import sys; sys.path.append(sys.argv[1]); {code}; print(*sys.modules)"
    command = [sys.executable, "-I", "-S", "-c", program, str(AGENTD.parent)]
    return set(subprocess.check_output(command, text=True).split())


def test_what_takes_long_to_load_waits_until_it_is_needed():
    at_start = loaded_by("import agentd.server")
    slow = {"hashlib", "shutil", "tempfile", "typing", "agentd.shell"}
    assert not {*slow, "socket", "subprocess"} & at_start
    for_kernels = loaded_by("import agentd.server, agentd.actions")
    assert not slow & for_kernels


def test_its_bytecode_is_kept_where_that_is_possible(tmp_path):
    fresh, closed = tmp_path / "fresh", tmp_path / "closed"
    for folder in (fresh, closed):
        shutil.copytree(AGENTD, folder, ignore=shutil.ignore_patterns("__pycache__"))
    (closed / "__pycache__").touch()
    for folder in (fresh, closed):
        keep_bytecode(folder).join(PATIENCE)
    kept = {path.name.split(".")[0] for path in (fresh / "__pycache__").iterdir()}
    assert kept == {path.stem for path in MODULES}


@pytest.mark.parametrize("module", ["standard_streams", "server"])
def test_all_can_be_loaded_at_once(module):
    loaded = loaded_by(f"import agentd.{module}, agentd.actions; agentd.actions.load()")
    # Of a program of its own only the source is needed, which is read when its user is loaded.
    of_another_start = {"agentd.supervise", "agentd.standard_streams", "agentd.fetcher"}
    needed = {f"agentd.{path.stem}" for path in MODULES if path.stem != "__init__"}
    assert needed - of_another_start <= loaded


class Peer:
    """An agentd of this test's own, as a plain process."""

    def __init__(self) -> None:
        self.events: list[tuple[str, dict]] = []
        self.ended = asyncio.Event()
        self.channel = Channel(lambda *event: self.events.append(event), self.ended.set)

    async def start(self, workspace: Path) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            self.process = await asyncio.create_subprocess_exec(
                *agentd_command(AGENTD.parent, theirs.fileno()),
                pass_fds=(theirs.fileno(),),
                env={"PATH": os.environ["PATH"], "HOME": str(workspace)},
            )
        self.channel.open(*await asyncio.open_connection(sock=ours))
        parameters = {"workspace": str(workspace), "scratch": str(workspace.parent)}
        await self.channel.request("hello", parameters)

    async def __aenter__(self):
        return self

    async def __aexit__(self, *_):
        await self.channel.close()
        await asyncio.wait_for(self.process.wait(), PATIENCE)


@pytest.fixture
def peer():
    return Peer


async def test_requests_run_side_by_side(peer, workspace):
    async with peer() as p:
        await p.start(workspace)
        long = asyncio.ensure_future(
            p.channel.request("shell.run", {"command": "cat <go", "timeout": None})
        )
        os.mkfifo(workspace / "go")
        answer = await p.channel.request("file.write", {"path": "f", "content": "x"})
        assert answer["created"]
        with pytest.raises(OpenHandsError) as caught:
            while not long.done():
                await p.channel.request("shell.run", {"command": "true", "timeout": 5})
        assert caught.value.code == "shell_busy"
        await p.channel.request("shell.stop", {})
        assert (await long)["interrupted"] == "stopped"


async def test_unknown_requests_and_bad_parameters_get_an_answer(peer, workspace):
    async with peer() as p:
        await p.start(workspace)
        for method, params in (("nonsense", {}), ("file.read", {"path": 3}), ("shell.run", {})):
            with pytest.raises(OpenHandsError) as caught:
                await p.channel.request(method, params)
            assert caught.value.code == "internal"


async def test_the_end_of_a_kernel_is_told_with_its_last_words(peer, workspace):
    async with peer() as p:
        await p.start(workspace)
        command = ["/bin/sh", "-c", "echo last words; exit 3"]
        await p.channel.request("kernel.start", {"kernel": "k", "command": command})
        async with asyncio.timeout(PATIENCE):
            while not p.events:
                await asyncio.sleep(0.01)
        assert p.events == [("kernel_exited", {"kernel": "k", "code": 3, "log": "last words\n"})]
        with pytest.raises(OpenHandsError, match="cannot be started"):
            await p.channel.request("kernel.start", {"kernel": "k", "command": ["/nonexistent"]})


async def test_hanging_up_ends_it(peer, workspace):
    p = peer()
    await p.start(workspace)
    await p.channel.close()
    assert await asyncio.wait_for(p.process.wait(), PATIENCE) == 0


async def test_its_death_answers_every_request(peer, workspace):
    async with peer() as p:
        await p.start(workspace)
        waiting = asyncio.ensure_future(
            p.channel.request("shell.run", {"command": "sleep 60", "timeout": None})
        )
        await asyncio.sleep(0.1)
        p.process.kill()
        with pytest.raises(SandboxDied):
            await waiting
        assert p.ended.is_set()
        with pytest.raises(SandboxDied):
            await p.channel.request("file.read", {"path": "."})


@pytest.mark.parametrize(
    "data",
    [
        b"\xff\xff\xff\xff",
        (7).to_bytes(4, "big") + b"no json",
        (len(b := json.dumps({"id": "x"}).encode())).to_bytes(4, "big") + b,
    ],
    ids=["too long", "no json", "wrong type"],
)
async def test_nonsense_from_inside_ends_the_channel(data):
    ended = asyncio.Event()
    channel = Channel(lambda *_: None, ended.set)
    ours, theirs = socket.socketpair()
    channel.open(*await asyncio.open_connection(sock=ours))
    with theirs:
        waiting = asyncio.ensure_future(channel.request("file.read", {}))
        theirs.sendall(data)
        with pytest.raises(SandboxDied):
            await waiting
    assert ended.is_set()
    await channel.close()
