"""``jupyter openhands eval`` on the project's own tasks: a checker knows right from wrong.

The command runs in this process, where it has the gateway of all tests: loading LiteLLM takes
seconds. It is a process of its own where it is sent a signal.
"""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from importlib import util
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from model_server.script import call, hang, status
from model_server.server import ModelServer
from shared_gateway import SharedGateway
from waiting import PATIENCE

from openhands_jupyter.cli import main
from openhands_jupyter.errors import Invalid, NotFound
from openhands_jupyter.evaluation import load_tasks

SUITE = Path(__file__).parents[2] / "benchmarks" / "tasks"
TASKS = load_tasks(SUITE)


def solutions(name: str) -> Any:
    """The module with the task's right and wrong solution."""
    spec = util.spec_from_file_location(f"solutions_{name}", SUITE / name / "solutions.py")
    assert spec and spec.loader
    module = util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


COMMAND = ("eval", "--tasks", str(SUITE))


@pytest.fixture(autouse=True)
def environment(tmp_path: Path, model_server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """The scripted model, and a home of the test's own."""
    monkeypatch.setenv("OPENHANDS_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("LLM_MODEL", "openai/scripted")
    monkeypatch.setenv("LLM_BASE_URL", model_server.url)
    monkeypatch.setenv("LLM_API_KEY", "no-secret")


class Ran(NamedTuple):
    """What came of the command."""

    code: object
    printed: str
    errors: str


Evaluate = Callable[..., Ran]


@pytest.fixture
def evaluate(
    shared_gateway: SharedGateway,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Evaluate:
    """Runs the command: ``evaluate("--jobs", "3")``."""
    monkeypatch.setattr("openhands_jupyter.session.manager.ModelGateway", shared_gateway.lend)

    def run(*arguments: str) -> Ran:
        with pytest.raises(SystemExit) as ended:
            main([*COMMAND, *arguments])
        return Ran(ended.value.code, *capsys.readouterr())

    return run


@pytest.mark.sandbox
@pytest.mark.parametrize("which", ["RIGHT", "WRONG"])
def test_a_checker_knows_right_from_wrong(
    which: str, evaluate: Evaluate, model_server: ModelServer
) -> None:
    turns = {task.name: getattr(solutions(task.name), which) for task in TASKS}
    for task in TASKS:
        model_server.play(*turns[task.name], when=re.escape(task.prompt[:60]))
    code, printed, errors = evaluate("--json", "--jobs", "3")
    results = {result["task"]: result for result in map(json.loads, printed.splitlines())}
    assert sorted(results) == [task.name for task in TASKS], errors
    told = {name: result["reason"] for name, result in results.items()}
    if which == "RIGHT":
        assert not any(told.values()), told
    else:
        assert all(told.values()), told
        # The checker found the very mistake, and did not stumble over something else.
        stumbled = re.compile("Traceback|could not be checked|cannot be read")
        assert not any(map(stumbled.search, told.values())), told
    assert code == (which == "WRONG")
    for name, result in results.items():
        assert result["passed"] == (which == "RIGHT")
        assert (result["ended"], result["steps"]) == ("finished", len(turns[name]))
        assert result["tokens"] == 110 * result["steps"]
        assert Path(result["log"]).is_file()


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    """A suite of two tasks, whose model gets no further."""
    folder = tmp_path / "suite"
    for name, seconds in {"hangs": 1, "refused": 100}.items():
        (folder / name / "workspace").mkdir(parents=True)
        (folder / name / "workspace" / "given.txt").write_text(name)
        (folder / name / "check.py").write_text("print('fine')")
        (folder / name / "task.toml").write_text(
            f'title = "One that {name}"\nprompt = "This one {name}."\nseconds = {seconds}\n'
        )
    return folder


@pytest.mark.sandbox
def test_what_did_not_end_well_has_failed_whatever_its_checker_says(
    suite: Path, evaluate: Evaluate, model_server: ModelServer, tmp_path: Path
) -> None:
    model_server.play(hang(), when="hangs")
    model_server.play(status(401, "No such key."), when="refused")
    kept = tmp_path / "kept"
    arguments = ("--tasks", str(suite), "--keep", str(kept))
    code, printed, errors = evaluate(*arguments)
    assert code == 1, errors
    assert re.search(r"^hangs +failed .* not done within 1 seconds\.$", printed, re.MULTILINE)
    assert re.search(r"^refused +failed .*key", printed, re.MULTILINE), printed
    assert re.search(r"^ +0 of 2 ", printed, re.MULTILINE), printed
    assert (kept / "hangs" / "given.txt").read_text() == "hangs"
    code, _, errors = evaluate(*arguments)
    assert code == 2 and "exists already" in errors


@pytest.mark.sandbox
def test_ctrl_c_ends_it(suite: Path, model_server: ModelServer) -> None:
    (suite / "hangs" / "task.toml").write_text('title = "One"\nprompt = "This one hangs."\n')
    model_server.play(hang(), when="hangs")
    with subprocess.Popen(
        [sys.executable, "-m", "openhands_jupyter.cli", *COMMAND, "--tasks", str(suite), "hangs"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as command:
        model_server.wait_for(lambda requests: len(requests) == 1)
        command.send_signal(signal.SIGINT)
        _, errors = command.communicate(timeout=PATIENCE)
    assert command.returncode == 130, errors
    assert "Traceback" not in errors


@pytest.mark.sandbox
def test_the_task_of_the_docs(
    evaluate: Evaluate, model_server: ModelServer, tmp_path: Path
) -> None:
    page = (SUITE.parents[2] / "docs" / "evaluation.md").read_text()
    toml, checker = (
        re.search(rf"```{kind}\n(.*?)```", page, re.DOTALL) for kind in ("toml", "python")
    )
    assert toml and checker
    folder = tmp_path / "double_it"
    (folder / "workspace").mkdir(parents=True)
    (folder / "workspace" / "number.txt").write_text("21\n")
    (folder / "task.toml").write_text(toml[1])
    (folder / "check.py").write_text(checker[1])
    model_server.play(
        call("execute_bash", command="echo 24 >number.txt"),
        call("finish", message="Done."),
        call("execute_bash", command="echo 42 >number.txt"),
        call("finish", message="Done."),
    )
    assert "number.txt holds 24, not 42" in evaluate("--tasks", str(tmp_path)).printed
    assert "1 of 1" in evaluate("--tasks", str(tmp_path)).printed
    # The guided tour is no AI, but goes all the way.
    toured = evaluate("--tasks", str(tmp_path), "--model", "tour", "--json")
    assert (toured.code, json.loads(toured.printed)["reason"]) == (
        1,
        "number.txt holds 21, not 42",
    ), toured.errors


def test_a_suite_that_is_not_as_it_has_to_be(suite: Path, tmp_path: Path) -> None:
    assert [task.name for task in load_tasks(suite)] == ["hangs", "refused"]
    with pytest.raises(NotFound, match="no task 'other'"):
        load_tasks(suite, ["other"])
    with pytest.raises(NotFound, match="There are no tasks"):
        load_tasks(tmp_path / "nowhere")
    (suite / "hangs" / "task.toml").write_text('titel = "One"\n')
    with pytest.raises(Invalid, match=r"hangs/task\.toml: Object contains unknown field `titel`"):
        load_tasks(suite)
    (suite / "refused" / "check.py").unlink()
    with pytest.raises(Invalid, match=r"lacks check\.py"):
        load_tasks(suite, ["refused"])
