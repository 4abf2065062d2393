"""Run tasks of the guided tour one after another and look for what they leave behind.

    python tests/benchmarks/soak.py --minutes 30

Each task runs in a session of its own, in a sandbox of its own, all in this one process, as in a
server that is never restarted. Fails when file descriptors, child processes or asyncio tasks are
left, or when memory keeps growing.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import psutil

from openhands_jupyter.config import Config
from openhands_jupyter.events import AgentStateChangedObservation, Event
from openhands_jupyter.session import SessionManager

TASKS = (
    "Write a Python script that computes Fibonacci numbers and run it",
    "Load a CSV and plot it",
    "Create a temporary file and delete it",
)
WARM_UP = 2 * len(TASKS)
GROWTH = 0.05
"""MiB a task that memory may grow by, from the first third to the last."""


@dataclass(frozen=True)
class Traces:
    """What this process holds while no session is open."""

    memory: float
    files: int
    children: int
    tasks: int

    @classmethod
    def now(cls) -> Traces:
        """Look at this process."""
        process = psutil.Process()
        return cls(
            memory=process.memory_info().rss / 2**20,
            files=process.num_fds(),
            children=len(process.children(recursive=True)),
            tasks=len(asyncio.all_tasks()),
        )


async def main(seconds: float) -> int:
    """Run tasks for some time; the exit code says whether something was left behind."""
    samples: list[Traces] = []
    with tempfile.TemporaryDirectory() as folder:
        workspace = Path(folder) / "workspace"
        workspace.mkdir()
        config = Config(
            workspace,
            overrides={"model": "tour", "mode": "auto"},
            environ={"HOME": folder},
        )
        manager = SessionManager(config)
        ends = time.monotonic() + seconds
        while time.monotonic() < ends or len(samples) < WARM_UP + 3:
            await run_task(manager, TASKS[len(samples) % len(TASKS)])
            samples.append(Traces.now())
            print(len(samples), samples[-1], flush=True)
        await manager.close()
    return report(samples[WARM_UP:])


async def run_task(manager: SessionManager, task: str) -> None:
    """Do one task in a session of its own and delete the session."""
    session = await manager.create(workspace=".")
    session.send_message(task)
    ended = await session.stream.wait_for(is_end)
    await manager.delete(session.id)
    if not (isinstance(ended, AgentStateChangedObservation) and ended.state == "finished"):
        raise RuntimeError(f"{task}: {ended}")


def is_end(event: Event) -> bool:
    """Whether the agent has come to rest."""
    return isinstance(event, AgentStateChangedObservation) and event.state in (
        "error",
        "finished",
        "paused",
        "stopped",
        "awaiting_user_confirmation",
    )


def report(samples: list[Traces]) -> int:
    """Compare the beginning with the end."""
    third = max(len(samples) // 3, 1)
    early, late = samples[:third], samples[-third:]
    growth = statistics.median(sample.memory for sample in late)
    growth -= statistics.median(sample.memory for sample in early)
    growth /= max(len(samples) - third, 1)
    left = {
        name: min(getattr(sample, name) for sample in late)
        - min(getattr(sample, name) for sample in early)
        for name in ("files", "children", "tasks")
    }
    print(f"memory grows by {growth:.3f} MiB a task; left behind: {left}")
    return int(growth > GROWTH or any(count > 0 for count in left.values()))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=30)
    sys.exit(asyncio.run(main(parser.parse_args().minutes * 60)))
