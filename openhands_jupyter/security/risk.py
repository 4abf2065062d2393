"""How risky one action is, by rules."""

from __future__ import annotations

from ..events import (
    Action,
    BrowseInteractiveAction,
    BrowseURLAction,
    CmdRunAction,
    FileEditAction,
    FileGlobAction,
    FileGrepAction,
    FileReadAction,
    FileWriteAction,
    IPythonRunCellAction,
    KernelCodeAction,
    KernelControlAction,
    KernelCopyAction,
    KernelInspectAction,
    KernelLookAction,
    MCPAction,
    PlanHandOverAction,
    Risk,
)
from ..events.notebook_runs import NotebookRun
from ..events.notebooks import NotebookRead, NotebookWrite
from .cells import check_cell, check_escape
from .input_rules import check_input, is_waiting
from .kernel_rules import check_code, check_control, check_copy, check_look
from .mcp_rules import check_call
from .notebook_rules import check_notebook
from .paths import Places
from .python import check_python
from .run_rules import check_run
from .scene import Scene
from .shell import check_shell
from .web_rules import check_fetch

_READERS = {
    "shell": check_shell,
    "python": check_python,
    "cell": check_cell,
    "escape": check_escape,
}


def assess(
    action: Action,
    places: Places,
    isolated: bool,
    kernel_names: dict[str, list[str]],
    online: bool | None = False,
    running: str | None = None,
) -> tuple[Risk, list[str]]:
    """Say how risky an action is.

    Parameters
    ----------
    action
        Any action; one of a kind that is not known here counts as high.
    places
        Knows the session's workspace.
    isolated
        Whether a sandbox surrounds the action.
    kernel_names
        What the cells seen so far named in the session's kernel; kept up to date.
    online
        Whether the sandbox has a network; None where it is not known.
    running
        The command that was left running in the shell; None if there is none.

    Returns
    -------
    risk
        The level and a sentence for each reason.
    outside
        Paths outside the workspace that the action uses.
    """
    scene = Scene(places, isolated, dict(_READERS), kernel_names=kernel_names, online=online)
    match action:
        case CmdRunAction() if is_waiting(action):
            pass
        case CmdRunAction(command=text, is_input=True):
            check_input(scene, text, running)
        case CmdRunAction(command=command):
            scene.guarded("shell", command)
        case IPythonRunCellAction(code=code):
            scene.guarded("cell", code)
        case FileReadAction(path=path) | FileGlobAction(path=path) | FileGrepAction(path=path):
            scene.touch(path)
        case FileWriteAction(path=path) | FileEditAction(path=path):
            scene.write(path)
        case _ if isinstance(action, NotebookRead | NotebookWrite):
            check_notebook(scene, action)
        case KernelCodeAction():
            scene.isolated, scene.kernel_names = False, {}
            check_code(scene, action)
        case PlanHandOverAction():
            pass
        case BrowseURLAction(url=url):
            check_fetch(scene, url)
        case BrowseInteractiveAction():
            # What is done on a page is told to who made it, as a command's request is.
            check_fetch(scene, action.url if action.opens else action.page)
        case MCPAction():
            check_call(scene, action)
        case KernelControlAction():
            check_control(scene, action)
        case KernelCopyAction():
            check_copy(scene, action)
        case KernelInspectAction() | KernelLookAction():
            check_look(scene, action)
        case _ if isinstance(action, NotebookRun):
            check_run(scene, action)
        case _:
            scene.add("high", "Cannot be judged: there are no rules for {}", type(action).__name__)
    return scene.findings.risk(), scene.reads_outside
