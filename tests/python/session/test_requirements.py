"""What a requirements file lists: installed once, through the proxy, and there in every session."""

from __future__ import annotations

import asyncio
import shutil

import pytest
from package_index import INDEX, PackageIndex
from waiting import PATIENCE

from openhands_jupyter.config import Config
from openhands_jupyter.errors import Conflict
from openhands_jupyter.events import CmdOutputObservation, CmdRunAction
from openhands_jupyter.runtime import SandboxRuntime
from openhands_jupyter.runtime.environment import EnvironmentSettings, layers
from openhands_jupyter.session.requirements import Installation, read_requirements

pytestmark = pytest.mark.sandbox


@pytest.fixture
def index(tmp_path):
    with PackageIndex(tmp_path / "index") as index:
        yield index


@pytest.fixture
def config(tmp_path, workspace, index):
    if shutil.which("bwrap") is None:
        pytest.skip("needs bubblewrap")
    (workspace / "requirements.txt").write_text("tinywheel\n")
    return Config(
        workspace,
        {"network_proxy": index.proxy},
        {"requirements": "requirements.txt", "pip_index": INDEX, "isolation": "bubblewrap"},
        {"OPENHANDS_HOME": str(tmp_path / "home")},
    )


async def settled(installation):
    """How it stands once nothing goes on any more."""
    async with asyncio.timeout(90):
        while (status := await installation.status()).state == "installing":
            await asyncio.sleep(0.05)
    return status


async def ran(config, command):
    """What a command prints in a session's sandbox, and what the person is told."""
    asked = EnvironmentSettings(home=config.home, requirements=lambda: read_requirements(config))
    runtime = SandboxRuntime(config.root, "bubblewrap", environment=asked)
    try:
        found = await runtime.start()
        answer = await runtime.run_action(CmdRunAction(command=command), lambda text: None)
    finally:
        await runtime.close()
    assert isinstance(answer, CmdOutputObservation)
    return answer.content, found.notice


WHERE = "python -c 'import tinywheel; print(tinywheel.ANSWER, tinywheel.__file__)'"


def left_in(config):
    return sorted(path.name for path in (config.home / layers.FOLDER).glob("*[!k]"))


async def test_it_is_installed_once_and_read_in_every_sandbox(config, index, workspace):
    installation = Installation(config)
    assert (await installation.status()).state == "missing"
    content, notice = await ran(config, WHERE)
    assert "No module named 'tinywheel'" in content
    assert "What requirements.txt lists is not installed yet" in notice

    installation.start()
    assert (await installation.status()).state == "installing"
    done = await settled(installation)
    assert done.state == "ready", done
    asked = len(index.asked)
    assert asked

    for _ in range(2):
        content, notice = await ran(config, WHERE)
        assert content.startswith("42 /run/openhands/layer/")
        assert "requirements.txt" not in notice
    content, _ = await ran(config, "touch /run/openhands/layer/x; pip uninstall -y tinywheel")
    assert "Read-only file system" in content
    assert len(index.asked) == asked
    assert not list(workspace.glob("*.py"))

    (workspace / "requirements.txt").write_text("tinywheel==1.0\n")
    assert (await installation.status()).state == "missing"


async def test_a_failed_installation_says_why_and_leaves_nothing(config, workspace):
    (workspace / "requirements.txt").write_text("tinywheel==9.9\n")
    installation = Installation(config)
    installation.start()
    status = await settled(installation)
    assert status.state == "failed"
    assert any("No matching distribution found for tinywheel==9.9" in each for each in status.lines)
    assert left_in(config) == []
    (workspace / "requirements.txt").write_text("tinywheel\n")
    assert (await installation.status()).state == "missing"


async def test_an_installation_can_be_stopped_and_leaves_nothing(config, workspace, tmp_path):
    asked = asyncio.Event()

    async def never_answer(reader, writer):
        asked.set()
        await reader.read()
        writer.close()

    async with await asyncio.start_server(never_answer, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        hanging = Config(
            workspace,
            {"network_proxy": f"http://127.0.0.1:{port}"},
            {"requirements": "requirements.txt", "pip_index": INDEX, "isolation": "bubblewrap"},
            {"OPENHANDS_HOME": str(tmp_path / "home")},
        )
        installation = Installation(hanging)
        installation.start()
        async with asyncio.timeout(PATIENCE):
            await asked.wait()
        assert left_in(config) != []
        await installation.cancel()
        assert (await installation.status()).state == "missing"
        assert left_in(config) == []
    again = Installation(config)
    again.start()
    assert (await settled(again)).state == "ready"


async def test_two_do_not_install_the_same_at_once(config):
    one, other = Installation(config), Installation(config)
    one.start()
    other.start()
    states = [(await settled(each)).state for each in (one, other)]
    assert "ready" in states
    problems = [each._problem.code for each in (one, other) if each._problem]
    assert problems in ([], ["requirements_busy"])


async def test_a_link_out_of_the_root_is_not_read(config, workspace, tmp_path):
    (tmp_path / "secret").write_text("secret")
    (workspace / "requirements.txt").unlink()
    (workspace / "requirements.txt").symlink_to(tmp_path / "secret")
    installation = Installation(config)
    status = await installation.status()
    assert (status.state, status.hint[:13]) == ("failed", "It has to be ")
    assert "requirements file cannot be read" in (await ran(config, "true"))[1]


async def test_a_locked_network_stays_off(workspace, tmp_path):
    (workspace / "requirements.txt").write_text("tinywheel\n")
    traits = {"locked": ["network"], "requirements": "requirements.txt"}
    config = Config(workspace, traits, {}, {"OPENHANDS_HOME": str(tmp_path / "home")})
    with pytest.raises(Conflict, match="switched the network of sandboxes off"):
        Installation(config).start()


async def test_without_a_file_there_is_nothing_to_install(workspace, tmp_path):
    installation = Installation(Config(workspace, environ={"OPENHANDS_HOME": str(tmp_path)}))
    assert (await installation.status()).state == "none"
    with pytest.raises(Conflict):
        installation.start()
