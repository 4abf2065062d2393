"""Two sessions that work in one folder at the same time: an undo takes back what is its own."""

from __future__ import annotations

from pathlib import Path

from model_server.script import call
from session_tools import events, until
from undo_tools import answer_to, turn, turn_end, undo
from waiting import wait_until

from openhands_jupyter.events import CheckpointObservation, FilesRestoredObservation
from openhands_jupyter.runtime.checkpoints.authorship import AFTERWARDS, AT_ONCE
from openhands_jupyter.session import Session

FINISH = call("finish", message="Done.")


def bash(command: str):
    return call("execute_bash", command=command)


def names(workspace: Path) -> list[str]:
    return sorted(path.name for path in workspace.iterdir())


async def reasons(session: Session) -> dict[str, str]:
    preview = await session.files.undo_preview(None)
    return {change.path: change.conflict for change in preview.changes}


async def test_a_turn_between_two_actions_of_another_session(manager, model_server, workspace):
    (workspace / "data").mkdir()
    model_server.play(
        bash("echo mine > first; echo mine > both"), bash("rm -rf data"), FINISH, when="Mine"
    )
    model_server.play(
        bash("echo theirs > second; echo theirs >> both"),
        call("write_file", path="third", content="theirs"),
        FINISH,
        when="Theirs",
    )
    async with manager() as sessions, manager() as elsewhere:
        mine, theirs = await sessions.create(), await elsewhere.create(mode="auto")
        mine.send_message("Mine")
        # Its turn goes on while it waits for approval.
        asked = await until(mine, "awaiting_user_confirmation")
        assert (await turn(theirs, "Theirs")).changed == 3
        mine.confirm(asked.cause, "approve")
        await until(mine, "finished")
        assert (await turn_end(mine)).changed == 3, "first, both, data"

        end = events(mine, CheckpointObservation)[-1]
        listed = await mine.files.diff(end.since, end.checkpoint)
        theirs_in_it = [change.path for change in listed.changes if change.conflict]
        assert theirs_in_it == ["second", "third"]
        preview = await mine.files.undo_preview(None)
        assert preview.others == ["second", "third"]
        assert await reasons(mine) == {"first": "", "both": AFTERWARDS, "data": ""}
        done = await undo(mine)
        assert [note.path for note in done.conflicts] == ["both"]
        assert names(workspace) == ["both", "data", "second", "third"]

        # The other one did not do that, and its own is still its own.
        assert await reasons(theirs) == {"second": "", "both": "", "third": ""}
        await undo(theirs)
        assert names(workspace) == ["both", "data"]
        assert (workspace / "both").read_text() == "mine\n"


async def test_two_at_the_same_moment(manager, model_server, workspace):
    model_server.play(
        bash(
            "until [ -e shell ]; do sleep 0.05; done; echo mine > unclear; touch seen;"
            " until [ -e go ]; do sleep 0.05; done; echo mine > last"
        ),
        FINISH,
        when="Mine",
    )
    model_server.play(
        call("write_file", path="named", content="theirs"),
        bash("touch shell; until [ -e seen ]; do sleep 0.05; done"),
        FINISH,
        when="Theirs",
    )
    async with manager() as sessions:
        mine, theirs = [await sessions.create(mode="auto") for _ in range(2)]
        mine.send_message("Mine")
        await wait_until(lambda: bool(events(mine, CheckpointObservation)))
        await turn(theirs, "Theirs")
        (workspace / "go").touch()
        await until(mine, "finished")
        await turn_end(mine)
        unclear = {"shell": AT_ONCE, "seen": AT_ONCE, "unclear": AT_ONCE}
        assert await reasons(theirs) == {"named": "", **unclear}
        assert (await mine.files.undo_preview(None)).others == ["named"]
        assert await reasons(mine) == {"last": "", "go": "", **unclear}
        await undo(mine)
        assert names(workspace) == ["named", "seen", "shell", "unclear"]


async def test_a_rewind_leaves_alone_what_another_session_did(manager, model_server, workspace):
    model_server.play(bash("echo mine > one"), FINISH, bash("echo mine > two"), FINISH, when="Mine")
    model_server.play(bash("echo theirs > three"), FINISH, when="Theirs")
    async with manager() as sessions:
        mine, theirs = [await sessions.create(mode="auto") for _ in range(2)]
        first = await turn(mine, "Mine")
        await turn(theirs, "Theirs")
        await turn(mine, "Mine")
        preview = await mine.files.rewind_preview(first.action)
        assert preview.others == ["three"]
        answer = await answer_to(mine, mine.rewind(first.action))
        assert isinstance(answer, FilesRestoredObservation)
        assert names(workspace) == ["three"]


async def test_deleting_one_session_keeps_what_tells_its_changes(manager, model_server, workspace):
    (workspace / "data").mkdir()
    model_server.play(bash("echo mine > one"), bash("rm -rf data"), FINISH, when="Mine")
    model_server.play(bash("echo theirs > two"), FINISH, bash("true"), FINISH, when="Theirs")
    async with manager() as sessions:
        mine, theirs = await sessions.create(), await sessions.create(mode="auto")
        mine.send_message("Mine")
        asked = await until(mine, "awaiting_user_confirmation")
        await turn(theirs, "Theirs")
        mine.confirm(asked.cause, "approve")
        await until(mine, "finished")
        await turn_end(mine)
        await sessions.delete(theirs.id)
        assert await reasons(mine) == {"one": "", "data": ""}
        await undo(mine)
        assert names(workspace) == ["data", "two"]
