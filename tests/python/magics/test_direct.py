"""Without a page: the kernel goes to the server of this machine, and its token stays there."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import nbformat
import pytest
from magic_kernel import Kernel
from model_server import ModelServer, hang
from nbformat.v4 import new_code_cell, new_notebook
from server_process import TOKEN, Server
from waiting import PATIENCE

from openhands_jupyter import local_server
from openhands_jupyter.local_server import LocalServer, Refused

FIBONACCI = "%%openhands --model tour\nCompute the first 12 Fibonacci numbers"
LIST = "Delete the temporary files"
DELETE = "Create a temporary file and delete it"

pytestmark = pytest.mark.sandbox


def test_a_cell_waits_for_the_end_and_prints_each_step(at_server: Kernel, server: Server) -> None:
    ran = at_server.run(FIBONACCI)
    assert ran.status == "ok"
    assert "You: Compute the first 12 Fibonacci numbers" in ran.text
    assert "$ python fib.py 12" in ran.text and "Done" in ran.text
    [answer] = ran.of("display_data")
    assert "89" in answer["content"]["data"]["text/plain"]
    said = at_server.run(
        "task = _\n"
        "many = len(task.events()) > 5\n"
        "print(task.wait().state, (await task).session, many, '89' in task.answer)"
    ).text
    assert said.startswith("finished ") and "True True" in said

    session = said.split()[1]
    assert f"{session}  finished: Compute" in at_server.run("%openhands status").text
    assert f"* {session}" in at_server.run("%openhands list").text
    assert "Done" in at_server.run("%openhands log 5").text
    assert "not at work" in at_server.run("%openhands stop").text
    assert "not at work" in at_server.run("%openhands inject Hello").text
    assert "* tour" in at_server.run("%openhands model").text
    assert "isolation  auto" in at_server.run("%openhands config").text

    assert (server.root / "fib.py").exists()
    assert "1 file is as before" in at_server.run("%openhands undo").text
    assert not (server.root / "fib.py").exists()


def test_what_needs_approval_is_refused_unless_the_cell_says_otherwise(
    at_server: Kernel, server: Server
) -> None:
    refused = at_server.run(f"%%openhands --model tour\n{DELETE}")
    assert "add --mode auto" in refused.text and "Rejected action" in refused.text
    assert (server.root / "practice.tmp").exists()
    first = at_server.run("print(_.session)").text.strip()

    at_server.run(f"%%openhands --mode auto\n{DELETE}")
    assert not (server.root / "practice.tmp").exists()
    # The mode was for that cell only; the session is the same one.
    again = at_server.run(f"%%openhands --into again\n{DELETE}")
    assert "add --mode auto" in again.text
    assert at_server.run("print(again.session)").text.strip() == first


def test_reading_only(at_server: Kernel) -> None:
    ran = at_server.run(f"%%openhands --model tour --mode ask --new\n{DELETE}")
    assert ran.status == "ok" and "practice.tmp" in ran.text


@pytest.mark.parametrize(
    ("option", "message"),
    [("--session 0", "no session 0"), ("--workspace ../..", "outside the folder")],
)
def test_what_the_server_refuses_is_a_sentence(
    at_server: Kernel, option: str, message: str
) -> None:
    ran = at_server.run(f"%%openhands {option}\nHello")
    assert ran.status == "error"
    assert message in ran.text and "Traceback" not in ran.text


def test_an_interrupted_cell_stops_the_agent(at_server: Kernel, model: ModelServer) -> None:
    model.play(hang())
    process = int(at_server.run("import os; print(os.getpid())").text)
    request = at_server.start("%%openhands --new --model openai/scripted --into task\nHello")
    printed = ""
    while "You: Hello" not in printed:
        printed += str(at_server.client.get_iopub_msg(timeout=PATIENCE)["content"].get("text"))
    os.kill(process, signal.SIGINT)
    ran = at_server.ended(request)
    assert ran.status == "error" and "Authorization" not in ran.text
    assert "stopped" in at_server.run("print(task.state)").text
    at_server.run("%openhands model tour")


def test_no_server_is_a_sentence(kernel: Kernel) -> None:
    text = kernel.run("%%openhands\nHello").text
    assert "There is no Jupyter server with OpenHands" in text
    assert "Start `jupyter lab`" in text and "Traceback" not in text


LOOK = """
import os
history = get_ipython().history_manager
history.writeout_cache()
names = [f"{history.hist_file}{end}" for end in ("", "-wal")]
files = [open(name, "rb").read() for name in names if os.path.exists(name)]
with open("seen.txt", "w") as seen:
    print(files, In, Out, dict(os.environ), vars(task), file=seen)
"""


def test_the_token_is_not_in_a_kernel_or_its_history(at_server: Kernel, server: Server) -> None:
    at_server.run("%xmode Verbose")
    printed = at_server.run(f"%%openhands --model tour --into task\n{LIST}").text
    printed += at_server.run("%%openhands --session 0\nx").text
    assert at_server.run(LOOK).status == "ok"
    seen = (server.root / "seen.txt").read_text()
    assert LIST in seen and "JUPYTER_RUNTIME_DIR" in seen
    assert TOKEN not in seen + printed


def test_a_notebook_that_is_executed_without_a_page_keeps_the_answer(
    server: Server, tmp_path: Path
) -> None:
    sources = ["%load_ext openhands_jupyter", FIBONACCI, "print(_.state)"]
    notebook = new_notebook(cells=[new_code_cell(source) for source in sources])
    path = server.root / "run.ipynb"
    nbformat.write(notebook, path)
    environ = {
        **os.environ,
        "IPYTHONDIR": str(tmp_path),
        "JUPYTER_RUNTIME_DIR": str(server.runtime),
    }
    # What nbconvert --execute does, and begins sooner.
    command = [Path(sys.executable).with_name("jupyter-execute"), "--inplace", path]
    done = subprocess.run(command, env=environ, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    saved = path.read_text()
    cells = nbformat.reads(saved, as_version=4).cells
    assert cells[2].outputs[0].text == "finished\n"
    *printed, answer = cells[1].outputs
    assert "89" in answer.data["text/plain"]
    # Not an output for each line.
    assert len(printed) < 0.5 * sum(output.text.count("\n") for output in printed)
    assert TOKEN not in saved + done.stdout + done.stderr


class _Recorder(BaseHTTPRequestHandler):
    """Answers everything with a redirect to another address, and notes who came."""

    def do_GET(self) -> None:
        self.server.seen.append(self.headers.get("Authorization"))  # type: ignore[attr-defined]
        self.send_response(302)
        self.send_header("Location", self.server.elsewhere)  # type: ignore[attr-defined]
        self.end_headers()

    def log_message(self, *args: Any) -> None:
        pass


@pytest.fixture
def recorders() -> Iterator[list[Any]]:
    """Two HTTP servers: the first sends everybody on to the second."""
    servers: list[Any] = [HTTPServer(("127.0.0.1", 0), _Recorder) for _ in range(2)]
    for server in servers:
        server.seen = []
        server.elsewhere = f"http://127.0.0.1:{servers[1].server_port}/"
        threading.Thread(target=server.serve_forever, args=(0.05,)).start()
    yield servers
    for server in servers:
        server.shutdown()
        server.server_close()


def test_the_token_goes_to_no_other_address(
    recorders: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = recorders
    monkeypatch.setenv("http_proxy", second.elsewhere)
    monkeypatch.setenv("no_proxy", "")
    server = LocalServer(f"http://127.0.0.1:{first.server_port}/", "a-canary")
    with pytest.raises(Refused, match="302") as caught:
        server.request("GET", "models")
    assert first.seen == ["token a-canary"] and second.seen == []
    assert "a-canary" not in str(caught.value) + repr(vars(server))


def info(**changes: Any) -> dict[str, Any]:
    """What a server writes of itself."""
    return {
        "hostname": "localhost",
        "port": 8888,
        "base_url": "/",
        "root_dir": "/home/me",
        "pid": 1,
        "secure": False,
        "sock": "",
        **changes,
    }


@pytest.mark.parametrize(
    ("changes", "url"),
    [
        ({}, "http://localhost:8888/"),
        ({"base_url": "/user/x/"}, "http://localhost:8888/user/x/"),
        ({"hostname": "0.0.0.0", "secure": True}, "https://127.0.0.1:8888/"),
        ({"hostname": "::1"}, "http://[::1]:8888/"),
        ({"hostname": "10.0.0.7"}, ""),
        ({"hostname": "localhost.example.org"}, ""),
        ({"sock": "/run/x.sock"}, ""),
    ],
)
def test_only_addresses_of_this_machine(changes: dict[str, Any], url: str) -> None:
    assert local_server._local_url(info(**changes)) == url


def test_the_nearest_server_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    near, far = info(root_dir="/home/me/a", port=1), info(root_dir="/home/me", port=2)
    elsewhere, own = info(root_dir="/other", port=3), info(root_dir="/other", port=4, pid=77)
    monkeypatch.setenv("JPY_PARENT_PID", "77")
    found = local_server._candidates([far, elsewhere, near, own], Path("/home/me/a/b"))
    assert [entry["port"] for entry in found] == [4, 1, 2]
    assert json.dumps(found)
