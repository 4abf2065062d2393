"""Attacks that the outside has a part in. Each says what came of it; nothing if it was stopped."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from openhands_jupyter.events import CmdRunAction, IPythonOutputObservation, IPythonRunCellAction
from openhands_jupyter.runtime.checkpoints import CheckpointError, CheckpointStore
from openhands_jupyter.runtime.docker import sweep
from openhands_jupyter.runtime.rundir import sweep_all
from openhands_jupyter.security.paths import Places

if TYPE_CHECKING:
    from .column import Column

MEMORY_OF_THE_SERVER = 200 * 2**20
"""Bytes that it may take for a flood of several times that."""

SWAPPING_SECONDS = 1.0
END_SECONDS = 20.0


async def swapping_links(column: Column) -> str:
    """A folder becomes a link to the person's keys again and again, while the server reads it."""
    key = "id_ed25519"
    secret = (column.world.home / ".ssh" / key).read_text()
    folder = column.world.home.parent / "checkpoints"
    swapping = asyncio.ensure_future(
        column.act(CmdRunAction(command="python3 attacks/attempt.py files swap attacks/world.json"))
    )
    swapped = column.world.workspace / "swapped"
    leaks = 0
    async with asyncio.timeout(20):
        while not swapped.is_symlink():
            await asyncio.sleep(0.001)
    until = time.monotonic() + SWAPPING_SECONDS
    links = folders = 0
    try:
        while time.monotonic() < until:
            await asyncio.sleep(0)
            if swapped.is_symlink():
                links += 1
            else:
                folders += 1
            text = Places(column.world.workspace).read_script(f"swapped/{key}")
            leaks += text is not None and secret in text
        store = CheckpointStore(folder, column.world.workspace, size_cap=10**9)
        for _ in range(100):
            # The folder may change while it is looked at.
            with contextlib.suppress(CheckpointError):
                await asyncio.to_thread(store.take)
    finally:
        await column.runtime.interrupt()
        await swapping
    kept = [path.read_bytes() for path in folder.rglob("*") if path.is_file()]
    leaks += sum(secret.encode() in content for content in kept)
    assert links and folders, "nothing was swapped"
    assert any(b"harmless" in content for content in kept), "nothing was read"
    return f"{leaks} reads led outside" if leaks else ""


async def killed_relay(column: Column) -> str:
    """The process inside that leads to the proxy is killed."""
    if column.isolation not in ("bubblewrap", "docker"):
        return ""
    killed = await column.sh(
        "kill -9 $(grep -lx openhands-relay /proc/[0-9]*/comm | cut -d/ -f3) && echo killed"
    )
    assert "killed" in killed.content, killed
    tried = await column.sh("python3 attacks/attempt.py network direct attacks/world.json")
    async with asyncio.timeout(10):
        while not column.lost:
            await asyncio.sleep(0.05)
    await column.runtime.close()
    return tried.content if '"worked": true' in tried.content else ""


async def changed_connection(column: Column) -> str:
    """The file by which the server finds the kernel of this sandbox."""
    cell = await column.act(IPythonRunCellAction(code="1"))
    assert cell.ok, cell
    sandbox = column.runtime._sandbox
    assert sandbox is not None and sandbox.run_directory is not None
    (file,) = sandbox.run_directory.connections.iterdir()
    before = file.read_bytes()
    program = "files overwrite_connection attacks/world.json"
    tried = await column.sh(f"python3 attacks/attempt.py {program}")
    assert '"detail"' in tried.content, tried
    return "" if file.read_bytes() == before else tried.content


async def killed_agentd(column: Column) -> str:
    """With something that ignores signals and left its session."""
    mark = _mark()
    observation = await column.sh(
        f"(trap '' HUP TERM INT; setsid sleep {mark} & sleep 0.3); kill -9 $PPID; sleep 30", 20
    )
    if observation.interrupted != "sandbox_died":
        return f"the server was told: {observation}"
    if left := await _left(mark):
        return f"it lives on: {left}"
    after = await column.sh("echo after")
    return "" if after.content.endswith("after\n") else f"the next command failed: {after}"


async def stolen_identity(column: Column) -> str:
    """Code inside connects to the kernel as the server, and gets what is meant for it."""
    steal = """
import json, subprocess, sys
from ipykernel.connect import get_connection_file
identity = get_ipython().kernel.get_parent()["header"]["session"]
code = '''
import json, sys, time, zmq
connection = json.load(open(sys.argv[1]))
sockets = []
for number, name in ((1, "shell_port"), (2, "stdin_port"), (3, "control_port")):
    for identity in sys.argv[2:]:
        socket = zmq.Context.instance().socket(zmq.DEALER)
        socket.identity = identity.encode()
        socket.connect(f"ipc://{connection['ip']}-{connection[name]}")
        sockets.append(socket)
print("connected", flush=True)
time.sleep(600)
'''
thief = subprocess.Popen(
    [sys.executable, "-c", code, get_connection_file(), identity], stdout=subprocess.PIPE
)
print(thief.stdout.readline())
"""
    stealing = await column.act(IPythonRunCellAction(code=steal, timeout=8))
    started = time.monotonic()
    next_cell = await column.act(IPythonRunCellAction(code="6 * 7", timeout=5))
    if time.monotonic() - started > 30:
        return f"the server waited: {next_cell}"
    again = await column.act(IPythonRunCellAction(code="6 * 7", timeout=20))
    await column.runtime.close()
    if not isinstance(again, IPythonOutputObservation) or not again.ok:
        return f"no cell works any more: {stealing} {next_cell} {again}"
    return ""


async def printed_flood(column: Column) -> str:
    """400 MB of text, by a command and by a cell."""
    before = _memory()
    most = before

    async def watch() -> None:
        nonlocal most
        while True:
            most = max(most, _memory())
            await asyncio.sleep(0.02)

    watching = asyncio.ensure_future(watch())
    await column.sh("head -c 200000000 /dev/zero | tr '\\0' x")
    await column.act(
        IPythonRunCellAction(code="for _ in range(2000): print('x' * 100_000)", timeout=30)
    )
    watching.cancel()
    return await _bounded(column, before, most)


async def giant_message(column: Column) -> str:
    """50 MB as one message, from a cell and as one line of a command."""
    before = most = _memory()
    observation = await column.act(IPythonRunCellAction(code="'x' * 50_000_000", timeout=30))
    most = max(most, _memory())
    size = len(str(observation))
    await column.sh("head -c 50000000 /dev/zero | tr '\\0' x")
    most = max(most, _memory())
    if size > 1_000_000:
        return f"an observation of {size} characters"
    return await _bounded(column, before, most)


async def _bounded(column: Column, before: int, most: int) -> str:
    if most - before > MEMORY_OF_THE_SERVER:
        return f"the server took {(most - before) >> 20} MB"
    cell = await column.act(IPythonRunCellAction(code="6 * 7", timeout=30))
    if not cell.ok:
        return f"the next cell failed: {cell}"
    return ""


async def killed_server(column: Column) -> str:
    """Another server with a sandbox like this one is killed while much runs in it."""
    mark = _mark()
    base = column.world.home.parent / f"victim-{mark}"
    base.mkdir()
    specification = {**column._specification, "base": str(base), "mark": mark}
    file = base / "specification.json"
    file.write_text(json.dumps(specification))
    victim = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "sandbox.attacks.victim", str(file)),
        stdout=asyncio.subprocess.PIPE,
    )
    assert victim.stdout is not None
    try:
        line = await asyncio.wait_for(victim.stdout.readline(), 60)
        assert b"ready" in line, "the other server did not start"
        assert column.isolation == "docker" or _with(mark), "nothing was started"
    finally:
        victim.kill()
        await victim.wait()
    left = [*await _left(mark), *await _still_running(column, victim.pid)]
    # As the next server does.
    await asyncio.to_thread(sweep_all)
    return f"still there: {left}" if left else ""


def _mark() -> str:
    """A number of seconds that no other process sleeps."""
    return f"{300000 + os.getpid()}.{time.monotonic_ns() % 10**9}"


async def _left(mark: str) -> list[int]:
    give_up = time.monotonic() + END_SECONDS
    while (left := _with(mark)) and time.monotonic() < give_up:
        await asyncio.sleep(0.05)
    return left


def _with(mark: str) -> list[int]:
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            arguments = Path("/proc", name, "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if mark.encode() in arguments:
            found.append(int(name))
    return found


async def _still_running(column: Column, server: int) -> list[str]:
    """The containers that still run of a server; all of its containers are removed."""
    if column.isolation != "docker":
        return []
    import docker

    def containers() -> dict[str, str]:
        found = client.api.containers(all=True, filters={"label": sweep.SANDBOX})
        return {
            container["Id"]: container["State"]
            for container in found
            if container["Labels"].get(sweep._PLACE) == sweep._place()
            and container["Labels"].get(sweep._OWNER, "").startswith(f"{server}:")
        }

    with contextlib.closing(docker.DockerClient(os.environ["DOCKER_HOST"], timeout=20)) as client:
        give_up = time.monotonic() + END_SECONDS
        while "running" in (left := await asyncio.to_thread(containers)).values():
            if time.monotonic() > give_up:
                break
            await asyncio.sleep(0.1)
        assert left, "there was no container"
        for container in left:
            await asyncio.to_thread(client.api.remove_container, container, v=True, force=True)
    return [container for container, state in left.items() if state == "running"]


def _memory() -> int:
    """Bytes that this process holds."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")
