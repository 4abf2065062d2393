"""Tool calls to actions and back."""

from __future__ import annotations

import json

import jsonschema
import pytest

from openhands_jupyter.agents.toolbox import Toolbox
from openhands_jupyter.agents.tools import TOOLS, arguments_of
from openhands_jupyter.events import (
    Action,
    AgentMessageAction,
    AgentThinkAction,
    AwaitRunAction,
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
    KernelCodeAction,
    KernelControlAction,
    KernelCopyAction,
    KernelInspectAction,
    KernelLookAction,
    NewCell,
    NotebookCreateAction,
    NotebookEditAction,
    NotebookListAction,
    NotebookOutlineAction,
    NotebookOutputAction,
    NotebookReadAction,
    NotebookRunAction,
    NotebookSaveAction,
    NotebookSearchAction,
    NotebookUndoAction,
    StopRunAction,
    Task,
    TaskTrackingAction,
)

BUILT_IN = Toolbox(TOOLS)
parse = BUILT_IN.parse

DELETE = {"op": "delete", "id": "abcd", "expect_rev": "1"}
INSERT = {"op": "insert", "type": "code", "source": "x", "after": "@0"}
CALLS = [
    ("run_code", {"code": "1+1"}, IPythonRunCellAction(code="1+1")),
    (
        "run_code",
        {"code": "x", "kernel": "user", "path": "a.ipynb", "keep": ["y"], "why": "To see."},
        KernelCodeAction(path="a.ipynb", code="x", keep=["y"], why="To see."),
    ),
    ("kernel", {"action": "packages"}, KernelLookAction(what="packages")),
    (
        "kernel",
        {"action": "restart", "kernel": "user", "path": "a.ipynb", "why": "To begin anew."},
        KernelControlAction(what="restart", whose="user", path="a.ipynb", why="To begin anew."),
    ),
    (
        "copy_in",
        {"path": "a.ipynb", "variable": "x", "rows": 10, "sample": "random", "why": "To see."},
        KernelCopyAction(path="a.ipynb", variable="x", rows=10, sample="random", why="To see."),
    ),
    (
        "inspect",
        {"names": ["x"], "kernel": "user", "path": "a.ipynb", "depth": 2},
        KernelInspectAction(names=["x"], whose="user", path="a.ipynb", depth=2),
    ),
    (
        "run_code",
        {"code": "1+1", "timeout": 5.0},
        IPythonRunCellAction(code="1+1", timeout=5.0),
    ),
    (
        "run_cells",
        {"path": "a.ipynb", "which": "all"},
        NotebookRunAction(path="a.ipynb", which="all"),
    ),
    (
        "run_cells",
        {"path": "a.ipynb", "cells": ["@1"], "kernel": "sandbox", "stop_on_error": False},
        NotebookRunAction(path="a.ipynb", cells=["@1"], kernel="sandbox", stop_on_error=False),
    ),
    ("await_run", {"run_id": "c0ffee", "wait_s": 5.0}, AwaitRunAction(run="c0ffee", wait_s=5.0)),
    ("stop_run", {"run_id": "c0ffee"}, StopRunAction(run="c0ffee")),
    ("execute_bash", {"command": "ls"}, CmdRunAction(command="ls")),
    ("execute_bash", {"command": ""}, CmdRunAction(command="")),
    (
        "execute_bash",
        {"command": "C-c", "is_input": True},
        CmdRunAction(command="C-c", is_input=True),
    ),
    ("fetch", {"url": "https://a.test/"}, BrowseURLAction(url="https://a.test/")),
    (
        "fetch",
        {"url": "https://a.test/", "start": 9},
        BrowseURLAction(url="https://a.test/", start=9),
    ),
    (
        "browser",
        {"do": "open_tab", "url": "https://a.test/"},
        BrowseInteractiveAction(do="open_tab", url="https://a.test/"),
    ),
    (
        "browser",
        {"do": "type", "ref": "e1", "text": "Ada", "enter": True},
        BrowseInteractiveAction(do="type", ref="e1", text="Ada", enter=True),
    ),
    ("browser", {"do": "wait"}, BrowseInteractiveAction(do="wait")),
    ("find_files", {"pattern": "*.py"}, FileGlobAction(pattern="*.py")),
    ("search_files", {"pattern": "x+"}, FileGrepAction(pattern="x+")),
    (
        "search_files",
        {"pattern": "x", "path": "src", "include": "*.py", "ignore_case": True},
        FileGrepAction(pattern="x", path="src", include="*.py", ignore_case=True),
    ),
    ("read_file", {"path": "a.py"}, FileReadAction(path="a.py")),
    (
        "read_file",
        {"path": "a.py", "start": 2, "end": 9},
        FileReadAction(path="a.py", start=2, end=9),
    ),
    ("write_file", {"path": "a", "content": "b"}, FileWriteAction(path="a", content="b")),
    (
        "edit_file",
        {"path": "a", "command": "str_replace", "old_str": "x", "new_str": "y"},
        FileEditAction(path="a", command="str_replace", old_str="x", new_str="y"),
    ),
    (
        "edit_file",
        {"path": "a", "command": "insert", "new_str": "y", "insert_line": 3},
        FileEditAction(path="a", command="insert", new_str="y", insert_line=3),
    ),
    ("edit_file", {"path": "a", "command": "undo"}, FileEditAction(path="a", command="undo")),
    ("nb_list", {}, NotebookListAction()),
    ("nb_list", {"glob": "a*", "open_only": True}, NotebookListAction(glob="a*", open_only=True)),
    (
        "nb_outline",
        {"path": "a.ipynb", "from": 3, "limit": 9, "query": "x"},
        NotebookOutlineAction(path="a.ipynb", first=3, limit=9, query="x"),
    ),
    ("nb_read", {"path": "a.ipynb"}, NotebookReadAction(path="a.ipynb")),
    (
        "nb_read",
        {"path": "a.ipynb", "cells": ["@1"], "outputs": "none", "first_line": 7},
        NotebookReadAction(path="a.ipynb", cells=["@1"], outputs="none", first_line=7),
    ),
    (
        "nb_search",
        {"path": "a.ipynb", "pattern": "x", "regex": True, "in": "both"},
        NotebookSearchAction(path="a.ipynb", pattern="x", is_regex=True, where="both"),
    ),
    (
        "read_output",
        {"path": "a.ipynb", "handle": "out:c/0", "lines": 5, "as": "table"},
        NotebookOutputAction(path="a.ipynb", handle="out:c/0", lines=5, form="table"),
    ),
    (
        "nb_edit",
        {"path": "a.ipynb", "ops": [DELETE, INSERT], "why": "tidy", "expect_nb_rev": "0"},
        NotebookEditAction(
            path="a.ipynb",
            operations=[DELETE, INSERT],
            why="tidy",
            expect_nb_rev="0",
        ),
    ),
    (
        "nb_create",
        {"path": "a.ipynb", "kernel": "ir", "cells": [{"type": "raw", "source": "x"}]},
        NotebookCreateAction(path="a.ipynb", kernel="ir", cells=[NewCell(type="raw", source="x")]),
    ),
    ("nb_save", {"path": "a.ipynb"}, NotebookSaveAction(path="a.ipynb")),
    (
        "nb_undo",
        {"path": "a.ipynb", "token": 7, "why": "It was wrong."},
        NotebookUndoAction(path="a.ipynb", token=7, why="It was wrong."),
    ),
    ("think", {"thought": "hm"}, AgentThinkAction(thought="hm")),
    (
        "update_plan",
        {"tasks": [{"title": "one", "status": "done"}]},
        TaskTrackingAction(tasks=[Task(title="one", status="done")]),
    ),
    (
        "ask_user",
        {"question": "which?", "options": ["a", "b"]},
        AgentMessageAction(content="which?", options=["a", "b"], wait_for_response=True),
    ),
    ("finish", {"message": "done"}, FinishAction(message="done")),
]


@pytest.mark.parametrize(("name", "arguments", "action"), CALLS)
def test_a_call_means_an_action_and_the_action_tells_the_call(name, arguments, action):
    assert parse(name, json.dumps(arguments)) == action
    assert arguments_of(action) is not None
    told_name, told = arguments_of(action)
    assert (told_name, json.loads(told)) == (name, arguments)


def test_every_tool_is_covered_above():
    assert {name for name, _, _ in CALLS} == set(BUILT_IN.names())


@pytest.mark.parametrize(("name", "arguments", "action"), CALLS)
def test_the_schema_that_the_model_gets_admits_the_call(name, arguments, action):
    tool = next(tool for tool in BUILT_IN.descriptions() if tool.name == name)
    jsonschema.Draft202012Validator.check_schema(tool.parameters)
    jsonschema.validate(arguments, tool.parameters)
    assert "$ref" not in json.dumps(tool.parameters)


def test_nulls_count_as_left_out_and_numbers_may_be_text():
    given = '{"path": "a", "start": "2", "end": null, "unknown": 1}'
    assert parse("read_file", given) == FileReadAction(path="a", start=2)


@pytest.mark.parametrize("level", ["medium", "high"])
def test_the_models_own_rating_is_kept(level):
    action = parse("execute_bash", json.dumps({"command": "ls", "security_risk": level}))
    assert action.risk is not None
    assert action.risk.level == level


@pytest.mark.parametrize(
    ("name", "arguments", "told"),
    [
        ("execute_sql", "{}", "The tools are: run_code"),
        ("execute_bash", '{"command": ', "not valid JSON"),
        ("execute_bash", "{}", "command"),
        ("execute_bash", "[]", "Expected `object`"),
        ("execute_bash", '"ls"', "Expected `object`"),
        ("execute_bash", '{"command": {"a": 1}}', "$.command"),
        ("edit_file", '{"path": "a", "command": "delete"}', "$.command"),
        ("read_file", '{"path": "a", "start": -1}', "$.start"),
        ("update_plan", '{"tasks": [{"title": "x", "status": "maybe"}]}', "$.tasks[0].status"),
        ("", "{}", "There is no tool ''"),
        ("execute_bash", '{"command":' + "[" * 5000 + "]" * 5000 + "}", "more than 30 levels"),
        ("nb_edit", '{"path": "a", "x":' + "[" * 50 + "]" * 50 + "}", "more than 30 levels"),
    ],
)
def test_a_wrong_call_tells_the_model_what_is_wrong(name, arguments, told):
    with pytest.raises(ValueError) as caught:
        parse(name, arguments)
    assert told in str(caught.value)


def test_the_name_of_a_tool_that_there_is_not_is_told_in_short():
    with pytest.raises(ValueError) as caught:
        parse("n" * 100_000, "{}")
    assert len(str(caught.value)) < 2000


def test_to_install_is_code_that_nothing_else_can_be_slipped_into():
    def install(*packages: str, **more: str) -> Action:
        arguments = {"action": "install", "packages": packages, **more}
        return parse("kernel", json.dumps(arguments))

    assert install("polars", "numpy>=2,<3") == IPythonRunCellAction(
        code="%pip install polars 'numpy>=2,<3'"
    )
    assert install("pandas[excel]", kernel="user", path="a.ipynb", why="To read.") == (
        KernelCodeAction(path="a.ipynb", code="%pip install 'pandas[excel]'", why="To read.")
    )
    for wrong in ("", "-r x", "a;b", "a\nb", "{a}", "$a", "a b", "git+https://a", "../a"):
        with pytest.raises(ValueError, match="no name of a package"):
            install(wrong)
