"""Limits on memory, processes, processors and disk: what breaks them is stopped, and said."""

from __future__ import annotations

import asyncio
import fcntl
import os
import signal
import subprocess
import sys
import tempfile
import termios
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import psutil
import pytest
from sandbox_facts import SANDBOXES
from waiting import PATIENCE, wait_until

from openhands_jupyter.runtime import cgroups, limits, rundir, sandbox
from openhands_jupyter.runtime.agentd.supervise import descendants
from openhands_jupyter.runtime.disk import DiskGuard
from openhands_jupyter.runtime.holding import BubblewrapHold
from openhands_jupyter.runtime.limits import GIGABYTE, Limits, gigabytes

pytestmark = pytest.mark.sandbox

# Bounded by themselves too, should nothing else stop them.
TAKE_MEMORY = "x = bytearray(600_000_000); print(len(x))"
START_PROCESSES = "for i in $(seq 200); do sleep 60 & done; wait"
WRITE_FILES = (
    "for i in $(seq 40); do dd if=/dev/zero of=f$i bs=1M count=10 status=none; sleep 0.1; done"
)


def groups_work() -> bool:
    group = limits.group_for("probe", Limits())
    if group is None:
        return False
    group.remove()
    return True


needs_groups = pytest.mark.skipif(not groups_work(), reason="needs usable control groups")


@pytest.fixture
def quiet_disk(workspace):
    """A workspace on a disk of its own: what others delete would hide what is written."""
    if os.geteuid() != 0:
        pytest.skip("needs root to have a disk of its own")
    mount = ["mount", "-t", "tmpfs", "-o", "size=1g", "tmpfs", str(workspace)]
    subprocess.run(mount, check=True, timeout=PATIENCE)
    yield
    subprocess.run(["umount", str(workspace)], check=True, timeout=PATIENCE)


@pytest.fixture
def no_groups(monkeypatch):
    """A system on which this user may make no control groups."""
    monkeypatch.setattr(sandbox, "group_for", lambda name, limits: None)


def text_of(observation) -> str:
    return "".join(output.text for output in observation.outputs if output.kind == "stream")


async def start_processes(b):
    """Start processes until one is refused; bash itself goes on trying for long."""
    running = asyncio.ensure_future(b.sh(START_PROCESSES))
    await wait_until(lambda: "fork" in b.printed)
    await b.runtime.interrupt()
    return await running


@needs_groups
async def test_a_command_that_takes_too_much_memory_is_killed_and_it_is_said(bench, workspace):
    async with bench(limits=Limits(memory=0.25)) as b:
        observation = await b.sh(f'python3 -c "{TAKE_MEMORY}"; echo exit $?')
        assert "exit 137" in observation.content
        assert "The limit of 256 MB of memory for everything in the sandbox was reached" in (
            observation.content
        )
        assert "a process was killed" in observation.content
        assert (await b.sh("echo fine")).content == "fine\n"

        group = b.runtime._sandbox.cgroup
        if group.late:
            return
        await b.sh(f'mkfifo go; (read _ <go; python3 -c "{TAKE_MEMORY}") >log 2>&1 &')
        (workspace / "go").write_text("\n")
        await wait_until(lambda: group.memory_kills() > 1)
        # Nobody was there to be told.
        assert "a process was killed" in (await b.sh("echo fine")).content
        assert (await b.sh("echo fine")).content == "fine\n"


@needs_groups
async def test_a_kernel_that_takes_too_much_memory_dies_and_it_is_said(bench):
    async with bench(limits=Limits(memory=0.25)) as b:
        observation = await b.cell(TAKE_MEMORY)
        assert observation.interrupted == "kernel_died"
        assert "The limit of 256 MB of memory" in text_of(observation)
        assert (await b.cell("1 + 1")).outputs[-1].data == {"text/plain": "2"}


@needs_groups
async def test_memory_is_counted_for_all_processes_together(bench):
    take = "python3 -c 'x = bytearray(120_000_000); input()' <>p & "
    async with bench(limits=Limits(memory=0.25)) as b:
        observation = await b.sh(f"mkfifo p; {take * 3} wait -n; kill %1 %2 %3; wait")
        assert "The limit of 256 MB of memory" in observation.content


@needs_groups
async def test_too_many_processes_cannot_be_started_and_it_is_said(bench):
    async with bench(limits=Limits(processes=60)) as b:
        observation = await start_processes(b)
        assert "The limit of 60 processes and threads in the sandbox was reached" in (
            observation.content
        )


@needs_groups
async def test_processors_are_shared_out(bench):
    spin = (
        "import time\n"
        "begun, used = time.monotonic(), time.process_time()\n"
        "while time.monotonic() < begun + 1.5: pass\n"
        "print((time.process_time() - used) / (time.monotonic() - begun))"
    )
    async with bench(limits=Limits(cpus=0.3)) as b:
        assert float(text_of(await b.cell(spin))) < 0.6


@needs_groups
@pytest.mark.parametrize("isolation", SANDBOXES, indirect=True)
async def test_every_process_of_the_sandbox_is_in_the_group(bench):
    async with bench() as b:
        await b.cell("1")
        await b.sh("sleep 60 &")
        process = psutil.Process(b.runtime._sandbox._process._process.pid)
        found = {process.pid, *(child.pid for child in process.children(recursive=True))}
        # bubblewrap twice or a supervisor, agentd, the shell, the kernel, the command.
        assert len(found) >= 5
        for folder in b.runtime._sandbox.cgroup.folders:
            assert found <= set(map(int, (folder / "cgroup.procs").read_text().split()))


@needs_groups
@pytest.mark.parametrize("isolation", SANDBOXES, indirect=True)
async def test_groups_go_with_the_sandbox(bench):
    async with bench() as b:
        folders = b.runtime._sandbox.cgroup.folders
        assert all(folder.is_dir() for folder in folders)
        await b.sh("setsid sleep 60 & disown -a")
    assert not any(folder.exists() for folder in folders)


@pytest.mark.parametrize("isolation", SANDBOXES, indirect=True)
@needs_groups
async def test_a_group_that_cannot_be_removed_is_left_to_the_next_sweep(
    bench, monkeypatch, run_directories
):
    monkeypatch.setattr(cgroups, "END_TIMEOUT", 0.0)
    async with bench() as b:
        folders = b.runtime._sandbox.cgroup.folders
    assert all(folder.is_dir() for folder in folders)
    monkeypatch.undo()
    rundir.sweep(run_directories)
    assert not any(folder.exists() for folder in folders)
    assert list(run_directories.iterdir()) == []


@pytest.mark.parametrize("isolation", SANDBOXES, indirect=True)
async def test_without_groups_each_process_is_held_and_the_rest_is_said(bench, no_groups):
    async with bench(limits=Limits(memory=0.3)) as b:
        found = await b.runtime.start()
        missing = "a limit on memory for all processes together (each may use 307 MB)"
        assert missing in found.missing
        assert ("a limit on processes" in found.missing) == (os.geteuid() == 0)
        observation = await b.sh(f'python3 -c "{TAKE_MEMORY}"')
        assert observation.exit_code == 1
        assert "Each process in the sandbox may use 307 MB of memory." in observation.content
        cell = await b.cell(TAKE_MEMORY)
        assert cell.outputs[-2].ename == "MemoryError"
        assert "Each process in the sandbox may use 307 MB of memory." in text_of(cell)


@pytest.mark.skipif(os.geteuid() == 0, reason="the system counts no processes of root")
@pytest.mark.parametrize("isolation", SANDBOXES, indirect=True)
async def test_without_groups_processes_are_counted_by_user(bench, no_groups):
    async with bench(limits=Limits(processes=60)) as b:
        observation = await start_processes(b)
        assert "The limit of 60 processes and threads in the sandbox was reached" in (
            observation.content
        )


@pytest.mark.parametrize("isolation", SANDBOXES, indirect=True)
async def test_a_group_that_refuses_processes_is_done_without(bench, monkeypatch):
    def refuse(group, pids):
        raise PermissionError

    monkeypatch.setattr(cgroups.Cgroup, "add", refuse)
    async with bench() as b:
        found = await b.runtime.start()
        assert any("memory for all processes together" in phrase for phrase in found.missing)
        assert (await b.sh("echo works")).content == "works\n"


async def test_an_action_that_fills_the_disk_is_stopped_and_it_is_said(bench, quiet_disk):
    async with bench(limits=Limits(disk=0.1)) as b:
        observation = await b.sh(WRITE_FILES)
        assert observation.interrupted == "disk_limit"
        assert observation.exit_code is None
        assert "an action may add at most 102 MB.]" in observation.content
        assert len(list(b.workspace.iterdir())) < 40
        assert (await b.sh("rm f*; echo fine")).content == "fine\n"


async def test_a_cell_that_fills_the_disk_is_stopped_and_it_is_said(bench, quiet_disk):
    code = """
import time
for i in range(40):
    open(f"f{i}", "wb").write(bytes(10_000_000))
    time.sleep(0.1)
"""
    async with bench(limits=Limits(disk=0.1)) as b:
        observation = await b.cell(code)
        assert observation.interrupted == "disk_limit"
        assert "an action may add at most 102 MB.]" in text_of(observation)


async def test_what_others_delete_on_another_disk_hides_nothing(workspace):
    breaches = []
    others = workspace / "of others"
    others.write_bytes(os.urandom(60_000_000))
    with tempfile.TemporaryDirectory(dir="/dev/shm") as name:
        memory = Path(name)
        guard = DiskGuard([workspace, memory], 20_000_000, breaches.append)
        guard.start()
        others.unlink()
        (memory / "file").write_bytes(bytes(30_000_000))
        await wait_until(lambda: breaches)
        await guard.close()
    assert breaches[0] > 20_000_000


async def test_what_was_left_running_and_fills_the_disk_is_ended_and_it_is_said(bench, quiet_disk):
    async with bench(limits=Limits(disk=0.1)) as b:
        assert (await b.sh(f"({WRITE_FILES}) >/dev/null 2>&1 &")).interrupted == ""
        await wait_until(lambda: not b.runtime._sandbox.alive)
        assert len(list(b.workspace.iterdir())) < 40
        observation = await b.sh("echo again")
        assert observation.content.startswith("[The sandbox was ended for what was left running.")
        assert observation.content.endswith("again\n")


async def test_a_single_file_is_limited_too(bench):
    async with bench(limits=Limits(disk=0.1)) as b:
        write = "open('f', 'wb').write(bytes(150_000_000))"
        observation = await b.sh(f'python3 -c "{write}"')
        assert "File too large" in observation.content
        assert "A file may have at most 102 MB.]" in observation.content
        assert (b.workspace / "f").stat().st_size <= int(0.1 * GIGABYTE)


async def test_others_who_use_the_disk_stop_nobody(bench, tmp_path):
    async with bench(limits=Limits(disk=0.05)) as b:
        running = asyncio.ensure_future(b.sh("sleep 2; echo done"))
        await asyncio.sleep(0.3)
        (tmp_path / "of somebody else").write_bytes(os.urandom(80_000_000))
        assert (await running).content == "done\n"


@needs_groups
@pytest.mark.parametrize("isolation", ["bubblewrap"], indirect=True)
async def test_memory_files_count_as_memory(bench):
    async with bench(limits=Limits(memory=0.25)) as b:
        observation = await b.sh("head -c 600000000 /dev/zero >/tmp/f; echo exit $?")
        assert "The limit of 256 MB of memory" in observation.content


def test_sizes_are_said_in_words():
    assert gigabytes(300 * 2**20) == "300 MB"
    assert gigabytes(3 * GIGABYTE // 2) == "1.5 GB"
    assert gigabytes(18 * GIGABYTE) == "18 GB"


def test_the_usual_memory_limit_leaves_some_to_the_server():
    usable = limits.usable_memory()
    assert Limits().memory_bytes == int(0.75 * usable)
    assert 0 < usable <= os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


class TestVersionTwo:
    """Control groups of version 2, on folders that look like them."""

    @pytest.fixture
    def tree(self, tmp_path, monkeypatch):
        own = tmp_path / "app.slice" / "jupyter.scope"
        own.mkdir(parents=True)
        (own.parent / "cgroup.subtree_control").write_text("cpu memory pids\n")
        (own.parent / "cgroup.procs").write_text("")
        (own / "cgroup.subtree_control").write_text("")
        tree = cgroups._Tree(own, frozenset({""}), 2)
        monkeypatch.setattr(cgroups, "_trees", lambda: iter([tree]))
        return own

    def test_a_group_is_made_beside_the_servers(self, tree):
        group = cgroups.create("name", 1000, 50, None)
        folder = tree.parent / "openhands-name"
        assert group.folders == [folder]
        assert group.enforced == {"memory", "processes"}
        assert (folder / "memory.max").read_text() == "1000"
        assert (folder / "pids.max").read_text() == "50"
        (folder / "memory.events").write_text("low 0\noom 3\noom_kill 2\n")
        (folder / "pids.events").write_text("max 7\n")
        assert (group.memory_kills(), group.refused_processes()) == (2, 7)
        group.add([123])
        assert (folder / "cgroup.procs").read_text() == "123"

    def test_none_is_made_where_controllers_are_not_handed_on(self, tree):
        (tree.parent / "cgroup.subtree_control").write_text("cpuset\n")
        assert cgroups.create("name", 1000, 50, None) is None


def test_only_our_groups_are_ever_removed():
    assert cgroups.is_ours(Path("/sys/fs/cgroup/memory/openhands-12345678"))
    assert not cgroups.is_ours(Path("/sys/fs/cgroup/memory"))
    assert not cgroups.is_ours(Path("/sys/fs/cgroup/memory/openhands-1/../other"))
    assert not cgroups.is_ours(Path("/home/openhands-1"))


def test_all_is_heard_that_bubblewrap_tells_of_itself():
    """It tells in pieces, and what nobody reads would end it."""
    fds: list[int] = []
    hold = BubblewrapHold(fds)
    (tells,) = fds
    # It stands for bubblewrap, outside and inside, which starts agentd a moment later.
    command = ["sh", "-c", "read go; sleep 60 & wait"]
    with (
        closing(hold),
        ThreadPoolExecutor() as pool,
        subprocess.Popen(command, stdin=subprocess.PIPE) as inside,
    ):
        os.write(tells, b'{\n    "child-pid": %d,\n' % inside.pid)
        held = hold.held(inside.pid)
        assert next(held) == inside.pid
        told = pool.submit(next, held)
        while waiting_in(hold._hears):
            time.sleep(0.001)
        os.write(tells, b'    "pid-namespace": 4026532299\n}\n')
        assert told.result(10) == inside.pid
        assert waiting_in(hold._hears) == 0
        rest = pool.submit(list, held)
        assert inside.stdin is not None
        inside.stdin.write(b"\n")
        inside.stdin.flush()
        (agentd,) = rest.result(10)
        # As it is found where the system keeps no list.
        assert list(descendants(inside.pid)) == [agentd]
        os.kill(agentd, signal.SIGKILL)
        inside.wait(10)
        # One that failed is gone, or has told nothing.
        os.write(tells, b'{"child-pid": %d}' % inside.pid)
        assert list(hold.held(inside.pid)) == [inside.pid] * 2
        os.close(tells)
        assert list(hold.held(inside.pid)) == [inside.pid]


def waiting_in(pipe: int) -> int:
    return int.from_bytes(fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)), sys.byteorder)
