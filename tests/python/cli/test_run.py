"""``jupyter openhands run``, as its users start it: a process of its own."""

from __future__ import annotations

import asyncio
import io
import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from mcp_servers import bad_server
from model_server.script import Usage, call, text, together
from model_server.server import ModelServer
from waiting import PATIENCE, wait_until

from openhands_jupyter.cli import main
from openhands_jupyter.cli.run import TaskRun
from openhands_jupyter.cli.terminal import Terminal
from openhands_jupyter.config import Config
from openhands_jupyter.session.mcp_status import NOT_ALLOWED

FIBONACCI = "Write a Python script that computes Fibonacci numbers and run it"
DELETE = "delete the temporary files here"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A workspace whose name is not easy."""
    folder = tmp_path / "my wörk space"
    folder.mkdir()
    return folder


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("LLM_", "SANDBOX_"))}
    return {**kept, "OPENHANDS_HOME": str(tmp_path / "home")}


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "openhands_jupyter.cli", *arguments]


def run(place: Path, environment: dict[str, str], *arguments: str):
    return subprocess.run(
        command("run", *arguments),
        cwd=place,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=100,
    )


def log_of(environment: dict[str, str]) -> list[dict]:
    (path,) = Path(environment["OPENHANDS_HOME"]).glob("sessions/*/events.jsonl")
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.fixture
def run_here(place, shared_gateway, monkeypatch, capsys):
    """Runs the command in this process, which has the gateway of all tests: LiteLLM is loaded."""

    def run(environment: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
        monkeypatch.setattr("openhands_jupyter.session.manager.ModelGateway", shared_gateway.lend)
        monkeypatch.chdir(place)
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        with pytest.raises(SystemExit) as ended:
            main(["run", *arguments])
        return subprocess.CompletedProcess(arguments, ended.value.code, *capsys.readouterr())

    return run


class AtTerminal:
    """The command at a terminal of its own, with somebody who types."""

    def __init__(self, place: Path, environment: dict[str, str], *arguments: str) -> None:
        self._pid, self._fd = pty.fork()
        if self._pid == 0:
            os.chdir(place)
            os.execve(sys.executable, command("run", *arguments), environment)
        self.printed = ""

    def until(self, pattern: str, seconds: float = PATIENCE) -> None:
        deadline = time.monotonic() + seconds
        while not re.search(pattern, self.printed):
            assert time.monotonic() < deadline, f"{pattern!r} is not in:\n{self.printed}"
            try:
                self.printed += os.read(self._fd, 65536).decode(errors="replace")
            except OSError:
                raise AssertionError(f"ended without {pattern!r}:\n{self.printed}") from None

    def type(self, text: str) -> None:
        os.write(self._fd, text.encode())

    def interrupt(self) -> None:
        os.kill(self._pid, signal.SIGINT)

    def exit_code(self) -> int:
        while True:
            try:
                read = os.read(self._fd, 65536)
            except OSError:
                break
            if not read:
                break
            self.printed += read.decode(errors="replace")
        return os.waitstatus_to_exitcode(os.waitpid(self._pid, 0)[1])


def test_the_example(place, environment):
    done = run(place, environment, "--model", "tour", FIBONACCI)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Writes fib.py" in done.stdout
    assert "Command ended: exit code 0" in done.stdout
    assert "Sandbox:" in done.stdout
    assert re.search(r"\b34\b", done.stdout)
    assert (place / "fib.py").is_file()
    events = log_of(environment)
    story = [
        "UserMessageAction",
        "FileWriteAction",
        "FileWriteObservation",
        "CmdRunAction",
        "CmdOutputObservation",
        "FinishAction",
    ]
    told = [event for event in events if event["type"] in story]
    assert [event["type"] for event in told] == story
    assert [event["cause"] for event in told[1:]] == [event["id"] for event in told[:-1]]
    assert told[4]["exit_code"] == 0
    assert "34" in told[4]["content"]
    assert [event["id"] for event in events] == list(range(len(events)))
    for event in events:
        assert event["source"] in ("user", "agent", "environment")
        assert event["time"].endswith("Z")
        assert event["session"] == told[0]["session"]
        assert event["v"] == 1


def test_without_a_terminal_it_ends_where_something_needs_approval(place, environment):
    (place / "a.tmp").write_text("x")
    done = run(place, environment, "--model", "tour", DELETE)
    assert done.returncode == 3, done.stdout + done.stderr
    assert (place / "a.tmp").exists()
    assert "needs your approval" in done.stdout
    assert "--mode auto" in done.stdout


def test_auto_mode_allows_it(place, environment):
    (place / "a.tmp").write_text("x")
    done = run(place, environment, "--model", "tour", "--mode", "auto", DELETE)
    assert done.returncode == 0, done.stdout + done.stderr
    assert not (place / "a.tmp").exists()


@pytest.mark.parametrize(("answer", "deleted"), [("y\n", True), ("no, I need them\n", False)])
def test_approval_is_asked_on_the_terminal(place, environment, answer, deleted):
    (place / "a.tmp").write_text("x")
    terminal = AtTerminal(place, environment, "--model", "tour", DELETE)
    terminal.until(r"Approve\?")
    assert (place / "a.tmp").exists()
    assert "a.tmp" in terminal.printed
    terminal.type(answer)
    terminal.until("Done")
    assert terminal.exit_code() == 0
    assert (place / "a.tmp").exists() is not deleted


def test_ctrl_c_while_it_asks(place, environment):
    (place / "a.tmp").write_text("x")
    terminal = AtTerminal(place, environment, "--model", "tour", DELETE)
    terminal.until(r"Approve\?")
    terminal.interrupt()
    assert terminal.exit_code() == 130
    assert (place / "a.tmp").exists()
    states = [event["state"] for event in log_of(environment) if "state" in event]
    assert states[-1] == "stopped"


def test_anything_else_gets_an_honest_answer_and_a_question_that_nobody_answers(place, environment):
    done = run(place, environment, "--model", "tour", "Cure the common cold")
    assert done.returncode == 3
    assert "no AI" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--workspace", "/nowhere/at/all", "x"], "/nowhere/at/all"),
        (["--workspace", "/", "x"], "holds your home folder"),
        (["--model", "tour", "  "], "empty"),
        (["--agent", "nobody", "x"], "There is no agent"),
    ],
)
def test_what_cannot_begin_says_why(place, environment, arguments, told):
    done = run(place, environment, *arguments)
    assert done.returncode == 1
    assert told in done.stderr
    assert "Traceback" not in done.stderr


def test_an_unreachable_model_is_an_error_that_says_what_to_do(environment, run_here):
    environment |= {
        "LLM_BASE_URL": "http://127.0.0.1:9/v1",
        "LLM_API_KEY": "sk-canary-unreachable",
        "LLM_NUM_RETRIES": "1",
    }
    done = run_here(environment, "--model", "openai/whatever", "hello")
    assert done.returncode == 1
    assert "127.0.0.1:9" in done.stdout
    assert "sk-canary" not in done.stdout + done.stderr
    assert "sk-canary" not in json.dumps(log_of(environment))


def test_a_message_cannot_control_the_terminal(place, environment):
    done = run(place, environment, "--model", "tour", "\x1b]0;owned\x07\u202edrawkcab")
    assert "\x1b]" not in done.stdout
    assert "\u202e" not in done.stdout
    assert r"\u{202e}drawkcab" in done.stdout


def test_ask_mode_changes_nothing(place, environment):
    done = run(place, environment, "--model", "tour", "--mode", "ask", FIBONACCI)
    assert done.returncode == 0, done.stdout + done.stderr
    assert list(place.iterdir()) == []
    assert "Agent mode" in done.stdout


def test_the_step_limit_ends_the_run_whose_events_are_printed_as_json(place, environment):
    (place / "task.txt").write_text(FIBONACCI)
    arguments = ("--model", "tour", "--max-steps", "1", "--json", "-f", "task.txt")
    done = run(place, environment, *arguments)
    assert done.returncode == 2, done.stdout + done.stderr
    printed = [json.loads(line) for line in done.stdout.splitlines()]
    assert printed[0] == next(e for e in log_of(environment) if e["type"] == "UserMessageAction")
    assert printed[0]["content"] == FIBONACCI
    assert (printed[-1]["state"], printed[-1]["code"]) == ("paused", "step_limit")


def test_the_budget_ends_the_run(environment, model_server, run_here):
    # Nobody knows the price of this model, so that its tokens count.
    model_server.play(
        call("think", thought="x").but(usage=Usage(prompt_tokens=10**9)),
        call("finish", message="Done."),
    )
    environment = with_model(environment, model_server)
    done = run_here(environment, "--model", "openai/scripted", "--budget", "0.01", "Think")
    assert done.returncode == 2, done.stdout + done.stderr


def test_an_agent_that_gets_nowhere_asks_for_a_hint_and_is_an_error(
    place, environment, model_server
):
    looks = [call("think", thought=f"Hm {n}.") for n in range(6)]
    model_server.play(*looks, call("execute_bash", command="echo helped"), *looks)
    environment = with_model(environment, model_server)
    terminal = AtTerminal(place, environment, "--model", "openai/scripted", "Think")
    terminal.until("Your hint")
    terminal.type("Do something.\n")
    terminal.until(r"helped\W[\s\S]*Your hint", seconds=90)
    terminal.type("\n")
    assert terminal.exit_code() == 1
    assert "does the same again and again" in terminal.printed


async def test_a_model_that_can_only_talk_has_done_nothing(
    place, environment, model_server, shared_gateway, monkeypatch
):
    monkeypatch.setattr("openhands_jupyter.session.manager.ModelGateway", shared_gateway.lend)
    model_server.play(*[text("<tool_call name='fly'>up")] * 3)
    settings = {"model": "openai/scripted", "tool_calls": "off"}
    config = Config(place, {}, settings, with_model(environment, model_server))
    printed = io.StringIO()
    assert await TaskRun(config, Terminal(io.StringIO(), printed)).run("Fly") == 1
    assert "does not manage to call tools" in printed.getvalue()


@pytest.mark.parametrize("arguments", [[], ["x", "-f", "task.txt"], ["-f", "nowhere.txt"]])
def test_wrong_usage(place, environment, arguments):
    done = run(place, environment, "--model", "tour", *arguments)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert done.stderr.startswith("jupyter openhands: ")


def test_a_wrong_configuration_is_told(place, environment):
    home = Path(environment["OPENHANDS_HOME"])
    home.mkdir()
    (home / "config.toml").write_text("[llm]\nmodle = 'x'\n")
    done = run(place, environment, "--model", "tour", FIBONACCI)
    assert done.returncode == 0
    assert "modle" in done.stderr


SLOW = [
    call("execute_bash", command="echo begun; touch begun; sleep 100"),
    call("finish", message="done"),
]


def with_model(environment: dict[str, str], server: ModelServer) -> dict[str, str]:
    return environment | {"LLM_BASE_URL": server.url, "LLM_API_KEY": "sk-scripted"}


def test_ctrl_c_stops_a_command_and_keeps_what_it_printed(place, environment, model_server):
    model_server.play(*SLOW)
    environment = with_model(environment, model_server)
    home = Path(environment["OPENHANDS_HOME"])
    home.mkdir()
    (home / "hooks.json").write_text('{"SessionEnd": [{"command": "touch ending; sleep 100"}]}')
    terminal = AtTerminal(place, environment, "--model", "openai/scripted", "go")
    terminal.until(r"\$ echo begun", seconds=90)
    asyncio.run(wait_until((place / "begun").exists))
    terminal.interrupt()
    terminal.until("Command ended: stopped")
    # Its end takes a while; a second one does not wait for that.
    asyncio.run(wait_until((Path(environment["HOME"]) / "ending").exists))
    terminal.interrupt()
    assert terminal.exit_code() == 130 and "Traceback" not in terminal.printed
    output = next(e for e in log_of(environment) if e["type"] == "CmdOutputObservation")
    assert (output["content"].strip(), output["interrupted"]) == ("begun", "stopped")


def test_output_cannot_control_the_terminal_and_what_the_network_refused_is_told(
    environment, model_server, run_here
):
    model_server.play(
        call("execute_bash", command=r"printf '\033]0;owned\007\033[2Jx\342\200\256y'"),
        call("execute_bash", command="curl -s http://other.test/"),
        call("finish", message="\x1b[31mdone"),
    )
    settings = {**with_model(environment, model_server), "SANDBOX_NETWORK": "allow-list"}
    done = run_here(settings, "--model", "openai/scripted", "Fetch it")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "\x1b" not in done.stdout
    assert r"x\u{202e}y" in done.stdout
    assert "Network: other.test:80 is not among the hosts that may be reached." in done.stdout
    assert "set network_rules" in done.stdout


def test_one_step_has_the_tools_of_servers_that_were_never_listed(
    place, environment, model_server, run_here
):
    home = Path(environment["OPENHANDS_HOME"])
    home.mkdir()
    servers = {"near": bad_server("calls") | {"trust": True}, "gone": bad_server("exit")}
    (home / "mcp.json").write_text(json.dumps({"mcpServers": servers}))
    theirs = {"mcpServers": {"theirs": bad_server("calls")}}
    (place / ".mcp.json").write_text(json.dumps(theirs))
    model_server.play(together(call("near__fine"), call("finish", message="Done.")))
    environment = with_model(environment, model_server)
    done = run_here(environment, "--model", "openai/scripted", "Use it")
    assert done.returncode == 0, done.stdout + done.stderr
    assert sorted(line.split(": ", 2)[1:] for line in done.stderr.splitlines()) == [
        ["MCP server gone", "It ended while it was being started."],
        ["MCP server theirs", NOT_ALLOWED],
    ]
    (told,) = [e for e in log_of(environment) if e["type"] == "MCPObservation"]
    assert told["outputs"][0]["data"]["text/plain"] == "fine"
    (request,) = model_server.requests
    assert "near__fine" in json.dumps(request.body["tools"])
