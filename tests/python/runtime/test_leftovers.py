"""Nothing is left: no process, socket or folder, however a sandbox ends."""

from __future__ import annotations

import asyncio
import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from leftovers import processes_below
from sandbox_facts import SANDBOXES
from waiting import PATIENCE, wait_until

from openhands_jupyter.errors import SandboxUnavailable
from openhands_jupyter.events import CmdRunAction
from openhands_jupyter.runtime import SandboxRuntime, sandbox
from openhands_jupyter.runtime.launch import Command, Launch
from openhands_jupyter.runtime.process import SandboxProcess
from openhands_jupyter.runtime.rundir import GROUPS, RunDirectory

pytestmark = pytest.mark.sandbox

OWNER = """
import asyncio, sys
from pathlib import Path
from openhands_jupyter.events import CmdRunAction, IPythonRunCellAction
from openhands_jupyter.runtime import SandboxRuntime
async def main():
    runtime = SandboxRuntime(Path(sys.argv[1]), isolation=sys.argv[2])
    await runtime.start()
    await runtime.run_action(IPythonRunCellAction(code=(
        "import subprocess; "
        f"subprocess.Popen(['sleep', '{sys.argv[3]}'], start_new_session=True)"
    )), print)
    await runtime.run_action(CmdRunAction(command=(
        f"sleep {sys.argv[3]} & setsid nohup sleep {sys.argv[3]} >/dev/null 2>&1 & disown -a"
    )), print)
    await runtime.run_action(CmdRunAction(command=f"echo ready; sleep {sys.argv[3]}"), show)
def show(text):
    print(text, flush=True)
asyncio.run(main())
"""


def processes_with(mark: str) -> list[int]:
    """The processes, in any namespace, whose command line has this argument."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                arguments = Path("/proc", name, "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if mark.encode() in arguments:
                found.append(int(name))
    return found


def wait_until_gone(mark: str) -> list[int]:
    give_up = time.monotonic() + PATIENCE
    while (left := processes_with(mark)) and time.monotonic() < give_up:
        time.sleep(0.05)
    return left


@pytest.fixture
def mark() -> str:
    """A number of seconds to sleep that no other process sleeps."""
    return f"{100000 + os.getpid()}.{time.monotonic_ns()}"


@pytest.mark.parametrize("isolation", [*SANDBOXES, "none"], indirect=True)
def test_kill_nine_of_the_owner_leaves_no_process(workspace, isolation, mark, run_directories):
    owner = subprocess.Popen(
        [sys.executable, "-c", OWNER, str(workspace), isolation, mark],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert owner.stdout is not None
    with owner.stdout:
        while "ready" not in (line := owner.stdout.readline()):
            assert line, "the owner ended"
        # The owner itself, both commands in the shell, the daemon, and the kernel's child.
        assert len(processes_with(mark)) >= 5
        owner.send_signal(signal.SIGKILL)
        owner.wait()
    assert wait_until_gone(mark) == []
    (left,) = run_directories.iterdir()
    groups = left / GROUPS
    folders = [Path(line) for line in groups.read_text().splitlines()] if groups.exists() else []
    # What is left on disk goes with the next sandbox.
    RunDirectory.create().remove()
    assert list(run_directories.iterdir()) == []
    assert not any(folder.exists() for folder in folders)


@pytest.mark.parametrize("isolation", [*SANDBOXES, "none"], indirect=True)
async def test_closing_leaves_nothing(bench, mark, run_directories):
    descriptors = set(os.listdir("/proc/self/fd"))
    async with bench() as b:
        await b.cell(
            "import subprocess, signal, os\n"
            f"subprocess.Popen(['sleep', '{mark}'], start_new_session=True)"
        )
        await b.sh(f"sleep {mark} & trap '' HUP TERM; setsid sleep {mark} & disown -a")
        async with asyncio.timeout(PATIENCE):
            while len(processes_with(mark)) < 3:
                await asyncio.sleep(0.05)
        assert len(list(run_directories.iterdir())) == 1
    assert wait_until_gone(mark) == []
    assert list(run_directories.iterdir()) == []
    await asyncio.sleep(0.1)
    assert len(set(os.listdir("/proc/self/fd")) - descriptors) <= 2  # ZeroMQ's own, of its context


async def test_closing_twice_and_closing_unstarted(bench, workspace):
    async with bench() as b:
        await b.runtime.close()
        await b.runtime.close()
        # It starts again when it is used again.
        assert (await b.sh("echo again")).content == "again\n"


@pytest.mark.parametrize("isolation", SANDBOXES, indirect=True)
async def test_run_directories_are_private(bench, run_directories):
    async with bench() as b:
        await b.cell("1")
        for folder in (run_directories, *run_directories.glob("*"), *run_directories.glob("*/?")):
            info = folder.lstat()
            if stat.S_ISDIR(info.st_mode):
                assert stat.S_IMODE(info.st_mode) & 0o077 == 0
        inside = (await b.sh(f"ls '{next(run_directories.iterdir())}'")).content
        assert inside.split() == ["c", "s"] or "Permission denied" in inside
        connection = next(run_directories.glob("*/c/*.json"))
        assert (await b.sh(f"echo evil >{connection}")).exit_code == 1


@pytest.mark.parametrize("isolation", SANDBOXES, indirect=True)
async def test_directories_of_living_owners_stay(bench, run_directories):
    async with bench() as b:
        RunDirectory.create().remove()
        assert len(list(run_directories.iterdir())) == 1
        assert (await b.cell("1")).ok


def test_a_place_that_others_can_write_to_is_not_used(tmp_path, monkeypatch, run_directories):
    monkeypatch.setattr("openhands_jupyter.runtime.rundir._fallback", lambda: str(tmp_path / "f"))
    (tmp_path / "f").mkdir(mode=0o777)
    (tmp_path / "f").chmod(0o777)
    run_directories.symlink_to(tmp_path)
    try:
        with pytest.raises(SandboxUnavailable, match="private folder"):
            RunDirectory.create()
    finally:
        run_directories.unlink()


def test_too_long_a_path_is_not_used(tmp_path, monkeypatch):
    long = tmp_path / ("x" * 100)
    long.mkdir()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(long))
    directory = RunDirectory.create()
    try:
        assert not directory.path.is_relative_to(long)
    finally:
        directory.remove()


@pytest.mark.skipif(os.getuid() != 0, reason="only root may open a process namespace directly")
def test_a_server_in_another_process_namespace_sweeps_nothing_of_ours(run_directories):
    ours = RunDirectory.create()
    other = (
        "from openhands_jupyter.runtime.rundir import GROUPS, RunDirectory; RunDirectory.create()"
    )
    try:
        subprocess.run(
            ["unshare", "--fork", "--pid", "--mount-proc", sys.executable, "-c", other],
            check=True,
            timeout=30,
        )
        assert ours.sockets.is_dir()
        swept_by_us = RunDirectory.create()
        assert sorted(ours.path.parent.iterdir()) == sorted([ours.path, swept_by_us.path])
        swept_by_us.remove()
    finally:
        ours.remove()


async def test_a_start_that_is_given_up_at_any_moment_leaves_nothing(workspace, run_directories):
    before = set(processes_below())
    for attempt in range(40):
        runtime = SandboxRuntime(workspace)
        starting = asyncio.ensure_future(runtime.start())
        await asyncio.sleep(attempt * 0.002)
        starting.cancel()
        async with asyncio.timeout(PATIENCE):
            await asyncio.wait([starting])
            await runtime.close()
    assert set(processes_below()) <= before


async def test_what_is_killed_while_it_is_set_up_leaves_no_child(workspace, run_directories):
    # As bubblewrap's, which waits for a word of its parent before it does anything.
    seconds = str(300_000 + os.getpid())
    command = Command(argv=["/bin/sh", "-c", f"sleep {seconds} & wait"], env={})
    folder = RunDirectory.create()
    try:
        process = await SandboxProcess.start(lambda _: command, Launch(workspace, folder))
        await wait_until(lambda: processes_with(seconds))
        process.kill()
        await process.end()
        await wait_until(lambda: not processes_with(seconds))
    finally:
        folder.remove()


ESCAPE = """
import os, resource, subprocess
try:
    resource.setrlimit(10, (1, 1))
except (OSError, ValueError) as error:
    print("kept:", type(error).__name__)
print(resource.getrlimit(10)[1] > 1)
# A daemon without its environment, in a session of its own, whose parent has ended.
subprocess.run(["setsid", "-f", "env", "-i", "sleep", "MARK"], check=True)
"""


@pytest.mark.parametrize("isolation", ["landlock"], indirect=True)
async def test_a_daemon_does_not_outlive_its_killed_supervisor(bench, mark, monkeypatch):
    monkeypatch.setattr(sandbox, "group_for", lambda name, limits: None)
    async with bench() as b:
        printed = await b.cell(ESCAPE.replace("MARK", mark))
        text = "".join(str(output.text) for output in printed.outputs)
        assert "kept:" in text and "True" in text, text
        async with asyncio.timeout(PATIENCE):
            while not processes_with(mark):
                await asyncio.sleep(0.05)
        supervisor = psutil.Process(processes_with(mark)[0]).ppid()
        assert supervisor in [process.pid for process in processes_below()]
        os.kill(supervisor, signal.SIGKILL)
        await b.act(CmdRunAction(command="echo next"))
        assert wait_until_gone(mark) == []
