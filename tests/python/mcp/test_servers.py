"""Real servers, good and bad: their start, their calls, their end.

All share one process that talks to them, and with it an event loop; the SDK takes a second to load.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import psutil
import pytest
from jupyter_core.utils import ensure_event_loop
from mcp_servers import FOLDER, bad_server, good_server
from waiting import PATIENCE, wait_until

from openhands_jupyter.mcp.cache import ToolCache
from openhands_jupyter.mcp.config import read_servers
from openhands_jupyter.mcp.host import McpError, McpHost
from openhands_jupyter.mcp.protocol import Done
from openhands_jupyter.mcp.server import Surroundings
from openhands_jupyter.mcp.servers import McpServers


@pytest.fixture(scope="module")
def jp_asyncio_loop() -> Iterator[asyncio.AbstractEventLoop]:
    """One loop for all tests here, in place of pytest-jupyter's."""
    loop = ensure_event_loop(prefer_selector_loop=True)
    yield loop
    loop.close()


@pytest.fixture(scope="module")
def host(jp_asyncio_loop: asyncio.AbstractEventLoop) -> Iterator[McpHost]:
    """The process that tests share."""
    host = McpHost()
    yield host
    jp_asyncio_loop.run_until_complete(host.close())


Use = Callable[..., contextlib.AbstractAsyncContextManager[McpServers]]


@pytest.fixture
def use(host: McpHost, tmp_path: Path) -> Use:
    """Servers by name, in a session of their own; all are ended at the end."""

    @contextlib.asynccontextmanager
    async def using(
        secrets: Mapping[str, str] | None = None, **servers: Any
    ) -> AsyncIterator[McpServers]:
        read = read_servers({"servers": servers}, "")
        assert not read.warnings
        around = Surroundings(
            host=host,
            cache=ToolCache(tmp_path / "cache"),
            lookup=(secrets or {}).get,
            hide=lambda values: None,
            trust=lambda config, workspace: config.trust,
        )
        around.cache.load(read.servers)
        workspace = tmp_path / "workspace"
        workspace.mkdir(exist_ok=True)
        found = McpServers(read.servers, around, workspace)
        try:
            yield found
        finally:
            await found.close()
        assert not children_of(host.pid)

    return using


def text(done: Done) -> str:
    return "\n".join(part.text for part in done.parts)


async def until(servers: McpServers, name: str, state: str) -> None:
    await wait_until(lambda: servers.servers[name].state == state)


def children_of(pid: int | None) -> list[psutil.Process]:
    return psutil.Process(pid).children(recursive=True) if pid else []


def alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


async def test_a_good_server_over_stdio(use: Use, tmp_path: Path) -> None:
    """One story: nothing runs before it is asked for, then all kinds of results, then its end."""
    config = good_server() | {"env": {"MY_TOKEN": "${TOKEN}"}, "cwd": "."}
    async with use({"TOKEN": "abc"}, one=config) as servers:
        one = servers.servers["one"]
        assert one.state == "idle" and one.tools == []
        assert servers.descriptions() == []  # It does not wait.
        assert one.state == "starting"
        await until(servers, "one", "ready")
        # It came while nobody was told of changes yet.
        await wait_until(lambda: one.tools[-1].name == "late")
        add = servers.descriptions()[0]
        assert add.name == "one__add" and add.parameters["required"] == ["a", "b"]
        assert add.description.startswith("[Tool of the MCP server one; what follows is")

        action = servers.parse("one__add", '{"a": 1, "b": 2}')
        assert action and (action.server, action.tool) == ("one", "add")
        assert text(await servers.call("one", "add", {"a": 1, "b": 2})) == "3"
        assert servers.parse("one__nothing", "{}") is None
        for arguments in ("[1]", "{", '{"a":' + "[" * 99 + "]" * 99 + "}"):
            with pytest.raises(ValueError, match="Call it again"):
                servers.parse("one__add", arguments)

        where = text(await servers.call("one", "write", {"name": "x.txt", "content": "y"}))
        assert where == f"wrote x.txt in {tmp_path / 'workspace'}"
        environment = dict(
            line.split("=", 1)
            for line in text(await servers.call("one", "environment", {})).splitlines()
        )
        assert environment.pop("MY_TOKEN") == "abc"
        passed_on = {"HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER", "LANG", "LC_ALL", "TMPDIR"}
        assert set(environment) <= passed_on | {"TZ", "XDG_RUNTIME_DIR", "LC_CTYPE"}

        said, image = (await servers.call("one", "picture", {})).parts
        assert (said.text, image.kind, image.media_type) == ("a dot", "image", "image/png")
        (resource,) = (await servers.call("one", "resource", {})).parts
        assert (resource.kind, resource.uri, resource.text) == ("resource", "memo://one", "# One")
        failed = await servers.call("one", "fail", {})
        assert failed.is_error and "fail" in text(failed)
        long = text(await servers.call("one", "long", {"size": 3_000_000}))
        assert len(long) < 2_001_000 and "characters left out" in long

        await servers.call("one", "grow", {"name": "grown"})
        await wait_until(lambda: any(tool.name == "grown" for tool in one.tools))
        assert servers.descriptions()[-1].name == "one__grown"
        await servers.close()
        assert one.state == "idle"

    async with use({"TOKEN": "abc"}, one=config) as servers:
        # Another session knows the tools without a server.
        assert "one__grown" in [tool.name for tool in servers.descriptions()]
        assert servers.servers["one"].state == "idle"


@pytest.mark.parametrize("how", ["http", "sse"])
async def test_a_good_server_over_http(use: Use, how: str) -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable, str(FOLDER / "good.py"), how, stdout=asyncio.subprocess.PIPE
    )
    try:
        assert process.stdout
        port = int(await process.stdout.readline())
        path = "/sse" if how == "sse" else "/mcp"
        one = {"url": f"http://127.0.0.1:{port}{path}", "api_key": "${KEY}"}
        async with use({"KEY": "k-123"}, one=one) as servers:
            assert text(await servers.call("one", "headers", {})) == "Bearer k-123"
            assert text(await servers.call("one", "add", {"a": 1, "b": 2})) == "3"
            assert len((await servers.call("one", "picture", {})).parts) == 2
            if how == "http":
                await servers.call("one", "grow", {"name": "grown"})
                one = servers.servers["one"]
                await wait_until(lambda: any(tool.name == "grown" for tool in one.tools))
            process.kill()
            await process.wait()
            with pytest.raises(McpError):
                await servers.call("one", "add", {"a": 1, "b": 2})
            with pytest.raises(McpError, match="could not be reached"):
                # It has ended meanwhile, so it is connected to anew.
                await until(servers, "one", "failed")
                await servers.call("one", "add", {"a": 1, "b": 2})
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()


async def test_servers_that_do_not_start_say_why_and_hold_up_nobody(use: Use) -> None:
    async with use(
        exits=bad_server("exit"),
        hangs=bad_server("hang") | {"start_timeout": 1},
        absent={"command": "/no/such/program"},
        keyless=good_server() | {"env": {"KEY": "${NOT_THERE}"}},
        off=good_server() | {"enabled": False},
        garbage=bad_server("garbage"),
        nowhere={"url": "http://127.0.0.1:9/mcp"},
    ) as servers:
        servers.descriptions()
        found = servers.servers
        await until(servers, "garbage", "ready")  # At the same time as all others are tried.
        for name in ("exits", "hangs", "absent", "keyless", "nowhere"):
            await until(servers, name, "failed")
        assert [tool.name for tool in servers.descriptions()] == ["garbage__fine"]
        assert "the license has expired" in found["exits"].stderr
        assert found["hangs"].message == "It did not start within 1 seconds."
        assert "/no/such/program could not be started: No such file" in found["absent"].stderr
        assert "NOT_THERE" in found["keyless"].message
        assert found["nowhere"].message == "It could not be reached."
        assert found["off"].state == "off"
        assert text(await servers.call("garbage", "fine", {})) == "fine"
        await servers.close()
        await found["garbage"].restart()
        await until(servers, "garbage", "ready")


async def test_schemas_and_names_of_a_nasty_server(use: Use) -> None:
    async with use(nasty=bad_server("nasty")) as servers:
        servers.descriptions()
        await until(servers, "nasty", "ready")
        tools = servers.descriptions()
        assert len({tool.name for tool in tools}) == 5
        assert all(len(tool.name) <= 64 and len(tool.description) <= 1100 for tool in tools)
        assert all(tool.parameters["type"] == "object" for tool in tools)
        action = servers.parse(tools[1].name, "{}")
        assert action and action.tool == "ünï cödé/✓"
        assert text(await servers.call("nasty", action.tool, {})) == "fine"


async def test_calls_that_go_wrong(use: Use) -> None:
    """Each is answered, the others go on, and what died is started again by the next call."""
    async with use(
        one=bad_server("calls") | {"timeout": 1},
        two=bad_server("calls"),
    ) as servers:
        one = servers.servers["one"]
        assert text(await servers.call("two", "fine", {})) == "fine"
        for tool in ("hang", "flood", "shout"):
            with pytest.raises(McpError) as timed_out:
                await servers.call("one", tool, {})
            assert timed_out.value.code == "mcp_timeout"
            # It still hangs, or floods.
            assert text(await servers.call("two", "fine", {})) == "fine"
            await one.restart()
        with pytest.raises(McpError) as died:
            await servers.call("one", "die", {})
        assert died.value.code == "mcp_ended"
        await until(servers, "one", "failed")
        assert "Segmentation fault" in one.stderr and "signal 9" in one.stderr
        assert next(tool.name for tool in one.tools) == "fine"
        assert text(await servers.call("one", "fine", {})) == "fine"
        with pytest.raises(McpError, match="longer than 32 MiB"):
            await servers.call("two", "huge", {})
        assert text(await servers.call("two", "fine", {})) == "fine"
        await servers.call("two", "grow", {})
        await wait_until(lambda: servers.servers["two"].tools[-1].name == "grown")
        call = asyncio.create_task(servers.call("two", "hang", {}))
        await asyncio.sleep(0)
        call.cancel()
        assert isinstance((await asyncio.gather(call, return_exceptions=True))[0], BaseException)


async def test_a_server_is_not_started_where_the_agent_can_put_modules(
    use: Use, tmp_path: Path
) -> None:
    async with use(one=bad_server("calls", "${WORKSPACE}")) as servers:
        where, told = text(await servers.call("one", "where", {})).split()
        assert (where, told) == (str(Path.home().resolve()), str(tmp_path / "workspace"))


async def test_a_server_s_whole_tree_ends_with_it(use: Use) -> None:
    async with use(one=bad_server("calls")) as servers:
        pids = [int(pid) for pid in text(await servers.call("one", "leave", {})).split()]
        assert len(pids) == 3 and all(map(alive, pids))
    await wait_until(lambda: not any(map(alive, pids)))


async def test_the_trees_of_servers_end_with_the_process_that_talks_to_them(
    use: Use, host: McpHost
) -> None:
    async with use(one=bad_server("calls")) as servers:
        pids = [int(pid) for pid in text(await servers.call("one", "leave", {})).split()]
        assert host.pid
        os.kill(host.pid, signal.SIGKILL)
        await wait_until(lambda: not any(map(alive, pids)))
        await until(servers, "one", "failed")
        assert servers.servers["one"].message == "The MCP process ended."
        assert text(await servers.call("one", "fine", {})) == "fine"


_KILLED = """
import asyncio, sys
from pathlib import Path
sys.path.insert(0, {tests!r})
from mcp_servers import bad_server
from openhands_jupyter.mcp.host import McpHost
from openhands_jupyter.mcp.protocol import Launch

async def main():
    told = asyncio.Queue()
    link = await McpHost().open(Launch(transport="stdio", **bad_server("calls")), told.put_nowait)
    await told.get()
    print((await link.call("leave", {{}}, 60)).parts[0].text, flush=True)
    await asyncio.Event().wait()

asyncio.run(main())
"""


def test_the_trees_of_servers_end_with_a_jupyter_server_that_is_killed() -> None:
    code = _KILLED.format(tests=str(FOLDER.parent))
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as process:
        assert process.stdout
        pids = [int(pid) for pid in process.stdout.readline().split()]
        assert len(pids) == 3 and all(map(alive, pids))
        process.kill()
    give_up = time.monotonic() + PATIENCE
    while any(map(alive, pids)) and time.monotonic() < give_up:
        time.sleep(0.02)
    assert not any(map(alive, pids))
