"""What a container is like: user, rights, limits, what its end is told with, and what stays."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import msgspec
import pytest
from public_python import NoPublicPython, make_public_python
from waiting import PATIENCE

import openhands_jupyter
from openhands_jupyter.errors import SandboxUnavailable
from openhands_jupyter.events import FileWriteAction, FileWriteObservation
from openhands_jupyter.runtime.docker import sweep as sweeping
from openhands_jupyter.runtime.docker.sweep import SANDBOX, labels, prune
from openhands_jupyter.runtime.limits import Limits
from openhands_jupyter.runtime.sandbox import Sandbox

pytestmark = [pytest.mark.docker, pytest.mark.sandbox]

PACKAGE = Path(openhands_jupyter.__file__).parent
USER = 4321

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")

AS_USER = """
import asyncio, sys
from pathlib import Path
from openhands_jupyter.events import CmdRunAction, IPythonRunCellAction
from openhands_jupyter.runtime import SandboxRuntime
from openhands_jupyter.runtime.docker.settings import DockerSettings
async def main():
    docker = DockerSettings(image=sys.argv[2])
    runtime = SandboxRuntime(Path(sys.argv[1]), "docker", docker=docker)
    print((await runtime.start()).level)
    shell = CmdRunAction(command="touch made; ls")
    print((await runtime.run_action(shell, lambda _: None)).content)
    cell = await runtime.run_action(IPythonRunCellAction(code="1 + 1"), lambda _: None)
    print(cell.outputs[0].data["text/plain"])
    await runtime.close()
asyncio.run(main())
"""


def memory_filled_by(mebibytes: int) -> str:
    return f"b = bytearray({mebibytes} * 2**20)\nfor i in range(0, len(b), 4096): b[i] = 1\n"


async def test_it_has_no_rights_and_no_network(bench, running):
    async with bench() as b:
        host = running().attrs["HostConfig"]
        config = running().attrs["Config"]
        found = await b.runtime.start()
    assert config["User"].partition(":")[0] not in ("", "0")
    assert host["NetworkMode"] == "none"
    assert host["ReadonlyRootfs"] is True
    assert host["Privileged"] is False
    assert host["CapDrop"] == ["ALL"]
    assert host["SecurityOpt"] == ["no-new-privileges"]
    assert host["PidsLimit"] > 0
    assert host["Memory"] == host["MemorySwap"] > 0
    assert host["Init"] is True
    assert host["LogConfig"]["Type"] == "none"
    assert found.level == "green"
    assert found.missing == []
    assert [check.name for check in found.checks if not check.held] == []


async def test_files_belong_to_the_owner_of_the_workspace(bench):
    async with bench() as b:
        owner = b.workspace.stat().st_uid
        await b.sh("echo shell >shell; id -un >name")
        await b.cell("open('cell', 'w').write('cell')")
        written = await b.act(FileWriteAction(path="file", content="file"))
    assert isinstance(written, FileWriteObservation)
    for name in ("shell", "cell", "file"):
        assert (b.workspace / name).stat().st_uid == owner
    assert (b.workspace / "name").read_text() == "agent\n"


@as_root
async def test_a_workspace_of_root_is_refused_with_what_to_do(tmp_path, isolation, client):
    with pytest.raises(SandboxUnavailable) as refused:
        await Sandbox(tmp_path, "docker").start()
    assert "belongs to root" in refused.value.message
    assert f"chown -R 1000:1000 '{tmp_path}'" in refused.value.hint


@as_root
async def test_a_workspace_that_all_may_write_to_will_do(tmp_path, bench):
    tmp_path.chmod(0o777)
    async with bench(tmp_path) as b:
        assert (await b.sh("touch new")).exit_code == 0
    assert (tmp_path / "new").stat().st_uid == 1000


async def test_an_own_image_with_a_variable_and_a_volume(bench, derived):
    settings = derived(
        "ENV GREETING='hello there'",
        "ENV HOME=/nowhere",
        "VOLUME /data",
        "RUN echo 'tool = 42' >$(echo /opt/python/lib/python3*)/site-packages/tool.py",
        'ENTRYPOINT ["/bin/false"]',
        "HEALTHCHECK CMD false",
    )
    async with bench(docker=settings) as b:
        assert (await b.sh("echo $GREETING $HOME")).content == "hello there /home/agent\n"
        # A volume would be storage without a limit.
        assert "tmpfs" in (await b.sh("grep ' /data ' /proc/mounts; touch /data/x")).content
        cell = await b.cell("import tool; print(tool.tool)")
        assert cell.outputs[0].text == "42\n"
        found = await b.runtime.start()
    assert found.level == "green"


async def test_a_command_that_fills_the_memory_is_told_the_limit(bench):
    async with bench(limits=Limits(memory=0.25)) as b:
        (b.workspace / "fill.py").write_text(memory_filled_by(600))
        observation = await b.sh("python3 fill.py")
        assert observation.exit_code == 137
        assert "[The limit of 256 MB of memory for everything in the sandbox" in observation.content
        # It is told once, and the shell goes on.
        again = await b.sh("echo still here")
        assert again.content == "still here\n"


async def test_a_cell_that_fills_the_memory_is_told_the_limit(bench):
    async with bench(limits=Limits(memory=0.25)) as b:
        observation = await b.cell(memory_filled_by(600))
        assert observation.interrupted == "kernel_died"
        assert "The limit of 256 MB of memory" in observation.outputs[-1].text
        assert (await b.cell("1 + 1")).ok


async def test_processes_are_limited_together(bench):
    async with bench(limits=Limits(processes=50)) as b:
        cell = await b.cell(
            "import subprocess\nfor _ in range(80): subprocess.Popen(['sleep', '60'])"
        )
        assert cell.outputs[-1].ename == "BlockingIOError"


async def test_there_are_only_so_many(workspace, bench, docker_settings):
    one = msgspec.structs.replace(docker_settings, most_containers=1)
    async with bench(docker=one):
        with pytest.raises(SandboxUnavailable, match="1 sandboxes in Docker already"):
            await Sandbox(workspace, "docker", docker=one).start()
    async with bench(docker=one) as b:
        assert (await b.sh("echo ok")).content == "ok\n"


async def test_what_is_cancelled_while_it_starts_leaves_nothing(
    workspace, isolation, docker_settings, client
):
    for delay in (0.0, 0.02, 0.1, 0.2):
        sandbox = Sandbox(workspace, "docker", docker=docker_settings)
        starting = asyncio.create_task(sandbox.start())
        await asyncio.sleep(delay)
        starting.cancel()
        await asyncio.gather(starting, return_exceptions=True)
        await sandbox.close()
        assert client.containers.list(all=True, filters={"label": SANDBOX}) == []


async def test_a_server_that_is_killed_leaves_nothing_that_runs(
    workspace, isolation, docker_settings, client, server_on
):
    server = server_on(workspace, docker_settings.image)
    (container,) = client.containers.list(filters={"label": SANDBOX})
    server.kill()
    server.wait()
    # The end of the stream ends it; nobody tells it to.
    assert container.wait(timeout=PATIENCE)["StatusCode"] == 0
    assert await prune() == 1
    assert client.containers.list(all=True, filters={"label": SANDBOX}) == []


async def test_the_next_sandbox_sweeps_what_a_killed_server_left(bench, client, docker_settings):
    orphan_labels = {**labels(Path("/nowhere/12345678")), "openhands-jupyter.owner": "1:1"}
    orphan = client.containers.create(docker_settings.image, "true", labels=orphan_labels)
    async with bench():
        left = client.containers.list(all=True, filters={"label": SANDBOX})
        assert orphan.id not in [container.id for container in left]
        assert len(left) == 1


async def test_containers_of_living_servers_and_of_elsewhere_stay(
    isolation, client, docker_settings, tmp_path, monkeypatch
):
    ours = client.containers.create(docker_settings.image, "true", labels=labels(tmp_path))
    elsewhere = client.containers.create(
        docker_settings.image,
        "true",
        labels={**labels(tmp_path), "openhands-jupyter.place": "other"},
    )
    assert await prune() == 0
    # Of elsewhere, what has not run for long is removed.
    now = time.time() + sweeping.ABANDONED_AFTER + 60
    monkeypatch.setattr(sweeping.time, "time", lambda: now)
    assert await prune() == 1
    assert [c.id for c in client.containers.list(all=True, filters={"label": SANDBOX})] == [ours.id]
    elsewhere_left = [c for c in client.containers.list(all=True) if c.id == elsewhere.id]
    assert elsewhere_left == []
    ours.remove()


@as_root
@pytest.mark.slow
def test_an_ordinary_user_who_may_use_docker(docker_host, docker_settings):
    if os.stat(docker_host.removeprefix("unix://")).st_gid != 0:
        pytest.skip("needs a daemon that root's group may use")
    with tempfile.TemporaryDirectory(prefix="ohj-user-", dir="/tmp") as name:
        folder = Path(name)
        folder.chmod(0o755)
        try:
            python = make_public_python(folder / "python", ["openhands-jupyter"])
        except NoPublicPython as reason:
            pytest.skip(str(reason))
        workspace = folder / "workspace"
        workspace.mkdir()
        os.chown(workspace, USER, USER)
        sockets = folder / "run"
        sockets.mkdir()
        os.chown(sockets, USER, USER)
        sockets.chmod(0o700)
        # Its parents may be closed to others.
        shutil.copytree(PACKAGE, folder / "code" / PACKAGE.name)
        found = subprocess.run(
            [python, "-c", AS_USER, workspace, docker_settings.image],
            user=USER,
            group=USER,
            extra_groups=[0],
            cwd="/",
            env={
                "PATH": os.environ["PATH"],
                "HOME": "/nonexistent",
                "XDG_RUNTIME_DIR": str(sockets),
                "DOCKER_HOST": docker_host,
                "PYTHONPATH": str(folder / "code"),
            },
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert found.returncode == 0, found.stderr
        assert found.stdout.split() == ["green", "made", "2"]
        assert (workspace / "made").stat().st_uid == USER
