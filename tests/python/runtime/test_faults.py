"""What happens around a sandbox while it runs: killed, the workspace gone, a disk full."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from sandbox_facts import SANDBOXES
from waiting import PATIENCE

from openhands_jupyter.errors import SandboxUnavailable
from openhands_jupyter.events import ErrorObservation, FileReadAction, FileWriteAction

pytestmark = pytest.mark.sandbox

ROOT = Path(__file__).resolve().parents[3]

IN_A_MOUNT = """
import asyncio, json, os, sys
from pathlib import Path
from openhands_jupyter.errors import SandboxUnavailable
from openhands_jupyter.events import CmdRunAction, FileWriteAction, IPythonRunCellAction
from openhands_jupyter.runtime import SandboxRuntime
isolation, folder = sys.argv[1:]
async def main():
    told = []
    runtime = SandboxRuntime(Path(folder), isolation)
    async def act(action):
        told.append(str(await runtime.run_action(action, lambda _: None)))
    try:
        await runtime.start()
        await act(CmdRunAction(command="head -c 20000000 /dev/zero >big"))
        await act(FileWriteAction(path="new", content="x" * 5000))
        await act(IPythonRunCellAction(code="open('cell', 'w').write('x' * 500_000)"))
        await act(CmdRunAction(command="rm -f big && echo removed"))
        await act(FileWriteAction(path="new", content="x" * 5000))
    except SandboxUnavailable as error:
        told.append(f"{error.message} {error.hint}")
    finally:
        await runtime.close()
    left = os.listdir(Path(os.environ["XDG_RUNTIME_DIR"], "ohj"))
    print(json.dumps({"told": told, "left": left}))
asyncio.run(main())
"""

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to mount a small disk")


def in_a_mount(isolation: str, workspace: Path, mount: str) -> list[str]:
    """What is told of some actions, where a command has mounted something that nobody else sees."""
    run = subprocess.run(
        [
            *("unshare", "--mount", "--propagation", "private"),
            *("sh", "-ec", f'{mount}\nexec "$@"', "sh"),
            *(sys.executable, "-c", IN_A_MOUNT, isolation, str(workspace)),
        ],
        env={**os.environ, "WORKSPACE": str(workspace), "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=90,
    )
    assert run.returncode == 0, run.stderr
    answer = json.loads(run.stdout)
    assert answer["left"] in ([], ["filling"])
    told: list[str] = answer["told"]
    return told


@pytest.mark.parametrize("isolation", SANDBOXES, indirect=True)
async def test_a_sandbox_that_is_killed_from_outside(bench, isolation):
    mark = f"{400000 + os.getpid()}"
    async with bench() as b:
        running = asyncio.create_task(b.sh(f"echo before; setsid sleep {mark} & sleep 100"))
        async with asyncio.timeout(PATIENCE):
            while "before" not in b.printed:
                await asyncio.sleep(0.01)
        process = b.runtime._sandbox._process._process
        process.kill()
        async with asyncio.timeout(PATIENCE):
            observation = await running
        assert (observation.content, observation.interrupted) == ("before\n", "sandbox_died")
        assert (await b.sh("echo after")).content == "after\n"
        listed = await asyncio.create_subprocess_exec("pgrep", "-fx", f"sleep {mark}", stdout=-1)
        assert (await listed.communicate())[0] == b""


async def test_a_workspace_that_is_deleted_is_said(bench, workspace):
    async with bench() as b:
        await b.cell("x = 1")
        shutil.rmtree(workspace)
        for _ in range(2):
            with pytest.raises(SandboxUnavailable, match="There is no folder"):
                await b.sh("echo here")
        with pytest.raises(SandboxUnavailable, match="There is no folder"):
            await b.act(FileReadAction(path="file"))


async def test_a_folder_that_took_the_workspaces_place_is_the_workspace(bench, workspace, tmp_path):
    async with bench() as b:
        await b.sh("touch old; cd /tmp")
        (tmp_path / "new").mkdir()
        os.chown(tmp_path / "new", workspace.stat().st_uid, workspace.stat().st_gid)
        workspace.rename(tmp_path / "old")
        (tmp_path / "new").rename(workspace)
        command = await b.sh("touch new; ls")
        assert command.content.startswith("[The workspace was removed, or another folder took its")
        assert command.content.endswith("\nnew\n")
        assert (workspace / "new").exists()
        assert not (tmp_path / "old" / "new").exists()
        written = await b.act(FileWriteAction(path="written", content="here"))
        assert not isinstance(written, ErrorObservation)
        assert (workspace / "written").read_text() == "here"


@needs_root
@pytest.mark.parametrize("isolation", SANDBOXES, indirect=True)
def test_a_full_disk_is_said_and_emptied_works_again(isolation, workspace):
    mount = 'mount -t tmpfs -o size=4m none "$WORKSPACE"'
    command, file, cell, removed, again = in_a_mount(isolation, workspace, mount)
    assert "No space left on device" in command
    assert "new does not fit: the disk is full." in file
    assert "No space left on device" in cell
    assert "removed" in removed
    assert "FileWriteObservation" in again


@needs_root
@pytest.mark.parametrize("isolation", SANDBOXES, indirect=True)
def test_a_read_only_workspace_is_said(isolation, workspace):
    mount = 'mount --bind "$WORKSPACE" "$WORKSPACE"; mount -o remount,ro,bind "$WORKSPACE"'
    command, file, cell, *_ = in_a_mount(isolation, workspace, mount)
    assert "Read-only file system" in command
    assert "new is read-only here." in file
    assert "Read-only file system" in cell


@needs_root
@pytest.mark.parametrize("isolation", SANDBOXES, indirect=True)
def test_no_room_for_the_sockets_is_said_and_leaves_nothing(isolation, workspace):
    mount = (
        'cd "$XDG_RUNTIME_DIR"; mkdir -m 700 ohj; mount -t tmpfs -o size=16k,mode=700 none ohj; '
        "head -c 100000 /dev/zero 2>/dev/null >ohj/filling || true"
    )
    (told,) = in_a_mount(isolation, workspace, mount)
    assert "The sandbox could not be prepared: No space left on device" in told
    assert "Free some space there" in told
