"""Cells in the sandbox's kernel: outputs, interruptions, death, floods."""

from __future__ import annotations

import asyncio
import base64

import pytest
from sandbox_facts import HERE, SANDBOXES
from waiting import unhurried, wait_until

from openhands_jupyter.events import ErrorObservation, IPythonRunCellAction, Output

pytestmark = [pytest.mark.sandbox, pytest.mark.contract]


def text_of(observation) -> str:
    return "".join(output.text for output in observation.outputs if output.kind == "stream")


async def stopped_after(bench, seconds, code):
    """Run a cell, stop it, and tell the observation and how long the stop took."""
    task = asyncio.ensure_future(bench.cell(code))
    await wait_until(lambda: "ready" in bench.printed)
    await asyncio.sleep(seconds)
    asked = unhurried()
    await bench.runtime.interrupt()
    took = unhurried() - asked
    return await task, took


async def ended_after(bench, code):
    """Run a cell that prints something and goes on, to some end, when there is a file ``go``."""
    task = asyncio.ensure_future(bench.cell(code))
    await wait_until(lambda: bench.printed)
    (bench.workspace / "go").touch()
    return await task


async def the_kernel_is_started_before_it_is_needed_whatever_the_workspace_holds(b):
    await b.sh("echo 'raise SystemExit(\"no zmq today\")' >zmq.py; cp zmq.py IPython.py")
    await b.runtime.prewarm()
    # ipykernel_launcher keeps the workspace off its path.
    assert (await b.cell("1")).execution_count == 1
    await b.runtime.prewarm()
    await b.sh("rm zmq.py IPython.py")


async def outputs_keep_order_kind_and_mime_types(b):
    code = """
import sys, time
from IPython.display import HTML, display
print("a"); print("b", flush=True)
print("c", file=sys.stderr, flush=True); time.sleep(0.1)
display(HTML("<b>x</b>"))
print("d")
40 + 2
"""
    observation = await b.cell(code)
    html = {"text/plain": "<IPython.core.display.HTML object>", "text/html": "<b>x</b>"}
    assert observation.outputs == [
        Output(kind="stream", name="stdout", text="a\nb\n"),
        Output(kind="stream", name="stderr", text="c\n"),
        Output(kind="display_data", data=html),
        Output(kind="stream", name="stdout", text="d\n"),
        Output(kind="execute_result", data={"text/plain": "42"}),
    ]
    assert observation.ok
    assert observation.execution_count == 2
    assert b.printed == "a\nb\nc\nd\n"


async def cells_share_variables_and_the_workspace(b):
    await b.cell("x = 5; open('f', 'w').write('here')")
    assert (await b.cell("x")).outputs[0].data == {"text/plain": "5"}
    assert (await b.sh("cat f")).content == "here"
    assert (await b.cell("%pwd")).outputs[0].data == {"text/plain": repr(str(b.workspace))}


async def what_is_asked_after_each_cell_leaves_no_trace(b):
    count = (await b.cell("word = 'kept'")).execution_count
    assert b.runtime.told == f"kept{count + 1}"
    # A cell that fails takes the question with it, so that it is asked once more.
    failed = await b.cell("word = 'other'; 1 / 0")
    assert (failed.ok, failed.execution_count) == (False, count + 1)
    assert b.runtime.told == f"other{count + 2}"
    await b.cell("del word")
    assert b.runtime.told is None
    assert (await b.cell("_")).execution_count == count + 3


async def errors(b):
    observation = await b.cell("print(1)\n1/0")
    assert not observation.ok
    assert observation.interrupted == ""
    error = observation.outputs[-1]
    assert (error.kind, error.ename, error.evalue) == (
        "error",
        "ZeroDivisionError",
        "division by zero",
    )
    assert "ZeroDivisionError" in error.text
    assert (await b.cell("syntax error")).outputs[-1].ename == "SyntaxError"


async def clear_output_and_updated_displays(b):
    code = """
from IPython.display import clear_output, display
print("gone"); clear_output(); print("gone too"); clear_output(wait=True)
handle = display("old", display_id=True)
handle.update("new")
"""
    assert (await b.cell(code)).outputs == [
        Output(kind="display_data", data={"text/plain": "'new'"})
    ]


async def input_cannot_be_answered_and_says_what_it_asked(b):
    observation = await b.cell("print('before')\nname = input('Your name? ')", limit=60)
    assert observation.input_requested == "Your name? "
    assert not observation.ok
    assert text_of(observation) == "before\n"
    assert observation.outputs[-1].ename == "EOFError"
    password = await b.cell("import getpass; getpass.getpass('Secret: ')", limit=60)
    assert password.input_requested == "Secret: "
    assert (await b.cell("1")).ok


async def a_timeout_keeps_outputs_and_variables(b):
    await b.cell("import time; x = 1")
    observation = await b.cell("print('partial'); time.sleep(60)", limit=0.5)
    assert observation.interrupted == "timeout"
    assert not observation.ok
    assert text_of(observation) == "partial\n"
    assert (await b.cell("x")).ok


async def shell_and_kernel_do_not_wait_for_each_other(b):
    await b.cell("1")
    assert (await b.sh("x=1; cd /usr; echo $$")).exit_code == 0
    observation = await b.cell("import os; print(os.getcwd(), 'x' in os.environ)")
    assert text_of(observation) == f"{b.workspace} False\n"


CELLS = [
    the_kernel_is_started_before_it_is_needed_whatever_the_workspace_holds,
    outputs_keep_order_kind_and_mime_types,
    cells_share_variables_and_the_workspace,
    what_is_asked_after_each_cell_leaves_no_trace,
    errors,
    clear_output_and_updated_displays,
    input_cannot_be_answered_and_says_what_it_asked,
    a_timeout_keeps_outputs_and_variables,
    shell_and_kernel_do_not_wait_for_each_other,
]


async def test_cells(bench, subtests):
    """What ends no kernel is seen in one, in this order."""
    async with bench(asking="word + str(len(In))") as b:
        for look in CELLS:
            with subtests.test(look.__name__):
                await look(b)


@pytest.mark.parametrize("isolation", SANDBOXES, indirect=True)
async def test_a_figure_arrives_as_png(bench):
    pytest.importorskip("matplotlib")
    async with bench() as b:
        observation = await b.cell("import matplotlib.pyplot as plt\nplt.plot([1, 2]);")
        image = next(o.data["image/png"] for o in observation.outputs if "image/png" in o.data)
        assert base64.b64decode(image).startswith(b"\x89PNG")


STUBBORN = """
import time
print("ready", flush=True)
while True:
    try:
        time.sleep(60)
    except KeyboardInterrupt:
        pass
"""


STOPPED = {
    "sleep": ("import time; print('ready', flush=True); time.sleep(60)", True),
    "loop": ("print('ready', flush=True)\nwhile True: pass", True),
    "child": (
        "import subprocess; print('ready', flush=True); subprocess.run(['sleep', '60'])",
        True,
    ),
    "ignores the interrupt": (STUBBORN, False),
    "stopped process": (
        "import os, signal, time; print('ready', flush=True); time.sleep(0.1)\n"
        "os.kill(os.getpid(), signal.SIGSTOP)",
        False,
    ),
}
"""Cells, and whether an interrupt may be enough to end them."""


async def test_stop_ends_a_cell_within_a_second(bench, subtests):
    async with bench() as b:
        for name, (code, reacts) in STOPPED.items():
            with subtests.test(name):
                await b.cell("x = 1")
                observation, took = await stopped_after(b, 0.3, code)
                assert observation.interrupted == "stopped"
                assert not observation.ok
                assert took < 1.5
                # On a busy machine even a willing cell may take too long to write its traceback.
                was_killed = "was killed" in text_of(observation)
                assert was_killed or reacts
                assert (await b.cell("x")).ok == (not was_killed)


@pytest.mark.parametrize("isolation", HERE, indirect=True)
async def test_stop_while_the_kernel_starts(bench):
    async with bench() as b:
        task = asyncio.ensure_future(b.cell("1"))
        # Not while it is looked whether the sandbox still will do, which comes before the kernel.
        await wait_until(lambda: b.runtime.used)
        await b.runtime.interrupt()
        assert (await task).interrupted == "stopped"
        assert (await b.cell("2")).outputs[0].data == {"text/plain": "2"}


@pytest.mark.parametrize("isolation", HERE, indirect=True)
async def test_a_killed_kernel_is_said_and_replaced(bench):
    async with bench() as b:
        await b.cell("x = 1")
        observation = await ended_after(
            b,
            "import os, time; print('partial', flush=True)\n"
            "while not os.path.exists('go'): time.sleep(0.02)\n"
            "os.kill(os.getpid(), 9)",
        )
        assert observation.interrupted == "kernel_died"
        assert not observation.ok
        assert text_of(observation).startswith("partial\n")
        assert "ended by signal 9" in text_of(observation)
        assert (await b.cell("x")).outputs[-1].ename == "NameError"


@pytest.mark.parametrize("isolation", HERE, indirect=True)
async def test_a_kernel_that_dies_between_cells_is_replaced(bench):
    async with bench() as b:
        pid = (await b.cell("import os; os.getpid()")).outputs[0].data["text/plain"]
        await b.sh(f"kill -KILL {pid}")
        await wait_until(lambda: b.runtime._kernel._running() is None)
        observation = await b.cell("1")
        assert observation.ok
        assert "its variables are gone" in text_of(observation)
        assert text_of(await b.cell("1")) == ""


async def test_a_sandbox_that_dies_between_actions_is_replaced_and_said(bench):
    async with bench() as b:
        await b.cell("x = 1")
        waiting = "until [ -e go ]; do sleep 0.02; done"
        await b.sh(f"({waiting}; kill -KILL $PPID) >/dev/null 2>&1 &")
        (b.workspace / "go").touch()
        await wait_until(lambda: not b.runtime._sandbox.alive)
        command = await b.sh("echo fresh")
        assert command.content.startswith("[The sandbox had ended")
        assert command.content.endswith("fresh\n")
        assert text_of(await b.cell("1")).startswith("[The sandbox had ended")
        assert (await b.sh("echo again")).content == "again\n"
        assert text_of(await b.cell("1")) == ""


@pytest.mark.parametrize("isolation", HERE, indirect=True)
async def test_the_death_of_the_sandbox_in_a_cell(bench):
    async with bench() as b:
        observation = await ended_after(
            b,
            "import os, time; print('partial', flush=True)\n"
            "while not os.path.exists('go'): time.sleep(0.02)\n"
            "os.kill(os.getppid(), 9); time.sleep(60)",
        )
        assert observation.interrupted == "sandbox_died"
        assert text_of(observation).startswith("partial\n")
        assert (await b.cell("1")).ok


async def fifty_megabytes_printed_line_by_line(b):
    observation = await b.cell("for n in range(500_000): print('x' * 100)")
    assert observation.interrupted == "output_limit"
    assert not observation.ok
    text = text_of(observation)
    assert len(text) < 1_001_000
    assert "characters left out" in text
    assert len(b.printed) < 1_001_000
    assert text_of(await b.cell("print('after')")) == "after\n"


async def one_huge_message_does_not_wedge_the_kernel(b):
    for code in ("print('x' * 50_000_000)", "'x' * 50_000_000"):
        await b.cell("kept = 1")
        observation = await b.cell(code)
        assert observation.interrupted == "output_limit"
        assert "was left out" in text_of(observation)
        after = await b.cell("print('after', kept)")
        assert text_of(after) == "after 1\n"


@pytest.mark.parametrize("isolation", HERE, indirect=True)
async def test_floods(bench, subtests):
    async with bench() as b:
        for flood in (
            one_huge_message_does_not_wedge_the_kernel,
            fifty_megabytes_printed_line_by_line,
        ):
            with subtests.test(flood.__name__):
                await flood(b)


@pytest.mark.parametrize("isolation", HERE, indirect=True)
async def test_a_missing_ipykernel_is_said(bench, monkeypatch):
    from openhands_jupyter.runtime import kernel

    argv = [*kernel._ARGV]
    argv[argv.index("ipykernel_launcher")] = "ipykernel_that_is_missing"
    monkeypatch.setattr(kernel, "_ARGV", argv)
    async with bench() as b:
        observation = await b.act(IPythonRunCellAction(code="1"))
        assert isinstance(observation, ErrorObservation)
        assert observation.code == "kernel_failed"
        assert "No module named ipykernel_that_is_missing" in observation.message


@pytest.mark.parametrize("isolation", HERE, indirect=True)
async def test_a_kernel_that_never_answers_is_an_error(bench, monkeypatch):
    monkeypatch.setattr("openhands_jupyter.runtime.kernel.START_TIMEOUT", 1.0)
    async with bench() as b:
        (b.workspace / "ipykernel_launcher.py").write_text("import time; time.sleep(600)")
        observation = await b.act(IPythonRunCellAction(code="1"))
        assert isinstance(observation, ErrorObservation)
        assert "did not answer within 1 second" in observation.message
        assert await b.runtime.at_rest()
