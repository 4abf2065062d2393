"""What is shown of a session without its log, and kept beside it."""

from __future__ import annotations

import os
from datetime import datetime
from pathlib import Path

import msgspec

from ..config import Isolation
from ..controller.limits import LimitUse
from ..events import (
    AgentState,
    IsolationObservation,
    Mode,
    NetworkAccess,
    StuckObservation,
    Task,
)
from ..events.agents import DEFAULT_AGENT

INFO_FILE = "session.json"


class AllowedPlace(msgspec.Struct, frozen=True, kw_only=True):
    """A place that the person allowed in this session."""

    host: str
    port: int
    access: NetworkAccess


class NetworkInfo(msgspec.Struct, frozen=True, kw_only=True):
    """What a session's sandbox may reach now.

    Attributes
    ----------
    places
        All of it, such as ``pypi.org`` or ``example.org:8080``.
    allowed
        What of it the person allowed in this session.
    fixed
        Whether the person may add nothing.
    """

    places: list[str]
    allowed: list[AllowedPlace]
    fixed: bool


class Spent(msgspec.Struct, frozen=True, kw_only=True):
    """What models have taken for a session, whoever asked them; see `events.ledger.Ledger`.

    ``cost`` is in US dollars, for the tokens whose price is known; ``unpriced_tokens`` are those
    whose price is not, which may have cost anything.
    """

    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float = 0.0
    unpriced_tokens: int = 0


class SessionInfo(msgspec.Struct, frozen=True, kw_only=True):
    """What a list of sessions shows, and what the panel starts from; see docs/architecture.md.

    ``sandbox`` is the isolation that was asked for when the session began, ``isolation`` what is
    in force, ``network`` what may be reached now. ``command_running`` says whether a command was
    left running in the shell, ``cells_running`` whether cells of a notebook run in its own kernel
    that the session has begun with. ``kernel`` is the id of its kernel among those of the Jupyter
    server, while there is one. ``asleep`` says that the sandbox was released because nobody used
    it. ``limits`` is what it has used of each limit, ``spent`` what models took, ``stuck`` the
    loop that the agent was stopped in. ``delegates`` are those who work for the agent, and for each
    other.
    """

    id: str
    title: str
    created: datetime
    updated: datetime
    workspace: str
    sandbox: Isolation = "auto"
    state: AgentState = "awaiting_user_input"
    mode: Mode = "agent"
    model: str = ""
    agent: str = DEFAULT_AGENT
    delegates: list[str] = []
    steps: int = 0
    step_limit: int = 0
    limits: list[LimitUse] = []
    spent: Spent = Spent()
    stuck_detection: bool = True
    stuck: StuckObservation | None = None
    last_id: int = -1
    isolation: IsolationObservation | None = None
    pending: int | None = None
    command_running: bool = False
    cells_running: bool = False
    plan: list[Task] = []
    secrets: list[str] = []
    network: NetworkInfo | None = None
    kernel: str | None = None
    asleep: bool = False
    open: bool = False


def read_info(folder: Path) -> SessionInfo:
    """What is kept in a session's folder.

    Raises
    ------
    OSError, msgspec.DecodeError
        When it cannot be read.
    """
    return msgspec.json.decode((folder / INFO_FILE).read_bytes(), type=SessionInfo)


def write_info(folder: Path, info: SessionInfo) -> None:
    """Replace what is kept in a session's folder, in one step."""
    partial = folder / f"{INFO_FILE}.partial"
    with partial.open("wb") as file:
        file.write(msgspec.json.format(msgspec.json.encode(info)))
        file.flush()
        os.fsync(file.fileno())
    os.replace(partial, folder / INFO_FILE)
