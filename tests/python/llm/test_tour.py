"""The guided tour, task by task, against what really happens when its actions are carried out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from openhands_jupyter.agents.context import with_context
from openhands_jupyter.events import (
    Action,
    AgentMessageAction,
    AgentThinkAction,
    CellContext,
    CmdOutputObservation,
    CmdRunAction,
    ErrorObservation,
    FileWriteAction,
    FinishAction,
    IPythonOutputObservation,
    IPythonRunCellAction,
    Observation,
    Output,
    TaskTrackingAction,
    UserRejectObservation,
)
from openhands_jupyter.llm.base import Delta, LanguageModel, Message, Tool
from openhands_jupyter.llm.tour import TOUR_NAME, TourModel
from openhands_jupyter.llm.tour.conversation import Turn
from openhands_jupyter.llm.tour.csv_plot import load_and_plot
from openhands_jupyter.llm.tour.explain import explain, greet
from openhands_jupyter.llm.tour.failing_cell import Finding, _patch, diagnosed, find_out
from openhands_jupyter.llm.tour.fibonacci import fibonacci
from openhands_jupyter.llm.tour.notebooks import Seen, SeenCell
from openhands_jupyter.llm.tour.showcase import REQUESTS, show_around
from openhands_jupyter.llm.tour.tasks import recognise, task_for
from openhands_jupyter.llm.tour.temporary_files import delete_temporary_files
from openhands_jupyter.llm.tour.tidying import tidied, tidy_notebook

FIBONACCI = "Write a Python script that computes Fibonacci numbers and run it"
TWENTY = "0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 377, 610, 987, 1597, 2584, 4181"

Answer = Callable[[Action], Observation]


def answering(observation: Observation) -> Answer:
    return lambda action: observation


# Recognising


@pytest.mark.parametrize(
    ("request_text", "task"),
    [
        (FIBONACCI, fibonacci),
        ("FIBONACCI numbers please", fibonacci),
        ("could you run some python for the fib sequence?", fibonacci),
        ("load a CSV and plot it", load_and_plot),
        ("Plot the data in prices.csv", load_and_plot),
        ("please visualise my csv file", load_and_plot),
        ("open the CSV", load_and_plot),
        ("delete the temporary files here", delete_temporary_files),
        ("Clean up all *.tmp", delete_temporary_files),
        ("remove my old backups", delete_temporary_files),
        ("Tidy this notebook", tidy_notebook),
        ("please clean up my notebook a.ipynb", tidy_notebook),
        ("Find out why this cell fails", find_out),
        ('Fix the error in cell "3f2a" of "a.ipynb"', find_out),
        ("Show me what you can do", show_around),
        ("give me a tour", show_around),
        ("What can you do?", show_around),
        ("Hello there!", greet),
        ("  hi", greet),
        ("What is the capital of France?", explain),
        ("Refactor my CSV loader to support gzip", explain),
        ("delete everything", explain),
        ("", explain),
    ],
)
def test_tells_what_is_asked_for(request_text: str, task: object) -> None:
    assert task_for(request_text) is task


def test_understands_every_request_that_it_offers() -> None:
    assert [request for request in REQUESTS if recognise(request) is None] == []


def test_is_asked_for_nothing_by_what_goes_with_a_message() -> None:
    source = "# Delete the temporary files"
    cell = CellContext(path="a.ipynb", cell="c", cell_type="code", source=source)
    said = Message(role="user", content=with_context(FIBONACCI, [cell]))
    assert Turn.last_of([said], lambda text: recognise(text) is not None).request == FIBONACCI


# Fibonacci


async def test_writes_the_fibonacci_script_and_runs_it(room: Any) -> None:
    summary = await room.ask(FIBONACCI)
    assert [type(action) for action in room.actions()] == [
        FileWriteAction,
        CmdRunAction,
        FinishAction,
    ]
    assert room.commands == ["python fib.py"]
    assert TWENTY in summary
    assert (room.folder / "fib.py").is_file()


async def test_computes_as_many_numbers_as_asked_for(room: Any) -> None:
    summary = await room.ask("Print the first 7 Fibonacci numbers with a script")
    assert "0, 1, 1, 2, 3, 5, 8\n" in summary
    assert "7 Fibonacci numbers" in summary


async def test_tries_python3_once_where_there_is_no_python(room: Any) -> None:
    missing = CmdOutputObservation(content="bash: python: command not found", exit_code=127)
    room.instead = [('"python fib.py"', answering(missing))]
    summary = await room.ask(FIBONACCI)
    assert room.commands == ["python fib.py", "python3 fib.py"]
    assert TWENTY in summary


async def test_tells_when_the_script_fails(room: Any) -> None:
    failed = CmdOutputObservation(content="MemoryError", exit_code=1)
    room.instead = [('"python fib.py"', answering(failed))]
    summary = await room.ask(FIBONACCI)
    assert room.commands == ["python fib.py"]
    assert "exit code 1" in summary
    assert "MemoryError" in summary


async def test_tells_when_the_script_does_not_end(room: Any) -> None:
    endless = CmdOutputObservation(content="0, 1", interrupted="timeout")
    room.instead = [('"python fib.py"', answering(endless))]
    summary = await room.ask(FIBONACCI)
    assert "interrupted (timeout)" in summary


async def test_tells_when_the_mode_forbids_writing(room: Any) -> None:
    refusal = ErrorObservation(
        code="refused", message="Ask mode only reads.", hint="Switch to Agent mode."
    )
    room.instead = [("fib.py", answering(refusal))]
    summary = await room.ask(FIBONACCI)
    assert room.commands == []
    assert "Ask mode only reads. Switch to Agent mode." in summary


async def test_says_that_it_replaced_a_file(room: Any) -> None:
    (room.folder / "fib.py").write_text("print('mine')")
    assert "replaces the one that was there" in await room.ask(FIBONACCI)


# CSV


async def test_plots_a_csv_file_that_is_there(room: Any) -> None:
    (room.folder / "data").mkdir()
    (room.folder / "data" / "it's prices.csv").write_text("day,price\nMon,1.5\nTue,2.5\n")
    summary = await room.ask("load a CSV and plot it")
    assert "Read data/it's prices.csv: 2 rows; columns: day, price." in summary
    assert "Plotted: price." in summary
    assert "The plot is in the output above" in summary
    assert room.actions(FileWriteAction) == []


async def test_plots_the_file_that_is_named(room: Any) -> None:
    for name in ("a.csv", "b.csv"):
        (room.folder / name).write_text("x\n1\n2\n")
    assert "Read b.csv: 2 rows" in await room.ask("plot the data of b.csv")


async def test_makes_a_sample_where_there_is_no_csv_file(room: Any) -> None:
    summary = await room.ask("load a CSV and plot it")
    [written] = room.actions(FileWriteAction)
    assert "invented" in written.thought
    assert "Read sample.csv: 12 rows; columns: month, average, warmest." in summary
    assert "Plotted: average, warmest." in summary


async def test_plots_without_pandas(room: Any) -> None:
    room.absent = ["pandas"]
    summary = await room.ask("load a CSV and plot it")
    assert "Read sample.csv: 12 rows; columns: month, average, warmest." in summary
    assert "The plot is in the output above" in summary


async def test_shows_a_chart_in_text_without_matplotlib(room: Any) -> None:
    room.absent = ["pandas", "matplotlib", "matplotlib.pyplot"]
    summary = await room.ask("load a CSV and plot it")
    assert "matplotlib is not installed" in summary
    [cell] = [event for event in room.events if isinstance(event, IPythonOutputObservation)]
    assert any("####" in str(output.text) for output in cell.outputs)


async def test_tries_less_when_the_plot_fails(room: Any) -> None:
    error = Output(kind="error", text="Traceback …\nValueError: no room for axes")
    failed = IPythonOutputObservation(outputs=[error], ok=False)
    room.instead = [("matplotlib", answering(failed))]
    summary = await room.ask("load a CSV and plot it")
    assert len(room.actions(IPythonRunCellAction)) == 2
    assert "ValueError: no room for axes" in summary
    assert "12 rows in all" in summary


async def test_tells_when_the_file_is_no_csv_at_all(room: Any) -> None:
    (room.folder / "empty.csv").write_text("")
    summary = await room.ask("load a CSV and plot it")
    assert "could not plot" in summary
    assert "EmptyDataError" in summary


# Temporary files


def temporary_files(folder: Path) -> list[Path]:
    (folder / "sub").mkdir()
    (folder / ".git").mkdir()
    (folder / ".git" / "index.tmp").write_text("")
    (folder / "notes.txt").write_text("keep")
    paths = [folder / "a $(touch x).tmp", folder / "-rf.bak", folder / "sub" / "it's.txt~"]
    for path in paths:
        path.write_text("")
    return paths


async def test_deletes_what_it_found_and_looks_again(room: Any) -> None:
    paths = temporary_files(room.folder)
    summary = await room.ask("delete the temporary files here")
    assert summary.startswith("Deleted ")
    assert [path for path in paths if path.exists()] == []
    left = {path.name for path in room.folder.rglob("*") if path.is_file()}
    assert left == {"notes.txt", "index.tmp"}
    remove = room.actions(CmdRunAction)[1]
    assert remove.command.startswith("rm -- ")
    assert "cannot be undone" in remove.thought


async def test_only_the_deletion_changes_anything(room: Any) -> None:
    temporary_files(room.folder)
    await room.ask("delete the temporary files here")
    looks = [command for command in room.commands if not command.startswith("rm ")]
    assert len(looks) == 2
    assert set(looks) == {looks[0]}
    assert "-delete" not in looks[0] and "-exec" not in looks[0]


async def test_accepts_a_rejection_and_its_reason(room: Any) -> None:
    paths = temporary_files(room.folder)
    rejection = UserRejectObservation(reason="I still need them.")
    room.instead = [("rm -- ", answering(rejection))]
    summary = await room.ask("delete the temporary files here")
    assert "nothing was deleted" in summary
    assert "“I still need them.”" in summary
    assert len(room.commands) == 2
    assert all(path.exists() for path in paths)


async def test_accepts_a_rejection_without_a_reason(room: Any) -> None:
    temporary_files(room.folder)
    room.instead = [("rm -- ", answering(UserRejectObservation()))]
    summary = await room.ask("delete the temporary files here")
    assert "nothing was deleted" in summary
    assert "You said" not in summary


async def test_takes_a_message_that_rejected_for_the_reason(room: Any) -> None:
    def reject(action: Action) -> Observation:
        room.say("better not")
        return UserRejectObservation(reason="better not")

    temporary_files(room.folder)
    room.instead = [("rm -- ", reject)]
    assert "“better not”" in await room.ask("delete the temporary files here")


async def test_does_another_task_when_told_instead_of_an_approval(room: Any) -> None:
    def reject(action: Action) -> Observation:
        room.say(FIBONACCI)
        return UserRejectObservation(reason=FIBONACCI)

    temporary_files(room.folder)
    room.instead = [("rm -- ", reject)]
    assert TWENTY in await room.ask("delete the temporary files here")


async def test_has_nothing_to_delete_in_an_empty_folder(room: Any) -> None:
    summary = await room.ask("delete the temporary files here")
    assert "There are no temporary files here" in summary
    assert len(room.commands) == 1


async def test_makes_a_practice_file_as_it_suggests(room: Any) -> None:
    suggestion = (await room.ask("delete the temporary files here")).split("**")[1]
    summary = await room.ask(suggestion)
    assert room.commands[2] == "rm -- practice.tmp"
    assert summary == "Deleted `practice.tmp`, and looked again: it is gone."
    assert list(room.folder.iterdir()) == []


async def test_tells_what_could_not_be_deleted(room: Any) -> None:
    (room.folder / "a.tmp").write_text("")
    failed = CmdOutputObservation(content="rm: Read-only file system", exit_code=1)
    room.instead = [("rm -- ", answering(failed))]
    summary = await room.ask("delete the temporary files here")
    assert "`a.tmp` is still there" in summary
    assert "Read-only file system" in summary


# The tour, greetings and everything else


async def test_shows_around_and_asks_what_next(room: Any) -> None:
    question = await room.ask("Show me what you can do")
    kinds = [type(action) for action in room.actions()]
    assert kinds == [
        AgentThinkAction,
        TaskTrackingAction,
        CmdRunAction,
        TaskTrackingAction,
        IPythonRunCellAction,
        TaskTrackingAction,
        AgentMessageAction,
    ]
    assert "Both worked" in "".join(action.thought for action in room.actions())
    assert "What shall I do next?" in question
    assert [task.status for task in room.state.plan] == ["done", "done", "in_progress"]
    assert "short tour" in await room.ask("That is all, thanks")


async def test_an_answer_that_is_a_task_is_done(room: Any) -> None:
    await room.ask("Show me what you can do")
    options = room.actions(AgentMessageAction)[0].options
    assert TWENTY in await room.ask(next(text for text in options if "Fibonacci" in text))


@pytest.mark.parametrize("request_text", ["What is love?", "hello"])
async def test_says_honestly_what_it_is_and_how_to_get_a_model(
    room: Any, request_text: str
) -> None:
    said = await room.ask(request_text)
    assert "no AI" in said
    assert "settings" in said and "LLM_MODEL" in said and "LLM_API_KEY" in said
    assert room.actions(AgentMessageAction)[0].options
    assert room.commands == []


async def test_one_task_follows_another(room: Any) -> None:
    await room.ask(FIBONACCI)
    assert "There are no temporary files" in await room.ask("now delete the temporary files")
    assert TWENTY in await room.ask(FIBONACCI)


# As a language model


async def answer(*messages: Message, tools: tuple[str, ...] = ()) -> Any:
    deltas: list[Delta] = []
    described = [Tool(name=name, description="", parameters={}) for name in tools]
    model: LanguageModel = TourModel(pause=0)
    return await model.complete(list(messages), described, deltas.append), deltas


async def test_its_pieces_make_up_its_response() -> None:
    asked = Message(role="user", content=FIBONACCI)
    response, deltas = await answer(asked, tools=("write_file",))
    assert response.model == TOUR_NAME
    assert "".join(d.text for d in deltas if d.kind == "text") == response.text
    [call] = response.tool_calls
    assert "".join(d.text for d in deltas if d.kind == "tool_call") == call.arguments
    assert len(deltas) > 20


async def test_every_response_and_call_has_an_id_of_its_own() -> None:
    asked = Message(role="user", content=FIBONACCI)
    responses = [(await answer(asked, tools=("write_file",)))[0] for _ in range(3)]
    assert len({response.id for response in responses}) == 3
    assert len({response.tool_calls[0].id for response in responses}) == 3


async def test_says_so_when_the_agent_has_no_tool_for_it() -> None:
    response, _ = await answer(Message(role="user", content=FIBONACCI), tools=("finish",))
    assert response.tool_calls == []
    assert "no tool `write_file`" in response.text


async def test_says_in_words_what_it_cannot_say_by_a_call() -> None:
    response, _ = await answer(Message(role="user", content="hello"))
    assert response.tool_calls == []
    assert "Which of these shall I do?" in response.text
    assert f"- {FIBONACCI}" in response.text


async def test_says_so_when_another_model_began_the_task() -> None:
    asked = Message(role="user", content=[{"type": "text", "text": FIBONACCI}])
    first, _ = await answer(asked, tools=("write_file",))
    other = [type(first.tool_calls[0])(id="c", name="browse", arguments="{}")]
    response, _ = await answer(
        asked,
        Message(role="assistant", tool_calls=other),
        Message(role="tool", tool_call_id="c", content="page"),
        tools=("write_file",),
    )
    assert "lost the thread" in response.text


# Notebooks; the stories are told in tests/python/server/test_example.py


def cell(id: str, source: str, kind: str = "code", error: str = "") -> SeenCell:
    return SeenCell(id, kind, f"rev-{id}", True, source.split("\n") if source else [], error)


def test_leaves_a_tidy_notebook_alone() -> None:
    tidy = [cell("a", "# Title", "markdown"), cell("b", "import os\nimport sys\n\nx = 1")]
    assert tidied(Seen("a.ipynb", tidy)) == ([], [])


def test_moves_only_what_is_an_import_and_nothing_else() -> None:
    kept = (
        "if x:\n    import os\nfrom a import (\n    b\n)\nimport c; c()\nfrom __future__ import d"
    )
    magic = "%matplotlib inline\nimport sys"
    cells = [
        cell("t", "# T", "markdown"),
        cell("a", "x = 1"),
        cell("b", f"{kept}\nimport e"),
        cell("c", magic),
    ]
    operations, _ = tidied(Seen("a.ipynb", cells))
    assert operations == [
        {"op": "insert", "type": "code", "source": "import e", "after": "t"},
        {"op": "replace", "id": "b", "expect_rev": "rev-b", "source": kept},
    ]


@pytest.mark.parametrize(
    ("error", "why", "new"),
    [
        ("NameError: name 'averge' is not defined", "misspelt", "average"),
        ("NameError: name 'late' is not defined", "further down, in cell `below`", ""),
        ("NameError: name 'early' is not defined", "cell `above` defines `early`", ""),
        ("NameError: name 'np' is not defined", "never imported", "import numpy as np\nfails()"),
        ("NameError: name 'zzz' is not defined", "no cell defines", ""),
        ("ModuleNotFoundError: No module named 'a.b'", "package `a` is not installed", ""),
        ("ZeroDivisionError: division by zero", "divided by zero", ""),
    ],
)
def test_finds_out_why_a_cell_fails(error: str, why: str, new: str) -> None:
    failing = cell("fails", "fails()", error=error)
    cells = [cell("above", "early = average = 1"), failing, cell("below", "def late(): pass")]
    finding = diagnosed(failing, cells)
    assert isinstance(finding, Finding)
    assert why in finding.why
    assert finding.new == new


@pytest.mark.parametrize(
    ("source", "mended"),
    [
        ("np\nnp.zeros(2)", "import numpy as np\nnp\nnp.zeros(2)"),
        ("%%time\nnp.zeros(2)", "%%time\nimport numpy as np\nnp.zeros(2)"),
    ],
)
def test_imports_once_what_a_cell_lacks(source: str, mended: str) -> None:
    failing = cell("fails", source, error="NameError: name 'np' is not defined")
    assert _patch(failing, diagnosed(failing, [failing]))["source"] == mended
