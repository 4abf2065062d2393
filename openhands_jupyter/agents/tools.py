"""The tools of the CodeAct agent: the arguments that a model gives, and the actions they mean."""

from __future__ import annotations

from typing import Annotated, Self

import msgspec
from msgspec import Meta

from ..events import (
    Action,
    AgentMessageAction,
    AgentThinkAction,
    Blob,
    CmdRunAction,
    FileEditAction,
    FileGlobAction,
    FileGrepAction,
    FileReadAction,
    FileWriteAction,
    FinishAction,
    MCPAction,
    Task,
    TaskTrackingAction,
)
from ..events.files import EditCommand
from . import kernel_tools, notebook_tools, run_tools, web_tools
from .tool_arguments import Gated, Path, Timeout, ToolArguments


class ExecuteBash(Gated, kw_only=True):
    name = "execute_bash"
    description = (
        "Run a command in the sandbox's persistent bash shell, which starts in the workspace. "
        "Folder and environment persist between calls. Start services with '</dev/null &': a "
        "background job that reads the terminal is suspended. What jobs print comes with your next "
        "command. Without a timeout, a command "
        "that prints nothing for 30 seconds is left running and you get its output so far; with "
        "one it is waited for, then stopped. While a command runs, no other can be started: wait "
        "on with an empty command, type a line into it with is_input, or send it a key with "
        "is_input: C-c to interrupt, C-d for the end of input, C-z to suspend."
    )
    action_type = CmdRunAction

    command: Annotated[
        str,
        Meta(
            description="The command; empty to wait for the one that still runs. With is_input, "
            "a line of text for it, or one of the keys C-c, C-d, C-z, C-\\, Enter, Tab, Escape, "
            "Up, Down, Left, Right, Backspace."
        ),
    ]
    timeout: Timeout = 0.0
    is_input: Annotated[
        bool, Meta(description="Whether the command is input for the one that still runs.")
    ] = False

    def to_action(self) -> Action:
        return self.rate(
            CmdRunAction(command=self.command, timeout=self.timeout or None, is_input=self.is_input)
        )

    @classmethod
    def of(cls, action: CmdRunAction) -> Self:
        return cls(command=action.command, timeout=action.timeout or 0.0, is_input=action.is_input)


class ReadFile(Gated, kw_only=True):
    name = "read_file"
    description = "Read a text file, whole or some of its lines, or list a folder."
    action_type = FileReadAction

    path: Path
    start: Annotated[int, Meta(ge=0, description="First line, from 1; 0 for the beginning.")] = 0
    end: Annotated[int, Meta(ge=0, description="Last line, included; 0 for the end.")] = 0

    def to_action(self) -> Action:
        return self.rate(
            FileReadAction(path=self.path, start=self.start or None, end=self.end or None)
        )

    @classmethod
    def of(cls, action: FileReadAction) -> Self:
        return cls(path=action.path, start=action.start or 0, end=action.end or 0)


class WriteFile(Gated, kw_only=True):
    name = "write_file"
    description = "Write a whole text file, creating it and its folders as needed."
    action_type = FileWriteAction

    path: Path
    content: Annotated[str, Meta(description="The whole content of the file.")]

    @classmethod
    def of(cls, action: FileWriteAction) -> Self:
        content = action.content.preview if isinstance(action.content, Blob) else action.content
        return cls(path=action.path, content=content)


class EditFile(Gated, kw_only=True):
    name = "edit_file"
    description = (
        "Change part of a text file. 'str_replace' puts new_str in the place of old_str, which "
        "must occur exactly once; 'insert' puts new_str after line insert_line (0 for the top); "
        "'undo' takes back the last write or edit of the file."
    )
    action_type = FileEditAction

    path: Path
    command: EditCommand
    old_str: Annotated[str, Meta(description="Text to replace, exactly as in the file.")] = ""
    new_str: Annotated[str, Meta(description="Text to put there.")] = ""
    insert_line: Annotated[int, Meta(ge=0, description="Line after which to insert.")] = 0


class FindFiles(Gated, kw_only=True):
    name = "find_files"
    description = (
        "Find files by name, newest first. A pattern without a slash such as '*.py' looks in every "
        "folder; one with a slash such as 'src/**/test_*.py' starts at the path. Hidden folders, "
        "environments, __pycache__ and node_modules are left out, unless the path leads into one."
    )
    action_type = FileGlobAction

    pattern: Annotated[str, Meta(description="With *, ?, [abc], and ** for any folders.")]
    path: Annotated[str, Meta(description="The folder to search in.")] = "."


class SearchFiles(Gated, kw_only=True):
    name = "search_files"
    description = (
        "Find the lines of text files that a regular expression (Python's) matches. Hidden "
        "folders, environments, __pycache__, node_modules and binary files are left out, unless "
        "the path leads into such a folder."
    )
    action_type = FileGrepAction

    pattern: Annotated[str, Meta(description="The regular expression.")]
    path: Annotated[str, Meta(description="The folder to search in, or a file.")] = "."
    include: Annotated[
        str, Meta(description="Only files that fit this pattern, such as '*.py'.")
    ] = ""
    ignore_case: bool = False


class Think(ToolArguments, kw_only=True):
    name = "think"
    description = "Note a thought about a difficult problem. Nothing is executed."
    action_type = AgentThinkAction

    thought: str


class UpdatePlan(ToolArguments, kw_only=True):
    name = "update_plan"
    description = (
        "State your plan for a task of several steps, whole and with the state of each step; "
        "again whenever it changes. The user sees it as a check list."
    )
    action_type = TaskTrackingAction

    tasks: list[Task]


class AskUser(ToolArguments, kw_only=True):
    name = "ask_user"
    description = (
        "Ask the user a question and wait for the answer. Only for what you cannot find out."
    )
    action_type = AgentMessageAction

    question: str
    options: Annotated[list[str], Meta(description="Answers to choose from, if any.")] = []

    def to_action(self) -> Action:
        return AgentMessageAction(
            content=self.question, options=self.options, wait_for_response=True
        )

    @classmethod
    def of(cls, action: AgentMessageAction) -> Self:
        return cls(question=action.content, options=action.options)


class Finish(ToolArguments, kw_only=True):
    name = "finish"
    description = "End the task when it is done, or when you cannot go on."
    action_type = FinishAction

    message: Annotated[
        str, Meta(description="What was done and found, in Markdown, briefly, for the user.")
    ]


TOOLS: tuple[type[ToolArguments], ...] = (
    *kernel_tools.TOOLS,
    ExecuteBash,
    ReadFile,
    WriteFile,
    EditFile,
    FindFiles,
    SearchFiles,
    *notebook_tools.TOOLS,
    *run_tools.TOOLS,
    *web_tools.TOOLS,
    Think,
    UpdatePlan,
    AskUser,
    Finish,
)
"""All that are built in, whichever of them an agent has."""

_BY_ACTION = {
    kind: tool for tool in reversed(TOOLS) for kind in (tool.action_type, *tool.other_types)
}


def arguments_of(action: Action) -> tuple[str, str] | None:
    """Name and arguments (JSON text) of the tool call that means `action`; None if none does."""
    if isinstance(action, MCPAction) and action.llm and action.llm.tool_name:
        return action.llm.tool_name, msgspec.json.encode(action.arguments).decode()
    tool = _BY_ACTION.get(type(action))
    if tool is None:
        return None
    return tool.name, msgspec.json.encode(tool.of(action)).decode()
