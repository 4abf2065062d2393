"""Rewind through a session: files, a new kernel and shell, cells run again."""

from __future__ import annotations

import pytest
from model_server.script import call
from session_tools import events, until
from undo_tools import answer_to, turn, undo
from waiting import wait_until

from openhands_jupyter.errors import Conflict
from openhands_jupyter.events import (
    AgentStateChangedObservation,
    CmdOutputObservation,
    CmdRunAction,
    ErrorObservation,
    FilesRestoredObservation,
    IPythonOutputObservation,
    IPythonRunCellAction,
    ReplayObservation,
    RewindAction,
)

FINISH = call("finish", message="Done.")


def bash(command: str):
    return call("execute_bash", command=command)


def cell(code: str):
    return call("run_code", code=code)


async def rewind(session, *arguments, **options) -> FilesRestoredObservation:
    id = session.rewind(*arguments, **options)
    answer = await answer_to(session, id)
    assert isinstance(answer, FilesRestoredObservation), answer
    await until(session, "awaiting_user_input", after=id)
    return answer


async def test_files_kernel_and_shell_are_as_before(manager, model_server, workspace):
    model_server.play(
        cell("x = 1; open('one', 'w').write('1')"),
        bash("cd /tmp; export VARIABLE=set"),
        cell("x = 2; open('two', 'w').write('2')"),
        FINISH,
        cell("print('x' in globals())"),
        bash("pwd; echo [$VARIABLE]"),
        FINISH,
    )
    async with manager() as sessions:
        session = await sessions.create(mode="auto")
        await turn(session)
        length = session.stream.last_id
        second = events(session, IPythonRunCellAction)[1]
        preview = await session.files.rewind_preview(second.id)
        assert [(c.path, c.kind) for c in preview.changes] == [("two", "deleted")]
        assert preview.cells == 1
        await rewind(session, second.id)
        assert [path.name for path in workspace.iterdir()] == ["one"]
        assert session.stream.last_id > length, "the log is never cut"
        assert len(events(session, IPythonRunCellAction)) == 2

        await turn(session, "And now?")
        asked = events(session, IPythonOutputObservation)[-1]
        assert asked.outputs[0].text == "False\n"
        shell = events(session, CmdOutputObservation)[-1]
        assert shell.content.split() == [*str(workspace).split(), "[]"]
    told = [m["content"] for m in model_server.requests[-1].body["messages"] if m["role"] == "user"]
    assert "The user went back to before your call" in told[1] and "x = 2" in told[1]
    assert "The kernel and the shell are new ones" in told[1]


async def test_cells_run_again_until_the_event(manager, model_server, workspace):
    model_server.play(
        cell("x = 10"),
        cell("x += 1; 1/0"),
        cell("x += 5"),
        bash("echo made > file"),
        cell("x = 99"),
        FINISH,
        cell("print(x)"),
        FINISH,
        cell("print(x + 1)"),
        FINISH,
    )
    async with manager() as sessions:
        session = await sessions.create(mode="auto")
        await turn(session)
        (made,) = events(session, CmdRunAction)
        await rewind(session, made.id, replay=True)
        assert not (workspace / "file").exists()
        (replayed,) = events(session, ReplayObservation)
        assert (replayed.cells, replayed.done, replayed.reason) == (2, 2, "")
        (action,) = events(session, RewindAction)
        again = [e for e in events(session, IPythonRunCellAction) if e.source == "user"]
        assert [(e.code, e.cause) for e in again] == [
            ("x = 10", action.id),
            ("x += 5", action.id),
        ]
        after = session.send_message("What is x?")
        await until(session, "finished", after=after)
        # The cell that failed is not run again.
        assert events(session, IPythonOutputObservation)[-1].outputs[0].text == "15\n"

        # What was undone by a rewind, and copies, are not run by the next one.
        last = events(session, IPythonRunCellAction)[-1]
        await rewind(session, last.id, replay=True)
        assert events(session, ReplayObservation)[-1].cells == 2
        after = session.send_message("And now?")
        await until(session, "finished", after=after)
        assert events(session, IPythonOutputObservation)[-1].outputs[0].text == "16\n"
    told = [m["content"] for m in model_server.requests[-1].body["messages"] if m["role"] == "user"]
    assert any("2 of 2 earlier cells ran again" in text for text in told)


async def test_what_runs_is_stopped_first(manager, model_server, workspace):
    model_server.play(bash("echo x > file"), bash("echo y > other; sleep 60"), FINISH)
    async with manager() as sessions:
        session = await sessions.create(mode="auto")
        session.send_message("Go")
        await wait_until(lambda: (workspace / "other").exists())
        first = events(session, CmdRunAction)[0]
        await rewind(session, first.id)
        assert list(workspace.iterdir()) == []
        interrupted = events(session, CmdOutputObservation)[-1]
        assert interrupted.interrupted == "stopped"
        # Each call has its one answer.
        causes = [e.cause for e in events(session, CmdOutputObservation, ErrorObservation)]
        assert sorted(causes) == [e.id for e in events(session, CmdRunAction)]


async def test_a_replay_is_stopped_like_anything_else(manager, model_server, workspace):
    slow = "import pathlib, time; n = pathlib.Path('n'); first = not n.exists(); n.touch()\n"
    model_server.play(
        cell("x = 1"),
        cell(f"{slow}if not first: pathlib.Path('again').touch(); time.sleep(60)"),
        cell("y = 1"),
        bash("echo x > file"),
        FINISH,
    )
    async with manager() as sessions:
        session = await sessions.create(mode="auto")
        await turn(session)
        (made,) = events(session, CmdRunAction)
        id = session.rewind(made.id, replay=True)
        await answer_to(session, id)
        await wait_until(lambda: (workspace / "again").exists())
        session.command("stop")
        await until(session, "stopped", after=id)
        (replayed,) = events(session, ReplayObservation)
        assert (replayed.cells, replayed.done) == (3, 1)
        assert "stopped" in replayed.reason
        assert len(session.controller.state.open_calls) == 0


async def test_a_rewind_is_undone_and_what_the_person_changed_is_left(
    manager, model_server, workspace
):
    model_server.play(bash("echo 1 > one"), bash("echo 2 > two; echo 2 > mine"), FINISH)
    async with manager() as sessions:
        session = await sessions.create(mode="auto")
        await turn(session)
        (workspace / "mine").write_text("mine\n")
        second = events(session, CmdRunAction)[1]
        done = await rewind(session, second.id)
        assert [note.path for note in done.conflicts] == ["mine"]
        assert sorted(path.name for path in workspace.iterdir()) == ["mine", "one"]
        (action,) = events(session, RewindAction)
        await undo(session, action.id)
        assert sorted(path.name for path in workspace.iterdir()) == ["mine", "one", "two"]


async def test_where_there_is_no_checkpoint_it_is_refused(manager, model_server, workspace):
    model_server.play(bash("echo x > file"), FINISH)
    async with manager() as sessions:
        session = await sessions.create(mode="auto")
        await turn(session)
        last = session.stream.last_id
        with pytest.raises(Conflict) as error:
            session.rewind(last)
        assert error.value.code == "no_checkpoint"
        # Before the message that began it all: the first step's checkpoint.
        await rewind(session, 0)
        assert list(workspace.iterdir()) == []
        states = [e.state for e in events(session, AgentStateChangedObservation)]
        assert states[-2:] == ["running", "awaiting_user_input"]
