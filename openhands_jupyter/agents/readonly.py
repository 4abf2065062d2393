"""An agent that looks and answers, and changes nothing."""

from __future__ import annotations

from . import kernel_tools, notebook_tools
from .codeact import CodeActAgent
from .tool_arguments import ToolArguments
from .tools import AskUser, FindFiles, Finish, ReadFile, SearchFiles, Think, UpdatePlan

READING: tuple[type[ToolArguments], ...] = (
    ReadFile,
    FindFiles,
    SearchFiles,
    *notebook_tools.READING,
    kernel_tools.Inspect,
    Think,
    UpdatePlan,
    AskUser,
    Finish,
)
"""The tools that change nothing, whatever is asked of them."""


class ReadOnlyAgent(CodeActAgent):
    """Reads files, notebooks and variables, and answers."""

    name = "readonly"
    title = "Read only"
    description = "Looks at files, notebooks and variables, and answers. It can change nothing."
    delegates = False
    template = "readonly.j2"
    tools = READING
