"""kill -9 of the server while files are kept or restored: the next call brings it to its end."""

from __future__ import annotations

import asyncio
import os
import random
import sys
from pathlib import Path

import pytest
from model_server.script import call
from session_tools import events, until
from tree_picture import take_picture
from undo_tools import turn, undo

from openhands_jupyter.events import ErrorObservation, FilesRestoredObservation, UndoAction

ROUNDS = 5
FINISH = call("finish", message="Done.")

SERVER = """
import asyncio, sys
from pathlib import Path
from openhands_jupyter.config import Config
from openhands_jupyter.session import SessionManager

async def main():
    root, id, what = sys.argv[1:]
    sessions = SessionManager(Config(Path(root)))
    session = await sessions.open(id)
    print("ready", flush=True)
    last = session.stream.last_id
    if what == "undo":
        session.undo()
    else:
        session.send_message("Go")
    await session.stream.wait_for(
        lambda event: type(event).__name__ == sys.argv[3].title() + "Done", after=last
    )

asyncio.run(main())
"""


@pytest.fixture
def server(home: Path, workspace: Path, model_server):
    """Runs a session in a process of its own, and kills it after some seconds."""
    environ = {
        **os.environ,
        "OPENHANDS_HOME": str(home),
        "LLM_MODEL": "openai/scripted",
        "LLM_BASE_URL": model_server.url,
        "LLM_API_KEY": "sk-canary-0123456789",
    }

    async def run(session: str, what: str, seconds: float) -> None:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", SERVER, str(workspace), session, what),
            env=environ,
            stdout=asyncio.subprocess.PIPE,
        )
        try:
            assert process.stdout is not None
            assert await process.stdout.readline() == b"ready\n"
            await asyncio.sleep(seconds)
        finally:
            process.kill()
            await process.wait()

    return run


def fill(workspace: Path) -> None:
    for number in range(400):
        folder = workspace / f"{number % 20}"
        folder.mkdir(exist_ok=True)
        (folder / f"{number}").write_bytes(os.urandom(20_000))


@pytest.mark.slow
async def test_while_files_are_restored(manager, model_server, workspace, server) -> None:
    fill(workspace)
    before = take_picture(workspace)
    change = call(
        "execute_bash",
        command="for n in $(seq 0 9); do rm -r $n; mkdir new$n; echo $n > new$n/x; done;"
        " for n in $(seq 10 19); do for f in $n/*; do echo changed > $f; done; done",
    )
    model_server.play(*[step for _ in range(ROUNDS) for step in (change, FINISH)])
    async with manager() as sessions:
        session = await sessions.create()
    interrupted = 0
    for round in range(ROUNDS):
        async with manager() as sessions:
            again = await sessions.open(session.id)
            again.change_settings(mode="auto")
            await turn(again)
        (workspace / "mine").write_text("kept\n")
        await server(session.id, "undo", random.Random(round).uniform(0, 0.5))
        async with manager() as sessions:
            again = await sessions.open(session.id)
            assert again.controller.state.open_calls == {}
            done = [e.cause for e in events(again, FilesRestoredObservation)]
            cut = [a for a in events(again, UndoAction) if a.id not in done]
            answers = [e.cause for e in events(again, ErrorObservation)]
            assert {action.id for action in cut} <= set(answers), "each has its answer"
            if again.controller.state.files.last_turn(lambda id: False) is not None:
                interrupted += 1
                await undo(again)
        assert (workspace / "mine").read_text() == "kept\n"
        (workspace / "mine").unlink()
        assert take_picture(workspace) == before
    assert interrupted > 0


@pytest.mark.slow
async def test_while_files_are_kept(manager, model_server, workspace, server) -> None:
    command = call("execute_bash", command="echo x >> made")
    model_server.play(*[turn for _ in range(2 * ROUNDS) for turn in (command, FINISH)])
    async with manager() as sessions:
        session = await sessions.create(mode="auto")
    for round in range(ROUNDS):
        fill(workspace)
        (workspace / "made").unlink(missing_ok=True)
        await server(session.id, "message", random.Random(round).uniform(0, 2))
        async with manager() as sessions:
            again = await sessions.open(session.id)
            assert again.controller.state.open_calls == {}
            model_server.scripts = []
            model_server.play(command, FINISH)
            (workspace / "made").unlink(missing_ok=True)
            before = take_picture(workspace)
            id = again.send_message("Go on")
            await until(again, "finished", after=id)
            await undo(again)
            assert take_picture(workspace) == before
