"""A server that runs in a container itself, as on Binder: Docker's usual filter, an ordinary user.

Docker's filter of system calls lets nobody open a user namespace, so bubblewrap cannot work there.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sysconfig
from pathlib import Path

import pytest
from sandbox_facts import NOT_HELD

import openhands_jupyter

pytestmark = [pytest.mark.docker, pytest.mark.sandbox]

PACKAGE = Path(openhands_jupyter.__file__).parent

SERVER = """
import asyncio, json, os
from pathlib import Path
from openhands_jupyter.events import CmdRunAction, FileReadAction, FileWriteAction
from openhands_jupyter.events import IPythonRunCellAction
from openhands_jupyter.runtime import SandboxRuntime
async def main():
    workspace = Path("/tmp/workspace")
    workspace.mkdir()
    Path("/tmp/secret").write_text("c4n4ry")
    runtime = SandboxRuntime(workspace, "auto")
    async def act(action):
        return await runtime.run_action(action, lambda _: None)
    try:
        found = await runtime.start()
        said = {
            "command": (await act(CmdRunAction(command="x=7; echo $x; cat /tmp/secret"))).content,
            "again": (await act(CmdRunAction(command="echo $x"))).content,
            "cell": (await act(IPythonRunCellAction(code="6 * 7"))).outputs[0].data["text/plain"],
            "written": (await act(FileWriteAction(path="a", content="text"))).created,
            "read": (await act(FileReadAction(path="a"))).content,
        }
    finally:
        await runtime.close()
    failed = sorted(check.name for check in found.checks if not check.held)
    told = {"backend": found.backend, "level": found.level, "notice": found.notice}
    print(json.dumps({"uid": os.getuid(), **told, "failed": failed, "said": said}))
asyncio.run(main())
"""


@pytest.mark.skipif(shutil.which("bwrap") is None, reason="needs bubblewrap")
def test_landlock_is_chosen_and_works(client, docker_settings):
    mounts = {str(PACKAGE): f"/code/{PACKAGE.name}", sysconfig.get_path("purelib"): "/packages"}
    mounts |= {path: path for path in bubblewrap_with_libraries()}
    container = client.containers.create(
        docker_settings.image,
        ["python3", "-c", SERVER],
        user="1000:1000",
        network_mode="none",
        environment={"PYTHONPATH": "/code:/packages", "HOME": "/tmp/home"},
        volumes={source: {"bind": target, "mode": "ro"} for source, target in mounts.items()},
    )
    try:
        container.start()
        ended = container.wait(timeout=90)
        printed = container.logs(stderr=False).decode()
        assert ended["StatusCode"] == 0, container.logs().decode()[-3000:]
    finally:
        container.remove(force=True)
    found = json.loads(printed)
    assert (found["uid"], found["backend"], found["level"]) == (1000, "landlock", "amber")
    assert "bubblewrap, which isolates the agent, is not allowed to work here" in found["notice"]
    assert "This system or container denies user namespaces." in found["notice"]
    assert found["failed"] == sorted(NOT_HELD["landlock"])
    said = found["said"]
    assert said["command"].startswith("7\n")
    assert "Permission denied" in said["command"]
    assert "c4n4ry" not in said["command"]
    assert (said["again"], said["cell"], said["written"], said["read"]) == (
        "7\n",
        "42",
        True,
        "text",
    )


def bubblewrap_with_libraries() -> list[str]:
    """This machine's, which the image does not have."""
    program = shutil.which("bwrap") or ""
    listed = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    libraries = re.findall(r"=> (/\S+)", listed)
    return [program, *(f"/usr{path}" if path.startswith("/lib/") else path for path in libraries)]
