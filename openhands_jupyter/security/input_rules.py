"""What is typed into a running program: what that does, only the program knows."""

from __future__ import annotations

import os

from ..events import CmdRunAction
from . import commands as known
from .bash_tree import parse
from .scene import Scene, TooComplex

ENDING_KEYS = frozenset({"C-c", "C-d", "C-z", "C-\\"})
"""Keys that interrupt, end or suspend what runs, and do nothing else."""


def is_waiting(action: CmdRunAction) -> bool:
    """Whether an action starts nothing: it waits for what runs, or ends it."""
    if action.is_input:
        return not action.command or action.command in ENDING_KEYS
    return not action.command.strip()


def check_input(scene: Scene, text: str, running: str | None) -> None:
    """Note what may come of text that is typed into a running command.

    A program may start another one, and a name such as ``cat`` may have been given to something
    else, so no text is known to be harmless. Where an interpreter was started, the text is read
    as its code, so that the person is told what it would do.

    Parameters
    ----------
    scene
        The action; its folder is not known.
    text
        What is typed.
    running
        The command that was left running; None if that is not known.
    """
    programs = _programs(running)
    what = "Types into a running program, and what that does with it cannot be told"
    scene.add("high", what, *filter(None, [running]))
    scene.cwd = None
    if programs & known.SHELLS:
        scene.guarded("shell", text)
    if programs & known.PYTHONS:
        scene.guarded("python", text)


def _programs(running: str | None) -> set[str]:
    try:
        commands = parse(running or "").commands
    except TooComplex:
        return set()
    return {os.path.basename(command.words[0].text) for command in commands if command.words}
