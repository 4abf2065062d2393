"""What the person and the agent can do."""

from __future__ import annotations

from typing import ClassVar, Literal

import msgspec

from .context import MessageContext
from .event import Action, Source

Mode = Literal["ask", "agent", "auto"]
Decision = Literal["approve", "reject"]
Command = Literal["run", "pause", "stop"]
NetworkAccess = Literal["once", "session", "revoked"]
TaskStatus = Literal["todo", "in_progress", "done"]


class UserMessageAction(Action, frozen=True, kw_only=True, tag=True):
    """The person says something to the agent.

    Attributes
    ----------
    context
        What their notebooks were like, as far as they let it go with the message.
    """

    usual_source: ClassVar[Source] = "user"

    content: str
    context: list[MessageContext] = []


class AgentMessageAction(Action, frozen=True, kw_only=True, tag=True):
    """The agent says something to the person.

    Attributes
    ----------
    content
        Markdown, from a model: untrusted.
    wait_for_response
        True for a question: the session then waits for the person.
    options
        Answers to choose from, if the agent offered some.
    notice
        What the person should know of the model that said it.
    """

    content: str
    wait_for_response: bool = False
    options: list[str] = []
    notice: str = ""


class AgentThinkAction(Action, frozen=True, kw_only=True, tag=True):
    """The agent notes a thought (in ``thought``); nothing is executed."""


class SystemMessageAction(Action, frozen=True, kw_only=True, tag=True):
    """The system prompt and the tools that the agent works with, for replay and for the curious."""

    content: str
    tools: list[str] = []
    agent: str = ""


class Task(msgspec.Struct, frozen=True, kw_only=True):
    """One entry of the agent's plan."""

    title: str
    status: TaskStatus = "todo"


class TaskTrackingAction(Action, frozen=True, kw_only=True, tag=True):
    """The agent states its whole plan anew."""

    tasks: list[Task]


class FinishAction(Action, frozen=True, kw_only=True, tag=True):
    """The agent says that the task is done; a new message opens it again.

    Attributes
    ----------
    message
        What was done, in Markdown, for the person.
    """

    message: str = ""


class RejectAction(Action, frozen=True, kw_only=True, tag=True):
    """The agent declines the task; a new message opens it again.

    Attributes
    ----------
    message
        Why, in Markdown, for the person.
    """

    message: str


class InvalidToolCallAction(Action, frozen=True, kw_only=True, tag=True):
    """The model called a tool that does not exist, or with arguments that do not fit.

    Attributes
    ----------
    message
        What is wrong with the call, for the model to mend.
    """

    message: str


class CellDecision(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The person's decision on one cell of an edit that was approved.

    Attributes
    ----------
    id
        Of the cell, as the edit has it.
    source
        The person's own text in place of the agent's; None where that stays.
    """

    id: str
    decision: Decision
    source: str | None = None


class ConfirmationAction(Action, frozen=True, kw_only=True, tag=True):
    """The person's decision on the action in ``cause``.

    Attributes
    ----------
    reason
        What the agent is told; mostly with a rejection.
    cells
        Of an edit of a notebook that is approved: what is decided otherwise for single cells. A
        group of which one cell is rejected is not done at all.
    """

    usual_source: ClassVar[Source] = "user"

    decision: Decision
    reason: str = ""
    cells: list[CellDecision] | None = None


class ChangeAgentStateAction(Action, frozen=True, kw_only=True, tag=True):
    """The person runs, pauses or stops the agent."""

    usual_source: ClassVar[Source] = "user"

    command: Command


class ChangeSettingsAction(Action, frozen=True, kw_only=True, tag=True):
    """A setting of this session changes; None leaves a value as it is.

    Attributes
    ----------
    mode
        How much may happen without asking.
    model
        Name of the language model, or ``tour``.
    agent
        Name of the agent that works from its next step on, or an import path. It keeps the history.
    step_limit
        Agent steps allowed in all.
    cost_limit, token_limit, time_limit
        US dollars, tokens and minutes of work allowed in all; 0 for no limit.
    stuck_detection
        Whether an agent that does the same again and again is stopped.
    secrets
        Names of all the secrets that the sandbox may have, never their values.
    """

    usual_source: ClassVar[Source] = "user"

    mode: Mode | None = None
    model: str | None = None
    agent: str | None = None
    step_limit: int | None = None
    cost_limit: float | None = None
    token_limit: int | None = None
    time_limit: float | None = None
    stuck_detection: bool | None = None
    secrets: list[str] | None = None


class NetworkAccessAction(Action, frozen=True, kw_only=True, tag=True):
    """The person says whether the session's sandbox may reach a host that is not listed.

    Attributes
    ----------
    host, port
        The place; see `hosts.Rule`.
    access
        ``once`` until the end of the next command, cell or fetch, ``session`` as long as there is
        the session, or ``revoked``.
    """

    usual_source: ClassVar[Source] = "user"

    host: str
    port: int
    access: NetworkAccess
