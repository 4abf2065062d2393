"""Which tools an agent has, as a model is told of them, and what its calls of them mean."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from functools import cache
from typing import Any, Protocol

import msgspec

from ..events import Action
from ..llm.arguments import decoded
from ..llm.base import Tool
from .tool_arguments import ToolArguments

LONGEST_NAME = 100
"""Characters of the name of a tool that there is not, as they are told."""


class ToolSource(Protocol):
    """Tools whose set may change between two steps, such as those of MCP servers."""

    def descriptions(self) -> Sequence[Tool]:
        """The tools that there are now; asked for at each step, so it must not take long."""
        ...

    def parse(self, name: str, arguments: str) -> Action | None:
        """The action that a tool call means; None if there is no such tool here.

        Raises
        ------
        ValueError
            When the arguments do not fit; the message tells the model how to mend the call.
        """
        ...


class Toolbox:
    """The tools of one agent.

    Parameters
    ----------
    tools
        Those that it always has.
    sources
        Where it has more from. A tool whose name is taken already is left out.

    Attributes
    ----------
    hidden
        Names of tools that a model is not told of now. A call of one is understood all the same.
    """

    def __init__(
        self, tools: Iterable[type[ToolArguments]], sources: Sequence[ToolSource] = ()
    ) -> None:
        self._tools = {tool.name: tool for tool in tools}
        self._sources = sources
        self.hidden: frozenset[str] = frozenset()

    def descriptions(self) -> list[Tool]:
        """The tools that there are now, as a model is told of them."""
        found = {name: description_of(tool) for name, tool in self._tools.items()}
        for source in self._sources:
            for tool in source.descriptions():
                found.setdefault(tool.name, tool)
        return [tool for tool in found.values() if tool.name not in self.hidden]

    def names(self) -> list[str]:
        """The names of the tools that there are now."""
        return [tool.name for tool in self.descriptions()]

    def parse(self, name: str, arguments: str) -> Action:
        """The action that a tool call means.

        Parameters
        ----------
        name
            Name of the tool.
        arguments
            JSON text as a model wrote it. Nulls count as left out, and numbers may be written as
            text.

        Raises
        ------
        ValueError
            When there is no such tool or the arguments do not fit; the message tells the model
            how to mend the call.
        """
        if name in self._tools:
            return action_of(self._tools[name], arguments)
        for source in self._sources:
            action = source.parse(name, arguments)
            if action is not None:
                return action
        names = self.names()
        name = name[:LONGEST_NAME]
        close = get_close_matches(name, names, n=1, cutoff=0.75)
        hint = f" Did you mean {close[0]!r}?" if close else ""
        raise ValueError(f"There is no tool {name!r}.{hint} The tools are: {', '.join(names)}.")


@cache
def description_of(tool: type[ToolArguments]) -> Tool:
    """A tool as a model is told of it."""
    return Tool(name=tool.name, description=tool.description, parameters=_parameters(tool))


def action_of(tool: type[ToolArguments], arguments: str) -> Action:
    """The action that a call of `tool` means; see `Toolbox.parse`."""
    try:
        given = decoded(arguments)
    except ValueError as error:
        raise ValueError(f"The arguments of {tool.name} {error}. Call it again.") from error
    if isinstance(given, dict):
        given = {key: value for key, value in given.items() if value is not None}
    try:
        return msgspec.convert(given, tool, strict=False).to_action()
    except msgspec.ValidationError as error:
        raise ValueError(
            f"The arguments of {tool.name} are not as its schema says: {error}. Call it again."
        ) from error
    except ValueError as error:
        raise ValueError(
            f"The arguments of {tool.name} do not fit: {error}. Call it again."
        ) from error


def _parameters(tool: type[ToolArguments]) -> dict[str, Any]:
    """JSON Schema of the arguments in one piece, as providers want it, without references."""
    (_,), components = msgspec.json.schema_components([tool], ref_template="{name}")
    inlined = _inline(components[tool.__name__], components)
    assert isinstance(inlined, dict)
    return inlined


def _inline(schema: Any, components: dict[str, Any]) -> Any:
    if isinstance(schema, list):
        return [_inline(item, components) for item in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        return _inline(components[schema["$ref"]], components)
    # Providers choose among several forms by the value of a field, and need not be told which.
    noise = ("title", "discriminator") if schema.get("type") == "object" else ("discriminator",)
    return {key: _inline(value, components) for key, value in schema.items() if key not in noise}
