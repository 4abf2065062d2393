"""Which tools an agent has, where some of them come and go."""

from __future__ import annotations

import json

import pytest

from openhands_jupyter.agents.conversation import actions_of
from openhands_jupyter.agents.toolbox import Toolbox
from openhands_jupyter.agents.tools import ReadFile, Think
from openhands_jupyter.events import Action, CmdRunAction, FileReadAction
from openhands_jupyter.llm.base import Response, Tool, ToolCall


class Changing:
    """Tools that come and go; each means a command."""

    def __init__(self, *names: str) -> None:
        self.names = names

    def descriptions(self) -> list[Tool]:
        return [Tool(name=name, description="x", parameters={}) for name in self.names]

    def parse(self, name: str, arguments: str) -> CmdRunAction | None:
        if name not in self.names:
            return None
        if arguments == "wrong":
            raise ValueError("Not like that.")
        return CmdRunAction(command=f"{name} {arguments}")


def test_the_tools_of_a_source_change_between_two_steps():
    source = Changing("db__query")
    toolbox = Toolbox((ReadFile,), [source])
    assert toolbox.names() == ["read_file", "db__query"]
    assert toolbox.parse("db__query", "{}") == CmdRunAction(command="db__query {}")
    source.names = ("db__tables",)
    assert toolbox.names() == ["read_file", "db__tables"]
    with pytest.raises(ValueError, match=r"no tool 'db__query'.* read_file, db__tables"):
        toolbox.parse("db__query", "{}")


def test_what_has_a_name_first_keeps_it():
    toolbox = Toolbox((ReadFile,), [Changing("read_file", "a"), Changing("a")])
    assert toolbox.names() == ["read_file", "a"]
    assert toolbox.parse("read_file", '{"path": "x"}') == FileReadAction(path="x")
    assert toolbox.descriptions()[0].description == ReadFile.description


def test_a_built_in_tool_that_the_agent_does_not_have_is_none():
    with pytest.raises(ValueError, match=r"no tool 'write_file'\. The tools are: read_file\.$"):
        Toolbox((ReadFile,)).parse("write_file", '{"path": "x", "content": "y"}')


def test_a_call_of_a_tool_that_is_not_built_in_keeps_its_arguments():
    """Nothing else can tell them, when the prompt is built anew."""
    calls = [("echo", '{"a": 1}'), ("echo", "wrong"), ("think", '{"thought": "hm"}')]
    response = Response(
        id="r",
        model="m",
        tool_calls=[ToolCall(id=str(n), name=c[0], arguments=c[1]) for n, c in enumerate(calls)],
    )

    class EchoAction(Action, frozen=True, kw_only=True, tag=True):
        a: int

    class Echo(Changing):
        def parse(self, name, arguments):
            super().parse(name, arguments)
            return EchoAction(**json.loads(arguments))

    actions = actions_of(response, Toolbox((Think,), [Echo("echo")]))
    assert [type(action).__name__ for action in actions] == [
        "EchoAction",
        "InvalidToolCallAction",
        "AgentThinkAction",
    ]
    assert [action.llm.arguments for action in actions] == ['{"a": 1}', "wrong", None]
    assert "Not like that." in actions[1].message
