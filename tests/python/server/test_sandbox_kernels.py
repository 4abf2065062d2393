"""Notebooks and consoles on the kernelspec 'OpenHands sandbox', through a real Jupyter server."""

from __future__ import annotations

import json
import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from session_tools import kernels
from tornado.httpclient import HTTPClientError
from waiting import PATIENCE, wait_until

from openhands_jupyter.runtime.backends import BACKENDS

KERNELSPEC = Path(__file__).parents[3] / "kernelspec"
NAME = "openhands-sandbox"

pytestmark = pytest.mark.sandbox


@pytest.fixture(autouse=True)
def run_directories(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where sandboxes keep their sockets during this test."""
    with tempfile.TemporaryDirectory(prefix="ohj-test-", dir="/tmp") as folder:
        monkeypatch.setenv("XDG_RUNTIME_DIR", folder)
        yield Path(folder, "ohj")


@pytest.fixture
def work(jp_root_dir: Path, jp_data_dir: Path) -> Path:
    """A folder for notebooks, on a server that has the kernelspec."""
    shutil.copytree(KERNELSPEC, jp_data_dir / "kernels" / NAME)
    folder = jp_root_dir / "notebooks"
    folder.mkdir()
    return folder


async def start(jp_fetch: Any, path: str = "notebooks") -> str:
    answer = await jp_fetch(
        "api", "kernels", method="POST", body=json.dumps({"name": NAME, "path": path})
    )
    id: str = json.loads(answer.body)["id"]
    return id


async def refused(jp_fetch: Any, notebook: str) -> str:
    """What JupyterLab is told when it asks for the notebook's kernel."""
    body = {"path": notebook, "name": notebook, "type": "notebook", "kernel": {"name": NAME}}
    with pytest.raises(HTTPClientError) as caught:
        await jp_fetch("api", "sessions", method="POST", body=json.dumps(body))
    assert caught.value.response is not None
    message: str = json.loads(caught.value.response.body)["message"]
    return message


async def act(jp_fetch: Any, id: str, action: str) -> None:
    await jp_fetch(
        *("api", "kernels", id, action),
        method="POST",
        body="{}",
        request_timeout=PATIENCE,
    )


async def test_it_is_offered(jp_fetch: Any, work: Path) -> None:
    specs = json.loads((await jp_fetch("api", "kernelspecs")).body)["kernelspecs"]
    spec = specs[NAME]
    assert (spec["spec"]["display_name"], spec["spec"]["language"]) == (
        "OpenHands sandbox",
        "python",
    )
    for logo in ("logo-32x32", "logo-64x64", "logo-svg"):
        assert logo in spec["resources"]


async def test_a_notebook_works_on_it(
    jp_fetch: Any, console: Any, work: Path, run_directories: Path
) -> None:
    id = await start(jp_fetch)
    client = await console(id)
    inside = "import os; print(os.getcwd(), os.path.exists('/etc/shadow'), os.environ['HOME'])"
    assert await client.execute(inside) == f"{work} False /home/agent\n"
    await client.execute("x = 1; open('made.txt', 'w').close()")
    assert (work / "made.txt").exists()

    request = await client.start("import time; print('begun', flush=True); time.sleep(600)")
    while (await client.message())["msg_type"] != "stream":
        pass
    await act(jp_fetch, id, "interrupt")
    assert await client.printed(request) == "KeyboardInterrupt"
    assert await client.execute("print(x)") == "1\n"

    await act(jp_fetch, id, "restart")
    client = await console(id)
    assert await client.execute("print('x' in globals())") == "False\n"

    await jp_fetch("api", "kernels", id, method="DELETE")
    assert json.loads((await jp_fetch("api", "kernels")).body) == []
    assert kernels() == set()
    assert os.listdir(run_directories) == []


async def test_a_kernel_that_dies_is_restarted_in_its_sandbox(
    jp_fetch: Any, console: Any, work: Path
) -> None:
    id = await start(jp_fetch)
    client = await console(id)
    await client.execute("x = 1; open('/tmp/kept', 'w').close()")
    (pid,) = kernels()
    os.kill(pid, signal.SIGKILL)
    await client.until_status("restarting")
    await wait_until(lambda: bool(kernels() - {pid}))
    client = await console(id)
    told = await client.execute("import os; print('x' in globals(), os.path.exists('/tmp/kept'))")
    assert told == "False True\n"


async def test_a_sandbox_that_is_killed_is_replaced(
    jp_fetch: Any, console: Any, work: Path, run_directories: Path
) -> None:
    id = await start(jp_fetch)
    client = await console(id)
    await client.execute("open('/tmp/gone', 'w').close()")
    (pid,) = kernels()
    for process in reversed(psutil.Process(pid).parents()):
        if process.name() == "bwrap":
            process.kill()
            break
    await wait_until(lambda: not psutil.pid_exists(pid))
    await client.until_status("restarting")
    await wait_until(lambda: len(kernels()) == 1)
    client = await console(id)
    told = await client.execute("import os; print(os.path.exists('/tmp/gone'))")
    assert told == "False\n"
    await act(jp_fetch, id, "restart")
    client = await console(id)
    assert await client.execute("print('well')") == "well\n"


async def test_a_kernel_that_is_given_up_leaves_no_sandbox(
    jp_fetch: Any, jp_serverapp: Any, work: Path, run_directories: Path, monkeypatch: Any
) -> None:
    monkeypatch.setattr("openhands_jupyter.runtime.provisioner.GIVEN_UP", 0.5)
    id = await start(jp_fetch)
    manager = jp_serverapp.kernel_manager.get_kernel(id)
    manager.stop_restarter()
    (pid,) = kernels()
    os.kill(pid, signal.SIGKILL)
    await wait_until(lambda: os.listdir(run_directories) == [])


async def test_home_is_refused_in_words(
    jp_fetch: Any, jp_root_dir: Path, work: Path, monkeypatch: Any
) -> None:
    monkeypatch.setenv("HOME", str(jp_root_dir))
    message = await refused(jp_fetch, "a.ipynb")
    assert "your home folder" in message and "Move the notebook" in message
    assert json.loads((await jp_fetch("api", "kernels")).body) == []


async def test_without_any_sandbox_it_says_why(
    jp_fetch: Any, work: Path, monkeypatch: Any, run_directories: Path
) -> None:
    monkeypatch.setattr("shutil.which", lambda name: None)
    monkeypatch.setitem(BACKENDS, "auto", BACKENDS["bubblewrap"])
    message = await refused(jp_fetch, "notebooks/a.ipynb")
    assert "bubblewrap, which isolates the agent, is not installed." in message
    assert kernels() == set()
    assert os.listdir(run_directories) == []
