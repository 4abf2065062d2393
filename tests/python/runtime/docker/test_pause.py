"""A container is paused when nothing goes on in it, and goes on with the next action."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable

import msgspec
import pytest
from jupyter_client.session import Session
from waiting import PATIENCE

from openhands_jupyter.runtime import rest
from openhands_jupyter.runtime.docker.sweep import SANDBOX, prune
from openhands_jupyter.runtime.launch import BackendUnavailable
from openhands_jupyter.runtime.sandbox import Sandbox

pytestmark = [pytest.mark.docker, pytest.mark.sandbox]

SOON = 0.3
LONG = 2.0
"""Seconds, for what must not happen."""


@pytest.fixture(autouse=True)
def short_look(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rest, "LOOK", SOON)


@pytest.fixture
def soon(docker_settings):
    return msgspec.structs.replace(docker_settings, pause_after=SOON)


async def state_is(running: Callable[[], object], wanted: str) -> None:
    async with asyncio.timeout(PATIENCE):
        while (await asyncio.to_thread(running)).status != wanted:
            await asyncio.sleep(0.05)


async def stays_running(running: Callable[[], object]) -> None:
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(LONG):
            while True:
                assert (await asyncio.to_thread(running)).status == "running"
                await asyncio.sleep(0.1)


async def test_it_is_paused_and_every_action_wakes_it(bench, running, soon):
    async with bench(docker=soon) as b:
        await b.sh("cd /tmp; x=kept")
        await b.cell("y = 1")
        await state_is(running, "paused")
        assert (await b.sh("echo $x; pwd")).content == "kept\n/tmp\n"
        await state_is(running, "paused")
        assert (await b.cell("y + 1")).outputs[0].data["text/plain"] == "2"
        await state_is(running, "paused")
    # Closing does not wait for what is paused.


async def test_one_that_was_prewarmed_is_paused_too(bench, running, soon):
    async with bench(docker=soon) as b:
        await b.runtime.prewarm()
        await state_is(running, "paused")
        assert (await b.cell("1 + 1")).ok


async def test_where_it_cannot_be_paused_that_is_tried_again(bench, running, soon, monkeypatch):
    failed = []
    pause = Sandbox.pause

    async def fail_once(sandbox):
        if not failed:
            failed.append(sandbox)
            raise BackendUnavailable("Docker refuses: unable to freeze.")
        await pause(sandbox)

    monkeypatch.setattr(Sandbox, "pause", fail_once)
    async with bench(docker=soon) as b:
        await b.sh("x=kept")
        await state_is(running, "paused")
        assert failed
        assert (await b.sh("echo $x")).content == "kept\n"


async def test_a_stop_while_it_is_paused_does_no_harm(bench, running, soon):
    async with bench(docker=soon) as b:
        await b.sh("x=kept")
        await state_is(running, "paused")
        await b.runtime.interrupt()
        assert (await b.sh("echo $x")).content == "kept\n"


async def test_jobs_in_the_background_go_on(bench, running, soon):
    async with bench(docker=soon) as b:
        await b.sh("(sleep 1000; echo) >/dev/null 2>&1 &")
        await stays_running(running)
        await b.sh("kill %1; wait", 10)
        await state_is(running, "paused")


async def test_threads_that_compute_go_on(bench, running, soon):
    async with bench(docker=soon) as b:
        await b.cell(
            "import threading\nstop = threading.Event()\n"
            "def compute():\n    while not stop.is_set(): sum(range(1000))\n"
            "threading.Thread(target=compute).start()"
        )
        await stays_running(running)
        await b.cell("stop.set()")
        await state_is(running, "paused")


async def test_not_while_a_person_is_at_the_kernel(bench, running, soon):
    async with bench(docker=soon) as b:
        await b.cell("x = 5")
        manager = (await b.runtime._kernel.start(b.runtime._sandbox)).result()._manager
        console = manager.client(session=Session(key=manager.session.key))
        console.start_channels(hb=False)
        try:
            await stays_running(running)
        finally:
            console.stop_channels()
        await state_is(running, "paused")


async def test_it_can_be_switched_off(bench, running, docker_settings):
    async with bench(docker=msgspec.structs.replace(docker_settings, pause_after=0)) as b:
        await b.sh("true")
        await stays_running(running)


async def test_a_paused_one_makes_room_for_another(bench, client, soon, workspace):
    one = msgspec.structs.replace(soon, most_containers=1)
    async with bench(docker=one) as b:
        await b.sh("x=gone")
        await state_is(lambda: client.containers.list(all=True)[0], "paused")
        second = Sandbox(workspace, "docker", docker=one)
        await second.start()
        assert len(client.containers.list(filters={"label": SANDBOX})) == 1
        await second.close()
        observation = await b.sh("echo $x")
        assert "[The sandbox had ended and is a new one" in observation.content


async def test_a_paused_container_of_a_killed_server_is_swept(
    client, isolation, workspace, docker_settings, server_on
):
    server = server_on(workspace, docker_settings.image)
    (container,) = client.containers.list(filters={"label": SANDBOX})
    container.pause()
    server.kill()
    server.wait()
    assert await prune() == 1
    assert client.containers.list(all=True, filters={"label": SANDBOX}) == []
