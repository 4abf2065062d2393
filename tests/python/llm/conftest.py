"""A room where the tour's actions are carried out for real."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from waiting import PATIENCE

from openhands_jupyter.agents.codeact import CodeActAgent
from openhands_jupyter.events import (
    Action,
    AgentMessageAction,
    CmdOutputObservation,
    CmdRunAction,
    Event,
    FileWriteAction,
    FileWriteObservation,
    FinishAction,
    IPythonOutputObservation,
    IPythonRunCellAction,
    Observation,
    Output,
    State,
    UserMessageAction,
)
from openhands_jupyter.llm.tour import TourModel

CELL_RUNNER = """
import json, sys
code, absent = json.load(sys.stdin)
sys.modules.update(dict.fromkeys(absent))
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
shell = InteractiveShell.instance()
shell.display_formatter.active_types = shell.display_formatter.format_types
with capture_output() as captured:
    result = shell.run_cell(code)
outputs = [{"kind": "stream", "text": captured.stdout}]
outputs += [{"kind": "display_data", "data": output.data} for output in captured.outputs]
json.dump({"ok": result.success, "outputs": outputs}, sys.stdout)
"""

Answer = Callable[[Action], Observation]


class TourRoom:
    """The tour behind the real CodeAct agent, in a folder where its actions really happen.

    Attributes
    ----------
    absent
        Modules that cells cannot import.
    instead
        What happens to an action instead of carrying it out: the first entry whose text occurs in
        the action is used once.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.absent: list[str] = []
        self.instead: list[tuple[str, Answer]] = []
        self.state = State()
        self.events: list[Event] = []
        self._agent = CodeActAgent(TourModel(pause=0), folder)

    async def ask(self, request: str) -> str:
        """Say something and let the agent work until it finishes or asks; return its words."""
        self.say(request)
        for _ in range(20):
            action = self._add(await self._agent.step(self.state))
            if isinstance(action, FinishAction):
                return action.message
            if isinstance(action, AgentMessageAction) and action.wait_for_response:
                return f"{action.thought}\n{action.content}"
            if isinstance(action, Action) and action.runnable:
                observation = self._observe(action)
                self._add(msgspec.structs.replace(observation, cause=action.id))
        raise AssertionError("The tour goes on and on.")

    def say(self, message: str) -> None:
        """Put a message of the person on the log."""
        self._add(UserMessageAction(content=message, source="user"))

    def actions(self, kind: type[Action] = Action) -> list[Any]:
        """What the agent did so far."""
        return [e for e in self.events if isinstance(e, kind) and e.source == "agent"]

    @property
    def commands(self) -> list[str]:
        """The shell commands so far."""
        return [action.command for action in self.actions(CmdRunAction)]

    def _add(self, event: Event) -> Event:
        source = "agent" if isinstance(event, Action) and event.source != "user" else event.source
        event = msgspec.structs.replace(event, id=len(self.events), source=source)
        self.events.append(event)
        self.state.apply(event)
        return event

    def _observe(self, action: Action) -> Observation:
        shown = msgspec.json.encode(action).decode()
        for entry in self.instead:
            if entry[0] in shown:
                self.instead.remove(entry)
                return entry[1](action)
        match action:
            case CmdRunAction():
                return self._run(action.command)
            case IPythonRunCellAction():
                return self._run_cell(action.code)
            case FileWriteAction(content=str(content)):
                return self._write(action.path, content)
        raise AssertionError(f"The tour does not do {action}.")

    def _run(self, command: str) -> CmdOutputObservation:
        bash = ["bash", "--norc", "-c", command]
        ran = subprocess.run(
            bash, cwd=self.folder, capture_output=True, text=True, timeout=PATIENCE
        )
        return CmdOutputObservation(
            content=ran.stdout + ran.stderr, exit_code=ran.returncode, cwd=str(self.folder)
        )

    def _run_cell(self, code: str) -> IPythonOutputObservation:
        ran = subprocess.run(
            [sys.executable, "-c", CELL_RUNNER],
            input=json.dumps([code, self.absent]),
            env={
                "MPLBACKEND": "module://matplotlib_inline.backend_inline",
                "HOME": os.environ["HOME"],
            },
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=60,
        )
        told = json.loads(ran.stdout)
        outputs = [msgspec.convert(output, Output) for output in told["outputs"]]
        return IPythonOutputObservation(outputs=outputs, ok=told["ok"])

    def _write(self, path: str, content: str) -> FileWriteObservation:
        created = not (self.folder / path).exists()
        (self.folder / path).write_text(content)
        return FileWriteObservation(path=path, created=created, content=content)


@pytest.fixture
def room(tmp_path: Path) -> TourRoom:
    """A room in an empty folder, whose name is awkward for a shell."""
    folder = tmp_path / "my wörk 'space'"
    folder.mkdir()
    return TourRoom(folder)
