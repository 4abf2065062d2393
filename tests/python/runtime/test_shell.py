"""Commands: exit codes, state, streaming, stopping, long output."""

from __future__ import annotations

import asyncio
import subprocess
import sys

import pytest
from waiting import PATIENCE, unhurried, wait_until

from openhands_jupyter.errors import OpenHandsError
from openhands_jupyter.events import CmdRunAction
from openhands_jupyter.runtime.agentd.shell import ENVIRONMENT

pytestmark = [pytest.mark.sandbox, pytest.mark.contract]

TRIES = 5


async def stopped(bench, command, begun=None):
    """Stop a command, once it has begun if it tells; the observation and how long the stop took."""
    task = asyncio.ensure_future(bench.act(CmdRunAction(command=command)))
    await asyncio.sleep(0)
    if begun is not None:
        await wait_until(begun)
        await asyncio.sleep(0.3)
    asked = unhurried()
    await bench.runtime.interrupt()
    took = unhurried() - asked
    return await task, took


async def test_commands_share_folder_variables_and_functions(bench):
    async with bench() as b:
        first = await b.sh("mkdir d; cd d; export A=é; f() { echo f$1; }; false")
        assert (first.exit_code, first.cwd) == (1, str(b.workspace / "d"))
        second = await b.sh("pwd; f $A")
        assert second.content == f"{b.workspace}/d\nfé\n"
        assert second.exit_code == 0


@pytest.mark.parametrize(
    ("command", "exit_code", "output"),
    [
        ("cat <<X\na\n  b\nX\n", 0, "a\n  b\n"),
        ("echo 1\necho 2; exit_code() { return 7; }\nexit_code", 7, "1\n2\n"),
        ("sh -c 'kill -TERM $$'", 143, None),
        ("nonsuch-command", 127, None),
        ("if", 2, None),
        ("echo 'unclosed", 2, None),
        ("seq 3 | tail -n 1", 0, "3\n"),
        ("printf '%s' 'no newline'", 0, "no newline"),
        ("read x </dev/null; echo $?; python3 -c 'input()' </dev/null 2>/dev/null", 1, "1\n"),
        ("test -t 0 && test -t 1 && test -t 2", 0, ""),
    ],
)
async def test_exit_code_and_output(bench, command, exit_code, output):
    async with bench() as b:
        observation = await b.sh(command)
        assert observation.exit_code == exit_code
        assert output is None or observation.content == output
        assert (await b.sh("echo next")).content == "next\n"


async def test_nothing_waits_for_a_person_or_a_pager(bench):
    async with bench() as b:
        lines = (await b.sh("env")).content.splitlines()
        assert {f"{name}={value}" for name, value in ENVIRONMENT.items()} <= set(lines)


@pytest.mark.parametrize(
    ("command", "exit_code"), [("exit 3", 3), ("set -e; false", 1), ("kill -KILL $$", 137)]
)
async def test_a_command_may_end_the_shell(bench, command, exit_code):
    async with bench() as b:
        await b.sh("cd /usr; x=1")
        observation = await b.sh(f"echo before; {command}")
        assert observation.exit_code == exit_code
        assert observation.content.startswith("before\n")
        assert "the next command gets a new one" in observation.content
        assert (await b.sh("echo $x$PWD")).content == "/usr\n"


async def test_a_slow_bashrc_has_no_effect(bench, tmp_path, monkeypatch):
    (tmp_path / ".bashrc").write_text("sleep 60\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    async with bench() as b:
        await b.sh("for f in .bashrc .bash_profile .profile; do echo 'sleep 60' >~/$f; done; exit")
        assert (await b.sh("echo ready")).content == "ready\n"


@pytest.mark.parametrize(
    "command",
    [
        "PROMPT_COMMAND=: PS1='$ '",
        "unset PROMPT_COMMAND",
        "stty echo; stty raw; true",
        "exec 2>&1",
        "head -c 100000 /dev/urandom",
        "printf '\\036 \\0361\\037 \\0'",
    ],
)
async def test_a_command_cannot_confuse_the_next_one(bench, command):
    async with bench() as b:
        await b.sh(command)
        observation = await b.sh("echo ok; (exit 4)")
        assert observation.content.endswith("ok\n")
        assert observation.exit_code == 4


async def test_output_is_streamed_while_the_command_runs(bench):
    async with bench() as b:
        task = asyncio.ensure_future(b.sh("echo begin; until [ -e go ]; do sleep 0.02; done"))
        await wait_until(lambda: b.printed == "begin\n")
        assert not task.done()
        (b.workspace / "go").touch()
        assert (await task).content == "begin\n"


async def test_output_of_background_jobs_comes_with_the_next_command(bench):
    async with bench() as b:
        await b.sh("(until [ -e go ]; do sleep 0.02; done; echo from the job; touch gone) &")
        (b.workspace / "go").touch()
        await wait_until((b.workspace / "gone").exists)
        assert (await b.sh("echo next")).content.startswith(
            "[Printed in the background since the last command:]\nfrom the job\n"
            "[Printed by this command:]\nnext\n"
        )


async def test_long_output_is_cut_and_kept(bench):
    async with bench() as b:
        observation = await b.sh("seq 20000")
        assert len(observation.content) < 31_000
        assert observation.content.startswith("1\n2\n")
        assert "characters left out" in observation.content
        assert observation.content.endswith("\n20000\n")
        assert observation.full_output == "".join(f"{n}\n" for n in range(1, 20001))


async def test_fifty_megabytes_end_well(bench):
    async with bench() as b:
        observation = await b.sh("head -c 50000000 /dev/zero | tr '\\0' x; echo end; (exit 5)")
        printed = b.printed
        assert observation.exit_code == 5
        assert isinstance(observation.full_output, str)
        assert len(observation.full_output) < 8_001_000
        assert "42,000,004 characters left out" in observation.full_output
        assert "49,970,004 characters left out" in observation.content
        assert "xend\n[It printed 50,000,004 characters. At most 8,000,000" in observation.content
        peak = await b.sh("grep VmHWM /proc/$PPID/status")
        assert int(peak.content.split()[1]) < 150_000
        assert "there is more output" in printed
        assert len(printed) < 1_001_000


async def test_a_timeout_interrupts_and_keeps_the_shell(bench):
    async with bench() as b:
        await b.sh("x=kept")
        observation = await b.sh("echo begin; sleep 60\necho after", limit=0.3)
        assert observation.interrupted == "timeout"
        assert observation.exit_code is None
        assert observation.content.startswith("begin\n")
        assert "after" not in observation.content
        assert (await b.sh("echo $x")).content == "kept\n"


IGNORING = (
    'python3 -c "import signal, time; signal.signal(2, signal.SIG_IGN); '
    "print('ready', flush=True); time.sleep(60)\"; touch after\ntouch after"
)
HANDLING = (
    'python3 -c "import signal, sys, time; signal.signal(2, lambda *_: sys.exit(0)); '
    "print('ready', flush=True); time.sleep(60)\"; touch after\ntouch after"
)


@pytest.mark.parametrize(
    ("command", "shell_is_kept"),
    [
        ("echo ready; sleep 60; touch after", True),
        ("echo ready; while :; do :; done; touch after", True),
        ("echo ready; y=$(sleep 60); touch after", True),
        ("echo ready; sleep 60 | cat | cat; touch after", True),
        (HANDLING, True),
        (IGNORING, True),
        ("trap '' INT; echo ready; while :; do :; done; touch after", False),
        ("yes ready", True),
    ],
)
async def test_stop_ends_the_whole_command_within_a_second(bench, command, shell_is_kept):
    async with bench() as b:
        # On a busy machine even a willing command may take too long, and lose its shell.
        for _ in range(TRIES if shell_is_kept else 1):
            await b.sh("x=kept")
            observation, took = await stopped(b, command, lambda: "ready" in b.printed)
            assert observation.interrupted == "stopped"
            left = (await b.sh("ls; echo $x")).content
            assert "after" not in left
            if left == "kept\n" and took < 1.5:
                break
        assert took < 1.5
        assert left == ("kept\n" if shell_is_kept else "\n")


async def test_stop_before_the_command_has_begun(bench):
    async with bench() as b:
        observation, _ = await stopped(b, "sleep 60")
        # The sandbox may still have been starting.
        assert "stopped" in (
            getattr(observation, "interrupted", ""),
            getattr(observation, "code", ""),
        )
        assert (await b.sh("echo ok")).content == "ok\n"


async def test_stop_when_nothing_runs_does_nothing(bench):
    async with bench() as b:
        await b.runtime.interrupt()
        assert (await b.sh("echo ok")).content == "ok\n"


async def test_stop_works_when_the_action_server_hangs(bench):
    async with bench() as b:
        # What is stopped prints nothing any more.
        command = "kill -STOP $PPID; touch begun; sleep 60"
        observation, took = await stopped(b, command, (b.workspace / "begun").exists)
        assert observation.interrupted == "stopped"
        assert took < 2
        assert (await b.sh("echo fresh")).content == "fresh\n"


async def test_stop_works_when_the_action_server_refuses(bench, monkeypatch):
    async with bench() as b:
        await b.sh("true")
        sandbox = b.runtime._sandbox
        real = sandbox.request

        async def request(method, params, on_text=None):
            if method == "shell.stop":
                raise OpenHandsError("no", "What is inside took over the action server.")
            return await real(method, params, on_text)

        monkeypatch.setattr(sandbox, "request", request)
        observation, took = await stopped(b, "echo begun; sleep 60", lambda: b.printed)
        assert observation.interrupted == "stopped"
        assert took < 2


async def test_killing_the_action_server_ends_the_sandbox_and_the_next_action_gets_a_new_one(bench):
    async with bench() as b:
        waiting = "until [ -e go ]; do sleep 0.02; done"
        running = asyncio.ensure_future(
            b.sh(f"echo partial; {waiting}; kill -KILL $PPID; sleep 60")
        )
        await wait_until(lambda: b.printed)
        (b.workspace / "go").touch()
        observation = await running
        assert observation.interrupted == "sandbox_died"
        assert observation.content.startswith("partial\n")
        assert (await b.sh("echo fresh")).content == "fresh\n"


async def test_a_cancelled_action_leaves_nothing_running(bench):
    async with bench() as b:
        waiting = "until [ -e go ]; do sleep 0.02; done"
        task = asyncio.ensure_future(b.sh(f"touch begun; {waiting}; touch late"))
        await wait_until((b.workspace / "begun").exists)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert (await b.sh("echo fresh")).content.endswith("fresh\n")
        (b.workspace / "go").touch()
        await asyncio.sleep(0.5)
        assert not (b.workspace / "late").exists()


STOPPED_IN_THE_BACKGROUND = """
import asyncio, sys
from pathlib import Path
from openhands_jupyter.events import CmdRunAction
from openhands_jupyter.runtime import SandboxRuntime
async def main():
    runtime = SandboxRuntime(Path(sys.argv[1]))
    ignore = lambda text: None
    # On a busy machine even a willing command may take too long, and lose its shell.
    for _ in range(int(sys.argv[2])):
        await runtime.run_action(CmdRunAction(command="x=kept"), ignore)
        begun = asyncio.Event()
        running = asyncio.ensure_future(
            runtime.run_action(
                CmdRunAction(command="echo begun; y=$(sleep 60)"), lambda text: begun.set()
            )
        )
        await begun.wait()
        await asyncio.sleep(0.3)
        await runtime.interrupt()
        await running
        left = (await runtime.run_action(CmdRunAction(command="echo $x"), ignore)).content
        if left.strip() == "kept":
            break
    print(left)
    await runtime.close()
asyncio.run(main())
"""


def test_commands_can_be_interrupted_when_a_script_started_the_server_in_the_background(
    workspace, run_directories
):
    # What a shell without job control does for a command that ends in an ampersand.
    start = ["bash", "-c", 'trap "" INT QUIT; exec "$@"', "bash"]
    program = [sys.executable, "-c", STOPPED_IN_THE_BACKGROUND, str(workspace), str(TRIES)]
    ran = subprocess.run([*start, *program], capture_output=True, text=True, timeout=2 * PATIENCE)
    assert ran.stdout.strip() == "kept", ran.stderr
