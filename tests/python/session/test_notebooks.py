"""Notebook tools without a server, as on the command line: the files themselves."""

from __future__ import annotations

import json
from pathlib import Path

import nbformat
import pytest
from model_server.script import call
from notebook_contract import FIRST, USUAL, code, rev
from session_tools import events, until
from undo_tools import undo

from openhands_jupyter.errors import Conflict, Invalid
from openhands_jupyter.events import (
    ErrorObservation,
    NotebookEditAction,
    NotebookEditObservation,
    NotebookObservation,
)
from openhands_jupyter.session.dry_runs import dry_run_of

PATCH = {"op": "patch", "id": "first-cell", "expect_rev": rev(FIRST), "old": "1", "new": "2"}


@pytest.mark.sandbox
async def test_the_file_is_read_and_changed(
    manager, model_server, workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "jupyter"))
    file = workspace / "folder" / "a.ipynb"
    file.parent.mkdir()
    file.write_text(json.dumps(USUAL))
    path = "folder/a.ipynb"
    julia = {**USUAL, "metadata": {"kernelspec": {"name": "julia", "language": "julia"}}}
    (workspace / "julia.ipynb").write_text(json.dumps(julia))
    model_server.play(
        call("nb_list"),
        call("nb_read", path="julia.ipynb"),
        call("nb_edit", path="julia.ipynb", ops=[PATCH]),
        call("run_cells", path="julia.ipynb", cells=["first-cell"], kernel="sandbox"),
        call("finish", message="Done."),
    )
    other_turn = (
        call("nb_read", path=path),
        call("nb_edit", path=path, ops=[PATCH]),
        call("finish", message="Done."),
    )
    async with manager() as sessions:
        session = await sessions.create()
        session.send_message("Change the other one")
        end = await until(session, "finished")
        model_server.play(*other_turn)
        session.send_message("Change it")
        await until(session, "finished", after=end.id)
        listed, _, read = events(session, NotebookObservation)
        _, changed = events(session, NotebookEditObservation)
        other, python = events(session, NotebookEditAction)
        (refused,) = events(session, ErrorObservation)
    assert path in listed.content
    assert "x = 1" in read.content
    assert changed.delivery == "disk"
    # Python runs in the sandbox, and nothing else.
    assert refused.code == "not_python"
    assert dry_run_of(python, []).planned[0].source == "x = 2\n"
    with pytest.raises(Invalid, match="Python only"):
        dry_run_of(other, [])
    assert "".join(json.loads(file.read_text())["cells"][0]["source"]) == "x = 2\n"

    # Days later, by another process, and where no files are kept: by its cells alone.
    mine = json.loads(file.read_text())
    mine["cells"].append(code("mine", "typed"))
    file.write_text(json.dumps(mine))
    async with manager(checkpoints=False) as sessions:
        session = await sessions.open(session.id)
        preview = await session.files.undo_preview(None)
        assert [len(notebook.cells) for notebook in preview.notebooks] == [1]
        done = await undo(session)
        assert (done.target, done.checkpoint) == ("", "")
        assert [cell["source"] for cell in nbformat.read(file, 4)["cells"]] == [
            *(cell["source"] for cell in USUAL["cells"]),
            "typed",
        ]
        await undo(session, done.cause)
        assert nbformat.read(file, 4)["cells"][0]["source"] == "x = 2\n"
        with pytest.raises(Conflict, match="not kept"):
            session.rewind(0)
