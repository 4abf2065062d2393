"""Sessions of one workspace that are in one container."""

from __future__ import annotations

import asyncio
from pathlib import Path

import msgspec
import pytest
from waiting import PATIENCE

from openhands_jupyter.runtime import commands
from openhands_jupyter.runtime.docker import shared as module
from openhands_jupyter.runtime.docker.sweep import prune
from openhands_jupyter.runtime.sandbox import Sandbox

pytestmark = [pytest.mark.docker, pytest.mark.sandbox]


@pytest.fixture
def shared(docker_settings):
    return msgspec.structs.replace(docker_settings, shared=True)


async def test_two_sessions_are_in_one_container_and_apart_in_it(bench, running, shared):
    async with bench(docker=shared) as one, bench(docker=shared) as two:
        assert running().status == "running"
        found = await one.runtime.start()
        assert found.level == "green"
        assert module.NOT_HELD in found.missing
        await one.sh("x=one; cd /tmp")
        await two.sh("x=two")
        await one.cell("y = 1")
        await two.cell("y = 2")
        assert (await one.sh("echo $x; pwd")).content == "one\n/tmp\n"
        assert (await two.sh("echo $x; pwd")).content == f"two\n{two.workspace}\n"
        assert (await one.cell("y")).outputs[0].data["text/plain"] == "1"
        assert (await two.cell("y")).outputs[0].data["text/plain"] == "2"


async def test_one_that_ends_takes_its_own_with_it_and_no_other(bench, running, shared):
    async with bench(docker=shared) as one:
        async with bench(docker=shared) as two:
            await one.sh("sleep 4321 & x=kept")
            await two.sh("setsid sleep 1234 &")
            await two.cell("y = 2")
            assert "1234" in (await one.sh("cat /proc/*/cmdline | tr '\\0' ' '")).content
        processes = (await one.sh("cat /proc/*/cmdline | tr '\\0' ' '")).content
        assert "4321" in processes
        assert "1234" not in processes
        assert (await one.sh("echo $x")).content == "kept\n"
        assert running().status == "running"


async def test_one_that_cannot_be_stopped_ends_the_container_for_all(bench, shared, monkeypatch):
    # How long agentd may say nothing.
    monkeypatch.setattr(commands, "ANSWER_TIMEOUT", 1)
    async with bench(docker=shared) as one, bench(docker=shared) as two:
        await two.sh("x=gone")
        # It has taken over agentd: nothing in there reacts to anything.
        await one.sh("kill -STOP $PPID", 1)
        await one.runtime.close()
        async with asyncio.timeout(PATIENCE):
            while two.runtime._sandbox.alive:
                await asyncio.sleep(0.02)
        observation = await two.sh("echo $x")
        assert "[The sandbox had ended and is a new one" in observation.content


async def test_a_container_that_is_killed_is_told_to_all(bench, running, shared):
    async with bench(docker=shared) as one, bench(docker=shared) as two:
        ending = [asyncio.create_task(b.sh("echo before; sleep 100")) for b in (one, two)]
        while not ("before" in one.printed and "before" in two.printed):
            await asyncio.sleep(0.01)
        await asyncio.to_thread(running().kill)
        for observation in await asyncio.gather(*ending):
            assert observation.interrupted == "sandbox_died"
            assert "[The container was killed from outside.]" in observation.content
        assert (await one.sh("echo after")).content == "after\n"
        assert (await two.sh("echo after")).content == "after\n"
        assert running().status == "running"


async def test_other_workspaces_have_another_one(bench, shared, client, workspace: Path):
    other = workspace.parent / "other"
    other.mkdir(mode=0o777)
    other.chmod(0o777)
    async with bench(docker=shared) as one, bench(other, docker=shared) as two:
        assert len(client.containers.list()) == 2
        assert (await one.sh("pwd")).content != (await two.sh("pwd")).content


async def test_it_is_gone_with_the_last_and_leaves_nothing(bench, shared, client):
    async with bench(docker=shared):
        pass
    assert client.containers.list(all=True) == []
    assert module._holders == {}
    assert await prune() == 0


async def test_a_killed_server_leaves_no_shared_container(
    client, isolation, workspace, docker_settings, server_on
):
    server = server_on(workspace, docker_settings.image, shared=True)
    (container,) = client.containers.list()
    server.kill()
    server.wait()
    container.wait(timeout=PATIENCE)
    assert await prune() == 1
    assert client.containers.list(all=True) == []


async def test_what_is_cancelled_while_it_starts_leaves_nothing(
    workspace, isolation, shared, client
):
    for delay in (0.0, 0.02, 0.1, 0.3):
        sandbox = Sandbox(workspace, "docker", docker=shared)
        starting = asyncio.create_task(sandbox.start())
        await asyncio.sleep(delay)
        starting.cancel()
        await asyncio.gather(starting, return_exceptions=True)
        await sandbox.close()
        assert client.containers.list(all=True) == []
        assert module._holders == {}
