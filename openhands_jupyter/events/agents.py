"""Agents that give work to each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from .actions import Task
from .event import Action, Event, Observation

DEFAULT_AGENT = "codeact"
DEEPEST_DELEGATION = 2
"""How many delegates may be at work for each other: the session's agent, its delegate, and that
one's."""


class AgentDelegateAction(Action, frozen=True, kw_only=True, tag=True):
    """The agent gives a task to another one, which works on it until it is done.

    Exactly one observation answers it: an `AgentDelegateObservation`, or an error.

    Attributes
    ----------
    agent
        Name of the other one.
    task
        What it is to do; it is told nothing else of what happened so far.
    """

    agent: str
    task: str


class AgentDelegateObservation(Observation, frozen=True, kw_only=True, tag=True):
    """A delegate has ended its work.

    Attributes
    ----------
    agent
        Its name.
    content
        What it says of it, in Markdown, from a model: untrusted.
    status
        ``finished``, or ``rejected`` where it declined the task.
    """

    agent: str
    content: str
    status: Literal["finished", "rejected"] = "finished"


@dataclass
class Delegation:
    """A task that a delegate works on, and what was its delegator's when it began.

    Attributes
    ----------
    action
        How it began.
    history, plan, last_response_id, has_system_message
        As in a `State`, of the delegator.
    """

    action: AgentDelegateAction
    history: list[Event]
    plan: list[Task]
    last_response_id: str
    has_system_message: bool


class PlanHandOverAction(Action, frozen=True, kw_only=True, tag=True):
    """The agent asks the person whether another one shall carry out a plan.

    Attributes
    ----------
    path
        File of the plan.
    plan
        What stands in it, which is what the person approves; filled in before they are asked.
    agent
        Name of the agent that is to carry it out.
    """

    runnable: ClassVar[bool] = True
    changes_files: ClassVar[bool] = False

    path: str
    plan: str = ""
    agent: str = DEFAULT_AGENT


class PlanHandOverObservation(Observation, frozen=True, kw_only=True, tag=True):
    """The plan was approved: from here on its agent is the session's.

    Attributes
    ----------
    path, plan, agent
        As approved.
    """

    path: str
    plan: str
    agent: str
