"""The agent's tools for kernels of the person's: a real server, real kernels, a scripted model."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from model_server.script import call
from model_server.server import ModelServer
from notebook_sessions import DONE, NAME, PATH, Begin, begin, file, home, results, root
from session_tools import events, until
from waiting import PATIENCE, wait_until

from openhands_jupyter.events import (
    ErrorObservation,
    KernelCodeAction,
    KernelCodeObservation,
    Observation,
)
from openhands_jupyter.server.base import Services
from openhands_jupyter.session import Session
from openhands_jupyter.session.kernel_actions import KernelActions
from openhands_jupyter.session.notebook_places import NotebookPlaces

pytestmark = pytest.mark.sandbox

__all__ = ["begin", "file", "home", "root"]


class Person:
    """A person at their kernel, whose cells count as theirs do."""

    def __init__(self, kernels: Any, id: str) -> None:
        self.id = id
        self.kernel = kernels.get_kernel(id)
        self._client = self.kernel.client()
        self._client.start_channels()

    async def begin(self, code: str) -> str:
        """Have a cell run."""
        asked: str = self._client.execute(code)
        await wait_until(lambda: self.kernel.execution_state == "busy")
        return asked

    async def ended(self, asked: str) -> dict[str, Any]:
        """Wait for the end of a cell."""
        while True:
            reply: dict[str, Any] = await self._client.get_shell_msg(timeout=PATIENCE)
            if reply["parent_header"]["msg_id"] == asked:
                await wait_until(lambda: self.kernel.execution_state == "idle")
                return reply["content"]

    async def run(self, code: str) -> dict[str, Any]:
        """Run a cell."""
        content = await self.ended(self._client.execute(code))
        assert content["status"] == "ok", content
        return content

    async def value(self, expression: str) -> str:
        """What an expression gives, without a trace."""
        asked = self._client.execute(
            "", silent=True, user_expressions={"value": expression}, store_history=False
        )
        told = (await self.ended(asked))["user_expressions"]["value"]
        assert told["status"] == "ok", told
        text: str = told["data"]["text/plain"]
        return text

    def close(self) -> None:
        self._client.stop_channels()


@pytest.fixture
def person(
    jp_serverapp: Any, file: Path, jp_asyncio_loop: asyncio.AbstractEventLoop
) -> Iterator[Person]:
    """The person, with a kernel for the notebook."""

    async def start() -> Person:
        session = await jp_serverapp.session_manager.create_session(
            path=PATH, name=NAME, type="notebook", kernel_name="python3"
        )
        person = Person(jp_serverapp.kernel_manager, session["kernel"]["id"])
        await person.run("pass")
        return person

    person = jp_asyncio_loop.run_until_complete(start())
    yield person
    person.close()


Act = Callable[..., Awaitable[Observation]]


@pytest.fixture
def act(services: Services, root: Path) -> Act:
    """Does with a kernel what was approved."""
    assert services.kernels is not None
    places = NotebookPlaces(root, root / "work")
    actions = KernelActions(services.kernels, lambda: services.notebooks, places, PATIENCE)

    async def act(code: str, on_output: Callable[[str], None] = str, **more: Any) -> Observation:
        prepared = await actions.prepare(KernelCodeAction(path=NAME, code=code, **more))
        if isinstance(prepared, Observation):
            return prepared
        return await actions.run(prepared, on_output)

    return act


def text(observation: Observation) -> str:
    """What code printed and showed."""
    assert isinstance(observation, KernelCodeObservation), observation
    return "".join(
        str(output.text) + str(output.data.get("text/plain", "")) for output in observation.outputs
    )


async def code_of(done: Awaitable[Observation]) -> str:
    """Why something was not done."""
    observation = await done
    assert isinstance(observation, ErrorObservation), observation
    return observation.code


async def test_code_in_the_persons_kernel(
    person: Person, begin: Begin, model_server: ModelServer
) -> None:
    await person.run("rows = [1, 2, 3]")
    count = (await person.run("pass"))["execution_count"]
    model_server.play(
        call("run_code", kernel="user", path=NAME, code="rows = 0"),
        call("run_code", kernel="user", path=NAME, code="total = sum(rows)\ntotal", why="To sum."),
        DONE,
    )
    session: Session = await begin(mode="auto")
    waiting = await until(session, "awaiting_user_confirmation")
    action = session.stream.read(after=(waiting.cause or 0) - 1, limit=1)[0]
    assert isinstance(action, KernelCodeAction)
    assert action.kernel and (action.kernel.id, action.kernel.language) == (person.id, "python")
    assert action.risk and action.risk.level == "high"
    assert any("your own kernel" in reason for reason in action.risk.reasons)
    session.confirm(action.id, "approve")
    await until(session, "finished")
    (done,) = events(session, KernelCodeObservation)
    assert isinstance(done, KernelCodeObservation)
    assert (done.ok, done.kept, done.changed, text(done)) == (True, [], [], "6")
    refused, told = results(model_server)
    assert "names_exist" in refused
    assert "rows" in refused
    assert told.startswith("<output>\n6\n</output>\n[ok, ")
    assert "in the user's kernel]" in told
    assert (await person.run("pass"))["execution_count"] == count + 1
    assert await person.value("'total' in globals(), rows") == "(False, [1, 2, 3])"


async def test_what_code_leaves_in_the_kernel(person: Person, act: Act) -> None:
    await person.run(
        "import sys\ncount = 0\nrows = [1]\n"
        "def bump():\n    global count\n    count += 1\n    return count"
    )
    printed: list[str] = []
    done = await act("new = 1\nprint('said')\nbump()", printed.append)
    assert isinstance(done, KernelCodeObservation)
    assert (text(done), "".join(printed)) == ("said\n1", "said\n")
    assert (done.ok, done.changed) == (True, ["count"])

    done = await act("rows = rows + [2]\nextra = 3\nother = 4", keep=["rows", "extra"])
    assert isinstance(done, KernelCodeObservation)
    assert (done.kept, done.changed) == (["rows", "extra"], [])
    assert await person.value("rows, extra") == "([1, 2], 3)"

    failed = await act("extra2 = 1\n1 / 0", keep=["extra2"])
    assert isinstance(failed, KernelCodeObservation)
    assert (failed.ok, failed.kept, failed.outputs[-1].ename) == (False, [], "ZeroDivisionError")
    assert "scratch" not in text(failed)
    broken = await act("a b")
    assert isinstance(broken, KernelCodeObservation)
    assert broken.outputs[-1].ename == "SyntaxError"
    asking = await act("input()")
    assert "StdinNotImplementedError" in text(asking)
    assert await person.value("hasattr(sys, 'last_value'), 'new' in globals()") == "(False, False)"
    hidden = "[n for n in globals() if 'openhands' in n.lower() or n in ('s', 'asked', 'names')]"
    assert await person.value(hidden) == "[]"
    assert not any("globals()" in line for line in (await person.value("In")).split(","))


async def test_code_that_takes_long_is_interrupted_and_nothing_of_the_persons(
    person: Person, act: Act
) -> None:
    slow = "import time\nprint('begun', flush=True)\ntime.sleep(1000)"
    done = await act(slow, timeout=0.2)
    assert isinstance(done, KernelCodeObservation)
    assert (done.ok, done.interrupted, done.notice) == (False, "timeout", "")
    assert done.outputs[-1].ename == "KeyboardInterrupt"

    begun = asyncio.Event()
    stopped = asyncio.create_task(act(slow, lambda _: begun.set()))
    await begun.wait()
    stopped.cancel()
    done = await stopped
    assert isinstance(done, KernelCodeObservation)
    assert (done.interrupted, text(done)[:6]) == ("stopped", "begun\n")

    asked = await person.begin("import time\nwhile not globals().get('go'): time.sleep(0.01)")
    assert await code_of(act("1")) == "kernel_busy"
    await person.kernel.interrupt_kernel()
    assert (await person.ended(asked))["status"] == "error"
    assert text(await act("1")) == "1"


async def test_a_kernel_that_is_not_there_any_more(
    person: Person, act: Act, jp_serverapp: Any
) -> None:
    done = await act("import os\nos._exit(1)")
    assert isinstance(done, KernelCodeObservation)
    assert done.interrupted == "kernel_died"
    await jp_serverapp.kernel_manager.shutdown_kernel(person.id, now=True)
    assert await code_of(act("1")) == "kernel_not_running"
    assert await code_of(act("1", keep=["x"])) == "kernel_not_running"
