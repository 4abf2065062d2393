"""The least that the benchmarks of the agent's loop can need: the same work with nothing of ours.

``python floors.py ADDRESS NAME KIND STEPS`` is a loop on LiteLLM; run in a process of its own,
because LiteLLM's import is kept out of all others.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

SYSTEM = "You are a careful software agent. " * 380
"""As long as the prompts of agents are."""

PARAMETERS = {
    "type": "object",
    "properties": {"command": {"type": "string", "description": "c" * 900}},
    "required": ["command"],
}
TOOLS = [
    {
        "type": "function",
        "function": {"name": name, "description": "d" * 2500, "parameters": PARAMETERS},
    }
    for name in ("execute_bash", "read_file", "think", "finish", "run_code")
]


class Shell:
    """A bash over pipes."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._commands = 0

    async def run(self, command: str) -> str:
        assert self._process.stdin and self._process.stdout
        self._commands += 1
        end = f"__end_{self._commands}__"
        self._process.stdin.write(f"{command}\necho {end}$?\n".encode())
        output = ""
        while not (line := (await self._process.stdout.readline()).decode()).startswith(end):
            output += line
        return output


@asynccontextmanager
async def shell() -> Any:
    """Start a bash."""
    pipe = asyncio.subprocess.PIPE
    command = ("bash", "--norc", "--noprofile")
    process = await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe)
    try:
        yield Shell(process)
    finally:
        process.kill()
        await process.wait()


async def loop(base_url: str, name: str, kind: str, steps: int, log: Path) -> None:
    """Ask, do, and ask again with all that came before, until the model is done."""
    import litellm

    litellm.suppress_debug_info = True
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": SYSTEM},
        {"role": "user", "content": f"[{kind} {steps} {name}]"},
    ]
    async with shell() as bash:
        while True:
            response = await litellm.acompletion(
                model="openai/timed",
                base_url=base_url,
                api_key="none",
                messages=messages,
                tools=TOOLS,
            )
            [call] = response.choices[0].message.tool_calls
            told = {"name": call.function.name, "arguments": call.function.arguments}
            if told["name"] == "finish":
                return
            _note(log, told)
            output = await _do(told, bash, log.parent)
            _note(log, {"content": output})
            made = {"id": call.id, "type": "function", "function": told}
            messages.append({"role": "assistant", "content": None, "tool_calls": [made]})
            messages.append({"role": "tool", "tool_call_id": call.id, "content": output})


def _note(log: Path, event: dict[str, str]) -> None:
    with log.open("a") as file:
        file.write(json.dumps({**event, "time": time.time()}) + "\n")


async def _do(call: dict[str, str], bash: Shell, folder: Path) -> str:
    arguments = json.loads(call["arguments"])
    match call["name"]:
        case "execute_bash":
            return await bash.run(arguments["command"])
        case "read_file":
            return (folder / arguments["path"]).read_text()
    return "Noted."


async def cells(count: int) -> list[float]:
    """Milliseconds of ``1+1`` in a kernel, from the request to its idle status."""
    from jupyter_client.manager import start_new_async_kernel

    manager, client = await start_new_async_kernel(stderr=subprocess.DEVNULL)
    times = []
    try:
        for _ in range(count):
            begun = time.perf_counter()
            request = client.execute("1+1", store_history=False)
            idle = False
            while not idle:
                message = await client.get_iopub_msg(timeout=60)
                idle = (
                    message["parent_header"].get("msg_id") == request
                    and message["content"].get("execution_state") == "idle"
                )
            times.append((time.perf_counter() - begun) * 1000)
    finally:
        client.stop_channels()
        await manager.shutdown_kernel(now=True)
    return times


if __name__ == "__main__":
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    address, name, kind, steps = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "a.txt").write_text("hello\nworld\n")
        asyncio.run(loop(address, name, kind, int(steps), Path(folder, "log")))
