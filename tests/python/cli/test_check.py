"""``jupyter openhands check`` with real sandboxes and kernels, run as a person would."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient
from nbformat.v4 import (
    new_code_cell,
    new_markdown_cell,
    new_notebook,
    new_output,
)
from package_index import HOST, INDEX, PackageIndex
from waiting import wait_until

pytestmark = [
    pytest.mark.sandbox,
    pytest.mark.skipif(shutil.which("bwrap") is None, reason="needs bubblewrap"),
]

PLOT = """\
import matplotlib.pyplot as plt
plt.plot([1, {}])
plt.show()"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A workspace with data, whose name is not easy."""
    made = tmp_path / "my wörk space"
    made.mkdir()
    (made / "data.csv").write_text("a,b\n1,2\n3,4\n")
    return made


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """What the command is run with."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("LLM_", "SANDBOX_"))}
    return {**kept, "OPENHANDS_HOME": str(tmp_path / "home")}


def command(*arguments: str | Path) -> list[str]:
    return [sys.executable, "-m", "openhands_jupyter.cli", "check", *map(str, arguments)]


def ran(environment: dict[str, str], *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(*arguments), capture_output=True, text=True, timeout=200, env=environment
    )


def report_on(environment: dict[str, str], *arguments: str | Path) -> dict[str, Any]:
    run = ran(environment, *arguments, "--json")
    assert run.stderr == ""
    report = json.loads(run.stdout)
    assert run.returncode == (0 if report["outcome"] == "same" else 1)
    return report


def code(source: str, *outputs: Any, count: int | None = 1) -> Any:
    return new_code_cell(source, outputs=list(outputs), execution_count=count)


def out(text: str) -> Any:
    return new_output("stream", name="stdout", text=text)


def result(**data: Any) -> Any:
    bundle = {key.replace("_", "/"): value for key, value in data.items()}
    return new_output("execute_result", data=bundle, execution_count=7)


def write(path: Path, *cells: Any, **metadata: Any) -> Path:
    path.parent.mkdir(exist_ok=True)
    nbformat.write(new_notebook(cells=list(cells), metadata=metadata), path)
    return path


def outcomes(report: dict[str, Any]) -> list[str]:
    return [cell["outcome"] for cell in report["cells"]]


def by_jupyter(folder: Path, *sources: str) -> list[Any]:
    """Code cells with what they put out in a kernel of this Python, outside of any sandbox."""
    notebook = new_notebook(cells=[new_code_cell(source) for source in sources])
    NotebookClient(notebook, resources={"metadata": {"path": str(folder)}}).execute()
    return list(notebook.cells)


def test_a_notebook_that_gives_what_is_saved(folder, environment):
    cells = by_jupyter(
        folder,
        "import os, time, warnings\nx = 41\nprint(x)\nobject()",
        "import pandas as pd\npd.read_csv('data.csv')",
        PLOT.format(2),
        "warnings.warn('odd')",
        "%time time.sleep(0.1)",
        "print(os.getcwd())",
        "!cat data.csv",
        "(Out[1], _1 is _)[1]",
    )
    fresh = new_code_cell("print('never run')")
    notebook = write(folder / "a.ipynb", new_markdown_cell("# Title"), *cells, fresh)
    before = notebook.read_bytes()
    run = ran(environment, notebook)
    assert run.returncode == 0, run.stdout
    assert f"{notebook}: same" in run.stdout
    assert "Nothing is saved to compare with: 1 cell." in run.stdout
    assert "Files read: data.csv" in run.stdout
    assert notebook.read_bytes() == before
    # What sandboxes keep for a workspace is not kept for one that is gone.
    assert list(Path(environment["OPENHANDS_HOME"]).glob("packages/*")) == []


def test_what_differs_and_how(folder, environment):
    plot, table = by_jupyter(
        folder, PLOT.format(2), "import pandas as pd\npd.DataFrame({'a': [1, 20]})"
    )
    notebook = write(
        folder / "a.ipynb",
        code("print('one')\nprint('two')", out("one\nTWO\n")),
        code(PLOT.format(3), *plot.outputs, count=2),
        code("import pandas as pd\npd.DataFrame({'a': [1, 2]})", *table.outputs, count=3),
        code("print('kept')", out("kept\n"), count=4),
    )
    report = report_on(environment, notebook)
    assert report["outcome"] == "different"
    assert outcomes(report) == ["different", "different", "different", "same"]
    first, second, third, _ = report["cells"]
    assert first["diff"] == "@@ -1,2 +1,2 @@\n one\n-TWO\n+two"
    assert "-[image/png" in second["diff"]
    assert "+[image/png" in second["diff"]
    assert "-1  20" in third["diff"]
    assert "+1  2" in third["diff"]
    told = ran(environment, notebook).stdout
    assert f"Cell 1 ({first['id']}), different: print('one')\n" in told
    assert "    -TWO\n    +two\n" in told


def test_hidden_state(folder, environment):
    notebook = write(
        folder / "a.ipynb",
        code("y = 1", count=5),
        code("print(x + y)", out("3\n"), count=4),
        code("x = 2", count=3),
        code("print('never')", out("never\n"), count=6),
    )
    run = ran(environment, notebook)
    assert run.returncode == 1
    assert f"{notebook}: failed" in run.stdout
    assert "failed: print(x + y)\n    NameError: name 'x' is not defined\n" in run.stdout
    assert "Cell 2 uses x, which cell 3 below defines." in run.stdout
    assert "Cell 2 was run as number 4, before one above it (number 5)." in run.stdout
    assert "Not run after that: 2 cells." in run.stdout


def test_files_of_the_person_stay_as_they_are(folder, environment):
    """Neither in the workspace, which is copied, nor outside of it, where there is nothing."""
    secret = folder.parent / "secret.txt"
    secret.write_text("mine")
    source = f"""\
import os
text = open('data.csv').read()
os.remove('old.csv')
open('kept.csv', 'w').write('changed')
os.makedirs('new'); open('new/out.csv', 'w').write(text)
open({str(secret)!r}).read()"""
    for name in ("old.csv", "kept.csv"):
        (folder / name).write_text("original")
    report = report_on(environment, write(folder / "a.ipynb", code(source)))
    assert outcomes(report) == ["failed"]
    assert [trouble["path"] for trouble in report["troubles"]] == [str(secret)]
    used = report["files"]
    assert used["created"] == ["new/out.csv"]
    assert used["changed"] == ["kept.csv"]
    assert used["deleted"] == ["old.csv"]
    assert used["read"] in (["data.csv"], None)
    assert sorted(os.listdir(folder)) == ["a.ipynb", "data.csv", "kept.csv", "old.csv"]
    assert (folder / "kept.csv").read_text() == "original"


def test_a_notebook_in_a_folder_of_the_workspace(folder, environment):
    notebook = write(
        folder / "notebooks" / "a.ipynb",
        code("print(open('../data.csv').readline())", out("a,b\n\n")),
        code("1", result(text_plain="1"), count=2),
        # It counts from one all the same.
        code("_2", result(text_plain="1"), count=3),
    )
    report = report_on(environment, notebook, "--workspace", folder)
    assert report["outcome"] == "same", report
    alone = report_on(environment, notebook)
    assert alone["troubles"] == [{"path": "../data.csv", "why": "No such file or directory"}]


def test_the_network_that_it_wanted(folder, environment, tmp_path):
    source = f"""\
import urllib.request
for url in ('{INDEX}/', 'http://other.test/'):
    try:
        print(urllib.request.urlopen(url).status)
    except OSError as error:
        print('no')"""
    notebook = write(folder / "a.ipynb", code(source, out("200\nno\n")))
    with PackageIndex(tmp_path / "index") as index:
        variables = {
            **environment,
            "SANDBOX_NETWORK": "allow-list",
            "SANDBOX_NETWORK_RULES": f"{HOST}:80",
            "http_proxy": index.proxy,
        }
        allowed = report_on(variables, notebook)
        off = report_on({**variables, "SANDBOX_NETWORK": "off"}, notebook)
    assert index.asked == [f"{HOST}:80"]
    assert allowed["outcome"] == "same"
    assert [place["host"] for place in allowed["network"]] == ["other.test"]
    assert off["outcome"] == "different"
    assert [place["host"] for place in off["network"]] == [HOST, "other.test"]


def test_a_cell_that_does_not_end(folder, environment):
    notebook = write(folder / "a.ipynb", code("import time\ntime.sleep(1000)"), code("1"))
    report = report_on(environment, notebook, "--timeout", "2")
    assert outcomes(report) == ["failed", "not_run"]
    assert report["cells"][0]["problem"] == "It did not end in time."


def test_a_kernel_that_dies(folder, environment):
    notebook = write(folder / "a.ipynb", code("import os\nos._exit(3)"), code("1"))
    report = report_on(environment, notebook)
    assert outcomes(report) == ["failed", "not_run"]
    assert report["cells"][0]["problem"] == "The kernel ended."


async def test_ctrl_c_stops_it(folder, environment, tmp_path):
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    notebook = write(
        folder / "a.ipynb", code("import time\nopen('begun', 'w').close()\ntime.sleep(1000)")
    )
    run = await asyncio.create_subprocess_exec(
        *command(notebook),
        stdout=subprocess.PIPE,
        env={**environment, "TMPDIR": str(temporary)},
    )
    try:
        await wait_until(lambda: list(temporary.glob("*/*/begun")))
        run.send_signal(signal.SIGINT)
        await asyncio.wait_for(run.communicate(), timeout=60)
    finally:
        if run.returncode is None:
            run.kill()
    assert run.returncode == 130
    assert list(temporary.iterdir()) == []


@pytest.mark.parametrize("backend", ["bubblewrap", "landlock"])
def test_each_kind_of_sandbox(folder, environment, backend):
    notebook = write(folder / "a.ipynb", code("print(open('data.csv').readline())", out("a,b\n\n")))
    run = ran(environment, notebook, "--backend", backend)
    assert run.returncode == 0, run.stdout + run.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="root alone runs sandboxes as others")
def test_root_checks_what_belongs_to_another_user(folder, environment):
    notebook = write(
        folder / "a.ipynb", code("open('new', 'w').close()\nopen('data.csv', 'a').close()")
    )
    for path in (folder, notebook, folder / "data.csv"):
        os.chown(path, 65534, 65534)
    report = report_on(environment, notebook)
    assert report["outcome"] == "same", report
    assert report["files"]["created"] == ["new"]


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (None, "cannot be read"),
        ("{", "is no notebook"),
        (json.dumps({"cells": 3}), "is no notebook"),
        (
            nbformat.writes(new_notebook(metadata={"language_info": {"name": "R"}})),
            "is not in Python",
        ),
    ],
)
def test_what_cannot_be_checked(folder, environment, content, told):
    notebook = folder / "a.ipynb"
    if content is not None:
        notebook.write_text(content)
    run = ran(environment, notebook)
    assert (run.returncode, run.stdout) == (2, "")
    assert told in run.stderr


def test_wrong_usage(folder, environment, tmp_path):
    notebook = write(folder / "a.ipynb", code("1"))
    (tmp_path / "other").mkdir()
    elsewhere = ran(environment, notebook, "--workspace", tmp_path / "other")
    assert elsewhere.returncode == 2
    assert "is not in" in elsewhere.stderr
    assert ran(environment, notebook, "--timeout", "0").returncode == 2
    assert ran({**environment, "HOME": str(folder)}, notebook).returncode == 2


def test_a_notebook_cannot_control_the_terminal(folder, environment):
    notebook = write(
        folder / "a.ipynb", code("'\\x1b[2J'\nprint('\\x1b]0;x\\x07\\u202e')", out("y\n"))
    )
    told = ran(environment, notebook).stdout
    assert "\x1b" not in told
    assert "\\u{202e}" in told
