"""A real kernel, and a real server that it may find."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from jupyter_client.manager import KernelManager
from magic_kernel import Kernel
from model_server import ModelServer
from server_process import Server
from waiting import PATIENCE


@pytest.fixture(scope="module")
def model() -> Iterator[ModelServer]:
    """The model server of the server's default model."""
    server = ModelServer()
    server.start()
    yield server
    server.close()


@pytest.fixture(scope="module")
def server(model: ModelServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server with a prefix, as behind a Hub."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(tmp_path_factory.mktemp("home")))
        server = Server(tmp_path_factory.mktemp("server"), model, "/user/x/")
    asyncio.run(server.start())
    yield server
    server.end()


MakeKernel = Callable[[Path, Path], Kernel]


@pytest.fixture(scope="module")
def make_kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MakeKernel]:
    """Starts kernels in a folder, with the magics loaded, that look for servers in another."""
    managers, clients = [], []

    def make(folder: Path, runtime: Path) -> Kernel:
        own = tmp_path_factory.mktemp("kernel")
        environ = {
            **os.environ,
            "HOME": str(own),
            "IPYTHONDIR": str(own / "ipython"),
            "JUPYTER_RUNTIME_DIR": str(runtime),
        }
        manager = KernelManager(kernel_name="python3")
        manager.start_kernel(env=environ, cwd=str(folder))
        managers.append(manager)
        client = manager.client()
        client.start_channels()
        clients.append(client)
        client.wait_for_ready(timeout=PATIENCE)
        kernel = Kernel(client)
        assert kernel.run("%load_ext openhands_jupyter").status == "ok"
        return kernel

    yield make
    for client in clients:
        client.stop_channels()
    for manager in managers:
        process = manager.provisioner.process
        manager.shutdown_kernel(now=True)
        # The manager does not wait for long.
        process.wait()


@pytest.fixture(scope="module")
def _kernel(make_kernel: MakeKernel, tmp_path_factory: pytest.TempPathFactory) -> Kernel:
    return make_kernel(tmp_path_factory.mktemp("folder"), tmp_path_factory.mktemp("runtime"))


@pytest.fixture
def kernel(_kernel: Kernel) -> Kernel:
    """A kernel that finds no server, and has no session yet."""
    assert _kernel.run("%openhands reset").status == "ok"
    return _kernel


@pytest.fixture(scope="module")
def _at_server(make_kernel: MakeKernel, server: Server) -> Kernel:
    return make_kernel(server.root, server.runtime)


@pytest.fixture
def at_server(_at_server: Kernel) -> Kernel:
    """A kernel beside the server, which no page sends cells to."""
    assert _at_server.run("%openhands reset").status == "ok"
    return _at_server
