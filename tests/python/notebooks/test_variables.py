"""What a page asks a person's kernel for their variables: none of their code runs by it."""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jupyter_client.manager import KernelManager
from magic_kernel import Kernel, Ran
from waiting import PATIENCE

import openhands_jupyter.notebooks.in_kernel
from openhands_jupyter.events import Masker
from openhands_jupyter.notebooks.in_kernel.expressions import told_in
from openhands_jupyter.notebooks.showing.variables import UNREADABLE, variables_text

IN_KERNEL = Path(openhands_jupyter.notebooks.in_kernel.__path__[0])


@pytest.fixture(scope="module")
def _kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kernel]:
    manager = KernelManager(kernel_name="python3")
    own = tmp_path_factory.mktemp("kernel")
    environ = {**os.environ, "HOME": str(own), "IPYTHONDIR": str(own / "ipython")}
    manager.start_kernel(env=environ, cwd=str(own))
    client = manager.client()
    client.start_channels()
    client.wait_for_ready(timeout=PATIENCE)
    yield Kernel(client)
    client.stop_channels()
    manager.shutdown_kernel(now=True)
    manager.cleanup_resources()


@pytest.fixture
def kernel(_kernel: Kernel) -> Kernel:
    """A kernel in which nothing was defined."""
    _kernel.run("%reset -f")
    return _kernel


def ask(kernel: Kernel) -> dict[str, Any]:
    """What the kernel tells, asked as a page asks."""
    sources = [(IN_KERNEL / name).read_text() for name in ("kinds.py", "variables.py")]
    run = ", ".join(f"e({json.dumps(source)}, s)" for source in sources)
    space = "__import__('builtins').exec, {'names': globals()}"
    expression = f"(lambda e, s: ({run}, s['told'])[-1])({space})"
    ran = unrecorded(kernel, "", silent=True, user_expressions={"told": expression})
    assert [message for message in ran.messages if message["msg_type"] != "status"] == []
    result = ran.reply["user_expressions"]["told"]
    assert result["status"] == "ok", result
    told: dict[str, Any] = json.loads(base64.b64decode(result["data"]["text/plain"][1:-1]))
    return told


def unrecorded(kernel: Kernel, code: str, **more: Any) -> Ran:
    """Run code that counts as no cell."""
    content = {"code": code, "silent": False, "store_history": False, "allow_stdin": False, **more}
    return kernel.ended(kernel.send("execute_request", content))


def by_name(told: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {one.pop("name"): one for one in told["variables"]}


def test_names_types_shapes_and_dtypes(kernel: Kernel) -> None:
    kernel.run(
        """
import numpy as np, pandas as pd
from pandas import DataFrame
from pathlib import Path
x = 1
text = "abc"
rows = [1, 2]
where = Path(".")
m = np.zeros((2, 3))
both = np.zeros(4, dtype=[("a", "i4"), ("b", "f8")])
day = pd.date_range("2026-01-01", periods=3)
df = pd.DataFrame({"day": day, "price": [1.0, 2, 3], 7: list("abc"), ("a", 1): 0})
series = df["price"]
wide = pd.DataFrame(np.zeros((1, 50)))
empty = None
_hidden = 1
def function(): ...
class Thing: ...
thing = Thing()
lower = str.lower
absolute = np.absolute
"""
    )
    told = ask(kernel)
    assert told["left_out"] == 0
    variables = by_name(told)
    wide = variables.pop("wide")
    assert (wide["shape"], wide["dtypes"][:2], len(wide["dtypes"])) == (
        [1, 50],
        ["0: float64", "1: float64"],
        12,
    )
    day = variables["df"]["dtypes"].pop(0)
    assert day.startswith("day: datetime64[")
    assert variables.pop("day")["type"].endswith("DatetimeIndex")
    assert variables.pop("where")["type"].endswith("PosixPath")
    lower = variables.pop("lower")
    assert lower["type"] == "method_descriptor"
    assert variables == {
        "x": {"type": "int"},
        "text": {"type": "str", "shape": [3]},
        "rows": {"type": "list", "shape": [2]},
        "m": {"type": "numpy.ndarray", "shape": [2, 3], "dtypes": ["float64"]},
        "both": {
            "type": "numpy.ndarray",
            "shape": [4],
            "dtypes": ["[('a', '<i4'), ('b', '<f8')]"],
        },
        "df": {
            "type": "pandas.DataFrame",
            "shape": [3, 4],
            "dtypes": ["price: float64", "7: str", "a/1: int64"],
        },
        "series": {"type": "pandas.Series", "shape": [3], "dtypes": ["float64"]},
        "empty": {"type": "NoneType"},
        "thing": {"type": "Thing"},
    }


TRAPS = """
import pandas as pd, numpy as np
ran = []
def trap(what):
    def run(*args, **more):
        ran.append(what)
        raise SystemExit(what)
    return run
names = ("__repr__ __str__ __getattribute__ __getattr__ __len__ __iter__ __eq__ __hash__ "
         "__bool__ __format__ __dir__ __instancecheck__ __subclasscheck__").split()
traps = {name: trap("meta" + name) for name in names}
for name in ("__name__", "__module__", "__mro__", "__class__"):
    traps[name] = property(trap("meta" + name))
Meta = type("Meta", (type,), traps)
body = {name: trap(name) for name in names}
body.update({name: property(trap(name)) for name in ("__class__", "shape", "dtype", "columns")})
value = object.__new__(type.__new__(Meta, "Trap", (), body))
class Frame(pd.DataFrame):
    shape = dtypes = columns = property(trap("frame"))
class Array(np.ndarray):
    shape = property(trap("array shape"))
    def __repr__(self): trap("array")()
class Many(list):
    __len__ = __iter__ = trap("len")
class Label(str):
    __str__ = __repr__ = trap("label")
frame = Frame()
array = np.zeros(2).view(Array)
many = Many()
# As an object: with pyarrow, pandas makes plain texts of labels.
label = pd.DataFrame([[1]], columns=pd.Index([Label("a")], dtype=object))
globals()[Label("key")] = 1
globals()[3] = 1
"""


def test_no_code_of_the_person_runs(kernel: Kernel) -> None:
    assert kernel.run(TRAPS).status == "ok"
    kernel.run("ran.clear()")
    variables = by_name(ask(kernel))
    assert variables["value"]["type"].endswith("Trap")
    assert variables["frame"] == {"type": "Frame"}
    assert variables["array"] == {"type": "Array"}
    assert variables["many"] == {"type": "Many"}
    assert variables["label"]["shape"] == [1, 1]
    assert variables["label"]["dtypes"] == ["?: int64"]
    assert "key" not in variables
    assert kernel.run("print(ran)").text == "[]\n"
    assert kernel.run("try: len(many)\nexcept SystemExit: print(ran)").text == "['len']\n"


def test_it_leaves_nothing_behind(kernel: Kernel) -> None:
    kernel.run("x = 40 + 2\nx")
    kernel.run("1 / 0")
    state = (
        "import sys; print(sorted(globals()), In, Out, _, get_ipython().execution_count, "
        "sys.last_value, list(get_ipython().history_manager.get_tail(9)))"
    )
    unrecorded(kernel, state)
    before = unrecorded(kernel, state).text
    assert "division by zero" in before
    ask(kernel)
    assert unrecorded(kernel, state).text == before


def test_the_newest_are_told_where_there_are_many(kernel: Kernel) -> None:
    kernel.run("for number in range(200): globals()[f'v{number}'] = number")
    told = ask(kernel)
    assert (len(told["variables"]), told["left_out"]) == (60, 141)
    assert told["variables"][-1]["name"] == "v199"


def test_what_is_not_loaded_is_not_loaded_by_it(kernel: Kernel) -> None:
    kernel.run("import sys; known = set(sys.modules)")
    ask(kernel)
    new = kernel.run("print(sorted(set(sys.modules) - known))").text
    assert new == "[]\n"


def test_what_is_nested_deeply_is_no_answer() -> None:
    """Whatever runs in the sandbox can print it in place of an answer."""
    deep = b"[" * 100_000 + b"]" * 100_000
    with pytest.raises(ValueError, match="nested"):
        told_in(base64.b64encode(deep).decode())
    less: Any = []
    for _ in range(900):
        less = [less]
    assert variables_text(less, Masker(lambda: ["a-secret"])) == UNREADABLE
    found = [{"name": "a-secret", "type": "b"}]
    assert "a-secret" not in variables_text({"variables": found}, Masker(lambda: ["a-secret"]))
