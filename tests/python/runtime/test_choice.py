"""Which way of isolation is used, why, and as whom."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from public_python import NoPublicPython, make_public_python
from sandbox_facts import AS_ROOT, NOT_HELD, SANDBOXES

from openhands_jupyter.errors import SandboxUnavailable
from openhands_jupyter.runtime.agentd import landlock
from openhands_jupyter.runtime.limits import Limits, group_for
from openhands_jupyter.runtime.sandbox import Sandbox

pytestmark = pytest.mark.sandbox

ROOT = Path(__file__).resolve().parents[3]
USER = 65534

needs_landlock = pytest.mark.skipif(not landlock.abi(), reason="needs a kernel with Landlock")


def failing_bubblewrap(folder: Path, stderr: str) -> str:
    """A PATH on which bubblewrap is a program that only says this."""
    folder.mkdir()
    fake = folder / "bwrap"
    fake.write_text(f"#!/bin/sh\necho '{stderr}' >&2\nexit 1\n")
    fake.chmod(0o755)
    return f"{folder}{os.pathsep}{os.environ['PATH']}"


SCRIPT = """
import asyncio, json, os, sys
from pathlib import Path
from openhands_jupyter.errors import SandboxUnavailable
from openhands_jupyter.events import CmdRunAction, IPythonRunCellAction
from openhands_jupyter.runtime import SandboxRuntime
folder, isolation, kind = sys.argv[1:]
actions = {
    "shell": CmdRunAction(command="touch mine"),
    "cell": IPythonRunCellAction(code="open('mine', 'w')"),
}
async def main():
    runtime = SandboxRuntime(Path(folder), isolation)
    try:
        found = await runtime.start()
        ran = await runtime.run_action(actions[kind], lambda _: None)
    except SandboxUnavailable as error:
        return {"message": error.message, "hint": error.hint}
    finally:
        await runtime.close()
    mine = Path(folder, "mine")
    return {
        "backend": found.backend,
        "level": found.level,
        "notice": found.notice,
        "failed": sorted(check.name for check in found.checks if not check.held),
        "output": f"touched by {mine.stat().st_uid}\\n" if mine.exists() else str(ran),
    }
print(json.dumps(asyncio.run(main())))
"""


def in_process(first, folder, isolation="auto", kind="shell", python=sys.executable, user=None):
    """Run an action in a sandbox that a process of its own starts; what came of it.

    Parameters
    ----------
    first
        Code that the process runs before anything else.
    python, user
        Its Python, and who it is run as.
    """
    # Its sockets are kept in no folder of the machine's, nor below one that others cannot enter.
    with tempfile.TemporaryDirectory(prefix="ohj-", dir="/tmp") as sockets:
        if user is not None:
            os.chown(sockets, user, user)
        answer = subprocess.run(
            [python, "-c", first + "\n" + SCRIPT, str(folder), isolation, kind],
            env={
                "PATH": os.environ["PATH"],
                "PYTHONPATH": str(ROOT),
                "HOME": "/nonexistent",
                "XDG_RUNTIME_DIR": sockets,
            },
            user=user,
            group=user,
            extra_groups=None if user is None else [],
            cwd="/",
            capture_output=True,
            text=True,
            timeout=60,
        )
    assert answer.returncode == 0, answer.stderr
    return json.loads(answer.stdout)


@pytest.fixture(scope="module")
def public_python():
    with tempfile.TemporaryDirectory() as folder:
        try:
            python = make_public_python(Path(folder), ["ipykernel", "jupyter_server", "msgspec"])
        except NoPublicPython as reason:
            pytest.skip(str(reason))
        yield str(python)


async def started(workspace, isolation):
    sandbox = Sandbox(workspace, isolation)
    try:
        return await sandbox.start()
    finally:
        await sandbox.close()


async def test_a_missing_bubblewrap_that_was_asked_for_is_an_error(workspace, monkeypatch):
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(SandboxUnavailable) as caught:
        await Sandbox(workspace, "bubblewrap").start()
    assert "not installed" in caught.value.message
    assert "apt install bubblewrap" in caught.value.hint
    assert "'none'" in caught.value.hint


@pytest.mark.parametrize("isolation", ["bubblewrap"], indirect=True)
async def test_bubblewrap_is_used_where_it_works(workspace, isolation):
    found = await started(workspace, "auto")
    assert found.backend == "bubblewrap"
    assert "weaker" not in found.notice


@needs_landlock
@pytest.mark.parametrize(
    ("stderr", "reason"),
    [
        (None, "bubblewrap, which isolates the agent, is not installed."),
        ("bwrap: No permissions to create new namespace", "not allowed to work here"),
        ("bwrap: Unknown option --disable-userns", "too old"),
    ],
)
async def test_landlock_is_used_where_bubblewrap_does_not_work_and_why_is_said(
    workspace, tmp_path, monkeypatch, stderr, reason
):
    path = failing_bubblewrap(tmp_path / "bin", stderr) if stderr else "/nonexistent"
    monkeypatch.setenv("PATH", path)
    found = await started(workspace, "auto")
    assert (found.backend, found.level) == ("landlock", "amber")
    assert reason in found.notice
    assert "So the weaker isolation by landlock is used." in found.notice
    # The group that was made for bubblewrap holds it now.
    group = group_for("probe", Limits())
    assert any("memory for all processes" in phrase for phrase in found.missing) == (group is None)
    if group is not None:
        group.remove()


@needs_landlock
@pytest.mark.parametrize("isolation", ["bubblewrap"], indirect=True)
def test_landlock_is_used_where_user_namespaces_are_denied(isolation, tmp_path):
    """The real bubblewrap, in a process that may not make namespaces, as in many containers."""
    deny = "from openhands_jupyter.runtime.agentd import seccomp; seccomp.apply(True, True)"
    found = in_process(deny, tmp_path)
    assert found["backend"] == "landlock"
    assert "This system or container denies user namespaces." in found["notice"]
    assert "touched by 0" in found["output"] if os.geteuid() == 0 else found["output"]


def test_nothing_is_used_where_nothing_works(tmp_path):
    """In a process that has neither namespaces nor Landlock."""
    deny = """
import errno, socket
from openhands_jupyter.runtime.agentd import seccomp
build = seccomp.build
def without_landlock(machine, inet, connect):
    refused = seccomp._when(seccomp._JUMP_EQUAL, 444, [seccomp._error(errno.EOPNOTSUPP)])
    program = build(machine, inet, connect)
    at = program.index(seccomp._load(seccomp._NUMBER)) + 1
    return [*program[:at], *refused, *program[at:]]
seccomp.build = without_landlock
seccomp.apply(True, True)
"""
    error = in_process(deny, tmp_path)
    assert "bubblewrap" in error["message"]
    assert (
        "Landlock and seccomp does not work here (landlock: this kernel has none)"
        in (error["message"])
    )
    assert "'none'" in error["hint"]


@pytest.mark.parametrize(
    ("stderr", "sentence"),
    [
        ("bwrap: No permissions to create new namespace", "not allowed to work here"),
        ("bwrap: setting up uid map: Permission denied", "not allowed to work here"),
        ("bwrap: Unknown option --disable-userns", "too old"),
        ("bwrap: Something else", "did not start"),
        ("", "it said nothing"),
    ],
)
async def test_a_bubblewrap_that_fails_is_explained(
    workspace, tmp_path, monkeypatch, stderr, sentence
):
    monkeypatch.setenv("PATH", failing_bubblewrap(tmp_path / "bin", stderr))
    with pytest.raises(SandboxUnavailable, match=sentence) as caught:
        await Sandbox(workspace, "bubblewrap").start()
    assert caught.value.hint


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to become somebody else")
@pytest.mark.parametrize("isolation", SANDBOXES, indirect=True)
class TestUsers:
    """Servers of ordinary users and of root, with a Python that everybody can execute."""

    def test_an_ordinary_user(self, isolation, public_python):
        with tempfile.TemporaryDirectory() as folder:
            os.chown(folder, USER, USER)
            found = in_process("", folder, isolation, python=public_python, user=USER)
        assert found["failed"] == sorted(NOT_HELD[isolation])
        assert found["level"] == ("amber" if NOT_HELD[isolation] else "green")
        assert found["output"] == f"touched by {USER}\n"

    def test_root_works_with_the_rights_of_the_workspaces_owner(self, isolation, public_python):
        with (
            tempfile.TemporaryDirectory() as folder,
            tempfile.TemporaryDirectory(prefix="ohj-", dir="/tmp") as place,
        ):
            os.chown(folder, USER, USER)
            # The usual one is used by other test runs too.
            os.chmod(place, 0o711)
            first = (
                "from openhands_jupyter.runtime import rundir\n"
                f"rundir._fallback = lambda: '{place}/f'"
            )
            found = in_process(first, folder, isolation, python=public_python)
            assert list(Path(place).iterdir()) == [Path(place, "f-owners")]
            assert not list(Path(place, "f-owners").iterdir())
        assert found["failed"] == sorted(NOT_HELD[isolation])
        assert found["output"] == f"touched by {USER}\n"
        assert "root" not in found["notice"]

    def test_the_owner_gets_a_kernel_too(self, isolation, public_python):
        with tempfile.TemporaryDirectory() as folder:
            os.chown(folder, USER, USER)
            found = in_process("", folder, isolation, "cell", python=public_python)
        assert found["output"].startswith(f"touched by {USER}\n"), found

    def test_root_stays_root_where_the_owner_cannot_reach_python(
        self, isolation, public_python, tmp_path
    ):
        unreachable = tmp_path / "unreachable"
        unreachable.mkdir()
        os.chown(unreachable, USER, USER)
        tmp_path.chmod(0o700)
        found = in_process("", unreachable, isolation, python=public_python)
        assert AS_ROOT in found["failed"]
        assert found["level"] == "amber"
        assert f"the workspace's owner (user {USER}) cannot be used instead" in found["notice"]
        # Without root's special rights, root cannot write there either.
        assert "Permission denied" in found["output"]
        assert "the agent can change only what belongs to root" in found["notice"]
