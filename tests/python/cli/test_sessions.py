"""``jupyter openhands sessions``: what is kept of a session, without a server."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from model_server.script import call, malformed, text, together
from model_server.server import ModelServer
from session_tools import until
from waiting import PATIENCE

from openhands_jupyter.config import Config
from openhands_jupyter.errors import ModelError
from openhands_jupyter.events import AgentThinkAction, ModelCall, UserMessageAction
from openhands_jupyter.events.blobs import LIMIT, BlobStore
from openhands_jupyter.events.jsonl import take_lease
from openhands_jupyter.events.masking import MASK
from openhands_jupyter.llm.base import Response, Tool, ToolCall
from openhands_jupyter.session import SessionManager
from openhands_jupyter.session.recording import Asked, Recording, recorded

pytestmark = pytest.mark.sandbox

LONG = "x = 1\n" * (LIMIT // 3)
PNG = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYGBgAAAABQABXvMqOgAAAABJRU5ErkJg"
    "gg=="
)
SHOW = f"""
import base64
from IPython.display import Image
Image(base64.b64decode({PNG!r}))
"""
FIRST = [
    together(
        call("write_file", path="long.py", content=LONG).saying("I <b>write</b> two files."),
        call("write_file", path="n.txt", content="7"),
    ),
    malformed("execute_bash", "{not JSON"),
    call("execute_bash", command="echo line >>lines.txt; wc -l <lines.txt; (exit $(cat status))"),
    call("run_code", code=SHOW.strip()),
    call("run_code", code="1 / 0"),
    call("ask_user", question="Go on? ![](http://elsewhere.test/x.png)", options=["yes", "no"]),
]
SECOND = [call("execute_bash", command="cat n.txt"), text("All <script>alert(1)</script> done.")]


@pytest.fixture(scope="module")
def model() -> Iterator[ModelServer]:
    server = ModelServer()
    server.play(*FIRST, *SECOND)
    server.start()
    yield server
    server.close()


@pytest.fixture(scope="module")
def environment(model: ModelServer, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("LLM_", "SANDBOX_"))}
    return {
        **kept,
        "OPENHANDS_HOME": str(tmp_path_factory.mktemp("home")),
        "LLM_MODEL": "openai/scripted",
        "LLM_BASE_URL": model.url,
        "LLM_API_KEY": "sk-scripted",
    }


@pytest.fixture(scope="module")
def folder(environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A session that was asked twice, and its folder."""
    workspace = tmp_path_factory.mktemp("workspace")
    (workspace / "status").write_text("0")

    async def work() -> Path:
        config = Config(workspace, environ=environment)
        manager = SessionManager(config)
        session = await manager.create(workspace=".")
        first = session.send_message("Do a <i>lot</i>")
        await until(session, "awaiting_user_input", after=first)
        answer = session.send_message("yes")
        await until(session, "awaiting_user_input", after=answer)
        await manager.close()
        return config.sessions_folder / session.id

    return asyncio.run(work())


def sessions(
    environment: dict[str, str], *arguments: str, place: Path | None = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "openhands_jupyter.cli", "sessions", *arguments],
        cwd=place,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )


def test_a_session_is_read_while_another_process_has_it(
    environment: dict[str, str], folder: Path, tmp_path: Path
) -> None:
    lease = take_lease(folder)
    try:
        listed = sessions(environment, "list")
        assert folder.name[:8] in listed.stdout
        assert "Do a <i>lot</i>" in listed.stdout
        (info,) = map(json.loads, sessions(environment, "list", "--json").stdout.splitlines())
        assert info["id"] == folder.name
        shown = sessions(environment, "show", folder.name[:6])
        assert "Cell ended: error" in shown.stdout
        replayed = sessions(environment, "replay", "--speed", "10000", folder.name)
        assert replayed.stdout == shown.stdout
        log = sessions(environment, "export", "--format", "jsonl", folder.name).stdout
        assert log == (folder / "events.jsonl").read_text()
        refused = sessions(environment, "delete", "--yes", folder.name)
        assert (refused.returncode, "open in another process" in refused.stderr) == (1, True)
    finally:
        os.close(lease)


def test_exports(environment: dict[str, str], folder: Path, tmp_path: Path) -> None:
    for kind in ("notebook", "html", "markdown"):
        done = sessions(
            environment, "export", folder.name, "--format", kind, "-o", str(tmp_path / kind)
        )
        assert done.returncode == 0, done.stderr
    notebook = nbformat.read(tmp_path / "notebook", as_version=4)
    nbformat.validate(notebook)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [cell.source.split("\n")[0] for cell in code] == [
        "%%bash",
        "import base64",
        "1 / 0",
        "%%bash",
    ]
    assert code[0].outputs[0].text.strip() == "1"
    assert code[1].outputs[0].data["image/png"].strip() == PNG
    assert code[2].outputs[0].ename == "ZeroDivisionError"
    told = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    assert "Writes long.py" in told
    assert "**You:** Do a &lt;i>lot&lt;/i>" in told
    html = (tmp_path / "html").read_text()
    assert PNG[:40] in html
    assert "<script>alert" not in html
    assert 'src="http://elsewhere.test' not in html
    markdown = (tmp_path / "markdown").read_text()
    assert "ZeroDivisionError" in markdown
    assert "![](http" not in markdown


def test_a_session_is_done_once_more(
    environment: dict[str, str], folder: Path, model: ModelServer, tmp_path: Path
) -> None:
    asked = len(model.requests)
    (tmp_path / "status").write_text("0")
    done = sessions(environment, "replay", "--execute", folder.name, place=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "long.py").read_text() == LONG
    assert (tmp_path / "lines.txt").read_text() == "line\n"
    assert "All <script>alert(1)</script> done." in done.stdout
    (tmp_path / "status").write_text("3")
    done = sessions(environment, "replay", "--execute", folder.name, place=tmp_path)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "CmdRunAction that was done; now: a CmdRunAction that ended with 3" in done.stdout
    assert len(model.requests) == asked


def test_what_held_a_secret_is_not_done_again() -> None:
    call = ToolCall(id="1", name="execute_bash", arguments=json.dumps({"command": f"echo {MASK}"}))
    asked = Asked(message="x", responses=[Response(id="1", model="m", tool_calls=[call])])
    recording = Recording([asked])
    recording.begin(asked)
    tools = [Tool(name="execute_bash", description="", parameters={})]
    with pytest.raises(ModelError, match="held a secret"):
        asyncio.run(recording.complete([], tools, lambda delta: None))


def test_messages_without_an_answer_of_their_own_are_one() -> None:
    events = [
        UserMessageAction(source="user", content="Do this."),
        UserMessageAction(source="user", content="And that."),
        AgentThinkAction(
            source="agent",
            thought="Well.",
            llm=ModelCall(response_id="1", tool_call_id="a", tool_name="think"),
        ),
        UserMessageAction(source="user", content="Now this."),
    ]
    first, second = recorded(events, BlobStore(Path("nowhere")))
    assert first.message == "Do this.\n\nAnd that."
    assert [call.arguments for r in first.responses for call in r.tool_calls] == [
        '{"thought":"Well."}'
    ]
    assert (second.message, second.responses) == ("Now this.", [])


def test_sessions_are_deleted(environment: dict[str, str], folder: Path) -> None:
    copy = folder.with_name(folder.name[:8] + 24 * "0")
    shutil.copytree(folder, copy)
    info = json.loads((copy / "session.json").read_text()) | {"id": copy.name}
    (copy / "session.json").write_text(json.dumps(info))
    ambiguous = sessions(environment, "show", folder.name[:8])
    assert (ambiguous.returncode, "2 sessions begin" in ambiguous.stderr) == (1, True)
    asked = sessions(environment, "delete", copy.name)
    assert (asked.returncode, copy.exists()) == (3, True)
    done = sessions(environment, "delete", "--yes", copy.name[:12])
    assert (done.returncode, copy.exists(), folder.exists()) == (0, False, True), done.stderr
    missing = sessions(environment, "show", copy.name)
    assert (missing.returncode, "There is no session" in missing.stderr) == (1, True)
