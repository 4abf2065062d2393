"""Texts of others that are as bad as can be for the expressions that look through them.

A time that grows by the square of the length would hold the server up for minutes or hours.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from openhands_jupyter import ipython_code
from openhands_jupyter.controller.fingerprints import _CLOCKS, _IDS, _NUMBERS, _OF_ACTIONS, _TIMES
from openhands_jupyter.llm.base import Delta, Tool
from openhands_jupyter.llm.calls_in_text import read
from openhands_jupyter.llm.text_stream import TextStream
from openhands_jupyter.llm.tour.tasks import task_for
from openhands_jupyter.notebooks.cleanroom.comparing import comparable
from openhands_jupyter.notebooks.running.planning import starts_agent
from openhands_jupyter.notebooks.running.printed import Printed
from openhands_jupyter.runtime.executed_later import difference

LENGTH = 20_000
"""Long enough for half a second and more where the time grows by the square."""

NOTHING = 0.1
"""Seconds of the processor that are too few to be compared."""

VOLATILE = [
    *(pattern.sub for pattern, _ in (*_IDS, *_TIMES, *_OF_ACTIONS)),
    _NUMBERS.sub,
    _CLOCKS.sub,
]
PIECES = [
    "/tmp/",
    "1",
    "1:",
    "a1-",
    "pid ",
    "kill ",
    "\x1b[1",
    " ",
    "\n",
    "\r",
    "\b",
    "a",
    "a\b",
    "=",
    "? ",
    "%\n",
    "[\n",
    " ± ",
    "<metadata>",
]

TOOL = Tool(
    name="read",
    description="Read a file.",
    parameters={"properties": {"path": {"type": "string"}, "start": {"type": "integer"}}},
)
BEGINNINGS = [
    "",
    "<think>",
    "<tool_call>",
    "<tool_call>a",
    "<read>",
    "<function=read>",
    "<|python_tag|>",
    "[TOOL_CALLS]",
    "Action: read\n",
    "```json\n",
    "```python\n",
    "[",
]
PIECES_OF_CALLS = [
    " ",
    "\n",
    "```\n",
    "\n```python\n",
    "{\n",
    "[read(\n",
    "read{}",
    "read ",
    "<tool_call ",
    "<tool_call>",
    "<read><path>",
    "<path>a",
    "<argument name=",
    "<argument name=path>",
    "</argument>",
    "<parameter=path>",
    "<arg_key>path</arg_key>",
    "<arg_key>path</arg_key><arg_value>",
    "<think>",
    "Action: read\n",
    "Action: read\nAction Input: {",
    "[TOOL_CALLS]",
]


def compared(text: str) -> None:
    comparable([{"output_type": "stream", "name": "stdout", "text": text}])
    comparable([{"output_type": "display_data", "data": {"image/svg+xml": text}, "metadata": {}}])


def volatile(text: str) -> None:
    for pattern in VOLATILE:
        pattern("", text)


def printed(text: str) -> None:
    Printed().write(text)


@pytest.fixture
def configured(tmp_path: Path) -> Callable[[str], object]:
    (tmp_path / ".git").mkdir()

    def look(text: str) -> str:
        (tmp_path / ".git" / "config").write_bytes(text.encode())
        return difference(tmp_path, {}, {".git/config": ()})

    return look


@pytest.mark.parametrize("piece", PIECES)
def test_time_grows_with_the_length_alone(piece: str, configured: Callable[[str], object]) -> None:
    finders = (ipython_code._ESCAPE.findall, starts_agent)
    for look in (*finders, compared, printed, volatile, task_for, configured):
        short, long = (processor_time(look, piece, LENGTH * times) for times in (1, 4))
        assert long < 8 * short + NOTHING, look


@pytest.mark.parametrize("begin", BEGINNINGS)
def test_replies_of_models_are_read_in_time_that_grows_with_their_length(begin: str) -> None:
    def whole(text: str) -> None:
        read(begin + text, [TOOL])

    def streamed(text: str) -> None:
        stream = TextStream(lambda delta: None, ["read"])
        stream.take(Delta(kind="text", text=begin))
        for start in range(0, len(text), 5):
            stream.take(Delta(kind="text", text=text[start : start + 5]))

    for piece in PIECES_OF_CALLS:
        for look in (whole, streamed):
            short, long = (processor_time(look, piece, LENGTH * times) for times in (1, 4))
            assert long < 8 * short + NOTHING, (look, piece)


def processor_time(look: Callable[[str], object], piece: str, length: int) -> float:
    text = piece * (length // len(piece)) + "x"
    # What other tests have left in memory is not looked through meanwhile.
    gc.disable()
    try:
        before = time.process_time()
        look(text)
        return time.process_time() - before
    finally:
        gc.enable()
