"""A server with a sandbox in which much runs, for being killed; see `scenarios.killed_server`."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

from openhands_jupyter.events import CmdRunAction, IPythonRunCellAction

from .column import Column


async def main(specification: dict[str, str]) -> None:
    """Start it, say so, and wait for the end."""
    mark = specification["mark"]
    column = Column(specification)
    column.world.make_workspace()
    runtime = column.make_runtime()
    await runtime.start()
    child = f"import subprocess; subprocess.Popen(['sleep', '{mark}'], start_new_session=True)"
    await runtime.run_action(IPythonRunCellAction(code=child), print)
    daemon = f"sleep {mark} & setsid nohup sleep {mark} >/dev/null 2>&1 & disown -a"
    await runtime.run_action(CmdRunAction(command=daemon), lambda _: None)
    running = CmdRunAction(command=f"echo ready; sleep {mark}", timeout=1000)
    await runtime.run_action(running, lambda text: print(text, flush=True))


asyncio.run(main(json.loads(Path(sys.argv[1]).read_text())))
