"""Real sandboxes for the tests, with a place for their sockets that must be empty afterwards."""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest
from remote_jupyter import Remote, jupyter_server

from openhands_jupyter.events import (
    Action,
    CmdOutputObservation,
    CmdRunAction,
    IPythonOutputObservation,
    IPythonRunCellAction,
    Observation,
)
from openhands_jupyter.runtime import SandboxRuntime, cgroups, commands
from openhands_jupyter.runtime.agentd import landlock
from openhands_jupyter.runtime.gateway.remote import sweep
from openhands_jupyter.runtime.gateway.server import Gateway
from openhands_jupyter.runtime.gateway.settings import GatewaySettings

ORDINARY_USER = 1000


@pytest.fixture(scope="session")
def remote(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Remote]:
    """A remote Jupyter server."""
    with jupyter_server(tmp_path_factory.mktemp("remote")) as remote:
        yield remote


@pytest.fixture
def gateway(remote: Remote, workspace: Path, tmp_path: Path) -> Iterator[GatewaySettings]:
    """How to use it, in the folder of the test; no kernel of ours may be left there."""
    notes = tmp_path / "notes"
    settings = GatewaySettings(
        url=remote.url, token=remote.token, folder=str(workspace), notes=notes
    )
    yield settings
    assert remote.kernels_left() == []
    if notes.exists():
        # An end that took longer than the test's event loop lived is noted.
        asyncio.run(swept(settings))
        assert list(notes.iterdir()) == []


async def swept(settings: GatewaySettings) -> int:
    """End what killed servers left at a remote server; how many kernels there were."""
    gateway = Gateway(settings)
    try:
        return await sweep(gateway, settings.notes)
    finally:
        gateway.close()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A sandbox elsewhere is not ours to make: it holds the contract of actions, and no more.

    Who runs the tests has no part in it either: what they ask for is asked over the network.
    """
    items[:] = [
        item for item in items if item.get_closest_marker("contract") or not _elsewhere(item)
    ]
    for item in filter(_elsewhere, items):
        item.add_marker("anybody")


def _elsewhere(item: pytest.Item) -> bool:
    callspec = getattr(item, "callspec", None)
    return callspec is not None and callspec.params.get("isolation") == "gateway"


@pytest.fixture(
    params=["bubblewrap", "landlock", pytest.param("docker", marks=pytest.mark.docker), "gateway"]
)
def isolation(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Each way of isolation that works here, for what all of them have to hold."""
    if request.param == "docker":
        monkeypatch.setenv("DOCKER_HOST", request.getfixturevalue("docker_host"))
    if request.param == "bubblewrap" and shutil.which("bwrap") is None:
        pytest.skip("needs bubblewrap")
    if request.param == "landlock" and not landlock.abi():
        pytest.skip("needs a kernel with Landlock")
    name: str = request.param
    return name


@pytest.fixture(autouse=True)
def run_directories(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where sandboxes keep their sockets during this test; nothing may be left of them."""
    groups_before = our_groups()
    # Not tmp_path, which is too long for the path of a socket.
    with tempfile.TemporaryDirectory(prefix="t-", dir=os.environ["XDG_RUNTIME_DIR"]) as folder:
        monkeypatch.setenv("XDG_RUNTIME_DIR", folder)
        base = Path(folder, "ohj")
        yield base
        assert not base.exists() or list(base.iterdir()) == []
    assert our_groups() - groups_before == set()


def our_groups() -> set[Path]:
    """The control groups of sandboxes that this process started, or that started below it.

    They are in the group of this test run (see `leftovers`), which is nobody else's. Who may not
    make one has none in sight that could be theirs.
    """
    controllers = {"memory", ""}
    trees = [tree for tree in cgroups._trees() if tree.controllers & controllers]
    trees = [tree for tree in trees if os.access(tree.own, os.W_OK)]
    return {group for tree in trees for group in tree.own.glob(f"{cgroups.NAME}*")}


@pytest.fixture
def workspace(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    folder = tmp_path / "wörk späce 空"
    folder.mkdir()
    if os.geteuid() == 0 and "docker" in request.node.name:
        # A container is never run as root.
        os.chown(folder, ORDINARY_USER, ORDINARY_USER)
    return folder


class Bench:
    """A runtime and short ways to use it."""

    def __init__(self, runtime: SandboxRuntime) -> None:
        self.runtime = runtime
        self.workspace = runtime.workspace
        self.printed = ""

    async def act(self, action: Action) -> Observation:
        self.printed = ""
        return await self.runtime.run_action(action, self._on_output)

    async def sh(self, command: str, limit: float | None = None) -> CmdOutputObservation:
        observation = await self.act(CmdRunAction(command=command, timeout=limit))
        assert isinstance(observation, CmdOutputObservation), observation
        return observation

    async def leave(self, command: str, silence: float = 0.4) -> CmdOutputObservation:
        """Run what does not end, so that it is left running; no other command is cut that short."""
        with pytest.MonkeyPatch.context() as impatient:
            impatient.setattr(commands, "NO_CHANGE_TIMEOUT", silence)
            observation = await self.sh(command)
        assert observation.running
        return observation

    async def cell(self, code: str, limit: float | None = None) -> IPythonOutputObservation:
        observation = await self.act(IPythonRunCellAction(code=code, timeout=limit))
        assert isinstance(observation, IPythonOutputObservation), observation
        return observation

    def _on_output(self, text: str) -> None:
        self.printed += text


OpenBench = Callable[..., AbstractAsyncContextManager[Bench]]


@pytest.fixture
def bench(workspace: Path, isolation: str, request: pytest.FixtureRequest) -> OpenBench:
    """Opens a started runtime on the workspace, in each way of isolation."""
    settings = {}
    if isolation == "docker":
        settings["docker"] = request.getfixturevalue("docker_settings")
    if isolation == "gateway":
        settings["gateway"] = request.getfixturevalue("gateway")

    @asynccontextmanager
    async def open_bench(folder: Path = workspace, **options: object) -> AsyncIterator[Bench]:
        runtime = SandboxRuntime(folder, **{"isolation": isolation, **settings, **options})
        try:
            await runtime.start()
            yield Bench(runtime)
        finally:
            await runtime.close()

    return open_bench
