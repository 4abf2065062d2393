"""What the sandbox adds to a plain shell and a plain kernel, seen through the runtime."""

from __future__ import annotations

import asyncio
import subprocess
import tempfile
import time
from collections.abc import Callable, Coroutine
from pathlib import Path

from jupyter_client.manager import AsyncKernelManager
from measure import Row, medians

from openhands_jupyter.events import Action, CmdRunAction, IPythonRunCellAction, Observation
from openhands_jupyter.runtime import SandboxRuntime
from openhands_jupyter.runtime.readiness import until_answering, until_listening

STEPS = 50
SHELL_STEP = CmdRunAction(command="echo step")
CELL = IPythonRunCellAction(code="1 + 1")
NEW = "new sandbox until its first cell is done"


def rows(rounds: int = 5) -> list[Row]:
    """Start, shell command and cell, in the sandbox and without anything around."""
    starts = medians(
        {
            "ours": start_sandbox,
            "floor": start_plain_kernel,
            "usual": start_kernel_as_jupyter_client,
        },
        rounds,
    )
    shell = medians({"ours": lambda: step_sandbox(SHELL_STEP), "floor": step_bash}, rounds)
    cells = medians({"ours": lambda: step_sandbox(CELL), "floor": step_plain_kernel}, rounds)
    return [
        Row(f"{NEW}, floor waited for alike", starts["ours"], starts["floor"], "s", "ratio ≤ 1.15"),
        Row(f"{NEW}, floor as jupyter_client waits", starts["ours"], starts["usual"], "s"),
        Row("shell command in the sandbox (G8)", shell["ours"], shell["floor"], "ms", "≤ 15 ms"),
        Row("cell in the sandbox (G9)", cells["ours"], cells["floor"], "ms", "ratio ≤ 1.05"),
    ]


def run(measure: Callable[[Path], Coroutine[None, None, float]]) -> float:
    with tempfile.TemporaryDirectory() as workspace:
        return asyncio.run(measure(Path(workspace)))


async def act(runtime: SandboxRuntime, action: Action) -> Observation:
    observation = await runtime.run_action(action, lambda text: None)
    if not getattr(observation, "ok", True) or getattr(observation, "exit_code", 0) != 0:
        raise RuntimeError(str(observation))
    return observation


def start_sandbox() -> float:
    async def measure(workspace: Path) -> float:
        runtime = SandboxRuntime(workspace)
        started = time.perf_counter()
        await act(runtime, CELL)
        seconds = time.perf_counter() - started
        await runtime.close()
        return seconds

    return run(measure)


def step_sandbox(action: Action) -> float:
    async def measure(workspace: Path) -> float:
        runtime = SandboxRuntime(workspace)
        await act(runtime, action)
        started = time.perf_counter()
        for _ in range(STEPS):
            await act(runtime, action)
        milliseconds = (time.perf_counter() - started) / STEPS * 1000
        await runtime.close()
        return milliseconds

    return run(measure)


def start_plain_kernel() -> float:
    return run(lambda workspace: plain_kernel(workspace, steps=0))


def step_plain_kernel() -> float:
    return run(lambda workspace: plain_kernel(workspace, steps=STEPS))


def start_kernel_as_jupyter_client() -> float:
    return run(lambda workspace: plain_kernel(workspace, steps=0, as_jupyter_client=True))


async def plain_kernel(workspace: Path, steps: int, as_jupyter_client: bool = False) -> float:
    """Seconds until the first cell is done; with `steps`, milliseconds for each further one.

    It is waited for as the sandbox's is, so that only the sandbox makes the difference; or as
    jupyter_client does it, which takes longer than the kernel needs.
    """
    manager = AsyncKernelManager(transport="ipc", ip=str(workspace / "kernel"))
    started = time.perf_counter()
    await manager.start_kernel(cwd=str(workspace))
    client = manager.client()
    if as_jupyter_client:
        client.start_channels()
        await client.wait_for_ready(timeout=60)
    else:
        await until_listening(manager)
        client.start_channels(hb=False)
        await until_answering(client)
    await client.execute_interactive(CELL.code, output_hook=lambda message: None)
    result = time.perf_counter() - started
    if steps:
        started = time.perf_counter()
        for _ in range(steps):
            await client.execute_interactive(CELL.code, output_hook=lambda message: None)
        result = (time.perf_counter() - started) / steps * 1000
    client.stop_channels()
    await manager.shutdown_kernel(now=True)
    return result


def step_bash() -> float:
    """Milliseconds that a shell which is kept open takes for a command, over pipes."""
    shell = subprocess.Popen(
        ["bash", "--norc", "--noprofile"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert shell.stdin is not None and shell.stdout is not None
    started = time.perf_counter()
    for _ in range(STEPS):
        shell.stdin.write(b"echo step\n")
        shell.stdin.flush()
        shell.stdout.readline()
    milliseconds = (time.perf_counter() - started) / STEPS * 1000
    shell.stdin.close()
    shell.wait()
    shell.stdout.close()
    return milliseconds
