from __future__ import annotations

from pathlib import Path

import pytest

from openhands_jupyter.events import (
    Action,
    AgentThinkAction,
    BrowseInteractiveAction,
    BrowseURLAction,
    CmdRunAction,
    FileEditAction,
    FileGlobAction,
    FileGrepAction,
    FileReadAction,
    FileWriteAction,
    FinishAction,
    IPythonRunCellAction,
    Mode,
    Risk,
    RiskLevel,
)
from openhands_jupyter.runtime.agentd.keys import KEYS
from openhands_jupyter.security import Gate, risk
from openhands_jupyter.security.gate import ASK_REFUSES, NO_SANDBOX
from openhands_jupyter.security.input_rules import ENDING_KEYS


class BrandNewAction(Action, frozen=True, kw_only=True, tag=True):
    """A runnable action that the gate has no rules for."""

    runnable = True


READ = FileReadAction(path="data.csv")
READ_OUTSIDE = FileReadAction(path="/usr/include/stdio.h")
READ_KEYS = FileReadAction(path="~/.ssh/id_rsa")
WRITE = FileWriteAction(path="fib2.py", content="print(1)")
WRITE_OUTSIDE = FileWriteAction(path="/etc/hosts", content="x")
EDIT = FileEditAction(path="notes.txt", command="str_replace", old_str="old", new_str="new")
EDIT_OUTSIDE = FileEditAction(path="../x", command="insert", new_str="x")
LIST = CmdRunAction(command="ls -la")
LIST_KEYS = CmdRunAction(command="ls ~/.ssh")
BUILD = CmdRunAction(command="make test")
FETCH = CmdRunAction(command="curl https://example.org")
BROWSE = BrowseURLAction(url="https://example.org/a?b=c")
CLICK = BrowseInteractiveAction(do="click", ref="e1", page="https://example.org/a")
DELETE = CmdRunAction(command="rm a.tmp")
COMPUTE = IPythonRunCellAction(code="1 + 1")
INSTALL = IPythonRunCellAction(code="%pip install numpy")
NEW = BrandNewAction()
FIND = FileGlobAction(pattern="*.py")
FIND_KEYS = FileGlobAction(pattern="*", path="~/.ssh")
SEARCH = FileGrepAction(pattern="password", path="out")
SEARCH_OUTSIDE = FileGrepAction(pattern="x", path="/usr/include")
SEARCH_KEYS = FileGrepAction(pattern=".", path=".env")
WAIT = CmdRunAction(command="")
INTERRUPT = CmdRunAction(command="C-c", is_input=True)
TYPE = CmdRunAction(command="y", is_input=True)
ENTER = CmdRunAction(command="Enter", is_input=True)
THINK = AgentThinkAction(thought="hm")


@pytest.mark.parametrize(
    ("action", "isolated", "ask", "agent", "auto"),
    [
        (READ, True, "run", "run", "run"),
        (READ_OUTSIDE, True, "run", "run", "run"),
        (READ_KEYS, True, "ask", "ask", "run"),
        (WRITE, True, "refuse", "run", "run"),
        (WRITE_OUTSIDE, True, "refuse", "ask", "run"),
        (EDIT, True, "refuse", "run", "run"),
        (EDIT_OUTSIDE, True, "refuse", "ask", "run"),
        (LIST, True, "run", "run", "run"),
        (LIST_KEYS, True, "ask", "ask", "run"),
        (BUILD, True, "refuse", "run", "run"),
        (FETCH, True, "refuse", "run", "run"),
        (BROWSE, True, "refuse", "run", "run"),
        (BROWSE, False, "refuse", "ask", "ask"),
        (CLICK, True, "refuse", "run", "run"),
        (CLICK, False, "refuse", "ask", "ask"),
        (DELETE, True, "refuse", "ask", "run"),
        (COMPUTE, True, "refuse", "run", "run"),
        (INSTALL, True, "refuse", "ask", "run"),
        (NEW, True, "refuse", "ask", "run"),
        (FIND, True, "run", "run", "run"),
        (FIND_KEYS, True, "ask", "ask", "run"),
        (SEARCH, True, "run", "run", "run"),
        (SEARCH_OUTSIDE, True, "run", "run", "run"),
        (SEARCH_KEYS, True, "ask", "ask", "run"),
        (WAIT, True, "run", "run", "run"),
        (INTERRUPT, True, "run", "run", "run"),
        (TYPE, True, "refuse", "ask", "run"),
        (ENTER, True, "refuse", "ask", "run"),
        (THINK, True, "run", "run", "run"),
        (FinishAction(), True, "run", "run", "run"),
        (READ, False, "run", "run", "run"),
        (READ_OUTSIDE, False, "ask", "ask", "ask"),
        (READ_KEYS, False, "ask", "ask", "ask"),
        (WRITE, False, "refuse", "ask", "ask"),
        (EDIT, False, "refuse", "ask", "ask"),
        (LIST, False, "ask", "ask", "ask"),
        (BUILD, False, "refuse", "ask", "ask"),
        (DELETE, False, "refuse", "ask", "ask"),
        (COMPUTE, False, "refuse", "ask", "ask"),
        (NEW, False, "refuse", "ask", "ask"),
        (FIND, False, "run", "run", "run"),
        (SEARCH_OUTSIDE, False, "ask", "ask", "ask"),
        (SEARCH_KEYS, False, "ask", "ask", "ask"),
        (WAIT, False, "run", "run", "run"),
        (INTERRUPT, False, "run", "run", "run"),
        (TYPE, False, "refuse", "ask", "ask"),
        (THINK, False, "run", "run", "run"),
    ],
)
def test_each_mode_with_and_without_a_sandbox(
    gate: Gate, action: Action, isolated: bool, ask: str, agent: str, auto: str
) -> None:
    modes: list[tuple[Mode, str]] = [("ask", ask), ("agent", agent), ("auto", auto)]
    found = {mode: gate.check(action, mode=mode, isolated=isolated).outcome for mode, _ in modes}
    assert found == dict(modes)


TYPED = "Types into a running program, and what that does with it cannot be told"


@pytest.mark.parametrize(
    ("running", "text", "also"),
    [
        ("python3", "import shutil; shutil.rmtree('out')", "Deletes files: out"),
        ("cd out && python3 -i", "import os; os.remove('x')", "Deletes files: x"),
        ("env -i bash", "rm -rf out", None),
        ("bash", "rm -rf out", "Deletes files: out"),
        ("/bin/sh", "sudo ls", "Asks for rights beyond the sandbox: sudo"),
        ("python3", "reboot", None),
        ("cat", "rm -rf out", None),
        ("mysql", "drop table x", None),
        ("'", "x", None),
        (None, "x", None),
    ],
)
def test_what_is_typed_into_a_program_is_never_held_to_be_harmless(
    gate: Gate, running: str | None, text: str, also: str | None
) -> None:
    action = CmdRunAction(command=text, is_input=True)
    verdict = gate.check(action, mode="agent", isolated=True, running=running)
    assert verdict.outcome == "ask"
    assert verdict.risk.reasons[0] == (f"{TYPED}: {running}" if running else TYPED)
    assert verdict.risk.reasons[1:2] == ([also] if also else [])


def test_only_a_key_by_itself_is_a_key(gate: Gate) -> None:
    for text in ("C-c\n", " C-c", "C-cC-d", "C-x"):
        action = CmdRunAction(command=text, is_input=True)
        assert gate.check(action, mode="agent", isolated=True).outcome == "ask", text
    # Without is_input it is a command.
    assert gate.check(CmdRunAction(command="C-c"), mode="ask", isolated=True).outcome == "refuse"


def test_the_keys_that_are_harmless_are_keys_of_the_shell() -> None:
    assert all(len(KEYS[key]) == 1 for key in ENDING_KEYS)


def test_a_refusal_says_what_the_mode_forbids_and_what_to_do(gate: Gate) -> None:
    verdict = gate.check(DELETE, mode="ask", isolated=True)
    assert verdict.reason == ASK_REFUSES
    assert "Agent mode" in verdict.reason
    assert gate.check(LIST, mode="ask", isolated=True).reason == ""


def test_without_a_sandbox_the_first_reason_says_so(gate: Gate) -> None:
    verdict = gate.check(DELETE, mode="agent", isolated=False)
    assert verdict.risk.reasons == [NO_SANDBOX, "Deletes files: a.tmp"]
    fetched = gate.check(FETCH, mode="agent", isolated=False).risk.reasons
    assert "Uses the network (curl)" in fetched


@pytest.mark.parametrize(
    ("online", "said"),
    [
        (True, "Uses the network (curl); what is not allowed will be refused"),
        (False, "Uses the network (curl); the sandbox has none, so it will most likely fail"),
        (None, "Uses the network (curl)"),
    ],
)
def test_the_network_is_there_or_not(gate: Gate, online: bool | None, said: str) -> None:
    verdict = gate.check(FETCH, mode="agent", isolated=True, online=online)
    assert (verdict.outcome, verdict.risk.level) == ("run", "medium")
    assert verdict.risk.reasons == [said]
    for action in (BROWSE, CLICK):
        fetched = gate.check(action, mode="agent", isolated=True, online=online)
        assert fetched.risk.reasons == [said.replace("curl", "example.org")]
        assert fetched.risk.level == "medium"


@pytest.mark.parametrize(
    ("command", "rated", "level"),
    [
        ("ls", "high", "high"),
        ("ls", "medium", "medium"),
        ("ls", "low", "low"),
        ("ls", None, "low"),
        ("rm x", "low", "high"),
        ("curl https://example.org", "high", "high"),
        ("curl https://example.org", "low", "medium"),
    ],
)
def test_the_higher_of_rules_and_model_counts(
    gate: Gate, command: str, rated: RiskLevel | None, level: RiskLevel
) -> None:
    rating = Risk(level=rated) if rated else None
    action = CmdRunAction(command=command, risk=rating)
    found = gate.check(action, mode="agent", isolated=True)
    assert found.risk.level == level
    assert found.outcome == ("ask" if level == "high" else "run")
    said = [reason for reason in found.risk.reasons if reason.startswith("The model itself")]
    assert said == ([f"The model itself rates this {rated}"] if rated in ("medium", "high") else [])


@pytest.mark.parametrize(
    "action", [CmdRunAction(command="ls"), COMPUTE, READ, WRITE], ids=lambda a: type(a).__name__
)
def test_a_failing_analyser_counts_as_high(
    gate: Gate, action: Action, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*args: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setitem(risk._READERS, "shell", fail)
    monkeypatch.setitem(risk._READERS, "cell", fail)
    monkeypatch.setattr(risk.Scene, "touch", fail)
    verdict = gate.check(action, mode="agent", isolated=True)
    assert verdict.outcome == "ask"
    assert verdict.risk == Risk(
        level="high", reasons=["Cannot be judged: the check failed (ZeroDivisionError)"]
    )


def test_an_action_without_rules_says_so(gate: Gate) -> None:
    verdict = gate.check(NEW, mode="agent", isolated=True)
    assert verdict.risk.reasons == ["Cannot be judged: there are no rules for BrandNewAction"]


@pytest.mark.parametrize(
    ("path", "level", "said"),
    [
        ("new.txt", "low", ""),
        ("out/deep/new.txt", "low", ""),
        ("./out/../new.txt", "low", ""),
        ("/tmp/scratch.txt", "low", ""),
        ("/etc/hosts", "high", "Writes outside the workspace: /etc/hosts"),
        ("~/x", "high", "Writes outside the workspace: ~/x"),
        ("../x", "high", "Writes outside the workspace: ../x"),
        ("out/../../x", "high", "Writes outside the workspace: out/../../x"),
        ("away/hosts", "high", "Writes outside the workspace: away/hosts"),
        (".git/hooks/pre-commit", "high", "Changes a file that your own programs obey"),
        (".git/config", "high", "Changes a file that your own programs obey"),
        (".GIT/config", "high", "Changes a file that your own programs obey"),
        (".envrc", "high", "Changes a file that your own programs obey"),
        (".vscode/tasks.json", "high", "Changes a file that your own programs obey"),
        ("jupyter_server_config.py", "high", "Changes a file that your own programs obey"),
        ("jupyter_config.json", "high", "Changes a file that your own programs obey"),
        ("env/lib/x.py", "high", "Changes a file that your own programs obey"),
        (".ipython/profile_default/startup/x.py", "high", "Changes a file that your own programs"),
        (".env", "high", "Touches a place where keys or passwords are kept: .env"),
        ("\x00", "low", ""),
    ],
)
def test_where_a_file_is_written(gate: Gate, path: str, level: RiskLevel, said: str) -> None:
    for action in (
        FileWriteAction(path=path, content="x"),
        FileEditAction(path=path, command="insert", new_str="x"),
    ):
        found = gate.check(action, mode="agent", isolated=True).risk
        assert found.level == level
        assert any(said in reason for reason in found.reasons) or not said


@pytest.mark.parametrize(
    ("path", "level"),
    [
        ("data.csv", "low"),
        (".", "low"),
        ("/etc/os-release", "low"),
        (".env.example", "low"),
        ("src/environment.py", "low"),
        (".env", "high"),
        (".env.local", "high"),
        ("~/.ssh", "high"),
        ("~/.netrc", "high"),
        ("~/.aws/credentials", "high"),
        ("~/.openhands/config.toml", "high"),
        ("/proc/1/environ", "high"),
        ("/etc/shadow", "high"),
        ("~/.local/share/jupyter/runtime/kernel-3f.json", "high"),
    ],
)
def test_what_may_be_read(gate: Gate, path: str, level: RiskLevel) -> None:
    found = gate.check(FileReadAction(path=path), mode="agent", isolated=True)
    assert found.risk.level == level


def test_a_workspace_below_a_credential_folder_is_an_ordinary_workspace(tmp_path: Path) -> None:
    folder = tmp_path / ".openhands" / "work"
    folder.mkdir(parents=True)
    gate = Gate(folder)
    assert gate.check(READ, mode="agent", isolated=True).risk == Risk(level="low")
    assert gate.check(WRITE, mode="agent", isolated=True).risk == Risk(level="low")
    absolute = FileWriteAction(path=str(folder / "x.py"), content="")
    assert gate.check(absolute, mode="agent", isolated=True).risk == Risk(level="low")


def test_the_runtime_folder_of_the_server_is_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path / "rt"))
    (tmp_path / "ws").mkdir()
    gate = Gate(tmp_path / "ws")
    read = FileReadAction(path=str(tmp_path / "rt" / "x.json"))
    assert gate.check(read, mode="agent", isolated=True).risk.level == "high"


def test_of_a_workspace_elsewhere_no_file_here_is_looked_at(workspace):
    gate = Gate(workspace)
    gate.work_elsewhere("/home/jovyan/work")

    def rated(action):
        return gate.check(action, mode="agent", isolated=True).risk

    # The file here that has this name removes data; the one there may do anything.
    script = rated(CmdRunAction(command="python clean.py"))
    assert script.level == "medium"
    assert "not read" in script.reasons[0]
    assert rated(FileWriteAction(path="/home/jovyan/work/new.txt", content="")).level == "low"
    # A link here leads away; there it is a name like any other.
    assert rated(FileWriteAction(path="away/new.txt", content="")).level == "low"
    assert rated(FileWriteAction(path=str(workspace / "x"), content="")).level == "high"
    assert rated(FileReadAction(path="~/.ssh/id_rsa")).level == "high"
