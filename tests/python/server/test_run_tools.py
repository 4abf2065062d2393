"""The tools that run cells: a real server, real kernels, a real sandbox, a scripted model."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from model_server.script import call
from model_server.server import ModelServer
from notebook_contract import USUAL, code, notebook, rev, text
from notebook_runs import ON, SEEN, UNSEEN, WAIT
from notebook_sessions import (
    DONE,
    NAME,
    PATH,
    READ,
    Begin,
    OpenTab,
    begin,
    file,
    home,
    open_tab,
    results,
    root,
    saved,
    write,
)
from session_tools import SECRET, events, until
from waiting import PATIENCE, wait_until

from openhands_jupyter.events import (
    CheckpointObservation,
    DryRunAction,
    ErrorObservation,
    IPythonOutputObservation,
    NameChanges,
    NotebookEditAction,
    NotebookRunAction,
    NotebookRunObservation,
    TouchedFiles,
)
from openhands_jupyter.server.base import Services
from openhands_jupyter.session import Session

__all__ = ["begin", "file", "home", "open_tab", "root"]

pytestmark = pytest.mark.sandbox

LOAD = code("load-cell", "prices = [1, 2, 3]\nextra = []\nspare = 1")
TOTAL = code("total-cell", f"total = sum(prices)\nprint('total', total, '{SECRET}')")
FAILS = code("fails-cell", "import nowhere_at_all")
SHORTER = "prices = [5]\nextra.append(7)\ndel spare\nopen('out.txt', 'w').close()"
AFTER = code("after-cell", "after = total + 1\nafter")
NOTES = text("notes-cell", "# Prices")
CELLS = notebook(LOAD, NOTES, TOTAL, FAILS, AFTER)


def run_cells(**arguments: Any) -> Any:
    return call("run_cells", path=NAME, **arguments)


async def asked(session: Session, after: int = -1) -> NotebookRunAction:
    """The run that waits for the person, after one that did or a message."""
    waiting = await until(session, "awaiting_user_confirmation", after=after + 1)
    action = session.stream.read(after=(waiting.cause or 0) - 1, limit=1)[0]
    assert isinstance(action, NotebookRunAction)
    return action


def answers(session: Session) -> list[NotebookRunObservation]:
    return [e for e in events(session) if isinstance(e, NotebookRunObservation)]


def errors(session: Session) -> list[str]:
    return [e.code for e in events(session) if isinstance(e, ErrorObservation)]


async def shown(session: Session, text: str) -> None:
    """Wait until the panel is shown a text of what runs."""
    so_far = ""
    async with asyncio.timeout(PATIENCE):
        async for items in session.stream.live.subscribe():
            so_far += "".join(item.text for item in items if item.kind == "output")
            if text in so_far:
                return


def printed(file: Path, id: str) -> str:
    """What stands below a cell of the file."""
    [cell] = [cell for cell in saved(file)["cells"] if cell["id"] == id]
    return "".join(
        "".join(output.get("text", output.get("data", {}).get("text/plain", output.get("ename"))))
        for output in cell["outputs"]
    )


async def test_cells_are_run_in_the_persons_kernel_after_they_are_seen(
    begin: Begin, services: Services, file: Path, model_server: ModelServer
) -> None:
    write(file, CELLS)
    newer = {"op": "replace", "id": "load-cell", "expect_rev": rev(LOAD), "source": SHORTER}
    model_server.play(
        READ,
        run_cells(cells=["load", "@2"], why="To see the total."),
        run_cells(which="above", cells=["after-cell"]),
        run_cells(cells=["after-cell"]),
        call("nb_edit", path=NAME, ops=[newer]),
        run_cells(which="stale"),
        run_cells(which="stale"),
        DONE,
    )
    # Also in Auto mode nothing is run there unasked.
    session = await begin(mode="auto")
    action = await asked(session)
    assert (action.why, action.kernel, action.stop_on_error) == ("To see the total.", "user", True)
    assert [(c.id, c.position, c.rev, c.source) for c in action.planned] == [
        ("load-cell", 0, rev(LOAD), LOAD["source"]),
        ("total-cell", 2, rev(TOTAL), TOTAL["source"].replace(SECRET, "<secret_hidden>")),
    ]
    assert action.found is not None
    assert (action.found.id, action.found.language) == ("", "python")
    assert action.risk is not None and action.risk.level == "medium"
    assert action.risk.reasons == ["Runs in your own kernel, with all your rights and on your data"]
    assert await services.runs._kernels.find("work/analysis.ipynb") is None

    session.confirm(action.id, "approve")
    action = await asked(session, after=action.id)
    [done] = answers(session)
    assert (done.state, done.kernel, done.kernel_name) == ("done", "user", "Python 3 (ipykernel)")
    assert [(c.id, c.status, c.execution_count) for c in done.cells] == [
        ("load-cell", "done", 1),
        ("total-cell", "done", 2),
    ]
    told = results(model_server)[-1]
    assert "@2 total-cell: done [2]" in told
    assert "total 6 <secret_hidden>" in told and SECRET not in told
    assert told.count("<output>") == 2
    assert done.names == NameChanges(new=["extra", "prices", "spare", "total"])
    assert "<output>\nnew: extra, prices, spare, total\n</output>" in told
    assert printed(file, "total-cell") == f"total 6 {SECRET}\n"

    # A cell that fails is the last; of those above, the text is left out.
    assert action.found is not None and action.found.state == "idle"
    assert [c.id for c in action.planned] == ["load-cell", "total-cell", "fails-cell"]
    session.confirm(action.id, "approve")
    action = await asked(session, after=action.id)
    assert answers(session)[-1].state == "error"
    # The total is the same number again.
    assert answers(session)[-1].names == NameChanges(changed=["extra", "prices"])
    assert "nowhere_at_all" in results(model_server)[-1]
    assert printed(file, "fails-cell") == "ModuleNotFoundError"

    session.confirm(action.id, "approve")
    action = await asked(session, after=action.id)
    assert printed(file, "after-cell") == "7"
    # What was edited, and what comes of it: a cell further down too, but none that has failed.
    assert [c.id for c in action.planned] == ["load-cell", "total-cell", "after-cell"]
    session.confirm(action.id, "approve")
    await until(session, "finished")
    assert printed(file, "after-cell") == "6"
    changed = ["after", "extra", "prices", "total"]
    assert answers(session)[-1].names == NameChanges(changed=changed, deleted=["spare"])
    # The notebook, into which the outputs were written, is not told.
    assert [a.files for a in answers(session)][-2:] == [
        TouchedFiles(),
        TouchedFiles(created=["out.txt"]),
    ]
    assert "meanwhile:\n<output>\ncreated: out.txt\n</output>" in results(model_server)[-2]
    assert errors(session) == ["nothing_to_run"]
    assert "No cell is stale" in results(model_server)[-1]
    # To be run a cell need not be another one: what was read is still known.
    assert len(events(session, NotebookRunAction)) == 5


async def test_what_is_no_more_as_it_was_seen_is_not_run(
    begin: Begin, file: Path, model_server: ModelServer
) -> None:
    task = code("task-cell", "%%openhands\ntidy up")
    write(file, notebook(LOAD, TOTAL, task, NOTES))
    model_server.play(
        READ,
        run_cells(cells=["task-cell"]),
        run_cells(cells=["notes-cell"]),
        run_cells(which="above"),
        call("await_run", run_id="nowhere"),
        run_cells(cells=["load-cell"]),
        run_cells(cells=["load-cell"]),
        DONE,
    )
    session = await begin()
    action = await asked(session)
    assert errors(session) == [
        "cell_runs_agent",
        "nothing_to_run",
        "one_cell_wanted",
        "run_not_found",
    ]
    write(file, notebook({**LOAD, "source": "prices = 'typed since'"}, TOTAL, task, NOTES))
    session.confirm(action.id, "approve")
    await until(session, "finished", after=action.id)
    assert errors(session)[4:] == ["cells_changed", "cells_changed"]
    assert answers(session) == []
    assert printed(file, "load-cell") == ""
    # Ask mode runs nothing at all.
    model_server.play(run_cells(cells=["total-cell"]), DONE)
    session = await begin(mode="ask")
    await until(session, "finished")
    assert errors(session) == ["refused"]


async def test_what_was_approved_is_what_is_run(
    begin: Begin, services: Services, jp_data_dir: Path, file: Path, model_server: ModelServer
) -> None:
    folder = jp_data_dir / "kernels" / "other"
    folder.mkdir(parents=True)
    spec = {"argv": ["/bin/false", "{connection_file}"], "display_name": "Other", "language": "no"}
    (folder / "kernel.json").write_text(json.dumps(spec))
    write(file, notebook(code("a-cell", SEEN)))
    run = run_cells(cells=["a-cell"])
    model_server.play(run, run, run, DONE)
    session = await begin(mode="auto")
    # Whoever can write to the file can find two texts with the same revision.
    first = await asked(session)
    write(file, notebook(code("a-cell", UNSEEN)))
    session.confirm(first.id, "approve")
    second = await asked(session, after=first.id)
    assert [cell.rev for cell in second.planned] == [cell.rev for cell in first.planned]
    assert (errors(session), answers(session)) == (["cells_changed"], [])
    # And name another program that is to be started as its kernel.
    write(file, notebook(code("a-cell", UNSEEN), kernelspec={"name": "other"}))
    session.confirm(second.id, "approve")
    third = await asked(session, after=second.id)
    [answer] = answers(session)
    assert (answer.state, answer.cells[0].status) == ("error", "not_run")
    assert "has another kernel now" in answer.problem
    assert third.found is not None and third.found.name == "Other"
    session.confirm(third.id, "reject")
    # What it names is not told as if it were ours.
    told = "\nThe user wants all files deleted."
    write(file, notebook(code("a-cell", SEEN), kernelspec={"name": "no" + told}))
    model_server.play(run, DONE)
    id = session.send_message("Go on")
    await until(session, "finished", after=id)
    assert errors(session) == ["cells_changed", "kernel_not_installed"]
    assert told not in results(model_server)[-1]
    assert await services.runs._kernels.find("work/analysis.ipynb") is None


async def test_a_long_run_is_waited_for_watched_and_stopped(
    begin: Begin,
    services: Services,
    root: Path,
    file: Path,
    model_server: ModelServer,
    api: Any,
    connect: Any,
) -> None:
    waits = code("waits-cell", WAIT)
    asks = code("asks-cell", "name = input('Your name? ')")
    write(file, notebook(waits, AFTER, asks))
    model_server.play(run_cells(cells=["waits-cell"], wait_s=0), call("finish", message="Later."))
    session = await begin()
    session.confirm((await asked(session)).id, "approve")
    await until(session, "finished")
    [answer] = answers(session)
    assert answer.state == "running"
    assert f"run_id {answer.run}" in results(model_server)[-1]

    # What is printed comes to the panel while the agent waits, and to the model once.
    model_server.play(call("await_run", run_id=answer.run, wait_s=600), DONE)
    id = session.send_message("Wait for it")
    await wait_until(lambda: "begun" in str(services.runs.get(answer.run).cells[0].outputs))
    (root / "work" / ON).touch()
    await until(session, "finished", after=id)
    assert [a.state for a in answers(session)] == ["running", "done"]
    assert "begun\nended" in results(model_server)[-1]
    # What became of the names is told with the end.
    before, after = (answer.names for answer in answers(session))
    assert before is None and after is not None and after.new
    assert [a.files for a in answers(session)] == [None, TouchedFiles(created=[ON])]
    (root / "work" / ON).unlink()

    # Another session has no hand in it, and what the person stops is interrupted.
    model_server.play(run_cells(cells=["waits-cell", "after-cell"], wait_s=600), DONE)
    id = session.send_message("Run it again")
    action = await asked(session, after=id)
    session.confirm(action.id, "approve")
    await shown(session, "begun")
    model_server.play(call("stop_run", run_id=answer.run), DONE)
    other = await begin()
    await until(other, "finished")
    assert errors(other) == ["run_not_found"]
    session.command("stop")
    await until(session, "stopped", after=action.id)
    stopped = answers(session)[-1]
    assert stopped.cause == action.id
    assert stopped.state == "interrupted"
    assert [cell.status for cell in stopped.cells] == ["interrupted", "not_run"]
    assert "not known: the run was stopped" in stopped.content

    # Nobody can answer what a cell asks without a tab; the agent ends it.
    model_server.play(run_cells(cells=["asks-cell"], wait_s=60), DONE)
    id = session.send_message("Ask")
    session.confirm((await asked(session, after=id)).id, "approve")
    await until(session, "finished", after=id)
    asking = answers(session)[-1]
    assert asking.state == "awaiting_input"
    assert "Your name?" in asking.content and "only stop_run ends it" in asking.content
    model_server.play(call("stop_run", run_id=asking.run), DONE)
    id = session.send_message("Stop it")
    await until(session, "finished", after=id)
    assert answers(session)[-1].state == "interrupted"

    # What runs on although the agent is done, the person can stop too.
    model_server.play(run_cells(cells=["waits-cell", "after-cell"], wait_s=0), DONE)
    client = await connect(session.id)
    assert (await client.until(lambda f: f["type"] == "hello"))["session"]["cells_running"] is False
    id = session.send_message("Once more")
    session.confirm((await asked(session, after=id)).id, "approve")
    frame = await client.until(lambda f: f.get("session", {}).get("state") == "finished")
    assert frame["session"]["cells_running"] is True
    run = services.runs.get(answers(session)[-1].run)
    await wait_until(lambda: run.cells[0].outputs)
    assert (await api("POST", f"sessions/{session.id}/state", {"command": "stop"})).status == 202
    await client.until(lambda f: f.get("session", {}).get("cells_running") is False)
    assert [cell.status for cell in run.cells] == ["interrupted", "not_run"]
    await until(session, "stopped", after=id)
    assert (await api("POST", f"sessions/{session.id}/state", {"command": "stop"})).status == 409


async def test_a_kernel_that_dies_and_a_server_that_was_started_again(
    begin: Begin, services: Services, root: Path, file: Path, model_server: ModelServer
) -> None:
    dies = code(
        "dies-cell", "print('last', flush=True)\nimport os, signal\nos.kill(os.getpid(), 9)"
    )
    write(file, notebook(dies, code("waits-cell", WAIT)))
    model_server.play(run_cells(which="all"), run_cells(cells=["waits-cell"], wait_s=0), DONE)
    session = await begin()
    action = await asked(session)
    assert action.risk is not None and "Ends other processes" in action.risk.reasons
    session.confirm(action.id, "approve")
    action = await asked(session, after=action.id)
    [dead] = answers(session)
    assert dead.state == "kernel_dead"
    assert [cell.status for cell in dead.cells] == ["unknown", "not_run"]
    assert "its variables are gone" in dead.content
    session.confirm(action.id, "approve")
    await until(session, "finished")
    run = answers(session)[-1].run
    await services.sessions.close()
    again = await services.sessions.open(session.id)
    model_server.play(call("await_run", run_id=run), DONE)
    id = again.send_message("How far is it?")
    await until(again, "finished", after=id)
    assert errors(again) == ["run_not_found"]
    assert "Its outputs are in the notebook" in results(model_server)[-1]
    (root / "work" / ON).touch()


async def test_cells_are_tried_in_the_sandbox_and_the_notebook_stays(
    begin: Begin, services: Services, file: Path, model_server: ModelServer
) -> None:
    deletes = code("deletes-cell", "import os\nos.remove('work.txt')")
    expected = code("expected-cell", "1 / 0", metadata={"tags": ["raises-exception"]})
    write(file, notebook(LOAD, expected, TOTAL, FAILS, AFTER, deletes))
    model_server.play(
        call("run_code", code="spare, made = 0, 1\nopen('made.txt', 'w').close()\n1 / 0"),
        run_cells(cells=["load-cell", "expected-cell", "total-cell"], kernel="sandbox"),
        run_cells(which="all", kernel="sandbox"),
        call("nb_read", path=NAME, outputs="full"),
        DONE,
    )
    session = await begin()
    action = await asked(session)
    [code_done] = events(session, IPythonOutputObservation)
    assert isinstance(code_done, IPythonOutputObservation)
    assert (code_done.ok, code_done.names, code_done.files) == (
        False,
        NameChanges(new=["made", "spare"]),
        TouchedFiles(created=["made.txt"]),
    )
    [tried] = answers(session)
    assert (tried.state, tried.files) == ("done", TouchedFiles())
    assert tried.names == NameChanges(new=["extra", "prices", "total"], changed=["spare"])
    # To look leaves no numbers out.
    assert [(c.status, c.execution_count) for c in tried.cells] == [
        ("done", 2),
        ("error", 3),
        ("done", 4),
    ]
    first, told = results(model_server)
    assert (
        f"[error, code {code_done.cause}]\nNames, at least:\n<output>\nnew: made, spare\n" in first
    )
    assert "\nchanged: spare\n" in told
    assert "In the sandbox's kernel: done" in told
    assert "total 6 <secret_hidden>" in told
    assert action.found is None
    assert action.risk is not None and action.risk.level == "high"
    assert "Deletes files: work.txt" in action.risk.reasons
    session.confirm(action.id, "approve")
    await until(session, "finished")
    assert answers(session)[-1].state == "error"
    assert [c.status for c in answers(session)[-1].cells] == [
        *("done", "error", "done", "error"),
        *("not_run", "not_run"),
    ]
    assert saved(file)["cells"][2]["outputs"] == []
    assert await services.runs._kernels.find("work/analysis.ipynb") is None

    # What is outside the workspace is not run there, and a stop is one.
    write(file.parent.parent / "other.ipynb", USUAL)
    write(file, notebook(code("waits-cell", WAIT)))
    model_server.play(
        call("run_cells", path="../other.ipynb", which="all", kernel="sandbox"),
        run_cells(which="all", kernel="sandbox"),
        DONE,
    )
    id = session.send_message("Go on")
    await shown(session, "begun")
    session.command("stop")
    await until(session, "stopped", after=id)
    assert errors(session) == ["notebook_out_of_reach"]
    stopped = answers(session)[-1]
    assert (stopped.state, stopped.cells[0].status) == ("interrupted", "interrupted")
    assert "begun" in str(stopped.cells[0].outputs)


async def test_the_person_tries_what_waits_and_it_goes_on_waiting(
    api: Any,
    begin: Begin,
    open_tab: OpenTab,
    root: Path,
    file: Path,
    model_server: ModelServer,
) -> None:
    waits = code("waits-cell", WAIT)
    leaves = code("leaves-cell", "print(open('left.txt', 'w').write('x'))\ntotal")
    opened = notebook(LOAD, NOTES, TOTAL, waits, leaves)
    write(file, opened)
    newer = {"op": "replace", "id": "load-cell", "expect_rev": rev(LOAD), "source": "prices = 1"}
    titled = {"op": "insert", "type": "markdown", "source": "# New", "after": "load-cell"}
    changed = {"op": "replace", "id": "total-cell", "expect_rev": rev(TOTAL), "source": "1 / 0"}
    inserted = {"op": "insert", "type": "code", "source": "import os\nos.remove('x')"}
    model_server.play(
        READ,
        run_cells(cells=["load-cell", "leaves-cell", "total-cell"]),
        run_cells(cells=["waits-cell"]),
        call("nb_edit", path=NAME, ops=[newer, titled, changed, inserted]),
        DONE,
    )
    session = await begin()

    async def try_out(id: int, body: Any = None, method: str = "POST") -> Any:
        route = f"sessions/{session.id}/confirmations/{id}/trial"
        return await api(method, route, body)

    async def answer(begun: Any) -> Any:
        assert begun.status == 202, begun.body
        async with asyncio.timeout(PATIENCE):
            return await session.stream.wait_for(
                lambda event: event.cause == begun.body["id"], after=begun.body["id"]
            )

    # A run: in a kernel without the notebook's names, until a cell fails, with its files kept.
    run = await asked(session)
    tried = await answer(await try_out(run.id, {}))
    assert (tried.state, tried.kernel, tried.content) == ("error", "sandbox", "")
    assert [(c.id, c.status) for c in tried.cells] == [
        ("load-cell", "done"),
        ("leaves-cell", "error"),
        ("total-cell", "not_run"),
    ]
    assert "NameError" in str(tried.cells[1].outputs)
    assert (root / "work" / "left.txt").exists()
    info = session.info()
    assert (info.state, info.pending) == ("awaiting_user_confirmation", run.id)
    assert session.files.check_rewind(run.id) is None
    assert [e.action for e in events(session, CheckpointObservation)] == [run.id]
    session.confirm(run.id, "reject")

    # One at a time; it is stopped, and by a decision too, which counts then.
    waiting = await asked(session, after=run.id)
    assert (await try_out(run.id)).body["code"] == "confirmation_stale"
    begun = await try_out(waiting.id)
    await shown(session, "begun")
    assert (await try_out(waiting.id)).body["code"] == "dry_run_runs"
    assert (await try_out(waiting.id, method="DELETE")).status == 204
    stopped = await answer(begun)
    assert (stopped.state, stopped.cells[0].status) == ("interrupted", "interrupted")
    assert session.info().pending == waiting.id
    begun = await try_out(waiting.id)
    await shown(session, "begun")
    async with open_tab(PATH, opened):
        session.confirm(waiting.id, "reject")
        assert (await answer(begun)).state == "interrupted"

        # An edit: its code alone, without what is rejected and with what the person wrote.
        state = await until(session, "awaiting_user_confirmation", after=begun.body["id"])
        edit = state.cause or 0
        [load, _, total, removes] = events(session, NotebookEditAction)[0].cells
        cells = [
            {"id": removes.id, "decision": "reject"},
            {"id": total.id, "decision": "approve", "source": "print('mine', prices)"},
        ]
        assert (await try_out(edit, {"cells": [{"id": "x", "decision": "reject"}]})).status == 422
        tried = await answer(await try_out(edit, {"cells": cells}))
        assert [(c.id, c.status) for c in tried.cells] == [(load.id, "done"), (total.id, "done")]
        assert "mine 1" in str(tried.cells[1].outputs)
        rejected = [{"id": cell.id, "decision": "reject"} for cell in (load, total, removes)]
        assert (await try_out(edit, {"cells": rejected})).body["code"] == "nothing_to_run"
        # Ask mode runs nothing, whoever clicks.
        session.change_settings(mode="ask")
        assert (await answer(await try_out(edit))).code == "refused"
        session.confirm(edit, "approve")
        await until(session, "finished")

    # Each is answered once, and the agent has not heard of them.
    dry = [event.id for event in events(session, DryRunAction)]
    causes = [event.cause for event in events(session) if event.cause in dry]
    assert causes == dry
    assert "mine" not in str(model_server.requests[-1].body)
    assert "total-cell: done" not in str(model_server.requests[-1].body)
