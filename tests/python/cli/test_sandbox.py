"""``jupyter openhands sandbox``, run as a person would."""

from __future__ import annotations

import io
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from docker_image import DaemonUnavailable, docker_daemon, load_image
from package_index import HOST, INDEX, PackageIndex
from remote_jupyter import jupyter_server
from waiting import PATIENCE, unhurried

from openhands_jupyter.cli.sandbox import clean_up
from openhands_jupyter.cli.terminal import Terminal
from openhands_jupyter.config import Config
from openhands_jupyter.runtime.environment import packages

pytestmark = pytest.mark.sandbox

needs_bubblewrap = pytest.mark.skipif(shutil.which("bwrap") is None, reason="needs bubblewrap")


def command(*arguments: str | Path) -> list[str]:
    return [sys.executable, "-m", "openhands_jupyter.cli", "sandbox", *map(str, arguments)]


def ran(*arguments: str | Path, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(*arguments),
        capture_output=True,
        text=True,
        timeout=100,
        env={**os.environ, **variables},
    )


@needs_bubblewrap
@pytest.mark.parametrize("code", [0, 3, 137])
def test_exec_ends_with_the_exit_code_of_the_command(tmp_path, code):
    run = ran(
        *("exec", "--backend", "bubblewrap", "--workspace", tmp_path),
        *("--", "bash", "-c", f"echo 'two  words'; echo $0 >file; exit {code}", "a b"),
    )
    assert run.stdout == "two  words\n"
    assert run.returncode == code
    assert (tmp_path / "file").read_text() == "a b\n"


@needs_bubblewrap
def test_exec_prints_all_there_is_of_much(tmp_path):
    run = ran("exec", "--workspace", tmp_path, "--", "seq", "200000")
    assert "\n1000\n" in run.stdout
    assert run.stdout.endswith("\n199999\n200000\n")


@needs_bubblewrap
def test_exec_works_in_an_empty_folder_of_its_own():
    run = ran("exec", "--", "ls", "-A")
    assert (run.stdout, run.returncode) == ("", 0)


@needs_bubblewrap
def test_exec_gives_the_command_no_input_to_wait_for(tmp_path):
    run = ran("exec", "--workspace", tmp_path, "--", "cat")
    assert (run.stdout, run.returncode) == ("", 0)


@needs_bubblewrap
def test_ctrl_c_stops_the_command(tmp_path):
    run = subprocess.Popen(
        command("exec", "--workspace", tmp_path, "--", "bash", "-c", "echo ready; sleep 100"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert run.stdout is not None
    assert run.stdout.readline() == b"ready\n"
    began = unhurried()
    run.send_signal(signal.SIGINT)
    run.communicate(timeout=PATIENCE)
    assert run.returncode == 130
    assert unhurried() - began < 20


def test_a_home_folder_is_refused_as_workspace():
    run = ran("exec", "--workspace", os.environ["HOME"], "--", "true")
    assert run.returncode == 1
    assert "your home folder" in run.stderr


@needs_bubblewrap
def test_check_tells_of_each_kind(tmp_path):
    run = ran("check", DOCKER_HOST=f"unix://{tmp_path}/none")
    assert run.returncode == 0, run.stdout + run.stderr
    lines = run.stdout.splitlines()
    assert any(line.startswith("bubblewrap   ") for line in lines)
    assert any(line.startswith("landlock     ") for line in lines)
    assert "docker       does not work" in lines
    assert f"    No Docker daemon answers at unix://{tmp_path}/none." in lines
    assert "attempts to get out were stopped." in run.stdout
    assert lines[-1] == "Used by itself: bubblewrap"


@needs_bubblewrap
def test_the_network_of_the_settings(tmp_path):
    with PackageIndex(tmp_path / "index") as index:
        variables = {
            "SANDBOX_NETWORK": "allow-list",
            "SANDBOX_NETWORK_RULES": f"{HOST}:80",
            "http_proxy": index.proxy,
            "OPENHANDS_HOME": str(tmp_path / "home"),
        }
        fetch = ("exec", "--backend", "bubblewrap", "--", "curl", "-sSf", "-o", "/dev/null")
        reached = ran(*fetch, f"{INDEX}/", **variables)
        refused = ran(*fetch, "http://other.test/", "http://other.test/again", **variables)
        check = ran("check", "--backend", "bubblewrap", **variables)
        off = ran(*fetch, f"{INDEX}/", **{**variables, "SANDBOX_NETWORK": "off"})
    told = "jupyter openhands: Network: other.test:80 is not among the hosts that may be reached.\n"
    assert reached.returncode == 0, reached.stderr
    assert "Network:" not in reached.stderr
    assert refused.returncode == 22
    assert refused.stderr.count(told) == 1
    assert f"    Network: {HOST}:80\n" in check.stdout
    assert off.returncode not in (0, 22)
    assert index.asked == [f"{HOST}:80"]


def test_check_where_nothing_works(tmp_path):
    run = ran("check", DOCKER_HOST=f"unix://{tmp_path}/none", PATH="/nowhere")
    assert "bubblewrap   does not work" in run.stdout
    assert "is not installed" in run.stdout


@pytest.mark.docker
def test_docker_from_the_command_line(tmp_path):
    try:
        with docker_daemon() as host:
            image = load_image(host)
            variables = {"DOCKER_HOST": host, "SANDBOX_BASE_CONTAINER_IMAGE": image}
            check = ran("check", **variables)
            run = ran(
                "exec", "--backend", "docker", "--", "bash", "-c", "id -u; exit 5", **variables
            )
            missing = ran(
                *("exec", "--backend", "docker", "--", "true"),
                **{**variables, "SANDBOX_BASE_CONTAINER_IMAGE": "openhands-jupyter-test-none"},
            )
            prune = ran("prune", **variables)
    except DaemonUnavailable as error:
        pytest.skip(str(error))
    assert "docker       green" in check.stdout
    assert f"The image {image} has Python 3." in check.stdout
    assert run.returncode == 5, run.stderr
    assert run.stdout.strip() != "0"
    assert missing.returncode == 1
    assert "docker pull openhands-jupyter-test-none" in missing.stderr
    assert "Removed 0 left over containers." in prune.stdout


def test_a_gateway_from_the_command_line(tmp_path):
    with jupyter_server(tmp_path) as remote:
        variables = {"SANDBOX_GATEWAY_URL": remote.url, "JUPYTER_GATEWAY_AUTH_TOKEN": remote.token}
        program = ("--", "bash", "-c", "pwd; exit 7")
        run = ran("exec", "--backend", "gateway", *program, **variables)
        check = ran("check", "--backend", "gateway", **variables)
        prune = ran("prune", SANDBOX_ISOLATION="gateway", **variables)
        nowhere = ran("exec", "--backend", "gateway", "--", "true")
        assert remote.kernels_left() == []
    assert (run.stdout, run.returncode) == (f"{tmp_path}\n", 7)
    assert "the gateway runs on this machine" in run.stderr
    # Which is why it holds nothing.
    assert check.returncode == 1
    assert "gateway      red" in check.stdout
    assert "bubblewrap" not in check.stdout
    assert "Ended 0 left over kernels at the gateway." in prune.stdout
    assert nowhere.returncode == 1
    assert "No gateway is configured." in nowhere.stderr
    for shown in (run, check, prune):
        assert remote.token not in shown.stdout + shown.stderr


def test_prune_removes_what_a_killed_server_left(tmp_path):
    base = tmp_path / "ohj"
    leave = (
        "import os, signal\n"
        "from openhands_jupyter.runtime.rundir import RunDirectory\n"
        "RunDirectory.create()\n"
        "os.kill(os.getpid(), signal.SIGKILL)"
    )
    # Not tmp_path itself, which may be too long for the path of a socket.
    short = Path(f"/tmp/ohj-test-{os.getpid()}")
    short.symlink_to(tmp_path)
    try:
        environment = {**os.environ, "XDG_RUNTIME_DIR": str(short)}
        subprocess.run([sys.executable, "-c", leave], env=environment, timeout=30)
        assert len(list(base.iterdir())) == 1
        run = ran("prune", XDG_RUNTIME_DIR=str(short), DOCKER_HOST=f"unix://{tmp_path}/none")
    finally:
        short.unlink()
    assert run.returncode == 0, run.stderr
    assert "Removed 1 left over sandboxes" in run.stdout
    assert "Docker was left out: No Docker daemon answers at" in run.stdout
    assert list(base.iterdir()) == []


async def test_prune_removes_installed_packages_only_when_asked(tmp_path, monkeypatch):
    home = tmp_path / "home"
    kept = home / "packages" / "workspace" / "python"
    kept.mkdir(parents=True)
    (kept / "module.py").write_text("x" * 10_000)
    # Not those that this machine's root may really have.
    monkeypatch.setattr(packages, "OF_OTHERS", tmp_path / "var")
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/none")
    config = Config(tmp_path, environ={"OPENHANDS_HOME": str(home)})
    printed = io.StringIO()
    terminal = Terminal(io.StringIO(), printed)
    assert await clean_up(config, False, terminal) == 0
    assert kept.is_dir()
    assert await clean_up(config, True, terminal) == 0
    assert "Removed 0.0 MB of installed packages." in printed.getvalue()
    assert not kept.exists()
