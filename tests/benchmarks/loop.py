"""What a step of an agent takes beside its model, through LiteLLM, in a server that is watched.

Read at the model server: from the last byte of an answer to that of the next request. Against the
least that LiteLLM and a kernel client need (`floors`), and against openhands-sdk where it is:
``OPENHANDS_BENCH`` is a folder with a script ``peer_sdk_loop.py`` that measures the same of it, and
``OPENHANDS_PYTHON`` the interpreter that it is installed for.
"""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import floors
from driven import Driven, driven, growth
from measure import Row
from timed_model import TimedModel, served

STEPS, FEW = 50, 20
LONG, SHORTER = 500, 200
"""Steps over which growth is measured, with more than one round and with one."""


def rows(rounds: int = 3) -> list[Row]:
    """Steps of a mixed task, their growth, commands and cells; of at most three rounds."""
    return asyncio.run(_rows(min(rounds, 3)))


async def _rows(rounds: int) -> list[Row]:
    figures: dict[str, list[float]] = {}

    def note(name: str, figure: float | None) -> None:
        if figure is not None:
            figures.setdefault(name, []).append(figure)
            print(f"  {name}: {figure:.2f}", flush=True)

    with served() as model:
        async with driven(model) as ours:
            for number in range(rounds):
                gaps, _ = await ours.run("mix", STEPS, f"mix-{number}")
                note("mix", statistics.median(gaps))
                gaps = floor(model, "mix", STEPS, f"floor-mix-{number}")
                note("mix floor", statistics.median(gaps))
                note("mix sdk", sdk("mix", STEPS, "p50_ms"))
                gaps, session = await ours.run("bash", FEW, f"bash-{number}")
                note("bash", statistics.median(gaps))
                note("command", statistics.median(await ours.took(session)))
                note("bash sdk", sdk("terminal", FEW, "p50_ms"))
                await _cells(ours, note, number)
            long = LONG if rounds > 1 else SHORTER
            gaps, _ = await ours.run("mix", long, "long")
            note("growth", growth(gaps))
            note("growth floor", growth(floor(model, "mix", long, "floor-long")))
            note("growth sdk", _sdk_growth(long))
    found = {name: statistics.median(values) for name, values in figures.items()}
    return _table(found)


async def _cells(ours: Driven, note: Any, number: int) -> None:
    _, session = await ours.run("python", FEW, f"python-{number}")
    # The first waits for the kernel to start.
    note("cell", statistics.median((await ours.took(session))[1:]))
    note("cell floor", statistics.median((await floors.cells(FEW))[1:]))


def _table(found: dict[str, float]) -> list[Row]:
    def row(what: str, name: str, against: str, unit: str, goal: str) -> Row:
        floor = found.get(against)
        if floor is None:
            goal += "; not measured: OPENHANDS_BENCH is not set"
        return Row(what, found[name], floor, unit, f"ratio {goal}")

    return [
        row("mixed step ÷ LiteLLM's floor (G5)", "mix", "mix floor", "ms", "≤ 1.5"),
        row("mixed step ÷ openhands-sdk (G5)", "mix", "mix sdk", "ms", "≤ 0.35"),
        row("growth of a step ÷ LiteLLM's floor", "growth", "growth floor", "µs/step", "≤ 1"),
        row("growth of a step ÷ openhands-sdk (G6)", "growth", "growth sdk", "µs/step", "≤ 0.07"),
        row("echo, slow .bashrc ÷ openhands-sdk (G8)", "bash", "bash sdk", "ms", "≤ 0.06"),
        row("echo, action to result ÷ the same", "command", "bash sdk", "ms", "≤ 0.06"),
        row("1+1, action to result ÷ jupyter_client (G9)", "cell", "cell floor", "ms", "≤ 1.5"),
    ]


def floor(model: TimedModel, kind: str, steps: int, name: str) -> list[float]:
    """The gaps of the loop that is only LiteLLM."""
    command = [sys.executable, floors.__file__, model.url, name, kind, str(steps)]
    subprocess.run(command, check=True, capture_output=True)
    return model.gaps(name)


def _sdk_growth(steps: int) -> float | None:
    early, late = sdk("mix", steps, "early_ms", "late_ms") or (None, None)
    if early is None or late is None:
        return None
    return (late - early) * 1000 / (steps - 3 * (steps // 25))


def sdk(kind: str, steps: int, *names: str) -> Any:
    """What the script measured of openhands-sdk; None where it is not there."""
    folder, python = (os.environ.get(f"OPENHANDS_{name}") for name in ("BENCH", "PYTHON"))
    if not folder or not python:
        return None
    with tempfile.TemporaryDirectory() as results:
        arguments = ["--kind", kind, "--steps", str(steps), "--persist", "--save", "sdk"]
        subprocess.run(
            [python, str(Path(folder, "peer_sdk_loop.py")), *arguments],
            env=os.environ | {"BENCH_RESULTS": results},
            check=True,
            capture_output=True,
        )
        [run] = json.loads(Path(results, "sdk.json").read_text())["runs"]
    found = [run["gaps"][name] for name in names]
    return found if len(found) > 1 else found[0]
