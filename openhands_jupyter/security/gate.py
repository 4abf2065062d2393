"""The gate: every action passes it before anything happens."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import msgspec

from ..events import (
    Action,
    AwaitRunAction,
    CmdRunAction,
    FileGlobAction,
    FileGrepAction,
    FileReadAction,
    Mode,
    NotebookRunAction,
    PlanHandOverAction,
    Risk,
    StopRunAction,
)
from ..events.kernels import KernelRead, KernelWrite
from ..events.notebooks import NotebookRead, NotebookWrite
from .findings import highest
from .input_rules import is_waiting
from .kernel_rules import in_persons_kernel
from .mcp_rules import asks, is_call, only_reads
from .notebook_rules import is_open
from .paths import Places, PlacesElsewhere
from .readonly import is_read_only
from .risk import assess
from .run_rules import in_own_kernel

Outcome = Literal["run", "ask", "refuse"]

NO_SANDBOX = "No sandbox: this runs with all your rights"
MODEL_RATING = "The model itself rates this {}"
_BY_SERVER = NotebookRead | NotebookWrite | KernelRead | KernelWrite
_READS = (
    FileReadAction
    | FileGlobAction
    | FileGrepAction
    | NotebookRead
    | KernelRead
    | AwaitRunAction
    | StopRunAction
)
ASK_REFUSES = (
    "Ask mode only reads: it runs no code and changes no files. "
    "Switch to Agent mode to let the agent do this."
)


class Verdict(msgspec.Struct, frozen=True):
    """What happens to an action.

    Attributes
    ----------
    outcome
        ``run`` it, ``ask`` the person first, or ``refuse`` it.
    risk
        How risky it is held to be, and why.
    reason
        For a refusal: what the mode forbids and what to do.
    """

    outcome: Outcome
    risk: Risk
    reason: str = ""


class Gate:
    """Decides whether an action runs, waits for the person or is refused.

    The risk is the higher of what the rules find and what the model says of its own action. The
    gate informs and asks; it is the sandbox that confines. One gate serves one session: it keeps
    what the session's cells name, so that ``from os import remove as r`` is known in later cells.

    Parameters
    ----------
    workspace
        The session's folder.
    """

    def __init__(self, workspace: Path) -> None:
        self._places = self._here = Places(workspace)
        self._kernel_names: dict[str, list[str]] = {}
        self._own_kernel_names: dict[str, dict[str, list[str]]] = {}

    def work_elsewhere(self, folder: str) -> None:
        """The work is done in this folder, on another machine."""
        if self._places.workspace != folder:
            self._places = PlacesElsewhere(folder)

    def check(
        self,
        action: Action,
        *,
        mode: Mode,
        isolated: bool,
        online: bool | None = False,
        running: str | None = None,
    ) -> Verdict:
        """Say what is to happen to an action; never raises for what the action holds.

        Parameters
        ----------
        action
            The action as the agent gave it; a ``risk`` that it carries is the model's own rating.
        mode
            ``ask`` runs what only reads, ``agent`` asks before anything of high risk, ``auto``
            runs everything, but asks like ``agent`` where no sandbox is in force. Before a
            notebook is changed that the person has open, ``ask`` and ``agent`` ask. What is done
            to notebooks is not done in the sandbox, so all ask where one is outside the workspace.
            Before anything is done in a kernel of the person's, ``agent`` and ``auto`` ask;
            ``ask`` refuses it. Before a tool of an MCP server is called that the person does not
            trust, ``agent`` and ``auto`` ask; ``ask`` lets trusted ones that say they only read.
        isolated
            Whether the action will run in a sandbox.
        online
            Whether that has a network; None where it is not known.
        running
            The command that was left running in the shell; None if there is none.

        Returns
        -------
        Verdict
            The outcome with the risk and its reasons.
        """
        if not action.runnable:
            return Verdict("run", Risk(level="low"))
        in_own = in_own_kernel(action)
        by_server = isinstance(action, _BY_SERVER) or in_own
        # The server's notebooks and kernels are here, wherever the sandbox is.
        places = self._here if by_server else self._places
        risk, outside = self._risk(action, places, isolated, online, running)
        if mode == "ask" and not _only_reads(action) and not is_open(action):
            return Verdict("refuse", risk, ASK_REFUSES)
        if in_persons_kernel(action) or asks(action) or in_own or (by_server and outside != []):
            return Verdict("ask", risk)
        if mode == "agent" and isinstance(action, PlanHandOverAction):
            # What is handed over is the person's approval of the plan.
            return Verdict("ask", risk)
        if mode == "auto" and (isolated or is_call(action)):
            return Verdict("run", risk)
        return Verdict("ask" if risk.level == "high" or is_open(action) else "run", risk)

    def _risk(
        self,
        action: Action,
        places: Places,
        isolated: bool,
        online: bool | None,
        running: str | None,
    ) -> tuple[Risk, list[str] | None]:
        """The risk, and what it reaches outside the workspace: None where that is not known."""
        outside: list[str] | None
        try:
            names = self._names(action)
            surrounded = isolated and not in_own_kernel(action)
            risk, outside = assess(action, places, surrounded, names, online, running)
        except Exception as error:
            reason = f"Cannot be judged: the check failed ({type(error).__name__})"
            risk, outside = Risk(level="high", reasons=[reason]), None
        needs_none = isolated or in_own_kernel(action) or is_call(action)
        if not needs_none or isinstance(action, NotebookRead | KernelRead):
            risk = _without_sandbox(action, risk, outside)
        return _with_rating(risk, action.risk), outside

    def _names(self, action: Action) -> dict[str, list[str]]:
        """What cells seen so far have named in the kernel that an action is for."""
        if isinstance(action, NotebookRunAction) and in_own_kernel(action):
            return self._own_kernel_names.setdefault(self._here.resolve(action.path), {})
        return self._kernel_names


def _only_reads(action: Action) -> bool:
    if isinstance(action, CmdRunAction):
        return is_waiting(action) or (not action.is_input and is_read_only(action.command))
    return isinstance(action, _READS) or only_reads(action)


def _without_sandbox(action: Action, risk: Risk, outside: list[str] | None) -> Risk:
    if isinstance(action, CmdRunAction) and is_waiting(action):
        return risk
    if not isinstance(action, _READS):
        return Risk(level="high", reasons=[NO_SANDBOX, *risk.reasons])
    if outside:
        reason = "Reads outside the workspace: " + ", ".join(outside[:8])
        return Risk(level="high", reasons=[reason, *risk.reasons])
    return risk


def _with_rating(risk: Risk, rating: Risk | None) -> Risk:
    if rating is None or rating.level == "low":
        return risk
    reason = MODEL_RATING.replace("{}", rating.level)
    return Risk(level=highest(risk.level, rating.level), reasons=[*risk.reasons, reason])
