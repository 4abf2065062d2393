"""What the agent's code can reach, tried in the real sandbox, and what is said about it."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest
from jupyter_core.paths import jupyter_config_dir, jupyter_data_dir, jupyter_runtime_dir
from sandbox_facts import AS_ROOT, NOT_HELD

from openhands_jupyter.events import ErrorObservation, FileReadAction, FileWriteAction
from openhands_jupyter.runtime.isolation import ESSENTIAL, verdict

pytestmark = pytest.mark.sandbox

UNREACHABLE = {
    "bubblewrap": "Network is unreachable",
    "landlock": "Address family not supported",
    "docker": "Network is unreachable",
}

ROOT = Path(__file__).resolve().parents[3]
CORE_PATTERN = Path("/proc/sys/kernel/core_pattern")
KERNEL_SETTINGS = [
    path
    for path in (CORE_PATTERN, Path("/proc/sys/vm/swappiness"), Path("/proc/sysrq-trigger"))
    if path.exists()
]


def names_in(folder: str) -> list[str]:
    return os.listdir(folder)


def content_of(path: Path) -> str:
    return path.read_text()


def executed(*command: str | Path, **options: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, timeout=60, **options)


async def tried_everywhere(b, path: Path, secret: str) -> None:
    """Try to read a file by a command, a cell and a file action; none may tell the secret."""
    assert content_of(path) == secret
    command = await b.sh(f"cat '{path}'; ls -la '{path.parent}'; cat '{path.parent}'/*")
    cell = await b.cell(f"print(open({str(path)!r}).read())")
    read = await b.act(FileReadAction(path=str(path)))
    assert isinstance(read, ErrorObservation)
    assert not cell.ok
    assert secret not in f"{command}{cell}{read}"


async def test_keys_and_private_data_cannot_be_read(bench):
    secret = "c4n4ry-of-this-test"
    home = Path(os.environ["HOME"])
    private = [
        home / ".ssh" / "id_ed25519",
        home / ".openhands" / "config.toml",
        Path(jupyter_runtime_dir(), "jpserver-1.json"),
        Path(jupyter_config_dir(), "jupyter_server_config.json"),
        Path(jupyter_data_dir(), "notebook_secret"),
    ]
    for path in private:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(secret)
    async with bench() as b:
        for path in private:
            await tried_everywhere(b, path, secret)
        assert (await b.sh("cat /etc/shadow")).exit_code == 1


async def test_nothing_outside_the_workspace_is_changed(bench, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "file").write_text("old")
    code = f"""
import os
for path in ({str(outside / "file")!r}, {str(outside / "new")!r}, "/usr/new", "/new", "/dev/new"):
    try:
        open(path, "w").write("new")
    except OSError as error:
        print(type(error).__name__)
"""
    async with bench() as b:
        (b.workspace / "link").symlink_to(outside)
        await b.cell(code)
        await b.sh(f"echo new >'{outside}/file'; echo new >link/file; rm -rf '{outside}'")
        await b.act(FileWriteAction(path="link/file", content="new"))
    assert (outside / "file").read_text() == "old"
    assert list(outside.iterdir()) == [outside / "file"]
    assert "new" not in names_in("/usr")


async def test_no_port_of_this_machine_can_be_reached(bench, isolation):
    reached = []
    server = await asyncio.start_server(lambda *_: reached.append(1), "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    code = f"import socket\nsocket.create_connection(('127.0.0.1', {port}), 2)"
    async with server, bench() as b:
        assert (await b.sh(f"exec 3<>/dev/tcp/127.0.0.1/{port}")).exit_code != 0
        ename = "OSError" if isolation == "landlock" else "ConnectionRefusedError"
        assert (await b.cell(code)).outputs[-1].ename == ename
        away = await b.sh(
            "python3 -c \"import socket; socket.create_connection(('192.0.2.1', 80))\""
        )
        assert UNREACHABLE[isolation] in away.content
    assert reached == []


async def test_kernel_settings_cannot_be_changed(bench):
    before = content_of(CORE_PATTERN)
    async with bench() as b:
        for path in KERNEL_SETTINGS:
            # Opened for writing only: nothing is written even where this succeeds.
            observation = await b.sh(f"exec 9>>{path} && echo opened; exec 9>&-; mount")
            assert "opened" not in observation.content
            cell = await b.cell(f"import os; os.open({str(path)!r}, os.O_WRONLY)")
            assert cell.outputs[-1].ename in ("OSError", "PermissionError")
        remount = await b.sh("mount -o remount,rw /proc/sys; unshare -Ur true")
        assert remount.exit_code != 0
        assert (await b.sh("head -c 1 /proc/kcore | wc -c")).content.endswith("0\n")
    assert content_of(CORE_PATTERN) == before


async def test_the_environment_is_built_from_nothing(bench, monkeypatch):
    monkeypatch.setenv("SOME_API_KEY", "c4n4ry")
    monkeypatch.setenv("JPY_PARENT_PID", "1")
    async with bench() as b:
        shell = await b.sh("env; cat /proc/*/environ")
        cell = await b.cell("import os; print(dict(os.environ))")
    for observation in (shell, cell):
        assert "c4n4ry" not in str(observation)
        assert "JPY_PARENT_PID" not in str(observation)


@pytest.mark.parametrize("isolation", ["bubblewrap"], indirect=True)
async def test_other_processes_are_not_seen(bench):
    async with bench() as b:
        pids = (await b.sh("ls /proc | grep -c '^[0-9]'")).content
        assert int(pids) < 12
        cmdlines = (await b.sh("cat /proc/[0-9]*/cmdline | tr '\\0' ' '")).content
        assert "pytest" not in cmdlines


@pytest.mark.parametrize("isolation", ["bubblewrap"], indirect=True)
async def test_gits_hooks_and_configuration_are_protected(bench):
    async with bench() as b:
        assert executed("git", "init", "-q", b.workspace).returncode == 0
        before = (b.workspace / ".git" / "config").read_text()
    async with bench() as b:
        for command in (
            "echo evil >.git/hooks/pre-commit",
            "git config core.pager evil",
            "mv .git old",
            "mv .git/hooks .git/old",
            "rm -rf .git/hooks/*",
        ):
            assert (await b.sh(command)).exit_code != 0, command
        observation = await b.act(FileWriteAction(path=".git/config", content="evil"))
        assert isinstance(observation, ErrorObservation)
        assert observation.code == "read_only"
        commit = "git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x && git log"
        assert (await b.sh(commit)).exit_code == 0
    assert (b.workspace / ".git" / "config").read_text() == before
    assert not (b.workspace / ".git" / "hooks" / "pre-commit").exists()


@pytest.mark.parametrize("isolation", ["bubblewrap"], indirect=True)
async def test_files_that_a_person_would_execute_later_are_protected(bench):
    async with bench() as b:
        (b.workspace / ".envrc").write_text("old")
        (b.workspace / ".vscode").mkdir()
        (b.workspace / "jupyter_server_config.py").write_text("old")
        (b.workspace / "venv" / "bin").mkdir(parents=True)
        (b.workspace / "venv" / "pyvenv.cfg").touch()
        await b.runtime.close()
        for path in (".envrc", ".vscode/tasks.json", "jupyter_server_config.py", "venv/bin/python"):
            observation = await b.act(FileWriteAction(path=path, content="evil"))
            assert isinstance(observation, ErrorObservation), path
            assert observation.code == "read_only"
        assert (await b.sh("mv venv v2 || mv .vscode v3 || rm .envrc")).exit_code != 0


async def test_an_environment_inside_the_workspace_is_read_only(bench, tmp_path):
    """A server whose own environment lies in the workspace, as with ``python -m venv .venv``."""
    project = tmp_path / "project"
    executed(sys.executable, "-m", "venv", "--without-pip", project / "env", check=True)
    script = """
import asyncio, sys
from pathlib import Path
from openhands_jupyter.events import CmdRunAction
from openhands_jupyter.runtime import SandboxRuntime
async def main():
    runtime = SandboxRuntime(Path(sys.argv[1]))
    await runtime.start()
    for command in ("touch env/evil", "touch allowed", "which python", "mv env old"):
        print((await runtime.run_action(CmdRunAction(command=command), print)).exit_code)
    await runtime.close()
asyncio.run(main())
"""
    packages = os.pathsep.join([str(ROOT), *(path for path in sys.path if "site-packages" in path)])
    answer = executed(
        *(project / "env" / "bin" / "python", "-c", script, project),
        env={**os.environ, "PYTHONPATH": packages},
    )
    assert answer.returncode == 0, answer.stderr
    assert not (project / "env" / "evil").exists()
    assert (project / "allowed").exists()
    assert f"{project}/env/bin/python" in answer.stdout
    codes = [line for line in answer.stdout.splitlines() if line.isdigit()]
    assert codes == ["1", "0", "0", "1"]


async def test_the_self_test_says_what_is_enforced(bench, isolation):
    async with bench() as b:
        found = await b.runtime.start()
    assert found.backend == isolation
    assert len(found.checks) >= 20
    failed = {check.name for check in found.checks if not check.held}
    if os.geteuid() == 0 and isolation != "docker":
        assert AS_ROOT in failed
        assert "Run Jupyter as an ordinary user" in found.notice
    assert failed - {AS_ROOT} == NOT_HELD[isolation]
    assert found.level == ("amber" if failed else "green")
    assert {f"nothing stops it to {name}" for name in NOT_HELD[isolation]} <= set(found.missing)


def test_the_verdict_follows_from_the_checks():
    def level(*failed):
        names = [*sorted(ESSENTIAL), "hold capabilities", "run as root outside the sandbox"]
        return verdict("bubblewrap", [{"name": n, "held": n not in failed} for n in names])

    assert level().level == "green"
    assert level("run as root outside the sandbox").level == "amber"
    assert level("hold capabilities").level == "amber"
    for name in ESSENTIAL:
        assert level(name).level == "red"
        assert name in level(name).summary
    assert verdict("none", []).level == "red"


@pytest.mark.parametrize("isolation", ["none"], indirect=True)
async def test_without_isolation_the_self_test_finds_it_and_red_is_shown(bench):
    async with bench() as b:
        found = await b.runtime.start()
        assert found.level == "red"
        assert {c.name for c in found.checks if not c.held} >= {
            "read a secret file",
            "write outside the workspace",
            "connect to a port of the server",
            "connect to a socket of the server",
            "connect to an abstract socket",
            "share namespaces with the server",
        }
        assert (await b.sh("pwd")).content == f"{b.workspace}\n"
        assert (await b.cell("1 + 1")).outputs[0].data == {"text/plain": "2"}


@pytest.mark.parametrize("isolation", ["none"], indirect=True)
async def test_without_isolation_keys_are_not_passed_on_either(bench, monkeypatch):
    monkeypatch.setenv("SOME_API_KEY", "c4n4ry")
    async with bench() as b:
        assert "c4n4ry" not in (await b.sh("env")).content
