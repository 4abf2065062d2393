"""Commands that are left running: waiting on, typing, keys, what they print meanwhile."""

from __future__ import annotations

import asyncio
import os
import time

import pytest
from waiting import PATIENCE, wait_until

from openhands_jupyter.events import CmdRunAction, ErrorObservation, FileReadAction
from openhands_jupyter.runtime import commands
from openhands_jupyter.runtime.agentd.shell import Shell

pytestmark = [pytest.mark.sandbox, pytest.mark.contract]

QUIET = 0.4


SIGNALS = ("C-c", "C-\\", "C-z")


async def go_on(b, text=""):
    with pytest.MonkeyPatch.context() as impatient:
        impatient.setattr(commands, "NO_CHANGE_TIMEOUT", QUIET)
        impatient.setattr(commands, "NO_CHANGE_AFTER_INPUT", QUIET)
        return await b.act(CmdRunAction(command=text, is_input=bool(text)))


async def ended(b, text=""):
    """What comes of the running command's end, which the text brings about, sooner or later."""
    observation = await go_on(b, text)
    content = observation.content
    # A signal finds nobody as long as the shell has yet to start the program, or just does.
    again = text if text in SIGNALS else ""
    async with asyncio.timeout(PATIENCE):
        while observation.running:
            observation = await go_on(b, again)
            content += observation.content
    return content, observation


@pytest.mark.contract
async def test_a_silent_command_is_left_running_and_can_be_answered(bench):
    async with bench() as b:
        first = await b.leave("printf 'Name? '; read x; echo Hello, $x.; (exit 3)")
        assert (first.exit_code, first.interrupted) == (None, "")
        content, last = await ended(b, "Zoë")
        assert first.content + content == "Name? Hello, Zoë.\n"
        assert (last.exit_code, last.running) == (3, False)
        assert (await b.sh("echo $x")).content == "Zoë\n"


async def test_another_command_is_refused_with_what_can_be_done(bench):
    async with bench() as b:
        await b.leave("cat")
        refused = await b.act(CmdRunAction(command="touch never"))
        assert isinstance(refused, ErrorObservation)
        assert refused.code == "shell_busy"
        assert refused.message.endswith("still runs in this shell: cat")
        for way in ("empty command", "is_input", "C-c"):
            assert way in refused.hint
        content, last = await ended(b, "C-d")
        assert (content, last.exit_code) == ("", 0)
        assert (await b.sh("ls")).content == ""


async def test_waiting_gives_what_was_printed_meanwhile(bench):
    async with bench() as b:
        await b.leave("until [ -e go ]; do sleep 0.02; done; echo done; touch gone; (exit 4)")
        assert (await go_on(b)).running
        (b.workspace / "go").touch()
        await wait_until((b.workspace / "gone").exists)
        content, last = await ended(b)
        assert (content, last.exit_code) == ("done\n", 4)


async def test_the_next_command_tells_how_the_one_before_ended(bench):
    async with bench() as b:
        await b.leave("cd /usr; until [ -e ~-/go ]; do sleep 0.02; done; printf last; (exit 4)")
        (b.workspace / "go").touch()
        async with asyncio.timeout(PATIENCE):
            while isinstance(
                observation := await b.act(CmdRunAction(command="pwd")), ErrorObservation
            ):
                assert observation.code == "shell_busy"
        told, _, printed = observation.content.partition("[Printed by this command:]\n")
        assert "that was left running ended with exit code 4: cd /usr; until" in told
        assert told.endswith("]\nlast\n")
        assert (printed, observation.exit_code) == ("/usr\n", 0)


@pytest.mark.contract
@pytest.mark.parametrize(
    ("command", "key", "exit_code"),
    [
        ("sleep 60; echo after", "C-c", 130),
        ("while :; do :; done; echo after", "C-c", 130),
        ("python3 -c 'import time; time.sleep(60)'", "C-\\", 131),
        ("cat >/dev/null", "C-d", 0),
        ("read x; echo $?", "C-d", 0),
    ],
)
async def test_a_key_ends_a_command(bench, command, key, exit_code):
    async with bench() as b:
        await b.sh("x=kept")
        await b.leave(command)
        content, last = await ended(b, key)
        assert last.exit_code == exit_code
        assert "after" not in content
        assert (await b.sh("echo ok")).content == "ok\n"


async def test_a_suspended_command_becomes_a_job(bench):
    async with bench() as b:
        await b.leave("sleep 60")
        _, last = await ended(b, "C-z")
        (job,) = last.jobs
        assert (job.id, job.status, job.command) == (1, "stopped", "sleep 60")
        again = await b.sh("kill -KILL %1")
        async with asyncio.timeout(PATIENCE):
            while [job.status for job in again.jobs] == ["stopped"]:
                again = await b.sh("true")
        assert [job.status for job in again.jobs] in (["killed"], ["ended"])
        assert (await b.sh("true")).jobs == []


async def test_a_python_prompt_can_be_worked_at(bench):
    async with bench() as b:
        await b.leave("python3 -q")
        await go_on(b, "x = 20 + 1")
        content, observation = "", await go_on(b, "print('=', x * 2)")
        async with asyncio.timeout(PATIENCE):
            while "= 42" not in (content := content + observation.content):
                observation = await go_on(b)
        assert observation.running
        assert (await ended(b, "exit(7)"))[1].exit_code == 7


async def test_what_is_typed_reaches_no_other_program(bench):
    async with bench() as b:
        await b.leave("until [ -e go ]; do sleep 0.02; done")
        assert (await go_on(b, "touch evil\ntouch evil2")).running
        (b.workspace / "go").touch()
        await ended(b)
        assert (await b.sh("read -t 0.2 line; echo $line; ls")).content == "\ngo\n"


def test_input_that_comes_too_late_is_not_sent(workspace, tmp_path):
    shell = Shell(str(workspace), os.environ, str(tmp_path))
    try:
        waiting = "until [ -e go ]; do sleep 0.02; done"
        assert shell.run(waiting, None, lambda text: None, quiet=QUIET)["running"]
        (workspace / "go").touch()
        deadline = time.monotonic() + PATIENCE
        while not shell._bash.idle:
            assert time.monotonic() < deadline
            time.sleep(0.02)
        result = shell.run("touch evil", None, lambda text: None, is_input=True)
        assert "had ended before the input came" in result["output"]
        assert result["exit_code"] == 0
        assert not (workspace / "evil").exists()
    finally:
        shell.close()


async def test_there_must_be_something_to_go_on_with(bench):
    async with bench() as b:
        for action in (CmdRunAction(command=" "), CmdRunAction(command="x", is_input=True)):
            for _ in range(2):
                refused = await b.act(action)
                assert isinstance(refused, ErrorObservation)
                assert refused.code == "nothing_runs"
            await b.sh("true")


async def test_input_that_a_terminal_cannot_take_is_refused(bench):
    async with bench() as b:
        await b.leave("sleep 60")
        for text, code in (("x" * 5000, "input_too_long"), ("x\n" * 100_000, "input_not_read")):
            refused = await go_on(b, text)
            assert isinstance(refused, ErrorObservation)
            assert refused.code == code
        assert (await ended(b, "C-c"))[1].exit_code == 130
        assert (await b.sh("echo ok")).content == "ok\n"


async def test_an_explicit_timeout_is_waited_for_and_then_ends_the_command(bench, monkeypatch):
    monkeypatch.setattr(commands, "NO_CHANGE_TIMEOUT", QUIET)
    async with bench() as b:
        observation = await b.sh("sleep 60", limit=4 * QUIET)
        assert (observation.running, observation.interrupted) == (False, "timeout")
        await b.leave("sleep 60")
        waited = await b.act(CmdRunAction(command="", timeout=4 * QUIET))
        assert (waited.running, waited.interrupted) == (False, "timeout")


CHATTING = """\
python3 -uc '
import os, time
print("waiting")
while not os.path.exists("go"): time.sleep(0.02)
while True: print("x"); time.sleep(0.05)'
"""
"""One program, since a shell may miss C-c just when it starts another."""


async def test_the_usual_timeout_ends_a_command_but_not_by_waiting_for_it(bench):
    async with bench(timeout=3.0) as b:
        content = (await b.leave(CHATTING)).content
        async with asyncio.timeout(PATIENCE):
            while "waiting" not in content:
                content = (await go_on(b)).content
        (b.workspace / "go").touch()
        # From here on, no silence is long enough to end an action.
        waited = await b.act(CmdRunAction(command=""))
        assert (waited.running, waited.interrupted) == (True, "")
        assert waited.content.startswith("x\n")
        await ended(b, "C-c")
        assert (await b.sh(CHATTING)).interrupted == "timeout"


@pytest.mark.contract
async def test_stop_ends_a_command_that_was_left_running(bench):
    async with bench() as b:
        await b.sh("x=kept")
        await b.leave("sleep 60; touch after")
        await b.act(FileReadAction(path="."))
        await b.runtime.interrupt()
        assert (await b.sh("ls; echo $x")).content == "kept\n"


async def test_stop_ends_a_command_that_is_waited_for(bench):
    async with bench() as b:
        waiting = "until [ -e go ]; do sleep 0.02; done; echo waited"
        await b.leave(f"trap '' INT; {waiting}; sleep 60; touch after")
        task = asyncio.ensure_future(b.act(CmdRunAction(command="", timeout=60)))
        (b.workspace / "go").touch()
        await wait_until(lambda: b.printed == "waited\n")
        await b.runtime.interrupt()
        assert (await task).interrupted == "stopped"
        assert "after" not in (await b.sh("ls")).content


@pytest.mark.contract
async def test_background_jobs_are_listed_until_they_end(bench):
    async with bench() as b:
        first = await b.sh("(until [ -e go ]; do sleep 0.02; done; exit 3) & sleep 61 | cat &")
        assert [(job.id, job.status) for job in first.jobs] == [(1, "running"), (2, "running")]
        assert first.jobs[1].command.startswith("sleep 61")
        assert str(first.jobs[0].pid) in (await b.sh(f"ps -o pid= -p {first.jobs[0].pid}")).content
        (b.workspace / "go").touch()
        await b.sh("wait %1")
        told = (await b.sh("true")).jobs
        # Bash may have told of the end itself, while it waited.
        assert [job.id for job in told if job.status == "running"] == [2]
        after = await b.sh("true")
        assert [(job.id, job.status) for job in after.jobs] == [(2, "running")]


async def test_a_background_job_that_reads_the_terminal_is_said_to_be_stopped(bench):
    async with bench() as b:
        observation = await b.sh("cat & sleep 62 </dev/null &")
        async with asyncio.timeout(PATIENCE):
            while observation.jobs[0].status == "running":
                observation = await b.sh("true")
        stopped, running = observation.jobs
        assert (stopped.command, stopped.status) == ("cat", "stopped (tty input)")
        assert running.status == "running"


async def test_the_end_of_a_job_is_told_once(bench):
    async with bench() as b:
        await b.sh("(until [ -e go ]; do sleep 0.02; done; touch gone; exit 3) &")
        (b.workspace / "go").touch()
        await wait_until((b.workspace / "gone").exists)
        ends = []
        async with asyncio.timeout(PATIENCE):
            while not ends:
                ends = [job for job in (await b.sh("true")).jobs if job.status != "running"]
        assert [(job.id, job.status) for job in ends] in ([(1, "exit 3")], [(1, "ended")])
        assert (await b.sh("true")).jobs == []


async def test_exit_while_a_background_job_holds_the_terminal(bench):
    async with bench() as b:
        await b.sh("x=1; (until [ -e go ]; do sleep 0.02; done; touch gone) &")
        observation = await b.sh("echo bye; exit 5")
        assert observation.content.startswith("bye\n")
        assert "the next command gets a new one" in observation.content
        assert (observation.exit_code, observation.jobs) == (5, [])
        assert (await b.sh("echo $x")).content == "\n"
        (b.workspace / "go").touch()
        await wait_until((b.workspace / "gone").exists)


async def test_a_shell_that_a_background_job_ended_is_told_of(bench):
    async with bench() as b:
        await b.sh("x=1; (until [ -e go ]; do sleep 0.02; done; touch gone; kill -KILL $$) &")
        (b.workspace / "go").touch()
        await wait_until((b.workspace / "gone").exists)
        async with asyncio.timeout(PATIENCE):
            while "the next command gets a new one" not in (await b.sh("true")).content:
                await asyncio.sleep(0.05)
        assert (await b.sh("echo $x")).content == "\n"
