"""The agent's tools for kernels of the person's: a real server, real kernels, a scripted model."""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
from collections.abc import Awaitable, Callable, Iterator
from datetime import UTC, datetime
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import msgspec
import numpy
import pandas
import pytest
from model_server.script import call
from model_server.server import ModelServer
from notebook_sessions import DONE, NAME, PATH, Begin, begin, file, home, results, root, saved
from session_tools import SECRET, events, until
from waiting import PATIENCE, wait_until

from openhands_jupyter.events import (
    Action,
    ErrorObservation,
    IPythonRunCellAction,
    KernelCodeAction,
    KernelCodeObservation,
    KernelControlAction,
    KernelCopyAction,
    KernelCopyObservation,
    KernelInspectAction,
    KernelObservation,
    KernelVariable,
    Masker,
    NotebookEditObservation,
    Observation,
    State,
    TouchedFiles,
)
from openhands_jupyter.events.masking import MASK
from openhands_jupyter.server.base import Services
from openhands_jupyter.session import Session
from openhands_jupyter.session.kernel_actions import KernelActions
from openhands_jupyter.session.notebook_places import NotebookPlaces

pytestmark = pytest.mark.sandbox

__all__ = ["begin", "file", "home", "root"]


PYTHON_KERNEL = (sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}")


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

    async def seen(self) -> None:
        """Wait until the server hears the kernel, whose first messages it may have missed."""
        while self.kernel.execution_state == "starting":
            await self._reply(self._client.execute("", silent=True))

    async def ended(self, asked: str) -> dict[str, Any]:
        """Wait for the end of a cell."""
        content = await self._reply(asked)
        await wait_until(lambda: self.kernel.execution_state == "idle")
        return content

    async def _reply(self, asked: str) -> dict[str, Any]:
        while True:
            reply: dict[str, Any] = await self._client.get_shell_msg(timeout=PATIENCE)
            if reply["parent_header"]["msg_id"] == asked:
                content: dict[str, Any] = reply["content"]
                return content

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
        await person.seen()
        await person.run("pass")
        return person

    person = jp_asyncio_loop.run_until_complete(start())
    yield person
    person.close()


Act = Callable[..., Awaitable[Observation]]


@pytest.fixture
def act(services: Services, root: Path, tmp_path: Path) -> Act:
    """Does with a kernel what was approved."""
    assert services.kernels is not None

    async def bring(name: str, content: bytes) -> str:
        path = Path(tempfile.mkdtemp(dir=tmp_path)) / name
        path.write_bytes(content)
        return str(path)

    places = NotebookPlaces(root, root / "work")
    state = State()
    actions = KernelActions(
        services.kernels,
        lambda: services.notebooks,
        places,
        PATIENCE,
        state,
        Masker(lambda: [SECRET]),
        bring,
    )

    async def act(
        action: Action | str,
        on_output: Callable[[str], None] = str,
        meanwhile: Callable[[], Awaitable[object]] | None = None,
        **more: Any,
    ) -> Observation:
        if isinstance(action, str):
            action = KernelCodeAction(path=NAME, code=action, **more)
        action = msgspec.structs.replace(action, id=state.last_id + 1)
        prepared = await actions.prepare(action)
        if isinstance(prepared, Observation):
            return prepared
        if meanwhile is not None:
            await meanwhile()
        done = await actions.run(prepared, on_output)
        for event in (prepared, done):
            id = state.last_id + 1
            cause = prepared.id if event is done else None
            state.apply(msgspec.structs.replace(event, id=id, cause=cause, time=datetime.now(UTC)))
        return done

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


LOAD = (
    "import glob, json, tempfile\n"
    "path, = glob.glob(tempfile.gettempdir() + '/openhands-copied-*/rows.json')\n"
    "json.load(open(path))"
)


SUMS = "total = sum(rows)\nopen('sum.txt', 'w').close()\ntotal"


async def test_code_in_the_persons_kernel_and_in_the_sandbox(
    person: Person, begin: Begin, model_server: ModelServer, file: Path
) -> None:
    await person.run("rows = [1, 2, 3]")
    count = (await person.run("pass"))["execution_count"]
    model_server.play(
        call("run_code", kernel="user", path=NAME, code="rows = 0"),
        call("run_code", kernel="user", path=NAME, code=SUMS, why="To sum."),
        call("run_code", code="import math\nfound = [1, math.pi]"),
        call("inspect", names=["found", "gone"]),
        call("inspect", kernel="user", path=NAME),
        call("copy_in", path=NAME, variable="rows", rows=2, why="To look."),
        call("run_code", code=LOAD),
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
    waiting = await until(session, "awaiting_user_confirmation", after=waiting.id)
    copy = session.stream.read(after=(waiting.cause or 0) - 1, limit=1)[0]
    assert isinstance(copy, KernelCopyAction)
    assert copy.kernel
    assert copy.kernel.id == person.id
    assert copy.found == KernelVariable(type="list", shape=[3], rows=2, format="json")
    session.confirm(copy.id, "approve")
    await until(session, "finished")
    (done,) = events(session, KernelCodeObservation)
    assert isinstance(done, KernelCodeObservation)
    assert (done.ok, done.kept, done.changed, text(done)) == (True, [], [], "6")
    assert done.files == TouchedFiles(created=["sum.txt"])
    refused, told, _, own, listed, copied, loaded = results(model_server)
    assert "names_exist" in refused
    assert "rows" in refused
    assert told.startswith("<output>\n6\n</output>\n[ok, ")
    assert "in the user's kernel]" in told
    assert told.endswith("\ncreated: sum.txt\n</output>")
    assert "found: collection list, 2, " in own
    assert "1, 3.14159" in own
    assert "No such names: gone" in own
    assert listed == "<output>\nrows: collection list, 3\n</output>"
    assert copied.startswith("Copied rows (list, 3), 2 rows of it, as json, 6 bytes, to /")
    assert loaded.startswith("<output>\n[1, 2]\n</output>\n[ok, code ")
    assert (await person.run("pass"))["execution_count"] == count + 1
    assert await person.value("'total' in globals(), rows") == "(False, [1, 2, 3])"
    await see_what_becomes_a_cell(session, model_server, file)


async def see_what_becomes_a_cell(session: Session, model_server: ModelServer, file: Path) -> None:
    """Code that ran in the sandbox is inserted into the notebook, with a link to it."""
    ran = events(session, IPythonRunCellAction)[0]
    assert isinstance(ran, IPythonRunCellAction)
    ops = [
        {"op": "insert", "type": "code", "from_code": ran.id},
        {"op": "insert", "type": "code", "from_code": ran.id, "source": "found = 3"},
    ]
    model_server.play(
        call("nb_edit", path=NAME, ops=[{**ops[0], "from_code": ran.id + 1}]),
        call("nb_edit", path=NAME, ops=ops),
        DONE,
    )
    id = session.send_message("Keep it")
    await until(session, "finished", after=id)
    *_, refused, done = results(model_server)
    assert f"The newest there: {ran.id}, " in refused
    assert "2 cells edited" in done
    cells = saved(file)["cells"][-2:]
    assert ["".join(cell["source"]) for cell in cells] == [ran.code, "found = 3"]
    assert [cell["metadata"]["openhands"]["from_code"] for cell in cells] == [ran.id] * 2
    [edited] = events(session, NotebookEditObservation)
    assert isinstance(edited, NotebookEditObservation)
    assert [cell.from_code for cell in edited.cells] == [ran.id] * 2


async def test_a_kernel_is_restarted_with_what_is_lost_on_the_card(
    person: Person, begin: Begin, model_server: ModelServer
) -> None:
    await person.run("rows, sums = [1], {}")
    model_server.play(
        call("kernel", action="packages", kernel="user", path=NAME),
        call("run_code", code="own = 1"),
        call("kernel", action="state"),
        call("kernel", action="interrupt"),
        call("kernel", action="restart"),
        call("run_code", code="'own' in globals()"),
        call("kernel", action="restart", kernel="user", path=NAME, why="To begin anew."),
        DONE,
    )
    session: Session = await begin(mode="auto")
    waiting = await until(session, "awaiting_user_confirmation")
    action = session.stream.read(after=(waiting.cause or 0) - 1, limit=1)[0]
    assert isinstance(action, KernelControlAction)
    assert action.lost == ["rows", "sums"]
    assert action.risk and action.risk.level == "high"
    assert await person.value("rows") == "[1]"
    session.confirm(action.id, "approve")
    await until(session, "finished")
    packages, _, state, nothing, restarted, fresh, told = results(model_server)
    assert packages.startswith("Python 3 (ipykernel), python, idle\n<output>\nPython 3.")
    assert f"ipykernel=={metadata.version('ipykernel')}" in packages
    assert "Names: own" in state
    assert "nothing_runs" in nothing
    assert restarted == "Its variables are gone."
    assert fresh.startswith(
        "<output>\n[You restarted the kernel: its variables are gone.]\nFalse\n</output>\n[ok, "
    )
    assert "was restarted: its variables are gone" in told
    await wait_until(lambda: person.kernel.execution_state == "idle")
    assert await person.value("'rows' in globals()") == "False"


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
    assert await code_of(act("%openhands status")) == "code_runs_agent"
    hidden = "[n for n in globals() if 'openhands' in n.lower() or n in ('s', 'asked', 'names')]"
    assert await person.value(hidden) == "[]"
    assert not any("globals()" in line for line in (await person.value("In")).split(","))


MINE = f"""
import datetime, enum, sys
import numpy as np, pandas as pd
called = []
class Meta(type):
    def __repr__(cls): called.append("meta")
    def __eq__(cls, other): called.append("meta")
    __hash__ = type.__hash__
class Mine(metaclass=Meta):
    "Is mine."
    def __repr__(self): called.append("repr")
    def __len__(self): called.append("len")
    def __eq__(self, other): called.append("eq")
    def __iter__(self): called.append("iter")
    def __getattribute__(self, name):
        called.append(name)
        return object.__getattribute__(self, name)
    @property
    def __dict__(self): called.append("dict")
    __str__ = shape = dtype = __repr__
class Number(float):
    def __repr__(self): called.append("number")
    __str__ = __ne__ = __eq__ = __repr__
class Zone(datetime.tzinfo):
    def utcoffset(self, when): called.append("zone")
    tzname = dst = utcoffset
one = Mine()
held = [one, Number(1), {{"key": one, 2: [3, [4]]}}]
frame = pd.DataFrame({{"day": pd.date_range("2026-01-01", periods=3), "price": [1.5, None, 2.5],
    "any": [one, None, Number(2)], "name": ["a", "{SECRET}", "c"]}})
array = np.array([1.0, float("nan"), 3.0])
objects = np.empty(3, dtype=object)
objects[0], objects[1] = one, 1
when = datetime.datetime(2026, 1, 1, tzinfo=Zone())
huge = 1 << 100_000
def mean(rows, /, weight=1, default=one, *more, key, other=2, **rest) -> Mine:
    "Gives the mean."
called.clear()
"""


def content_of(done: KernelCopyObservation) -> bytes:
    """What was copied."""
    return Path(done.file).read_bytes()


async def see_what_is_copied(person: Person, act: Act) -> None:
    """Copy what can be copied of `MINE`, and more; the rest is refused before anybody is asked."""
    await person.run(
        "import random\nrandom.seed(1)\nstate = random.getstate()\n"
        "plain = frame[['day', 'price', 'name']]\nlabels = pd.Series(['a', 'b'], name='label')\n"
        "own = frame.set_index('any')[['price']]\n"
        "counts = {'a': [1, (2, None)], 'b': 'text', 'c': 3}\nendless = []\n"
        "endless.append(endless)\ncalled.clear()"
    )

    async def copied(variable: str, **more: Any) -> KernelCopyObservation:
        done = await act(KernelCopyAction(path=NAME, variable=variable, **more))
        assert isinstance(done, KernelCopyObservation), done
        assert len(content_of(done)) == done.size
        return done

    done = await copied("array", rows=2)
    assert done.copied == KernelVariable(type="numpy.ndarray", shape=[3], rows=2, format="npy")
    assert numpy.load(done.file, allow_pickle=False).tolist()[0] == 1.0
    done = await copied("counts", rows=2)
    assert json.loads(content_of(done)) == {"a": [1, [2, None]], "b": "text"}
    assert (await copied("counts", rows=2, sample="random")).copied.rows == 2
    assert await person.value("random.getstate() == state") == "True"

    refused = {
        "frame": "own_objects",
        "own": "own_objects",
        "objects": "own_objects",
        "one": "not_copied",
        "held": "not_copied",
        "mean": "not_copied",
        "endless": "too_large",
        "nowhere": "no_such_name",
    }
    for variable, why in refused.items():
        copy = KernelCopyAction(path=NAME, variable=variable)
        assert (variable, await code_of(act(copy))) == (variable, why)
    assert await person.value("called") == "[]"
    copy = KernelCopyAction(path=NAME, variable="array")
    assert await code_of(act(copy, meanwhile=lambda: person.run("array = array[:2]"))) == (
        "variable_changed"
    )

    await person.run("arrow = sys.modules.get('pyarrow')\nsys.modules['pyarrow'] = None")
    assert await code_of(act(KernelCopyAction(path=NAME, variable="plain"))) == "pyarrow_missing"
    if find_spec("pyarrow") is None:
        return
    await person.run("del sys.modules['pyarrow']\nif arrow: sys.modules['pyarrow'] = arrow")
    done = await copied("plain", rows=2)
    assert done.copied == KernelVariable(
        type="pandas.DataFrame", shape=[3, 3], rows=2, format="parquet"
    )
    table = pandas.read_parquet(done.file)
    assert table["name"].tolist() == ["a", SECRET]
    assert str(table["day"][0]) == "2026-01-01 00:00:00"
    done = await copied("labels")
    assert pandas.read_parquet(done.file)["label"].tolist() == ["a", "b"]


async def test_variables_are_told_without_calling_the_persons_code(
    person: Person, act: Act
) -> None:
    await person.run(MINE)

    async def look(*names: str, depth: int = 1, query: str = "") -> str:
        done = await act(
            KernelInspectAction(
                whose="user", path=NAME, names=list(names), depth=depth, query=query
            )
        )
        assert isinstance(done, KernelObservation), done
        return done.content

    count = (await person.run("pass"))["execution_count"]
    every = await look()
    for name in ("frame: table pandas.DataFrame, 3 by 4", "mean: function", "Mine: class Meta"):
        assert name in every
    told = await look("frame")
    assert "  day: datetime64" in told
    assert ", 0 nulls, 2026-01-01 00:00:00 to 2026-01-03 00:00:00" in told
    assert "  price: float64, 1 null, 1.5 to 2.5" in told
    assert "  any: object, 1 null" in told
    assert "| 2026-01-01 00:00:00 | 1.5 | <Mine> | 'a'" in told
    assert SECRET not in told
    assert MASK in told
    told = await look("array", "objects", "one", "huge", "when", "nowhere")
    assert "array: array numpy.ndarray, 3, float64, 24 bytes, 1 null, 1.0 to 3.0" in told
    assert "<Mine>, 1, None" in told
    assert "one: object Mine" in told
    assert "Is mine." in told
    assert "<int of 100001 bits>" in told
    assert "when: object datetime.datetime" in told
    assert "No such names: nowhere" in told
    assert "<dict>" in await look("held")
    assert "dict('key': <Mine>, 2: <list>)" in await look("held", depth=2)
    told = await look("mean")
    assert "mean(rows, /, weight=1, default=<Mine>, *more, key, other=2, **rest)" in told
    assert "Gives the mean." in told
    assert "Mine" in await look("Mine")
    assert await look("held", depth=0) == "<output>\nheld: collection list, 3\n</output>"
    assert (await look(query="FRA")).count("\n") == 2
    assert await person.value("called") == "[]"
    assert (await person.run("pass"))["execution_count"] == count + 1
    await see_what_is_copied(person, act)

    asked = await person.begin("import time\nwhile True: time.sleep(0.01)")
    known = await look("held", depth=0)
    assert known.startswith("The kernel is busy. What was known at ")
    assert known.endswith("<output>\nheld: collection list, 3\n</output>")
    unknown = KernelInspectAction(whose="user", path=NAME, names=["frame"], depth=2)
    assert await code_of(act(unknown)) == "kernel_busy"
    await person.kernel.interrupt_kernel()
    await person.ended(asked)


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

    # A kernel that nobody has used says that it starts; what it is doing is for itself to say.
    person.kernel.execution_state = "starting"
    assert text(await act("6 * 7")) == "42"

    asked = await person.begin("import time\nwhile not globals().get('go'): time.sleep(0.01)")
    assert await code_of(act("1")) == "kernel_busy"
    person.kernel.execution_state = "starting"
    assert await code_of(act("1")) == "kernel_busy"
    person.kernel.execution_state = "busy"
    interrupt = KernelControlAction(what="interrupt", whose="user", path=NAME)
    done = await act(interrupt)
    assert isinstance(done, KernelObservation)
    assert (await person.ended(asked))["ename"] == "KeyboardInterrupt"
    assert await code_of(act(interrupt)) == "kernel_not_busy"
    assert text(await act("1")) == "1"


async def test_a_kernel_that_is_not_there_any_more_and_one_of_another_language(
    person: Person, act: Act, jp_serverapp: Any, jp_data_dir: Path
) -> None:
    done = await act("import os\nos._exit(1)")
    assert isinstance(done, KernelCodeObservation)
    assert done.interrupted == "kernel_died"
    await jp_serverapp.kernel_manager.shutdown_kernel(person.id, now=True)
    assert await code_of(act("1")) == "kernel_not_running"
    assert await code_of(act("1", keep=["x"])) == "kernel_not_running"

    spec = {"argv": [*PYTHON_KERNEL], "display_name": "Other", "language": "other"}
    folder = jp_data_dir / "kernels" / "other"
    folder.mkdir(parents=True)
    (folder / "kernel.json").write_text(json.dumps(spec))
    session = await jp_serverapp.session_manager.create_session(
        path=PATH, name=NAME, type="notebook", kernel_name="other"
    )
    other = Person(jp_serverapp.kernel_manager, session["kernel"]["id"])
    await other.seen()
    await other.run("x = 42")
    assert await code_of(act("1")) == "kernel_not_python"
    look = KernelInspectAction(whose="user", path=NAME)
    assert await code_of(act(look)) == "names_needed"
    assert await code_of(act(msgspec.structs.replace(look, names=["f(x)"]))) == "not_a_name"
    done = await act(msgspec.structs.replace(look, names=["x", "nothing"]))
    assert isinstance(done, KernelObservation)
    assert "42" in done.content
    assert "nothing:\n[not known to the kernel]" in done.content
    other.close()
