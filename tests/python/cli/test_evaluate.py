"""``jupyter openhands eval`` on the project's own tasks: a checker knows right from wrong."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from importlib import util
from pathlib import Path
from typing import Any

import pytest
from model_server.script import call, hang, status
from model_server.server import ModelServer
from waiting import PATIENCE

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


def evaluate(*arguments: str, environment: dict[str, str]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "openhands_jupyter.cli", "eval", "--tasks", str(SUITE), *arguments],
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.fixture
def environment(tmp_path: Path, model_server: ModelServer) -> dict[str, str]:
    """The environment, with the scripted model and a home of its own."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("LLM_", "SANDBOX_"))}
    return {
        **kept,
        "OPENHANDS_HOME": str(tmp_path / "home"),
        "LLM_MODEL": "openai/scripted",
        "LLM_BASE_URL": model_server.url,
        "LLM_API_KEY": "no-secret",
    }


@pytest.mark.sandbox
@pytest.mark.parametrize("which", ["RIGHT", "WRONG"])
def test_a_checker_knows_right_from_wrong(
    which: str, environment: dict[str, str], model_server: ModelServer
) -> None:
    turns = {task.name: getattr(solutions(task.name), which) for task in TASKS}
    for task in TASKS:
        model_server.play(*turns[task.name], when=re.escape(task.prompt[:60]))
    with evaluate("--json", "--jobs", "3", environment=environment) as command:
        printed, errors = command.communicate(timeout=5 * PATIENCE)
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
    assert command.returncode == (which == "WRONG")
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
    suite: Path, environment: dict[str, str], model_server: ModelServer, tmp_path: Path
) -> None:
    model_server.play(hang(), when="hangs")
    model_server.play(status(401, "No such key."), when="refused")
    kept = tmp_path / "kept"
    arguments = ("--tasks", str(suite), "--keep", str(kept))
    with evaluate(*arguments, environment=environment) as command:
        printed, errors = command.communicate(timeout=PATIENCE)
    assert command.returncode == 1, errors
    assert re.search(r"^hangs +failed .* not done within 1 seconds\.$", printed, re.MULTILINE)
    assert re.search(r"^refused +failed .*key", printed, re.MULTILINE), printed
    assert re.search(r"^ +0 of 2 ", printed, re.MULTILINE), printed
    assert (kept / "hangs" / "given.txt").read_text() == "hangs"
    with evaluate(*arguments, environment=environment) as command:
        assert "exists already" in command.communicate(timeout=PATIENCE)[1]
    assert command.returncode == 2


@pytest.mark.sandbox
def test_ctrl_c_ends_it(
    suite: Path, environment: dict[str, str], model_server: ModelServer
) -> None:
    (suite / "hangs" / "task.toml").write_text('title = "One"\nprompt = "This one hangs."\n')
    model_server.play(hang(), when="hangs")
    with evaluate("--tasks", str(suite), "hangs", environment=environment) as command:
        model_server.wait_for(lambda requests: len(requests) == 1)
        command.send_signal(signal.SIGINT)
        _, errors = command.communicate(timeout=PATIENCE)
    assert command.returncode == 130, errors
    assert "Traceback" not in errors


@pytest.mark.sandbox
def test_the_task_of_the_docs(
    environment: dict[str, str], model_server: ModelServer, tmp_path: Path
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
    with evaluate("--tasks", str(tmp_path), environment=environment) as command:
        assert "number.txt holds 24, not 42" in command.communicate(timeout=PATIENCE)[0]
    with evaluate("--tasks", str(tmp_path), environment=environment) as command:
        assert "1 of 1" in command.communicate(timeout=PATIENCE)[0]


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
