"""Texts of others that are as bad as can be for the expressions that look through them.

A time that grows by the square of the length would hold the server up for minutes or hours.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from openhands_jupyter import ipython_code
from openhands_jupyter.controller.fingerprints import _IDS, _NUMBERS, _OF_ACTIONS, _TIMES
from openhands_jupyter.llm.tour.tasks import task_for
from openhands_jupyter.notebooks.cleanroom.comparing import comparable
from openhands_jupyter.notebooks.running.planning import starts_agent
from openhands_jupyter.notebooks.running.printed import Printed
from openhands_jupyter.runtime.executed_later import difference

LENGTH = 20_000
"""Long enough for half a second and more where the time grows by the square."""

NOTHING = 0.1
"""Seconds of the processor that are too few to be compared."""

VOLATILE = [*(pattern.sub for pattern, _ in (*_IDS, *_TIMES, *_OF_ACTIONS)), _NUMBERS.sub]
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


def processor_time(look: Callable[[str], object], piece: str, length: int) -> float:
    text = piece * (length // len(piece)) + "x"
    before = time.process_time()
    look(text)
    return time.process_time() - before
